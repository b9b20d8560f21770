//! The type of a finding: its kind, the device or host concerned, the text and the next step.

use gpubench_model::Side;
use serde::Serialize;

use super::table::Table;

/// Kinds of findings, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A GPU or host lacks times that similar ones have.
    MissingTimes,
    /// A GPU or host is slower or faster than similar ones overall.
    Member,
    /// A GPU or host is slower or faster in one cell.
    Cell,
    /// Two similar ones differ, and it is unknown which is the outlier.
    Pair,
    /// Devices of one model have different configurations.
    MixedClasses,
}

/// An outlier or a difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub(crate) kind: Kind,
    pub(crate) side: Side,
    pub(crate) name: String,
    /// Its time over that of similar ones, if the finding is about times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    pub(crate) text: String,
    /// The next step.
    pub next: String,
}

/// At least two similar columns of a table.
pub(super) struct Group<'a> {
    pub table: &'a Table,
    /// Their indices in the table.
    pub columns: Vec<usize>,
}
