//! Prints the cells of a plan for `gpubench run --dry-run`.

use std::io::{self, Write};

use gpubench_text::control::spelled_out;
use gpubench_text::count::counted;

use crate::case::{Cell, Family};
use crate::document::table::{Column, Field, Layout, Table};
use crate::executor::PlannedCell;
use crate::op;
use crate::plan::Plan;
use crate::settings::Settings;
use crate::write::terminal::table_text;

/// Writes one line per cell, with the work that all variants of its case share.
pub(crate) fn write_plan(plan: &Plan, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(table_text(&cells(plan), false).as_bytes())?;
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

fn cells(plan: &Plan) -> Table {
    let family = Family::column(plan.cells.iter().map(|planned| planned.cell.case.family()));
    let mut columns = vec![Column::words("op"), Column::figures("N"), Column::words("dtype")];
    columns.extend([Column::figures(family), Column::words("variant")]);
    columns.extend(["FLOP", "bytes"].map(Column::figures));
    let row = |planned: &PlannedCell| -> Vec<Field> {
        let Cell { case, backend, variant, .. } = &planned.cell;
        let work = op::find(&case.op).map(|op| op.work(case));
        // Of an operation of the user's own the work may be unknown.
        let figure = |figure: Option<f64>| {
            let known = figure.filter(|figure| *figure > 0.0);
            Field::from(known.map_or_else(|| "-".into(), |figure| format!("{figure:.3e}")))
        };
        vec![
            case.op.clone().into(),
            case.n.to_string().into(),
            case.dtype.to_string().into(),
            case.family().text().unwrap_or_else(|| "-".into()).into(),
            format!("{backend}/{variant}").into(),
            figure(work.map(|work| work.flop)),
            figure(work.map(|work| work.bytes)),
        ]
    };
    Table::untitled(columns, plan.cells.iter().map(row).collect()).laid_out(Layout::Listing)
}
