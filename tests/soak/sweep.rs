//! A sweep of the simulated device in which random cells have faults, with the outcome that each cell must have.

use std::collections::HashMap;
use std::path::Path;

use gpubench::data::generator::Stream;
use gpubench::report::{Outcome, Report};

/// A behaviour of a cell: the keys of its rule, its outcome, and how many of 10 000 cells have it.
struct Behaviour {
    keys: &'static str,
    outcome: Outcome,
    share: u64,
}

const fn behaviour(keys: &'static str, outcome: Outcome, share: u64) -> Behaviour {
    Behaviour { keys, outcome, share }
}

/// A fault of every kind, some of which begin only after the judged executions. Cells of a hang take the whole time limit,
/// so they are few.
const BEHAVIOURS: &[Behaviour] = &[
    behaviour("outcome = 'crash'", Outcome::Failed, 60),
    behaviour("outcome = 'crash'\nafter = 6", Outcome::Failed, 60),
    behaviour("outcome = 'panic'", Outcome::Failed, 60),
    behaviour("outcome = 'device-lost'", Outcome::Failed, 60),
    behaviour("outcome = 'fail'", Outcome::Failed, 100),
    behaviour("outcome = 'fail'\nafter = 6", Outcome::Failed, 100),
    behaviour("outcome = 'hang'", Outcome::Failed, 10),
    behaviour("outcome = 'hang'\nafter = 6", Outcome::Failed, 10),
    behaviour("outcome = 'unavailable'", Outcome::Skipped, 100),
    behaviour("outcome = 'out-of-memory'", Outcome::Skipped, 100),
    behaviour("answer = 'wrong'", Outcome::Incorrect, 100),
    behaviour("answer = 'nan'", Outcome::Incorrect, 100),
    behaviour("answer = 'nan'\nafter = 6", Outcome::Incorrect, 100),
    behaviour("answer = 'stale'", Outcome::Incorrect, 200),
    behaviour("answer = 'cached'", Outcome::Incorrect, 200),
    behaviour("answer = 'overwrites-operand'", Outcome::Incorrect, 100),
    behaviour("time = '300ms'\nnoise = 0.1", Outcome::Measured, 300),
    behaviour("outliers = 0.2\nramp = 0.5\ndrift = 0.001", Outcome::Measured, 300),
];

const OPS: [&str; 2] = ["sin", "reduction"];
const DTYPES: [&str; 2] = ["f32", "f64"];

/// The number of variants per side, and of sizes. Each variant is measured for two ops and two element types.
#[derive(Clone, Copy)]
pub(crate) struct Sweep {
    pub variants_per_side: u64,
    pub sizes: u64,
    pub seed: u64,
    /// False leaves out hangs, each of which takes the time limit.
    pub hangs: bool,
}

/// A cell by op, element type, size and variant.
pub(crate) type Key = (String, String, u64, String);

impl Sweep {
    pub(crate) fn cells(self) -> u64 {
        2 * self.variants_per_side * self.sizes * (OPS.len() * DTYPES.len()) as u64
    }

    /// Writes the script `script.toml`, and returns the outcome of every cell.
    pub(crate) fn write(self, folder: &Path) -> HashMap<Key, Outcome> {
        let mut script = format!("seed = {}\n", self.seed);
        let variants: Vec<String> = ["cpu", "gpu"]
            .into_iter()
            .flat_map(|side| (0..self.variants_per_side).map(move |k| format!("{side}{k}")))
            .collect();
        for variant in &variants {
            // One variant per side has a worker of its own, as the CPU libraries do.
            let library = if variant.ends_with('0') { "library = 'own'\n" } else { "" };
            script += &format!("[[variant]]\nname = '{variant}'\nside = '{}'\n{library}", &variant[..3]);
        }
        // Warming up takes simulated time, so short times would mean many real executions.
        script += "[[rule]]\nnoise = 0.01\ntime = { base = '1ms', per_element = '10ns' }\n";
        let mut outcomes = HashMap::new();
        for (op, dtype) in OPS.iter().flat_map(|op| DTYPES.iter().map(move |dtype| (op, dtype))) {
            for (n, variant) in (1..=self.sizes).flat_map(|n| variants.iter().map(move |v| (n, v))) {
                let drawn = Stream::new(self.seed, 1).bits(outcomes.len() as u64) % 10_000;
                let mut outcome = Outcome::Measured;
                if let Some(found) = self.behaviour(drawn) {
                    script += &format!(
                        "[[rule]]\nop = '{op}'\ndtype = '{dtype}'\nn = {n}\nvariant = '{variant}'\n{}\n",
                        found.keys
                    );
                    outcome = found.outcome;
                }
                outcomes.insert(((*op).into(), (*dtype).into(), n, variant.clone()), outcome);
            }
        }
        std::fs::write(folder.join("script.toml"), script).unwrap();
        outcomes
    }

    fn behaviour(self, drawn: u64) -> Option<&'static Behaviour> {
        let mut end = 0;
        let found = BEHAVIOURS.iter().find(|behaviour| {
            end += behaviour.share;
            drawn < end
        });
        found.filter(|behaviour| self.hangs || !behaviour.keys.contains("hang"))
    }

    /// Returns the command line that runs it into `out`.
    pub(crate) fn line(self) -> String {
        let sizes: Vec<String> = (1..=self.sizes).map(|n| n.to_string()).collect();
        format!(
            "run --backends sim --sim script.toml --ops {} --dtypes {} --sizes {} --all-variants --no-peaks --quiet \
             --no-refine --cell-timeout 1s --format table,json,csv,md --out out",
            OPS.join(","),
            DTYPES.join(","),
            sizes.join(",")
        )
    }
}

/// Returns the outcome of each cell of a report, in which every cell must be once.
pub(crate) fn outcomes(report: &Report) -> HashMap<Key, Outcome> {
    let mut found = HashMap::new();
    for row in &report.rows {
        let key = (row.case.op.clone(), row.case.dtype.to_string(), row.case.n, row.variant.clone());
        assert!(found.insert(key, row.outcome).is_none(), "{} has two rows", row.cell());
    }
    found
}

/// Asserts that exactly these cells have exactly these outcomes.
pub(crate) fn assert_outcomes(report: &Report, expected: &HashMap<Key, Outcome>) {
    let found = outcomes(report);
    for (key, outcome) in expected {
        assert_eq!(found.get(key), Some(outcome), "{key:?}");
    }
    assert_eq!(found.len(), expected.len());
}
