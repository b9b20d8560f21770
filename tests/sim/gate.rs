//! The comparison of sweeps that the whole program ran on the simulated device: silent when nothing changed, and not
//! when something did.

use gpubench::case::DType;
use gpubench::compare::{Limits, Policy, Run, Runs, Verdict, compare};
use gpubench::data::generator::Stream;
use gpubench::executor;
use gpubench::measure::sampling::Sampling;
use gpubench::observe::Silent;
use gpubench::report::Report;
use gpubench::report::example::trials;

use crate::sim::stage::plan;

/// Runs of the unchanged sweep, from which comparisons draw.
const UNCHANGED: u64 = 24;

/// Runs of the changed sweep.
const CHANGED: u64 = 8;

/// Comparisons without a change, and with one changed cell.
const NULLS: u64 = 1000;
const PLANTED: u64 = 200;

/// Runs per side.
const REPLICATES: usize = 3;

const OPS: [&str; 6] = ["matmul", "elementwise", "reduction", "fft", "solve", "spgemm"];

/// Sixty cells with 2 % noise, drift and rare outliers; `more` is appended to the script.
fn sweep(seed: u64, more: &str) -> Report {
    let script = format!(
        "seed = {seed}\n\
         [[variant]]\nname = \"host\"\nside = \"cpu\"\n\
         [[variant]]\nname = \"accelerator\"\nside = \"gpu\"\n\
         [[rule]]\ntime = \"100us\"\nnoise = 0.02\ndrift = 1e-5\noutliers = 0.01\n{more}"
    );
    let folder = tempfile::tempdir().unwrap();
    let mut run = plan(folder.path(), &script, &OPS, &[4, 5, 6, 7, 8], &[DType::F32]);
    run.cells.iter_mut().for_each(|planned| planned.sampling = Sampling::default());
    (run.isolate, run.out, run.argv) = (false, None, vec![seed.to_string()]);
    let report = executor::run(&run, &mut Silent).unwrap().report;
    assert_eq!(report.rows.len(), 60);
    report
}

/// Makes `count` runs, two at a time: each has a thread for its worker.
fn pool(first: u64, count: u64, more: &str) -> Vec<Report> {
    let seeds: Vec<u64> = (first..first + count).collect();
    let half = |seeds: &[u64]| -> Vec<Report> { seeds.iter().map(|seed| sweep(*seed, more)).collect() };
    let (one, other) = seeds.split_at(seeds.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(other));
        [half(one), other.join().unwrap()].concat()
    })
}

/// Returns the runs at `places`.
fn side(pool: &[Report], places: &[usize]) -> Runs {
    let run = |place: &usize| Run { name: format!("run {place}"), report: pool[*place].clone() };
    Runs { runs: places.iter().map(run).collect(), ..Runs::default() }
}

/// Returns `count` different random places below `all`.
fn draw(chances: Stream, all: usize, count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..all).collect();
    places.sort_by(|a, b| chances.uniform::<f64>(*a as u64).total_cmp(&chances.uniform::<f64>(*b as u64)));
    places.truncate(count);
    places
}

#[test]
fn whole_runs_with_nothing_changed_are_quiet_and_a_slowdown_of_five_percent_is_found() {
    let policy =
        Policy { defaults: Limits { threshold: Some(0.03), ..Limits::default() }, ..Policy::default() };
    let slower = "[[rule]]\nop = \"fft\"\nvariant = \"accelerator\"\nn = 6\ntime = \"105us\"\n";
    let (unchanged, changed) = (pool(1, UNCHANGED, ""), pool(1000, CHANGED, slower));

    let (nulls, planted) = (trials(NULLS), trials(PLANTED));
    let alarms = (0..nulls).filter(|trial| {
        let places = draw(Stream::new(*trial, 0), unchanged.len(), 2 * REPLICATES);
        let (old, new) = places.split_at(REPLICATES);
        compare(&side(&unchanged, old), &side(&unchanged, new), &policy).gate.exit_code == 1
    });
    let alarms = alarms.count() as u64;
    assert!(100 * alarms <= nulls, "{alarms} of {nulls}");

    let found = (0..planted).filter(|trial| {
        let old = draw(Stream::new(*trial, 1), unchanged.len(), REPLICATES);
        let new = draw(Stream::new(*trial, 2), changed.len(), REPLICATES);
        let comparison = compare(&side(&unchanged, &old), &side(&changed, &new), &policy);
        let slower: Vec<_> = comparison.cells.iter().filter(|cell| cell.verdict == Verdict::Slower).collect();
        slower.len() == 1 && slower[0].cell().case.op == "fft" && slower[0].cell().case.n == 6
    });
    let found = found.count() as u64;
    assert!(100 * found >= 95 * planted, "{found} of {planted}");
}
