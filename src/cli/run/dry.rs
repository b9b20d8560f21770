//! Prints the cells of a plan for `gpubench run --dry-run`.

use std::io::{self, Write};

use gpubench_text::count::counted;

use crate::executor::{PlannedCell, max_added_cells};
use crate::op;
use crate::plan::Plan;
use crate::settings::Settings;

/// Writes one line per cell, with the work that all variants of its case share, and the number of cells that
/// refinement may add.
pub(crate) fn write_plan(plan: &Plan, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let widest_of = |length: fn(&PlannedCell) -> usize| plan.cells.iter().map(length).max().unwrap_or(0);
    let widest = widest_of(|planned| name(planned).len()).max("variant".len());
    let widest_op = widest_of(|planned| planned.cell.case.op.len()).max("op".len());
    writeln!(
        out,
        "{:<widest_op$}  {:>8}  {:<5}  {:>8}  {:<widest$}  {:>9}  {:>9}",
        "op", "N", "dtype", "density", "variant", "FLOP", "bytes"
    )?;
    let mut cases = 0;
    let mut previous = None;
    for planned in &plan.cells {
        let case = &planned.cell.case;
        cases += usize::from(previous.replace(case) != Some(case));
        let work = op::find(&case.op).map(|op| op.work(case));
        let figure =
            |figure: Option<f64>| figure.map_or_else(|| "-".into(), |figure| format!("{figure:.3e}"));
        writeln!(
            out,
            "{:<widest_op$}  {:>8}  {:<5}  {:>8}  {:<widest$}  {:>9}  {:>9}",
            case.op,
            case.n,
            case.dtype,
            case.density.map_or_else(|| "-".into(), crate::case::density_text),
            name(planned),
            figure(work.map(|work| work.flop)),
            figure(work.map(|work| work.bytes)),
        )?;
    }
    let (cells, cases) = (counted(plan.cells.len(), "cell"), counted(cases, "case"));
    let refines = settings.asked.refine.unwrap_or(false);
    let added = if refines { max_added_cells(&plan.cells) } else { 0 };
    if added > 0 {
        writeln!(
            out,
            "Refinement may add up to {} near crossovers (--no-refine prevents it).",
            counted(added, "cell")
        )?;
    }
    writeln!(out, "{cells} in {cases}. Dry run: nothing was measured.")
}

fn name(planned: &PlannedCell) -> String {
    format!("{}/{}", planned.cell.backend, planned.cell.variant)
}
