//! What a finding is: its kind, whom it is about, and its two sentences.

use gpubench_model::Side;
use serde::Serialize;

use super::table::Table;

/// Kinds of findings, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A GPU or host has no time where like ones have.
    #[serde(rename = "lost")]
    MissingTimes,
    /// A GPU or host as a whole is slower or faster than like ones.
    Member,
    /// One of its cells is.
    Cell,
    /// Two like ones differ, and it is unknown which is unusual.
    Pair,
    /// Ones of the same model are not alike.
    #[serde(rename = "unlike")]
    MixedClasses,
}

/// Something that stands out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub(crate) kind: Kind,
    pub(crate) side: Side,
    pub(crate) name: String,
    /// Its time over that of like ones, where the finding is about times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    pub(crate) text: String,
    /// What to look at.
    pub next: String,
}

/// Columns of a table that are alike, at least two.
pub(super) struct Group<'a> {
    pub table: &'a Table,
    /// Their places in the table.
    pub columns: Vec<usize>,
}
