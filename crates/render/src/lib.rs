//! Makes text, charts and pages of reports: what `gpubench show`, `plot` and `report` print. Starts nothing and touches no device.

#![forbid(unsafe_code)]

pub mod chart;
pub mod export;
pub mod html;
