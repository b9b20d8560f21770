//! Prints the cells of a plan for `gpubench run --dry-run`.

use crate::case::Family;
use std::io::{self, Write};

use gpubench_text::control::spelled_out;
use gpubench_text::count::counted;

use super::measure::peaks;
use crate::backend::{BACKENDS, External};
use crate::executor::{PlannedCell, RunEstimate, estimate};
use crate::op;
use crate::plan::refinement::max_added_cells;
use crate::plan::{Plan, obstacles};
use crate::settings::Settings;

/// Writes one line per cell, with the work that all variants of its case share and the reason if it cannot run, the number of
/// cells that refinement may add, and the time that `run`, such as `The run`, is expected to take.
pub(crate) fn write_plan(
    plan: &Plan,
    settings: &Settings,
    externals: &[External],
    run: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let obstacles = obstacles(plan, settings, externals).map_err(io::Error::other)?;
    write_cells(plan, &obstacles, out)?;
    let with_obstacles = plan.cells.iter().zip(&obstacles);
    let runnable: Vec<PlannedCell> = with_obstacles
        .filter(|(_, obstacle)| obstacle.is_none())
        .map(|(planned, _)| planned.clone())
        .collect();
    let cases = plan.cells.chunk_by(|a, b| a.cell.case == b.cell.case).count();
    let (cells, cases) = (counted(plan.cells.len(), "cell"), counted(cases, "case"));
    let refines = settings.asked.refine.unwrap_or(false);
    let added = if refines { max_added_cells(&runnable) } else { 0 };
    if added > 0 {
        writeln!(
            out,
            "Refinement may add up to {} near crossovers (--no-refine prevents it).",
            counted(added, "cell")
        )?;
    }
    for absent in &plan.absent {
        let reason = absent.reason.as_deref().unwrap_or("it does not start");
        writeln!(out, "No GPU found, so no cell of {} is planned: {}.", absent.name, spelled_out(reason))?;
    }
    match plan.cells.len() - runnable.len() {
        0 => {}
        all if runnable.is_empty() => writeln!(out, "None of {} can run here.", counted(all, "cell"))?,
        some => writeln!(out, "{} cannot run here.", counted(some, "cell"))?,
    }
    let asked = &settings.asked;
    let budget_s = asked.budget.map(|budget| budget.0);
    let cell_s = asked.cell_timeout.unwrap_or_default().0;
    let peaks = peaks(asked.peaks.unwrap_or(true));
    if let Some(estimate) = estimate(&runnable, BACKENDS, &peaks, budget_s, cell_s) {
        writeln!(out, "{run} takes about {}.", time_text(&estimate))?;
        if budget_s.is_none() {
            writeln!(out, "{}", basis_text(&estimate))?;
        }
    }
    writeln!(out, "{cells} in {cases}. Dry run: nothing was measured.")
}

fn write_cells(plan: &Plan, obstacles: &[Option<String>], out: &mut dyn Write) -> io::Result<()> {
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
    for (planned, obstacle) in plan.cells.iter().zip(obstacles) {
        let case = &planned.cell.case;
        let work = op::find(&case.op).map(|op| op.work(case));
        // Of an operation of the user's own the work may be unknown.
        let figure = |figure: Option<f64>| {
            figure.filter(|figure| *figure > 0.0).map_or_else(|| "-".into(), |figure| format!("{figure:.3e}"))
        };
        writeln!(
            out,
            "{:<widest_op$}  {:>8}  {:<5}  {:>widest_family$}  {:<widest$}  {:>9}  {:>9}{}",
            case.op,
            case.n,
            case.dtype,
            family(planned),
            name(planned),
            figure(work.map(|work| work.flop)),
            figure(work.map(|work| work.bytes)),
            obstacle
                .as_ref()
                .map(|reason| format!("  cannot run: {}", spelled_out(reason)))
                .unwrap_or_default(),
        )?;
    }
    Ok(())
}

/// Describes the expected time, such as "12 s to 40 s".
fn time_text(estimate: &RunEstimate) -> String {
    let [least, most] = estimate.seconds.map(duration_text);
    let range = if least == most { least } else { format!("{least} to {most}") };
    let peaks =
        if estimate.measures_peaks { ", with the peaks, which are measured once per machine" } else { "" };
    format!("{range}{peaks}")
}

/// Says what the expected time rests on.
fn basis_text(estimate: &RunEstimate) -> String {
    let rates = match estimate.peaks_are_known {
        true => "the peaks that a run has measured here",
        false => "the usual rates of such CPUs, since no run has measured the peaks here",
    };
    format!("That rests on the work of the cells and {rates}, and holds while no other program uses the CPU.")
}

/// Writes seconds with two digits, in seconds, minutes or hours.
fn duration_text(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 100.0 => (s, "s"),
        s if s < 6000.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    let digits = usize::from(value < 9.95);
    let text = format!("{value:.digits$}");
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}

fn family(planned: &PlannedCell) -> String {
    planned.cell.case.family().text().unwrap_or_else(|| "-".into())
}

fn name(planned: &PlannedCell) -> String {
    format!("{}/{}", planned.cell.backend, planned.cell.variant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_time_has_two_digits_and_its_own_units() {
        let text = |seconds, measures_peaks| {
            time_text(&RunEstimate { seconds, measures_peaks, peaks_are_known: !measures_peaks })
        };
        assert_eq!(text([10.4, 33.5], false), "10 s to 34 s");
        assert_eq!(text([4.96, 99.0], false), "5 s to 99 s");
        assert_eq!(text([65.0, 310.0], false), "65 s to 5.2 min");
        assert_eq!(text([1200.0, 1200.0], false), "20 min");
        assert_eq!(text([5400.0, 90_000.0], false), "90 min to 25 h");
        let first = "1 s to 2 s, with the peaks, which are measured once per machine";
        assert_eq!(text([1.0, 2.0], true), first);
    }
}
