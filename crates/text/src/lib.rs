//! Reads and writes text for people: words from fixed lists, globs, durations, percentages, values and errors of TOML
//! files. It contains nothing about benchmarks.

#![forbid(unsafe_code)]

pub mod csv;
pub mod duration;
pub mod glob;
pub mod grid;
pub mod pattern;
pub mod percent;
pub mod size_filter;
pub mod toml_error;
pub mod toml_reader;
pub mod toml_value;
pub mod words;
