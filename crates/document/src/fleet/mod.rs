//! The document of a fleet.

pub mod finding;
pub mod findings;
pub mod table;
