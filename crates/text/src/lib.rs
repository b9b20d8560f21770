//! Reads and writes text: words from fixed lists, globs, durations, percentages, values and errors of TOML files; tables as
//! text, Markdown, CSV and HTML, and the escapes of these languages; colours. It contains nothing about benchmarks.

#![forbid(unsafe_code)]

pub mod control;
pub mod count;
pub mod csv;
pub mod cut;
pub mod duration;
pub mod escape;
pub mod file;
pub mod glob;
pub mod grouped;
pub mod limited;
pub mod markup;
pub mod palette;
pub mod percent;
pub mod size_filter;
pub mod table;
pub mod toml_error;
pub mod toml_reader;
pub mod toml_value;
pub mod words;
