//! Sweep files: TOML with defaults at the top and `[[sweep]]` tables below; the built-in ones are embedded.

use std::fmt;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use toml::Spanned;

use crate::backend::HostMemory;
use crate::case::{Cache, DType};
use crate::settings::layer::{Layer, RunWide, limits};
use crate::settings::{duration, mistake, pattern, percent, sizes, words};

/// Name and text of each built-in sweep.
pub static BUILT_IN: &[(&str, &str)] = &[
    ("quick", include_str!("../../configs/quick.toml")),
    ("article", include_str!("../../configs/article.toml")),
    ("full", include_str!("../../configs/full.toml")),
];

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
        let near = words::nearest(name, built_in).unwrap_or_default();
        anyhow!(
            "cannot read sweep file '{name}': {error}; name a TOML file or a built-in sweep such as '{near}'"
        )
    })?;
    parse(name, &text)
}

/// Parses the text of a sweep file; `name` stands in messages, before the line.
fn parse(name: &str, text: &str) -> Result<SweepFile> {
    let file: File = toml::from_str(text).map_err(|error| {
        let (line, problem) = mistake::explain(text, &error);
        anyhow!("{name}:{line}: {problem}")
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
        device: file.device,
        sim,
        cell_timeout_s: file.cell_timeout,
        budget_s: file.budget,
        transfer: file.transfer,
        require: file.require,
    };
    let Some(defaults) = defaults.into_layer(name, text) else {
        bail!("{name}: 'variants' names no pattern: write variants = [\"*\"] or leave the key out");
    };
    Ok(SweepFile { name: name.to_owned(), run, defaults, tables })
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default, deserialize_with = "ops")]
    ops: Option<Vec<String>>,
    #[serde(default, deserialize_with = "size_list")]
    sizes: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "dtypes")]
    dtypes: Option<Vec<DType>>,
    #[serde(default, deserialize_with = "backends")]
    backends: Option<Vec<String>>,
    variants: Option<Spanned<Words>>,
    #[serde(default, deserialize_with = "density")]
    density: Option<f64>,
    #[serde(default, deserialize_with = "samples")]
    samples: Option<u32>,
    #[serde(default, deserialize_with = "warmup")]
    warmup: Option<u32>,
    #[serde(default, deserialize_with = "caches")]
    cache: Option<Vec<Cache>>,
    #[serde(default, deserialize_with = "precision")]
    precision: Option<f64>,
    #[serde(default, deserialize_with = "max_time")]
    max_time: Option<f64>,
    #[serde(default, deserialize_with = "rounds")]
    rounds: Option<u32>,
    seed: Option<u64>,
    #[serde(default, deserialize_with = "threads")]
    threads: Option<usize>,
    device: Option<u32>,
    sim: Option<String>,
    #[serde(default, deserialize_with = "cell_timeout")]
    cell_timeout: Option<f64>,
    #[serde(default, deserialize_with = "budget")]
    budget: Option<f64>,
    #[serde(default, deserialize_with = "transfer")]
    transfer: Option<HostMemory>,
    #[serde(default, deserialize_with = "backends")]
    require: Option<Vec<String>>,
    #[serde(default)]
    sweep: Vec<Table>,
}

/// A `[[sweep]]` table as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    #[serde(default, deserialize_with = "ops")]
    ops: Option<Vec<String>>,
    #[serde(default, deserialize_with = "size_list")]
    sizes: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "dtypes")]
    dtypes: Option<Vec<DType>>,
    #[serde(default, deserialize_with = "backends")]
    backends: Option<Vec<String>>,
    variants: Option<Spanned<Words>>,
    #[serde(default, deserialize_with = "density")]
    density: Option<f64>,
    #[serde(default, deserialize_with = "samples")]
    samples: Option<u32>,
    #[serde(default, deserialize_with = "warmup")]
    warmup: Option<u32>,
    #[serde(default, deserialize_with = "caches")]
    cache: Option<Vec<Cache>>,
    #[serde(default, deserialize_with = "precision")]
    precision: Option<f64>,
    #[serde(default, deserialize_with = "max_time")]
    max_time: Option<f64>,
    #[serde(default, deserialize_with = "rounds")]
    rounds: Option<u32>,
}

impl Table {
    /// The layer; `None` when its list of patterns is empty.
    fn into_layer(self, name: &str, text: &str) -> Option<Layer> {
        let variants = match self.variants {
            None => None,
            Some(list) => {
                let origin = format!("{name}:{}", mistake::line_of(text, list.span().start));
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

/// A list of words or whole numbers, or one text of the command line's form; joined by commas.
struct Words(String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsVisitor)
    }
}

struct WordsVisitor;

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list such as [\"matmul\", \"fft\"] or [100, 1000], or a text such as \"100..2000:x2\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Words, E> {
        Ok(Words(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Words, E> {
        Ok(Words(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Words, A::Error> {
        let mut words = Vec::new();
        while let Some(Words(word)) = items.next_element()? {
            words.push(word);
        }
        Ok(Words(words.join(",")))
    }
}

/// One word or figure with its unit, such as `"2s"`, `"0.5%"` or `"cold"`; a bare number is taken as it is written.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor)
    }
}

struct WordVisitor;

impl Visitor<'_> for WordVisitor {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text such as \"2s\", \"0.5%\" or \"cold\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Word, E> {
        Ok(Word(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Word, E> {
        Ok(Word(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Word, E> {
        Ok(Word(number.to_string()))
    }
}

/// Reads a value and turns it into what a parser of the command line makes of it.
fn checked<'de, D, V, T>(deserializer: D, parse: impl Fn(V) -> Result<T>) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    parse(V::deserialize(deserializer)?).map(Some).map_err(de::Error::custom)
}

fn ops<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    checked(deserializer, |Words(text)| words::ops(&text))
}

fn size_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u64>>, D::Error> {
    checked(deserializer, |Words(text)| sizes::parse(&text))
}

fn dtypes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<DType>>, D::Error> {
    checked(deserializer, |Words(text)| words::dtypes(&text))
}

fn backends<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    checked(deserializer, |Words(text)| words::backends(&text))
}

fn density<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, limits::density)
}

fn samples<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    checked(deserializer, limits::samples)
}

fn warmup<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    checked(deserializer, limits::warmup)
}

fn threads<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    checked(deserializer, limits::threads)
}

fn cell_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Word(text)| duration::parse(&text).and_then(limits::cell_timeout))
}

fn caches<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Cache>>, D::Error> {
    checked(deserializer, |Word(text)| words::caches(&text))
}

fn precision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Word(text)| percent::parse(&text))
}

fn max_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Word(text)| duration::parse(&text).and_then(limits::max_time))
}

fn rounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    checked(deserializer, limits::rounds)
}

fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Word(text)| duration::parse(&text).and_then(limits::budget))
}

fn transfer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<HostMemory>, D::Error> {
    checked(deserializer, |Word(text)| words::transfer(&text))
}

#[cfg(test)]
mod tests;
