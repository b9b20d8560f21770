//! Turns what is derived from reports into headings, paragraphs, tables and remarks, once for every medium.

#![forbid(unsafe_code)]

pub mod advice;
pub mod blocks;
pub mod calls;
pub mod comparison;
pub mod fleet;
pub mod report;
pub mod table;
pub mod trend;
