//! Writes reports as text, charts and pages for `gpubench show`, `plot` and `report`.

#![forbid(unsafe_code)]

pub mod chart;
pub mod export;
pub mod html;
mod newest;

pub use newest::newest;
