//! What one call costs: three ways to count, and the samples that each is made of. Knows rows only.

use super::Estimate;
use crate::backend::{Side, Transfer};
use crate::measure::stats::Summary;
use crate::op;
use crate::report::{Outcome, Row};

/// What the time of a call includes, and so what a speed-up means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The work alone: a GPU by its own clock, a CPU by the host's.
    Kernel,
    /// The host's time from the call until the answer is there, on the device: launching and waiting included.
    Resident,
    /// The operands to the device, the resident time, the answer back.
    EndToEnd,
}

impl Kind {
    /// Every kind, from the least to the most that is included.
    pub const ALL: [Kind; 3] = [Kind::Kernel, Kind::Resident, Kind::EndToEnd];

    /// The words for people: `end to end`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Resident => "resident",
            Kind::EndToEnd => "end to end",
        }
    }

    /// The key in JSON: `end_to_end`.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Resident => "resident",
            Kind::EndToEnd => "end_to_end",
        }
    }
}

/// Independent samples of one part of a cost, in seconds.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The samples.
    pub samples: &'a [f64],
    /// The round of each, where rounds are known.
    pub rounds: &'a [u32],
    /// Their median and its interval.
    pub estimate: Estimate,
}

/// One call of a measured row: the parts whose medians add up.
#[derive(Clone, Debug)]
pub struct Cost<'a> {
    /// The parts, at least one.
    pub parts: Vec<Part<'a>>,
}

impl<'a> Cost<'a> {
    /// The cost of `row`; `None` when it was not measured, or when what the kind includes is not known.
    pub fn of(row: &'a Row, kind: Kind) -> Option<Cost<'a>> {
        let execute = row.execute.as_ref().filter(|_| row.outcome == Outcome::Measured)?;
        let on_host = || {
            let [low, high] = execute.host_ci95_s.unwrap_or([execute.host_median_s; 2]);
            let estimate = Estimate { value: execute.host_median_s, low, high };
            Part { samples: &execute.host_samples_s, rounds: &execute.rounds, estimate }
        };
        let parts = match kind {
            Kind::Kernel => {
                let [low, high] = execute.ci95_s;
                let estimate = Estimate { value: execute.median_s, low, high };
                vec![Part { samples: &execute.samples_s, rounds: &execute.rounds, estimate }]
            }
            Kind::Resident => vec![on_host()],
            Kind::EndToEnd if row.side == Side::Cpu || copies_itself(row) => vec![on_host()],
            Kind::EndToEnd => {
                let phases = row.phases.as_ref()?;
                vec![copies(phases.upload.as_ref()?)?, on_host(), copies(phases.download.as_ref()?)?]
            }
        };
        Some(Cost { parts })
    }

    /// The seconds of a call. Copies are repeated five times or less; the whole range stands for their interval.
    pub fn estimate(&self) -> Estimate {
        let sum = self.parts.iter().map(|part| part.estimate).reduce(Estimate::plus);
        sum.unwrap_or(Estimate { value: 0.0, low: 0.0, high: 0.0 })
    }
}

/// The seconds of one call of `row`; `None` as for [`Cost::of`].
pub fn estimate(row: &Row, kind: Kind) -> Option<Estimate> {
    Some(Cost::of(row, kind)?.estimate())
}

/// Whether the executions of a row's op have the copies in them.
fn copies_itself(row: &Row) -> bool {
    op::find(&row.case.op).is_some_and(|op| op.copies_itself())
}

fn copies(transfer: &Transfer) -> Option<Part<'_>> {
    let Summary { median, low, high, .. } = Summary::of(&transfer.host_s)?;
    Some(Part { samples: &transfer.host_s, rounds: &[], estimate: Estimate { value: median, low, high } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn values(row: &Row) -> [Option<f64>; 3] {
        Kind::ALL.map(|kind| estimate(row, kind).map(|found| (found.value * 1e9).round() / 1e9))
    }

    #[test]
    fn each_kind_adds_to_the_one_before() {
        let gpu = example::measured("fft", 100, "cuda", "r2c", 100e-6);
        assert_eq!(values(&gpu), [Some(100e-6), Some(105e-6), Some(167e-6)]);
        let cpu = example::measured("fft", 100, "cpu", "realfft", 100e-6);
        assert_eq!(values(&cpu), [Some(100e-6); 3]);
    }

    #[test]
    fn what_is_not_known_has_no_cost() {
        let mut gpu = example::measured("fft", 100, "cuda", "r2c", 100e-6);
        gpu.phases = None;
        assert_eq!(values(&gpu), [Some(100e-6), Some(105e-6), None]);
        gpu.outcome = Outcome::Incorrect;
        assert_eq!(values(&gpu), [None; 3]);
    }
}
