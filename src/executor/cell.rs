//! One cell: prepared, checked, timed, and made a row, whatever happens on the way.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::PlannedCell;
use super::workers::{Hindrance, SEE_DOCTOR, Workers, spell};
use crate::error::Unavailable;
use crate::measure::sampling::Taken;
use crate::measure::stats::Summary;
use crate::observe::Observer;
use crate::op::{self, Work};
use crate::report::{Clock, Execute, Outcome, Row};
use crate::worker::client::Loss;
use crate::worker::protocol::{Reply, Request};

/// The operands' fingerprint of each case, and the backend that reported it first.
#[derive(Default)]
pub struct Inputs(HashMap<String, (String, String)>);

impl Inputs {
    /// Notes the fingerprint of a row's operands; an error when another backend had others for the same case.
    fn agree(&mut self, row: &Row, fingerprint: &str) -> Result<(), String> {
        let case = format!("{} seed {}", row.case, row.case.seed);
        let first = || (row.backend.clone(), fingerprint.to_owned());
        let (backend, known) = self.0.entry(case).or_insert_with(first);
        if known == fingerprint {
            return Ok(());
        }
        Err(format!(
            "inputs differ from {backend}'s ({fingerprint}, not {known}); times cannot be compared. \
             Check the generator against the vectors in docs/worker-protocol.md"
        ))
    }
}

/// How a cell without a time ends.
enum End {
    /// Its row is complete, and the worker can go on.
    Row,
    /// Its row is complete, and the worker must be replaced.
    Replace,
    /// The user has ended the run.
    Interrupted,
}

/// A cell on its way to a row.
pub struct Attempt<'a> {
    planned: &'a PlannedCell,
    workers: &'a mut Workers,
    observer: &'a mut dyn Observer,
    row: Row,
}

impl<'a> Attempt<'a> {
    /// A cell that has not begun.
    pub fn new(planned: &'a PlannedCell, workers: &'a mut Workers, observer: &'a mut dyn Observer) -> Self {
        Attempt { planned, workers, observer, row: blank(planned) }
    }

    /// Runs the cell within `limit`. `None` when the user ends the run.
    pub fn run(mut self, limit: Duration, inputs: &mut Inputs) -> Option<Row> {
        match self.steps(limit, inputs) {
            Ok(()) | Err(End::Row) => {}
            Err(End::Replace) => self.workers.discard(&self.planned.cell.backend),
            Err(End::Interrupted) => {
                // It may be in the midst of a cell: there is nothing to wait for.
                self.workers.discard(&self.planned.cell.backend);
                return None;
            }
        }
        Some(self.row)
    }

    fn steps(&mut self, limit: Duration, inputs: &mut Inputs) -> Result<(), End> {
        self.await_worker()?;
        let start = Instant::now();
        let reply = self.exchange(&Request::Prepare { cell: self.planned.cell.clone() }, limit, limit)?;
        let Reply::Prepared { error, inputs: fingerprint, phases, libraries } = reply else {
            return Err(self.ended(reply));
        };
        let left = limit.saturating_sub(start.elapsed());
        self.workers.note_libraries(&self.planned.cell.backend, libraries);
        (self.row.error, self.row.phases) = (Some(error), Some(phases));
        self.row.inputs = Some(fingerprint.clone());
        inputs.agree(&self.row, &fingerprint).map_err(|reason| self.close(Outcome::Failed, reason, None))?;

        self.workers.settle(self.observer).map_err(|_| End::Interrupted)?;
        match self.exchange(&Request::Measure { sampling: self.planned.sampling }, left, limit)? {
            Reply::Measured { clock, taken } => self.measured(clock, &taken),
            other => Err(self.ended(other)),
        }
    }

    fn await_worker(&mut self) -> Result<(), End> {
        match self.workers.ready(&self.planned.cell.backend, self.observer) {
            Ok(_) => Ok(()),
            Err(Hindrance::Interrupted) => Err(End::Interrupted),
            Err(Hindrance::Unavailable(Unavailable { reason, fix })) => {
                Err(self.close(Outcome::Skipped, reason, fix))
            }
            Err(Hindrance::Broken(reason)) => {
                Err(self.close(Outcome::Failed, reason, Some(SEE_DOCTOR.into())))
            }
        }
    }

    /// Sends a request and waits `left` for its reply; `limit` is what the user set for the whole cell.
    fn exchange(&mut self, request: &Request, left: Duration, limit: Duration) -> Result<Reply, End> {
        let stop = self.workers.stop();
        let Ok(client) = self.workers.ready(&self.planned.cell.backend, self.observer) else {
            return Err(End::Interrupted);
        };
        client.send(request);
        let mut phase = String::from("its start");
        let observer = &mut *self.observer;
        let reply = client.wait(Instant::now() + left, stop, &mut |begun| {
            phase = format!("phase {begun}");
            observer.phase(begun);
        });
        reply.map_err(|loss| match loss {
            Loss::Interrupted => End::Interrupted,
            Loss::TimedOut => {
                let reason = format!("timed out after {} in {phase} (raise --cell-timeout)", spell(limit));
                self.lost(reason)
            }
            Loss::Gone(how) => self.lost(format!("{how} (in {phase})")),
        })
    }

    /// Completes the row from a reply that is not the hoped-for one.
    fn ended(&mut self, reply: Reply) -> End {
        match reply {
            Reply::Incorrect { error, inputs, phases, reason } => {
                (self.row.error, self.row.phases, self.row.inputs) =
                    (Some(error), Some(phases), Some(inputs));
                self.close(Outcome::Incorrect, reason, None)
            }
            Reply::Skipped { reason, fix } => self.close(Outcome::Skipped, reason, fix),
            Reply::Failed { reason, device_lost: false } => self.close(Outcome::Failed, reason, None),
            Reply::Failed { reason, device_lost: true } => self.lost(reason),
            _ => self.lost("the worker's reply does not answer the request".into()),
        }
    }

    fn measured(&mut self, clock: Clock, taken: &Taken) -> Result<(), End> {
        match execute(clock, taken) {
            Some(execute) => {
                self.row.execute = Some(execute);
                self.row.outcome = Outcome::Measured;
                Ok(())
            }
            None => Err(self.close(Outcome::Failed, "the worker returned no usable samples".into(), None)),
        }
    }

    fn lost(&mut self, reason: String) -> End {
        self.close(Outcome::Failed, reason, None);
        End::Replace
    }

    fn close(&mut self, outcome: Outcome, reason: String, fix: Option<String>) -> End {
        self.row.outcome = outcome;
        self.row.reason = Some(reason);
        self.row.fix = fix;
        End::Row
    }
}

/// The row of a cell about which nothing is known yet.
fn blank(planned: &PlannedCell) -> Row {
    let case = planned.cell.case.clone();
    let work = op::find(&case.op).map_or(Work { flop: 0.0, bytes: 0.0 }, |op| op.work(&case));
    Row {
        case,
        backend: planned.cell.backend.clone(),
        variant: planned.cell.variant.clone(),
        side: planned.variant.side,
        accuracy: planned.variant.accuracy,
        outcome: Outcome::Failed,
        reason: None,
        fix: None,
        error: None,
        work,
        inputs: None,
        phases: None,
        execute: None,
    }
}

/// The timed phase from its samples; `None` without samples, or with one that is no time.
fn execute(clock: Clock, taken: &Taken) -> Option<Execute> {
    let host_samples_s: Vec<f64> = taken.samples.iter().map(|sample| sample.host_s).collect();
    let samples_s: Vec<f64> =
        taken.samples.iter().map(|sample| sample.device_s.unwrap_or(sample.host_s)).collect();
    if samples_s.iter().chain(&host_samples_s).any(|s| !s.is_finite() || *s < 0.0) {
        return None;
    }
    let summary = Summary::of(&samples_s)?;
    Some(Execute {
        clock,
        median_s: summary.median,
        min_s: summary.min,
        max_s: summary.max,
        mad_s: summary.mad,
        ci95_s: [summary.low, summary.high],
        host_median_s: Summary::of(&host_samples_s)?.median,
        samples_s,
        host_samples_s,
        warmups: taken.warmups,
        setup_while_sampling: taken.setup_while_sampling,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Accuracy, Sample, SetupCounts, Side, Variant};
    use crate::case::{Case, Cell, DType};
    use crate::measure::sampling::Sampling;

    fn taken(samples: Vec<Sample>) -> Taken {
        Taken { samples, warmups: 3, setup_while_sampling: SetupCounts::default() }
    }

    #[test]
    fn the_device_clock_stands_for_the_cell_and_the_host_clock_beside_it() {
        let samples = [1.0, 2.0, 3.0].map(|t| Sample { host_s: 10.0 * t, device_s: Some(t) });
        let execute = execute(Clock::DeviceEvents, &taken(samples.to_vec())).unwrap();
        assert_eq!((execute.median_s, execute.host_median_s), (2.0, 20.0));
    }

    #[test]
    fn backends_with_other_inputs_for_the_same_case_are_told_apart() {
        let case = Case { op: "sin".into(), n: 2, dtype: DType::F32, density: None, seed: 1 };
        let row = |backend: &str, case: &Case| {
            let cell = Cell { case: case.clone(), backend: backend.into(), variant: "a".into() };
            let variant = Variant {
                op: "sin".into(),
                name: "a".into(),
                summary: "".into(),
                side: Side::Cpu,
                accuracy: Accuracy::Ieee,
                default: true,
                dtypes: DType::ALL.into(),
            };
            blank(&PlannedCell { cell, variant, sampling: Sampling::default() })
        };
        let mut inputs = Inputs::default();
        assert_eq!(inputs.agree(&row("cpu", &case), "1f"), Ok(()));
        assert_eq!(inputs.agree(&row("cuda", &case), "1f"), Ok(()));
        let refusal = inputs.agree(&row("cuda", &case), "2f").unwrap_err();
        assert!(
            refusal.contains("inputs differ from cpu's") && refusal.contains("cannot be compared"),
            "{refusal}"
        );
        let other = Case { seed: 2, ..case };
        assert_eq!(inputs.agree(&row("cuda", &other), "2f"), Ok(()), "another case has inputs of its own");
    }

    #[test]
    fn samples_that_are_no_times_make_no_measurement() {
        assert_eq!(execute(Clock::Host, &taken(vec![])), None);
        let sample = Sample { host_s: f64::NAN, device_s: None };
        assert_eq!(execute(Clock::Host, &taken(vec![sample])), None);
        let sample = Sample { host_s: -1.0, device_s: None };
        assert_eq!(execute(Clock::Host, &taken(vec![sample])), None);
    }
}
