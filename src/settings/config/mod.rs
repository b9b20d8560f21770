//! Reads sweep files: TOML with defaults at the top and `[[sweep]]` tables below. Built-in sweeps are embedded.

pub mod problems;

use std::path::Path;

use anyhow::{Result, anyhow};
use gpubench_report::report::file::one_line;
use gpubench_text::limited;
use gpubench_text::toml_reader::{self, Problem, TomlError, line_of};
use gpubench_text::words::suggestion;
use toml::Spanned;
use toml::de::DeTable;

use super::options::{SweepOptions, Variants};
use super::resolve::shapes;
use crate::op;

/// Name and text of each built-in sweep.
pub static BUILT_IN: &[(&str, &str)] = &[
    ("quick", include_str!("../../../configs/quick.toml")),
    ("article", include_str!("../../../configs/article.toml")),
    ("article-python", include_str!("../../../configs/article-python.toml")),
    ("full", include_str!("../../../configs/full.toml")),
    ("lessons", include_str!("../../../configs/lessons.toml")),
    ("shapes", include_str!("../../../configs/shapes.toml")),
    ("batched", include_str!("../../../configs/batched.toml")),
    ("precision", include_str!("../../../configs/precision.toml")),
    ("cpu-peers", include_str!("../../../configs/cpu-peers.toml")),
    ("gpu-peers", include_str!("../../../configs/gpu-peers.toml")),
];

/// Returns whether a built-in sweep has that name.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|(built_in, _)| *built_in == name)
}

/// The contents of a sweep file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepFile {
    /// The name or path that the user gave.
    pub name: String,
    /// Defaults for all tables, and values for the whole run.
    pub defaults: SweepOptions,
    /// The tables; empty if the file is one sweep of its defaults.
    pub tables: Vec<SweepOptions>,
}

impl SweepFile {
    /// Returns the tables with the defaults below their values; where there are none, the defaults alone.
    pub fn sweeps(&self) -> Vec<SweepOptions> {
        match &self.tables[..] {
            [] => vec![self.defaults.clone()],
            tables => tables.iter().map(|table| table.over(&self.defaults)).collect(),
        }
    }
}

/// Reads the built-in sweep of that name, or the file at that path.
pub fn read(name: &str) -> Result<SweepFile> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        return parse(name, text);
    }
    let text = limited::text(Path::new(name)).map_err(|error| {
        let built_in = || BUILT_IN.iter().map(|(name, _)| *name);
        let (hint, all) = (suggestion(name, built_in()), built_in().collect::<Vec<_>>().join(", "));
        anyhow!(
            "cannot read sweep file '{name}': {error}; name a TOML file or a built-in sweep ({all}){hint}"
        )
    })?;
    parse(name, &text)
}

/// Parses the text of a sweep file; messages begin with `name` and the line.
pub fn parse(name: &str, text: &str) -> Result<SweepFile> {
    parsed(name, text).map_err(one_line)
}

fn parsed(name: &str, text: &str) -> Result<SweepFile> {
    let refused = |error: TomlError| anyhow!("{name}:{}: {error}", error.line(text));
    let mut top = toml_reader::parse(text).map_err(refused)?;
    let tables = toml_reader::take_tables(top.get_mut(), TABLES).map_err(refused)?;
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let layer = |table: Spanned<DeTable>, in_table| {
        let line = table.get_ref().get("variants").map(|value| line_of(text, value.span().start));
        let mut layer = layer(table, in_table).map_err(refused)?;
        let matrices = layer.matrix.iter_mut().flat_map(|matrices| &mut matrices.0);
        matrices.for_each(|path| *path = folder.join(&*path));
        if let (Some(Variants(patterns)), Some(line)) = (&mut layer.variants, line) {
            patterns.iter_mut().for_each(|pattern| pattern.origin = format!("{name}:{line}"));
        }
        Ok(layer)
    };
    let mut defaults = layer(top, false)?;
    defaults.sim = defaults.sim.map(|path| folder.join(path));
    let tables: Vec<SweepOptions> =
        tables.into_iter().map(|table| layer(table, true)).collect::<Result<_>>()?;
    let file = SweepFile { name: name.to_owned(), defaults, tables };
    // Options of the command line are keys here.
    let in_file = |error: anyhow::Error| anyhow!("{name}: {}", error.to_string().replace("--", ""));
    file.sweeps().iter().try_for_each(check_shapes).map_err(in_file)?;
    Ok(file)
}

/// Checks that the ops of a layer have its shapes.
fn check_shapes(asked: &SweepOptions) -> Result<()> {
    let mut ops = asked.ops.iter().flat_map(|ops| &ops.0).filter_map(|op| op::find(op));
    ops.try_for_each(|op| shapes::of(op, asked).map(|_| ()))
}

const TABLES: &str = "sweep";

/// Reads a table, or the part of the file before the tables.
fn layer(table: Spanned<DeTable>, in_table: bool) -> Result<SweepOptions, TomlError> {
    let mut valid: Vec<String> = SweepOptions::keys(in_table).collect();
    if let Some(key) = table.get_ref().keys().find(|key| !valid.iter().any(|valid| valid == key.get_ref())) {
        let (byte, key) = (key.span().start, key.get_ref().to_string());
        let problem = if in_table && SweepOptions::keys(false).any(|valid| valid == key) {
            Problem::Refused(format!(
                "'{key}' applies to the whole run: write it above the first [[{TABLES}]]"
            ))
        } else {
            valid.extend((!in_table).then(|| TABLES.to_owned()));
            Problem::UnknownKey { key, valid }
        };
        return Err(TomlError::new(problem, byte));
    }
    toml_reader::from_table(table)
}

#[cfg(test)]
mod tests;
