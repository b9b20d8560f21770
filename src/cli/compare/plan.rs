//! `gpubench compare --plan`: prints the number of runs per side needed to detect a slowdown.

use std::fmt::Write as _;

use crate::document::table::Table;
use crate::write::terminal::table_text;
use anyhow::{Result, bail, ensure};
use gpubench_text::grouped::grouped;

use super::CompareArgs;
use crate::compare::planning::{MAX_RUNS, POWER, Plan, Planned, incomparable_cells, most_runs, plans};
use crate::compare::{Policy, load};
use crate::report::quantity::spread_text;

/// Default slowdown of a plan.
const SLOWDOWN: f64 = 0.03;

/// Slowdowns that a plan shows besides the requested one.
const SLOWDOWNS: [f64; 5] = [0.01, 0.02, 0.03, 0.05, 0.10];

/// Computes the plan and formats it.
pub(crate) fn plan(args: &CompareArgs, policy: &Policy) -> Result<String> {
    let runs = load::runs(&args.plan)?;
    if let Some((cell, reason)) = incomparable_cells(&runs).first() {
        bail!(
            "the runs of {cell} cannot be compared: {reason}; plan with runs of one build and one kind of device"
        );
    }
    let slowdowns: Vec<f64> = std::iter::once(args.slowdown.unwrap_or(SLOWDOWN)).chain(SLOWDOWNS).collect();
    let plans = plans(&runs, &slowdowns, policy);
    let [asked, others @ ..] = plans.as_slice() else { bail!("no slowdown to plan for") };
    ensure!(
        !asked.cells.is_empty(),
        "no cell of {} has a time: use a report with measured cells",
        args.plan[0].display()
    );
    Ok(text(asked, others))
}

fn text(asked: &Plan, others: &[Plan]) -> String {
    let mut listing = Table::listing(&["Op", "Variant", "Cells", "Variation", "Runs per side"]);
    for group in groups(asked) {
        listing.row(group);
    }
    let source = match asked.measured {
        true => "measured from these runs",
        false => {
            "assumed, because no cell has a time in several runs; to measure it, name several runs of one sweep"
        }
    };
    let mut text = format!(
        "To detect a slowdown of {} in any cell with a chance of {} %, compare with --threshold {}\nand this number of runs per side:\n\n{}\n",
        spread_text(asked.slowdown),
        100.0 * POWER,
        spread_text(asked.threshold),
        table_text(&listing, false),
    );
    let _ = writeln!(text, "Variation between runs: {source}.\nEach row shows its noisiest cell.\n");
    if most_runs(&asked.cells).is_none() {
        let _ = writeln!(
            text,
            "No number of runs up to {MAX_RUNS} detects this in every cell. Name a larger --slowdown, lower the variation (close\nother programs, raise --max-time), or leave the noisiest cells out of the sweep.\n"
        );
    }
    let mut steps = Table::listing(&["Slowdown", "--threshold", "Runs per side (all cells)"]);
    for plan in others {
        steps.row(vec![
            spread_text(plan.slowdown),
            spread_text(plan.threshold),
            runs_text(most_runs(&plan.cells)),
        ]);
    }
    text.push_str(&table_text(&steps, false));
    text
}

/// Returns one line per op and variant: the number of cells, the largest variation, the largest number of runs.
fn groups(plan: &Plan) -> Vec<Vec<String>> {
    let variant = |planned: &Planned| format!("{}/{}", planned.cell.backend, planned.cell.variant);
    let cells = plan.cells.iter().map(|planned| ((planned.cell.case.op.as_str(), variant(planned)), planned));
    let line = |((op, variant), cells): ((&str, String), Vec<&Planned>)| {
        let variation = cells.iter().map(|cell| cell.variation_between_runs).fold(0.0, f64::max);
        let runs = most_runs(cells.iter().copied());
        vec![op.to_owned(), variant, cells.len().to_string(), spread_text(variation), runs_text(runs)]
    };
    grouped(cells).into_iter().map(line).collect()
}

fn runs_text(runs: Option<usize>) -> String {
    runs.map_or_else(|| format!("over {MAX_RUNS}"), |runs| runs.to_string())
}
