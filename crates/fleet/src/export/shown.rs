//! Everything that is shown of a fleet, and the type of its formats.

use gpubench_model::{Side, format};

use crate::finding::Finding;
use crate::findings::{calm, findings};
use crate::{Fleet, Table};

/// A format of a fleet.
pub type Format = format::Format<Fleet, View>;

/// How a fleet is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// ANSI colours for what stands out.
    pub color: bool,
}

pub(crate) struct Shown<'a> {
    pub fleet: &'a Fleet,
    /// GPUs, then hosts; sides that no member has are left out.
    pub tables: Vec<Table>,
    /// What stands out on either side.
    pub findings: Vec<Finding>,
    /// The kinds of which there is nothing to tell, a line each.
    pub(crate) calm: Vec<String>,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(fleet: &'a Fleet) -> Shown<'a> {
        let tables: Vec<Table> = [Side::Gpu, Side::Cpu]
            .into_iter()
            .map(|side| Table::of(fleet, side))
            .filter(|table| !table.columns.is_empty())
            .collect();
        let findings: Vec<Finding> = tables.iter().flat_map(findings).collect();
        let calm = tables.iter().flat_map(|table| calm(table, &findings)).collect();
        Shown { fleet, tables, findings, calm }
    }
}
