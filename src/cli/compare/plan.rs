//! `gpubench compare --plan`: prints the number of runs per side needed to detect a slowdown, as text or JSON.

use std::fmt::Write as _;

use crate::document::table::Table;
use crate::write::terminal::table_text;
use anyhow::{Context, Result, bail, ensure};
use gpubench_text::grouped::grouped;
use serde::Serialize;

use super::CompareArgs;
use crate::case::{Cache, Case};
use crate::compare::planning::{MAX_RUNS, POWER, Plan, Planned, incomparable_cells, most_runs, plans};
use crate::compare::{Policy, load};
use crate::report::file::to_json;
use crate::report::quantity::spread_text;

/// Default slowdown of a plan.
const SLOWDOWN: f64 = 0.03;

/// Slowdowns that a plan shows besides the requested one.
const SLOWDOWNS: [f64; 5] = [0.01, 0.02, 0.03, 0.05, 0.10];

/// Computes the plan and formats it.
pub(crate) fn plan(args: &CompareArgs, policy: &Policy) -> Result<String> {
    let render = match args.format.as_deref().map_or("table", str::trim) {
        "table" => text,
        "json" => json,
        other => bail!("--format: --plan prints table or json, not '{other}'"),
    };
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
    render(asked, others)
}

fn text(asked: &Plan, others: &[Plan]) -> Result<String> {
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
    if asked.runs().is_none() {
        let _ = writeln!(
            text,
            "No number of runs up to {MAX_RUNS} detects this in every cell. Name a larger --slowdown, lower the variation (close\nother programs, raise --max-time), or leave the noisiest cells out of the sweep.\n"
        );
    }
    let mut steps = Table::listing(&["Slowdown", "--threshold", "Runs per side (all cells)"]);
    for plan in others {
        steps.row(vec![spread_text(plan.slowdown), spread_text(plan.threshold), runs_text(plan.runs())]);
    }
    text.push_str(&table_text(&steps, false));
    Ok(text)
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

/// Version of the layout of a plan in JSON.
const PLAN_VERSION: u32 = 2;

/// A plan as JSON; `runs_per_side` is null if [`MAX_RUNS`] are too few.
#[derive(Serialize)]
struct PlanDocument<'a> {
    plan_version: u32,
    gpubench_version: &'static str,
    slowdown: f64,
    threshold: f64,
    power: f64,
    /// True if the variation was measured and not assumed.
    variation_measured: bool,
    runs_per_side: Option<usize>,
    cells: Vec<CellEntry<'a>>,
    slowdowns: Vec<SlowdownEntry>,
}

#[derive(Serialize)]
struct CellEntry<'a> {
    #[serde(flatten)]
    case: &'a Case,
    backend: &'a str,
    variant: &'a str,
    cache: Cache,
    variation_between_runs: f64,
    runs_per_side: Option<usize>,
}

#[derive(Serialize)]
struct SlowdownEntry {
    slowdown: f64,
    threshold: f64,
    runs_per_side: Option<usize>,
}

fn json(asked: &Plan, others: &[Plan]) -> Result<String> {
    let cells = asked.cells.iter().map(|planned| CellEntry {
        case: &planned.cell.case,
        backend: &planned.cell.backend,
        variant: &planned.cell.variant,
        cache: planned.cell.cache,
        variation_between_runs: planned.variation_between_runs,
        runs_per_side: planned.runs,
    });
    let slowdown = |plan: &Plan| SlowdownEntry {
        slowdown: plan.slowdown,
        threshold: plan.threshold,
        runs_per_side: plan.runs(),
    };
    let document = PlanDocument {
        plan_version: PLAN_VERSION,
        gpubench_version: env!("CARGO_PKG_VERSION"),
        slowdown: asked.slowdown,
        threshold: asked.threshold,
        power: POWER,
        variation_measured: asked.measured,
        runs_per_side: asked.runs(),
        cells: cells.collect(),
        slowdowns: others.iter().map(slowdown).collect(),
    };
    String::from_utf8(to_json(&document)?).context("cannot write the plan as JSON")
}
