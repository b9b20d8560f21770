//! Proves that the gate trips over a known regression and stays quiet over a known null, before anyone relies on it.

pub mod rehearsal;

use super::{Comparison, Conclusion, Policy, Run, Runs, Verdict, compare};
use crate::case::Cell;
use crate::report::{Report, Row};
use rehearsal::REALISTIC;

/// Comparisons of runs in which nothing changed.
const NULLS: u64 = 50;

/// Runs a side of each comparison.
const REPLICATES: u64 = 3;

/// How many times longer the planted cell takes.
const PLANTED: f64 = 1.6;

/// One claim about the gate, and whether it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What should be, and what was.
    pub text: String,
    /// Whether it was.
    pub held: bool,
}

/// Puts the gate to the test with rehearsed sweeps, and with `report` where one is given; the policy's thresholds hold.
pub fn self_test(report: Option<&Report>, policy: &Policy) -> Vec<Claim> {
    let mut claims = vec![quiet(policy), trips(policy)];
    if let Some(report) = report {
        claims.extend(with(report, policy));
    }
    claims
}

/// Nothing changed: no comparison may find a regression.
fn quiet(policy: &Policy) -> Claim {
    let tripped = (0..NULLS).filter(|trial| {
        let runs = |side: u64| rehearsed(2 * trial + side, &|_| 1.0);
        compare(&runs(0), &runs(1), policy).gate.conclusion == Conclusion::Regression
    });
    let tripped = tripped.count();
    let text = format!(
        "{NULLS} comparisons of {REPLICATES} with {REPLICATES} runs in which nothing changed: {tripped} find a regression"
    );
    Claim { text, held: tripped == 0 }
}

/// One cell of sixty takes 1.6 times as long: it must be found, and no other.
fn trips(policy: &Policy) -> Claim {
    let old = rehearsed(1_000, &|_| 1.0);
    let cells = old.runs.iter().flat_map(|run| &run.report.rows).map(Row::cell);
    let Some(planted) = cells.filter(|cell| !policy.limits(cell).ignored).find(|cell| cell.backend == "cuda")
    else {
        let text = "the policy leaves every rehearsed cell out, so nothing can be planted in one".into();
        return Claim { text, held: false };
    };
    let is_planted = |cell: &Cell| *cell == planted;
    let new = rehearsed(1_001, &|cell| if is_planted(cell) { PLANTED } else { 1.0 });
    let found = compare(&old, &new, policy);
    let slower = slower(&found);
    let text = format!(
        "one of {} cells made {PLANTED} times slower: exit code {}, slower: {}",
        found.cells.len(),
        found.gate.exit_code,
        if slower.is_empty() { "none".to_owned() } else { slower.join(", ") }
    );
    let held = found.gate.exit_code == 1
        && found.cells.iter().all(|change| (change.verdict == Verdict::Slower) == is_planted(&change.cell()));
    Claim { text, held }
}

/// The user's own report against itself, and against itself with every time 1.6 times as long.
fn with(report: &Report, policy: &Policy) -> [Claim; 2] {
    let alone =
        |report: Report| Runs { runs: vec![Run { name: "the report".into(), report }], ..Runs::default() };
    let mut longer = report.clone();
    longer.rows.iter_mut().filter_map(|row| row.execute.as_mut()).for_each(|execute| execute.scale(PLANTED));
    let old = alone(report.clone());
    let null = compare(&old, &old, policy);
    let all = compare(&old, &alone(longer), policy);
    let timed = report.rows.iter().filter(|row| row.execute.is_some()).count();
    [
        Claim {
            text: format!("the report compared with itself: exit code {}", null.gate.exit_code),
            held: null.gate.exit_code == 0,
        },
        Claim {
            text: format!(
                "the report with every time {PLANTED} times as long: exit code {}, {} of {timed} cells slower",
                all.gate.exit_code,
                all.count(Verdict::Slower)
            ),
            held: all.gate.exit_code == 1,
        },
    ]
}

fn slower(comparison: &Comparison) -> Vec<String> {
    let slower = comparison.cells.iter().filter(|change| change.verdict == Verdict::Slower);
    slower.map(|change| change.cell().to_string()).collect()
}

fn rehearsed(side: u64, factor: &dyn Fn(&Cell) -> f64) -> Runs {
    let seeds = side * REPLICATES..(side + 1) * REPLICATES;
    let run =
        |seed| Run { name: format!("rehearsal {seed}"), report: rehearsal::run(seed, &REALISTIC, factor) };
    Runs { runs: seeds.map(run).collect(), ..Runs::default() }
}
