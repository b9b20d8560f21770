//! Everything that is shown of a fleet, and the type of its formats.

use gpubench_model::{Side, format};

use crate::finding::Finding;
use crate::findings::{findings, no_outliers};
use crate::{Fleet, Table};

/// A format of a fleet.
pub type Format = format::Format<Fleet, View>;

/// How a fleet is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// ANSI colours for what stands out.
    pub color: bool,
}

pub(crate) struct Contents<'a> {
    pub fleet: &'a Fleet,
    /// GPUs, then hosts; sides that no member has are left out.
    pub tables: Vec<Table>,
    /// What stands out on either side.
    pub findings: Vec<Finding>,
    /// The kinds of which there is nothing to tell, a line each.
    pub(crate) no_outliers: Vec<String>,
}

impl<'a> Contents<'a> {
    pub(crate) fn of(fleet: &'a Fleet) -> Contents<'a> {
        let tables: Vec<Table> = [Side::Gpu, Side::Cpu]
            .into_iter()
            .map(|side| Table::of(fleet, side))
            .filter(|table| !table.columns.is_empty())
            .collect();
        let findings: Vec<Finding> = tables.iter().flat_map(findings).collect();
        let no_outliers = tables.iter().flat_map(|table| no_outliers(table, &findings)).collect();
        Contents { fleet, tables, findings, no_outliers }
    }
}
