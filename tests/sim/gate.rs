//! The gate over sweeps that the whole program ran on the simulated device: quiet when nothing changed, and not when
//! something did.

use gpubench::case::DType;
use gpubench::compare::{Limits, Policy, Run, Runs, Verdict, compare};
use gpubench::executor;
use gpubench::measure::sampling::Sampling;
use gpubench::observe::Silent;
use gpubench::report::Report;

use crate::stage::plan;

/// Runs of each kind; comparisons draw theirs from them.
const POOL: u64 = 10;

/// Runs a side.
const REPLICATES: usize = 3;

const OPS: [&str; 6] = ["matmul", "elementwise", "reduction", "fft", "solve", "spgemm"];

/// Sixty cells with 2 % noise, drift and rare outliers; `more` is added to the script.
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

fn pool(first: u64, more: &str) -> Vec<Report> {
    (first..first + POOL).map(|seed| sweep(seed, more)).collect()
}

/// Three of `pool`, another three for each `trial`; `offset` keeps the sides of one comparison apart.
fn side(pool: &[Report], trial: usize, offset: usize) -> Runs {
    let stride = 1 + trial / pool.len() % 3;
    let index = |k: usize| (trial + offset + k * stride) % pool.len();
    let run = |k: usize| Run { name: format!("run {k}"), report: pool[index(k)].clone() };
    Runs { runs: (0..REPLICATES).map(run).collect(), ..Runs::default() }
}

#[test]
fn whole_runs_with_nothing_changed_are_quiet_and_a_slowdown_of_five_percent_is_found() {
    let policy =
        Policy { defaults: Limits { threshold: Some(0.03), ..Limits::default() }, ..Policy::default() };
    let slower = "[[rule]]\nop = \"fft\"\nvariant = \"accelerator\"\nn = 6\ntime = \"105us\"\n";
    let (old, new, changed) = (pool(1, ""), pool(100, ""), pool(200, slower));
    let (mut alarms, mut found) = (0, 0);
    let trials = 3 * old.len();
    for trial in 0..trials {
        let before = side(&old, trial, 0);
        let null = compare(&before, &side(&new, trial, 5), &policy);
        alarms += usize::from(null.gate.exit_code == 1);
        let worse = compare(&before, &side(&changed, trial, 3), &policy);
        let slower: Vec<_> = worse.cells.iter().filter(|cell| cell.verdict == Verdict::Slower).collect();
        found += usize::from(slower.len() == 1 && slower[0].case.op == "fft" && slower[0].case.n == 6);
    }
    assert_eq!(alarms, 0, "of {trials}");
    assert!(found * 100 >= 95 * trials, "{found} of {trials}");
}
