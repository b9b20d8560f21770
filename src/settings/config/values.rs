//! The values of a sweep file as written: lists, words and figures, each checked as on the command line.

use std::fmt;

use anyhow::Result;
use gpubench_text::toml_value::{Scalar, checked};
use gpubench_text::{duration, percent};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use crate::backend::HostMemory;
use crate::case::{Cache, DType};
use crate::chart::Theme;
use crate::settings::layer::limits;
use crate::settings::threads::{self, Threads};
use crate::settings::{sizes, words};

/// A list of words or whole numbers, or one text of the command line's form; joined by commas.
pub struct Words(pub String);

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

/// Names of ops.
pub fn ops<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    checked(deserializer, |Words(text)| words::ops(&text))
}

/// Sides of operands.
pub fn size_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u64>>, D::Error> {
    checked(deserializer, |Words(text)| sizes::parse(&text))
}

/// Element types.
pub fn dtypes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<DType>>, D::Error> {
    checked(deserializer, |Words(text)| words::dtypes(&text))
}

/// Names of backends.
pub fn backends<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    checked(deserializer, |Words(text)| words::backends(&text))
}

/// A share of stored entries.
pub fn density<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, limits::density)
}

/// A number of samples.
pub fn samples<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    checked(deserializer, limits::samples)
}

/// A number of warm-up executions.
pub fn warmup<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    checked(deserializer, limits::warmup)
}

/// Numbers of CPU threads.
pub fn threads<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Threads>, D::Error> {
    checked(deserializer, |Scalar(text)| threads::parse(&text))
}

/// The time limit of a cell, in seconds.
pub fn cell_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Scalar(text)| duration::parse(&text).and_then(limits::cell_timeout))
}

/// States of the caches.
pub fn caches<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Cache>>, D::Error> {
    checked(deserializer, |Scalar(text)| words::caches(&text))
}

/// A share of the median.
pub fn precision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Scalar(text)| percent::parse(&text))
}

/// The sampling time of a cell, in seconds.
pub fn max_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Scalar(text)| duration::parse(&text).and_then(limits::max_time))
}

/// A number of rounds.
pub fn rounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    checked(deserializer, limits::rounds)
}

/// The time of a run, in seconds.
pub fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Scalar(text)| duration::parse(&text).and_then(limits::budget))
}

/// Where host data lies.
pub fn transfer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<HostMemory>, D::Error> {
    checked(deserializer, |Scalar(text)| words::transfer(&text))
}

/// The look of charts.
pub fn theme<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Theme>, D::Error> {
    checked(deserializer, |Scalar(text)| words::theme(&text))
}
