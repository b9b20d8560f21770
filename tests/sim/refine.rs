//! Refinement: the sizes that a run adds near crossovers, within its time limit.

use gpubench::answer::crossover::{Crossover, crossover};
use gpubench::answer::{Kind, Place, sections};
use gpubench::compare::{Policy, Run, Runs, Verdict, compare};
use gpubench::plan::refinement::next_sizes;
use gpubench::report::Report;

use crate::sim::stage::Stage;

/// Times that cross at N = 98.7: a fixed overhead and a power law for the GPU, a power law for the CPU, and a variant
/// that is never near the best.
const LAWS: &str = "
variant = [{ name = 'host', side = 'cpu' }, { name = 'device' }, { name = 'slow' }]
rule = [
    { noise = 0.005 },
    { variant = 'host', time = { per_element = '20ns', exponent = 3 } },
    { variant = 'device', time = { base = '15ms', per_element = '434ns' } },
    { variant = 'slow', time = { base = '300ms', per_element = '10us' } },
]
";

const TRUTH: f64 = 98.7;

fn stage(script: &str, sizes: &[u64], refine: bool) -> Stage {
    let mut stage = Stage::adaptive(script, "sin", sizes);
    stage.run.next_sizes = refine.then_some(next_sizes);
    stage
}

fn resident(report: &Report) -> Crossover<'_> {
    crossover(&sections(report)[0].comparisons, Kind::Resident).unwrap()
}

/// Returns the ends of an interval relative to its middle, and whether it contains the truth.
fn interval(report: &Report) -> (f64, bool) {
    let found = resident(report);
    let (Some(Place::At(_)), [Place::At(low), Place::At(high)]) = (found.from, found.interval) else {
        panic!("{found:?}")
    };
    ((high / low).sqrt(), low <= TRUTH && TRUTH <= high)
}

/// Returns the sizes and variants of the added rows.
fn added(report: &Report) -> Vec<(u64, &str)> {
    let rows = report.rows.iter().filter(|row| row.added_by_refinement);
    rows.map(|row| (row.case.n, row.variant.as_str())).collect()
}

#[test]
fn sizes_near_a_crossover_are_added_until_it_is_known_within_five_percent() {
    let sizes = [32, 128, 512];
    let plain = stage(LAWS, &sizes, false).finish();
    let (times, holds) = interval(&plain);
    assert!(times > 1.05 && holds && added(&plain).is_empty(), "{times}");

    let stage = stage(LAWS, &sizes, true);
    let refined = stage.finish();
    let (times, holds) = interval(&refined);
    assert!(times <= 1.05 && holds, "{:?}", resident(&refined));
    let added = added(&refined);
    assert!(!added.is_empty() && added.len() <= 8, "{added:?}");
    assert!(added.iter().all(|(n, variant)| (32..128).contains(n) && *variant != "slow"), "{added:?}");
    assert_eq!(refined.environment.planned_rows, Some(9 + added.len() as u64));
    assert_eq!(refined.rows[..9].iter().filter(|row| row.added_by_refinement).count(), 0);
    assert_eq!(stage.saved(), refined, "the file has the rows, too");
}

#[test]
fn equal_sides_and_crossings_that_are_known_add_nothing() {
    let equal =
        "[[variant]]\nname = 'host'\nside = 'cpu'\n[[variant]]\nname = 'device'\n[[rule]]\nnoise = 0.02\n";
    assert!(added(&stage(equal, &[32, 64, 128], true).finish()).is_empty());
    let power = LAWS.replace("base = '15ms', per_element = '434ns'", "per_element = '1.974us'");
    let report = stage(&power, &[64, 96, 104, 512], true).finish();
    assert!(interval(&report).0 <= 1.05 && added(&report).is_empty(), "{:?}", resident(&report));
}

/// Returns the simulated seconds of the samples of these rows.
fn spent_s(report: &Report, of_added: bool) -> f64 {
    let rows = report.rows.iter().filter(|row| row.added_by_refinement == of_added);
    rows.filter_map(|row| Some(row.execute.as_ref()?.spent_s)).sum()
}

#[test]
fn the_time_for_added_sizes_is_bounded() {
    // Long executions, so that the samples dominate the time of a cell.
    let slow = LAWS.replace("20ns", "20us").replace("15ms", "15s").replace("434ns", "434us");
    let mut stage = stage(&slow, &[32, 128], true);
    stage.run.cells.retain(|planned| planned.cell.variant != "slow");
    stage.run.cell_timeout = std::time::Duration::from_secs(100_000);
    let report = stage.finish();
    let (planned_s, added_s) = (spent_s(&report, false), spent_s(&report, true));
    assert!(added_s <= (0.25 * planned_s).max(10.0), "{added_s} s after {planned_s} s");
}

#[test]
fn the_sizes_that_two_runs_added_are_not_missed_when_they_are_compared() {
    let refined = |laws: &str| {
        let run = Run { name: "run".into(), report: stage(laws, &[32, 128, 512], true).finish() };
        Runs { runs: vec![run], ..Runs::default() }
    };
    let [old, new] = [refined(LAWS), refined(&LAWS.replace("15ms", "12ms"))];
    assert_ne!(added(&old.runs[0].report), added(&new.runs[0].report), "the runs added different sizes");
    let found = compare(&old, &new, &Policy::default());
    let missing = found.cells.iter().filter(|change| change.verdict == Verdict::Missing).count();
    assert_eq!((found.cells.len(), missing), (9, 0));
}
