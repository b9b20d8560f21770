//! Splits one report into two runs, its even and its odd rounds: times of one machine between which nothing changed.

use gpubench_model::report::{Execute, Report};

use crate::{Run, Runs};

/// Returns the even and the odd rounds of `report`, each as a side of one run. Omits cells without samples in both
/// halves; `None` if no cell remains.
pub(crate) fn halves(report: &Report) -> Option<[Runs; 2]> {
    let mut halves = [report.clone(), report.clone()];
    let splits: Vec<Option<[Execute; 2]>> =
        report.rows.iter().map(|row| split(row.execute.as_ref()?)).collect();
    for (place, half) in halves.iter_mut().enumerate() {
        for (row, split) in half.rows.iter_mut().zip(&splits) {
            row.execute = split.as_ref().map(|halves| halves[place].clone());
        }
        half.rows.retain(|row| row.execute.is_some());
    }
    let side = |(report, name): (Report, &str)| Runs {
        runs: vec![Run { name: format!("{name} rounds"), report }],
        ..Runs::default()
    };
    let [even, odd] = halves;
    (!even.rows.is_empty()).then(|| [(even, "even"), (odd, "odd")].map(side))
}

fn split(execute: &Execute) -> Option<[Execute; 2]> {
    if execute.rounds.len() != execute.samples_s.len() {
        return None;
    }
    Some([half(execute, 0)?, half(execute, 1)?])
}

/// Returns the rounds whose number modulo 2 is `rest`.
fn half(execute: &Execute, rest: u32) -> Option<Execute> {
    let places: Vec<usize> = (0..execute.rounds.len()).filter(|k| execute.rounds[*k] % 2 == rest).collect();
    let chosen = |values: &[f64]| -> Vec<f64> {
        let has_all = values.len() == execute.rounds.len();
        places.iter().filter(|_| has_all).map(|place| values[*place]).collect()
    };
    let samples_s = chosen(&execute.samples_s);
    // Some reports have no samples by the host's clock, which a comparison does not use.
    let by_host = chosen(&execute.host_samples_s);
    let host_samples_s = if by_host.is_empty() { samples_s.clone() } else { by_host };
    Some(Execute {
        clock: execute.clock,
        blocked: execute.blocked,
        grade: execute.grade,
        rounds: places.iter().map(|place| execute.rounds[*place]).collect(),
        sm_mhz: chosen(&execute.sm_mhz),
        ..Execute::of(samples_s, host_samples_s)?
    })
}
