//! `gpubench compare --plan`: prints the number of runs per side needed to detect a slowdown, as text or JSON.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail, ensure};
use gpubench_text::table::Table;
use serde::Serialize;

use crate::case::{Cache, Case};
use crate::cli::args::CompareArgs;
use crate::compare::calibration::mixed;
use crate::compare::plan::{self, MAX_RUNS, POWER, Plan};
use crate::compare::{Policy, load};
use crate::report::file::to_json;
use crate::report::quantity::spread_text;

/// Default slowdown of a plan.
const SEE: f64 = 0.03;

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
    if let Some((cell, reason)) = mixed(&runs).first() {
        bail!(
            "the runs of {cell} cannot be compared: {reason}; plan with runs of one build and one kind of device"
        );
    }
    let slowdowns: Vec<f64> = std::iter::once(args.see.unwrap_or(SEE)).chain(SLOWDOWNS).collect();
    let plans = plan::plans(&runs, &slowdowns, policy);
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
    let spread = match asked.measured {
        true => "measured from these runs",
        false => {
            "assumed, because no cell has a time in several runs; to measure it, name several runs of one sweep"
        }
    };
    let mut text = format!(
        "To detect a slowdown of {} in any cell with a chance of {} %, compare with --threshold {}\nand this number of runs per side:\n\n{}\n",
        spread_text(asked.see),
        100.0 * POWER,
        spread_text(asked.threshold),
        listing.text_without_title(false),
    );
    let _ = writeln!(text, "Variation between runs: {spread}.\nEach row shows its noisiest cell.\n");
    let mut steps = Table::listing(&["Slowdown", "--threshold", "Runs per side (all cells)"]);
    for plan in others {
        steps.row(vec![spread_text(plan.see), spread_text(plan.threshold), runs_text(plan.runs())]);
    }
    text.push_str(&steps.text_without_title(false));
    Ok(text)
}

/// Returns one line per op and variant: the number of cells, the largest variation, the largest number of runs.
fn groups(plan: &Plan) -> Vec<Vec<String>> {
    let mut groups: Vec<(String, String, usize, f64, Option<usize>)> = Vec::new();
    for planned in &plan.cells {
        let variant = format!("{}/{}", planned.cell.backend, planned.cell.variant);
        let place = groups.iter().position(|(op, name, ..)| *op == planned.cell.case.op && *name == variant);
        let place = place.unwrap_or_else(|| {
            groups.push((planned.cell.case.op.clone(), variant, 0, 0.0, Some(0)));
            groups.len() - 1
        });
        let (_, _, cells, spread, runs) = &mut groups[place];
        *cells += 1;
        *spread = spread.max(planned.run_spread);
        *runs = runs.zip(planned.runs).map(|(most, runs)| most.max(runs));
    }
    let line = |(op, variant, cells, spread, runs): (String, String, usize, f64, Option<usize>)| {
        vec![op, variant, cells.to_string(), spread_text(spread), runs_text(runs)]
    };
    groups.into_iter().map(line).collect()
}

fn runs_text(runs: Option<usize>) -> String {
    runs.map_or_else(|| format!("over {MAX_RUNS}"), |runs| runs.to_string())
}

/// A plan as JSON; `runs` is null if [`MAX_RUNS`] are too few.
#[derive(Serialize)]
struct Document<'a> {
    gpubench_version: &'static str,
    see: f64,
    threshold: f64,
    power: f64,
    measured: bool,
    runs: Option<usize>,
    cells: Vec<CellEntry<'a>>,
    #[serde(rename = "ladder")]
    slowdowns: Vec<SlowdownEntry>,
}

#[derive(Serialize)]
struct CellEntry<'a> {
    #[serde(flatten)]
    case: &'a Case,
    backend: &'a str,
    variant: &'a str,
    cache: Cache,
    run_spread: f64,
    runs: Option<usize>,
}

#[derive(Serialize)]
struct SlowdownEntry {
    see: f64,
    threshold: f64,
    runs: Option<usize>,
}

fn json(asked: &Plan, others: &[Plan]) -> Result<String> {
    let cells = asked.cells.iter().map(|planned| CellEntry {
        case: &planned.cell.case,
        backend: &planned.cell.backend,
        variant: &planned.cell.variant,
        cache: planned.cell.cache,
        run_spread: planned.run_spread,
        runs: planned.runs,
    });
    let document = Document {
        gpubench_version: env!("CARGO_PKG_VERSION"),
        see: asked.see,
        threshold: asked.threshold,
        power: POWER,
        measured: asked.measured,
        runs: asked.runs(),
        cells: cells.collect(),
        slowdowns: others
            .iter()
            .map(|plan| SlowdownEntry { see: plan.see, threshold: plan.threshold, runs: plan.runs() })
            .collect(),
    };
    String::from_utf8(to_json(&document)?).context("cannot write the plan as JSON")
}
