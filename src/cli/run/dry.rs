//! Prints the cells of a plan for `gpubench run --dry-run`.

use crate::case::Family;
use std::io::{self, Write};

use gpubench_text::control::spelled_out;
use gpubench_text::count::counted;

use crate::executor::PlannedCell;
use crate::op;
use crate::plan::Plan;
use crate::settings::Settings;

/// Writes one line per cell, with the work that all variants of its case share.
pub(crate) fn write_plan(plan: &Plan, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    write_cells(plan, out)?;
    let cases = plan.cells.chunk_by(|a, b| a.cell.case == b.cell.case).count();
    let (cells, cases) = (counted(plan.cells.len(), "cell"), counted(cases, "case"));
    if settings.asked.refine.unwrap_or(false) {
        writeln!(out, "Refinement may add cells near crossovers (--no-refine prevents it).")?;
    }
    for absent in &plan.absent {
        let reason = absent.reason.as_deref().unwrap_or("it does not start");
        writeln!(out, "No GPU found, so no cell of {} is planned: {}.", absent.name, spelled_out(reason))?;
    }
    writeln!(out, "{cells} in {cases}. Dry run: nothing was measured.")
}

fn write_cells(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let widest_of = |length: fn(&PlannedCell) -> usize| plan.cells.iter().map(length).max().unwrap_or(0);
    let widest = widest_of(|planned| name(planned).len()).max("variant".len());
    let widest_op = widest_of(|planned| planned.cell.case.op.len()).max("op".len());
    let widest_family = widest_of(|planned| family(planned).len()).max(8);
    let heading = Family::column(plan.cells.iter().map(|planned| planned.cell.case.family()));
    writeln!(
        out,
        "{:<widest_op$}  {:>8}  {:<5}  {:>widest_family$}  {:<widest$}  {:>9}  {:>9}",
        "op", "N", "dtype", heading, "variant", "FLOP", "bytes"
    )?;
    for planned in &plan.cells {
        let case = &planned.cell.case;
        let work = op::find(&case.op).map(|op| op.work(case));
        // Of an operation of the user's own the work may be unknown.
        let figure = |figure: Option<f64>| {
            figure.filter(|figure| *figure > 0.0).map_or_else(|| "-".into(), |figure| format!("{figure:.3e}"))
        };
        writeln!(
            out,
            "{:<widest_op$}  {:>8}  {:<5}  {:>widest_family$}  {:<widest$}  {:>9}  {:>9}",
            case.op,
            case.n,
            case.dtype,
            family(planned),
            name(planned),
            figure(work.map(|work| work.flop)),
            figure(work.map(|work| work.bytes)),
        )?;
    }
    Ok(())
}

fn family(planned: &PlannedCell) -> String {
    planned.cell.case.family().text().unwrap_or_else(|| "-".into())
}

fn name(planned: &PlannedCell) -> String {
    format!("{}/{}", planned.cell.backend, planned.cell.variant)
}
