//! Parses the words of the command line and of sweep files: ops, element types, backends, formats.

use anyhow::{Result, bail, ensure};
use gpubench_model::pattern::{self, Pattern};
use gpubench_text::words::{choose, unknown};
use serde::Deserializer;

use crate::backend::{BACKENDS, HostMemory};
use crate::case::{Cache, DType};
use crate::chart::{self, ChartKind, Selection, Theme};
use crate::export::FORMATS;
use crate::op::OPS;
use crate::settings::Format;
use crate::settings::value::{Form, Words};

/// Parses names of ops; returns them in the order of [`OPS`].
pub fn ops(text: &str) -> Result<Vec<String>> {
    let valid: Vec<&str> = OPS.iter().map(|op| op.name()).collect();
    Ok(choose("op", text, &valid)?.into_iter().map(|place| valid[place].to_owned()).collect())
}

/// Parses names of backends; returns them in the order of [`BACKENDS`]. `all` excludes the simulated device.
pub fn backends(text: &str) -> Result<Vec<String>> {
    let valid: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
    if let Some(word) = text.split(',').map(str::trim).find(|word| GPU_WORDS.contains(word)) {
        bail!("unknown backend '{word}': did you mean 'cuda'? (valid: {})", valid.join(", "));
    }
    let text = text.split(',').map(|item| if item.trim() == "all" { DEFAULT_BACKENDS } else { item });
    let text = text.collect::<Vec<_>>().join(",");
    Ok(choose("backend", &text, &valid)?.into_iter().map(|place| valid[place].to_owned()).collect())
}

/// Parses the states of the caches: `cold`, `hot`, or `both`.
pub fn caches(text: &str) -> Result<Vec<Cache>> {
    let valid = ["cold", "hot", "both"];
    match text.trim() {
        "both" => Ok(Cache::ALL.to_vec()),
        word => match Cache::ALL.iter().find(|cache| cache.name() == word) {
            Some(cache) => Ok(vec![*cache]),
            None => bail!("{}", unknown("state of the caches", word, &valid)),
        },
    }
}

/// Parses the host memory of copies: `pageable` or `pinned`.
pub fn transfer(text: &str) -> Result<HostMemory> {
    let valid = [HostMemory::Pageable, HostMemory::Pinned];
    match valid.iter().find(|memory| memory.name() == text.trim()) {
        Some(memory) => Ok(*memory),
        None => bail!("{}", unknown("kind of host memory", text.trim(), &valid.map(HostMemory::name))),
    }
}

/// Parses the theme of charts: `light` or `dark`.
pub fn theme(text: &str) -> Result<Theme> {
    let word = text.trim();
    match Theme::find(word) {
        Some(theme) => Ok(theme),
        None => bail!("{}", unknown("theme", word, &Theme::ALL.map(Theme::name))),
    }
}

const DEFAULT_BACKENDS: &str = "cpu,cuda";

/// Words that mean `cuda` but are spelt more like `cpu`, which would be suggested otherwise.
const GPU_WORDS: [&str; 4] = ["gpu", "GPU", "nvidia", "NVIDIA"];

/// Returns the backends of a run that names none.
pub fn default_backends() -> Vec<String> {
    DEFAULT_BACKENDS.split(',').map(str::to_owned).collect()
}

/// Parses element types; `float32` and `float64` are aliases.
pub fn dtypes(text: &str) -> Result<Vec<DType>> {
    let valid: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    let text = text.split(',').map(|item| match item.trim() {
        "float32" => "f32",
        "float64" => "f64",
        other => other,
    });
    let text = text.collect::<Vec<_>>().join(",");
    Ok(choose("dtype", &text, &valid)?.into_iter().map(|place| DType::ALL[place]).collect())
}

/// Parses formats of reports; returns them in the order of [`FORMATS`].
pub fn formats(text: &str) -> Result<Vec<Format>> {
    FORMATS.parse(text)
}

/// Parses formats of charts: `png`, `svg`.
pub fn chart_formats(text: &str) -> Result<Vec<chart::Format>> {
    let charts = chart::Format::ALL;
    let places = choose("format", text, &charts.map(chart::Format::extension))?;
    Ok(places.into_iter().map(|place| charts[place]).collect())
}

/// Parses kinds of charts; `all` is every kind.
pub fn charts(text: &str) -> Result<Selection> {
    Ok(Selection::of(choose("chart", text, &ChartKind::ALL.map(ChartKind::name))?))
}

/// Patterns that choose variants. The reader of a sweep file sets their origin, and refuses an empty list.
pub struct Patterns;

impl Form for Patterns {
    type Raw = Vec<Pattern>;
    const QUOTES: bool = true;

    fn from_text(text: &str) -> Result<Vec<Pattern>> {
        let patterns = pattern::parse_list(text, "--variants");
        ensure!(!patterns.is_empty(), "no variant is named: name one, or '*' for all");
        Ok(patterns)
    }

    fn from_toml<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pattern>, D::Error> {
        Words::from_toml(deserializer).map(|list| pattern::parse_list(&list, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_come_out_in_the_registry_s_order_each_word_once() {
        assert_eq!(ops("svd, matmul,svd").ok(), Some(vec!["matmul".to_owned(), "svd".to_owned()]));
        assert_eq!(ops("all").map(|all| all.len()).ok(), Some(OPS.len()));
        assert_eq!(dtypes("float64,f32").ok(), Some(DType::ALL.to_vec()));
        assert_eq!(backends("all").ok(), Some(vec!["cpu".to_owned(), "cuda".to_owned()]));
        assert_eq!(formats("csv,table").ok(), Some(vec![FORMATS.all[0], FORMATS.all[2]]));
    }

    #[test]
    fn messages_name_the_word_the_nearest_one_and_all_of_a_short_list() {
        let message = dtypes("f16").map_err(|e| e.to_string());
        let expected = "unknown dtype 'f16' (valid: f32, f64)";
        assert_eq!(message, Err(expected.to_owned()));
        let message = backends("cpu, gpu").map_err(|e| e.to_string());
        assert_eq!(
            message,
            Err("unknown backend 'gpu': did you mean 'cuda'? (valid: cpu, cuda, sim)".to_owned())
        );
        assert!(ops(" , ").is_err_and(|e| e.to_string().starts_with("name at least one op")));
    }

    proptest! {
        #[test]
        fn no_list_panics(text in ".*") {
            let _ = (ops(&text).is_ok(), dtypes(&text).is_ok(), backends(&text).is_ok(), formats(&text).is_ok());
        }
    }
}
