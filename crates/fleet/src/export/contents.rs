//! The contents that all formats of a fleet show, and the type of these formats.

use gpubench_model::{Side, format};

use crate::finding::Finding;
use crate::findings::{findings, no_outliers};
use crate::{Fleet, Table};

/// A format of a fleet.
pub type Format = format::Format<Fleet, View>;

/// View options of a fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Use ANSI colours for findings.
    pub color: bool,
}

pub(crate) struct Contents<'a> {
    pub fleet: &'a Fleet,
    /// GPUs, then hosts; without sides of which no member has a time.
    pub tables: Vec<Table>,
    /// Outliers and differences on both sides.
    pub findings: Vec<Finding>,
    /// One line per device class without findings.
    pub(crate) no_outliers: Vec<String>,
}

impl<'a> Contents<'a> {
    pub(crate) fn of(fleet: &'a Fleet) -> Contents<'a> {
        let tables: Vec<Table> = [Side::Gpu, Side::Cpu]
            .into_iter()
            .map(|side| Table::of(fleet, side))
            .filter(Table::has_times)
            .collect();
        let findings: Vec<Finding> = tables.iter().flat_map(findings).collect();
        let no_outliers = tables.iter().flat_map(|table| no_outliers(table, &findings)).collect();
        Contents { fleet, tables, findings, no_outliers }
    }
}
