//! Sweep files: TOML with defaults at the top and `[[sweep]]` tables below; the built-in ones are embedded.

mod values;

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use gpubench_text::pattern;
use gpubench_text::toml_error;
use gpubench_text::words::nearest;
use serde::Deserialize;
use toml::Spanned;

use crate::backend::HostMemory;
use crate::case::{Cache, DType};
use crate::chart::Theme;
use crate::settings::layer::{Layer, RunWide};
use crate::settings::threads::Threads;

/// Name and text of each built-in sweep.
pub static BUILT_IN: &[(&str, &str)] = &[
    ("quick", include_str!("../../../configs/quick.toml")),
    ("article", include_str!("../../../configs/article.toml")),
    ("full", include_str!("../../../configs/full.toml")),
    ("lessons", include_str!("../../../configs/lessons.toml")),
    ("peers", include_str!("../../../configs/peers.toml")),
    ("cpu-peers", include_str!("../../../configs/cpu-peers.toml")),
];

/// Whether a sweep of that name is part of the program.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|(built_in, _)| *built_in == name)
}

/// A sweep file, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepFile {
    /// The name or path it was asked for by.
    pub name: String,
    /// Values that hold for the whole run.
    pub run: RunWide,
    /// Values for every table that does not give its own.
    pub defaults: Layer,
    /// The tables; a file without any is one sweep of its defaults.
    pub tables: Vec<Layer>,
}

/// Reads the built-in sweep of that name, or the file at that path.
pub fn read(name: &str) -> Result<SweepFile> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        return parse(name, text);
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        let built_in = BUILT_IN.iter().map(|(name, _)| *name);
        let near = nearest(name, built_in).unwrap_or_default();
        anyhow!(
            "cannot read sweep file '{name}': {error}; name a TOML file or a built-in sweep such as '{near}'"
        )
    })?;
    parse(name, &text)
}

/// Parses the text of a sweep file; `name` stands in messages, before the line.
fn parse(name: &str, text: &str) -> Result<SweepFile> {
    let file: File = toml::from_str(text).map_err(|error| {
        let (line, problem) = toml_error::explain(text, &error);
        anyhow!("{name}:{line}: {}", misplaced(&problem).unwrap_or(problem))
    })?;
    let Some(tables) = file.sweep.into_iter().map(|table| table.into_layer(name, text)).collect() else {
        bail!("{name}: a table names no variant pattern: write variants = [\"*\"] or leave the key out");
    };
    let defaults = Table {
        ops: file.ops,
        sizes: file.sizes,
        dtypes: file.dtypes,
        backends: file.backends,
        variants: file.variants,
        density: file.density,
        samples: file.samples,
        warmup: file.warmup,
        cache: file.cache,
        precision: file.precision,
        max_time: file.max_time,
        rounds: file.rounds,
    };
    let sim = file.sim.map(|path| Path::new(name).parent().unwrap_or(Path::new("")).join(path));
    let run = RunWide {
        seed: file.seed,
        threads: file.threads,
        pin: file.pin,
        blas: None,
        device: file.device,
        sim,
        cell_timeout_s: file.cell_timeout,
        budget_s: file.budget,
        transfer: file.transfer,
        refine: file.refine,
        peaks: file.peaks,
        require: file.require,
        theme: file.theme,
    };
    let Some(defaults) = defaults.into_layer(name, text) else {
        bail!("{name}: 'variants' names no pattern: write variants = [\"*\"] or leave the key out");
    };
    Ok(SweepFile { name: name.to_owned(), run, defaults, tables })
}

/// Keys that hold for the whole run.
const RUN_WIDE: [&str; 12] = [
    "seed",
    "threads",
    "pin",
    "device",
    "sim",
    "cell-timeout",
    "budget",
    "transfer",
    "refine",
    "peaks",
    "require",
    "theme",
];

/// What to say of a key of the whole run that stands in a table; `None` of anything else.
fn misplaced(problem: &str) -> Option<String> {
    let key = problem.strip_prefix("unknown key '")?.split('\'').next()?;
    let is_run_wide = RUN_WIDE.contains(&key);
    is_run_wide.then(|| format!("'{key}' holds for the whole run: write it above the first [[sweep]]"))
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default, deserialize_with = "values::ops")]
    ops: Option<Vec<String>>,
    #[serde(default, deserialize_with = "values::size_list")]
    sizes: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "values::dtypes")]
    dtypes: Option<Vec<DType>>,
    #[serde(default, deserialize_with = "values::backends")]
    backends: Option<Vec<String>>,
    variants: Option<Spanned<values::Words>>,
    #[serde(default, deserialize_with = "values::density")]
    density: Option<f64>,
    #[serde(default, deserialize_with = "values::samples")]
    samples: Option<u32>,
    #[serde(default, deserialize_with = "values::warmup")]
    warmup: Option<u32>,
    #[serde(default, deserialize_with = "values::caches")]
    cache: Option<Vec<Cache>>,
    #[serde(default, deserialize_with = "values::precision")]
    precision: Option<f64>,
    #[serde(default, deserialize_with = "values::max_time")]
    max_time: Option<f64>,
    #[serde(default, deserialize_with = "values::rounds")]
    rounds: Option<u32>,
    seed: Option<u64>,
    #[serde(default, deserialize_with = "values::threads")]
    threads: Option<Threads>,
    pin: Option<bool>,
    device: Option<u32>,
    sim: Option<String>,
    #[serde(default, deserialize_with = "values::cell_timeout")]
    cell_timeout: Option<f64>,
    #[serde(default, deserialize_with = "values::budget")]
    budget: Option<f64>,
    #[serde(default, deserialize_with = "values::transfer")]
    transfer: Option<HostMemory>,
    refine: Option<bool>,
    peaks: Option<bool>,
    #[serde(default, deserialize_with = "values::backends")]
    require: Option<Vec<String>>,
    #[serde(default, deserialize_with = "values::theme")]
    theme: Option<Theme>,
    #[serde(default)]
    sweep: Vec<Table>,
}

/// A `[[sweep]]` table as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    #[serde(default, deserialize_with = "values::ops")]
    ops: Option<Vec<String>>,
    #[serde(default, deserialize_with = "values::size_list")]
    sizes: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "values::dtypes")]
    dtypes: Option<Vec<DType>>,
    #[serde(default, deserialize_with = "values::backends")]
    backends: Option<Vec<String>>,
    variants: Option<Spanned<values::Words>>,
    #[serde(default, deserialize_with = "values::density")]
    density: Option<f64>,
    #[serde(default, deserialize_with = "values::samples")]
    samples: Option<u32>,
    #[serde(default, deserialize_with = "values::warmup")]
    warmup: Option<u32>,
    #[serde(default, deserialize_with = "values::caches")]
    cache: Option<Vec<Cache>>,
    #[serde(default, deserialize_with = "values::precision")]
    precision: Option<f64>,
    #[serde(default, deserialize_with = "values::max_time")]
    max_time: Option<f64>,
    #[serde(default, deserialize_with = "values::rounds")]
    rounds: Option<u32>,
}

impl Table {
    /// The layer; `None` when its list of patterns is empty.
    fn into_layer(self, name: &str, text: &str) -> Option<Layer> {
        let variants = match self.variants {
            None => None,
            Some(list) => {
                let origin = format!("{name}:{}", toml_error::line_of(text, list.span().start));
                let patterns = pattern::parse_list(&list.get_ref().0, &origin);
                Some(Some(patterns).filter(|patterns| !patterns.is_empty())?)
            }
        };
        Some(Layer {
            ops: self.ops,
            sizes: self.sizes,
            dtypes: self.dtypes,
            backends: self.backends,
            variants,
            density: self.density,
            samples: self.samples,
            warmup: self.warmup,
            caches: self.cache,
            precision: self.precision,
            max_time_s: self.max_time,
            rounds: self.rounds,
        })
    }
}

#[cfg(test)]
mod tests;
