//! Collects the samples of one cell over all rounds, and makes the timed phase from them.

use std::sync::Arc;

use gpubench_backend::host::cpu_quota::QuotaWatch;
use gpubench_backend::{Conditions, PageFaults, Sample, SetupCounts, Side, TimerOverhead};
use gpubench_report::measure::batch::BatchResult;
use gpubench_report::measure::grade::{self, SamplingFacts};
use gpubench_report::measure::stats::median;
use gpubench_report::measure::stopping::Reason;
use gpubench_report::measure::{drift, modality};
use gpubench_report::report::{Clock, Execute};
use gpubench_text::grouped::distinct;

use super::PlannedCell;

#[derive(Clone, Debug, Default)]
pub(crate) struct CellSamples {
    pub samples: Vec<Sample>,
    pub rounds: Vec<u32>,
    pub spent_s: f64,
    /// The reason that sampling stopped; `None` until then.
    pub stopped: Option<Reason>,
    /// The reason that the worker was lost for good; `None` where it was not.
    pub(crate) lost_because: Option<String>,
    /// Number of checks that found timed executions right.
    pub verified: u32,
    /// Number of samples that had been taken at the last check.
    pub(crate) checked: usize,
    pub timer_overhead: Option<TimerOverhead>,
    /// Share of the CPUs' time that other programs used while the run started, if the system reports it.
    pub other_programs: Option<f64>,
    /// The pauses by the control group's CPU quota, if it has one.
    pub quota: Option<Arc<QuotaWatch>>,
    clock: Clock,
    warmups: u32,
    unsteady: bool,
    discarded: u32,
    setup: SetupCounts,
    conditions: Vec<[Conditions; 2]>,
}

impl CellSamples {
    pub(crate) fn add(&mut self, clock: Clock, result: BatchResult, round: u32) {
        self.clock = clock;
        self.rounds.resize(self.rounds.len() + result.samples.len(), round);
        self.samples.extend(result.samples);
        self.spent_s += result.spent_s;
        self.warmups += result.warmups;
        self.unsteady |= !result.steady;
        self.discarded += result.discarded;
        self.setup = self.setup.plus(result.setup_while_sampling);
        let after = result.after.unwrap_or_default();
        match (result.before, self.conditions.last_mut()) {
            (Some(before), _) => self.conditions.push([before, after]),
            (None, Some(round)) => round[1] = after,
            (None, None) => {}
        }
    }

    pub(crate) fn samples_in(&self, round: u32) -> usize {
        self.rounds.iter().filter(|of| **of == round).count()
    }

    /// Notes that the answer of the last timed execution was found right.
    pub(crate) fn passed_check(&mut self) {
        self.checked = self.samples.len();
        self.verified += 1;
    }

    pub(crate) fn has_unchecked(&self) -> bool {
        self.checked < self.samples.len()
    }

    pub(crate) fn drop_unchecked(&mut self) {
        self.samples.truncate(self.checked);
        self.rounds.truncate(self.checked);
        let rounds = self.rounds.last().map_or(0, |last| *last as usize + 1);
        self.conditions.truncate(rounds);
    }

    pub(crate) fn has_samples(&self) -> bool {
        !self.samples.is_empty()
    }

    /// Returns the headline time of each sample, in seconds.
    pub(crate) fn seconds(&self) -> Vec<f64> {
        self.samples.iter().map(Sample::seconds).collect()
    }

    /// Returns the timed phase; `None` without samples, or with one that is not a valid time.
    pub(crate) fn execute(&self, planned: &PlannedCell) -> Option<Execute> {
        let samples_s = self.seconds();
        let host_samples_s: Vec<f64> = self.samples.iter().map(|sample| sample.host_s).collect();
        if samples_s.iter().chain(&host_samples_s).any(|s| !s.is_finite() || *s < 0.0) {
            return None;
        }
        let events_s = self.each(|sample| sample.events_s);
        let constant = event_constant(&events_s, &samples_s);
        let execute = Execute {
            clock: self.clock,
            event_constant_s: constant,
            event_uncertainty_s: self.event_uncertainty(constant),
            enqueue_median_s: median(&self.each(|sample| sample.enqueue_s)),
            rounds: self.rounds.clone(),
            blocked: self.all(|sample| sample.blocked),
            ended_by_word: self.all(|sample| sample.ended_by_word),
            sm_mhz: self.each(|sample| sample.sm_mhz),
            context_switches: self.each(|sample| sample.context_switches),
            page_faults: self.page_faults(),
            discarded: self.discarded,
            throttled: count(&self.samples, |sample| sample.throttled),
            warmups: self.warmups,
            verified: self.verified,
            steady: !self.unsteady,
            spent_s: self.spent_s,
            stopped: Some(self.stopped.unwrap_or(Reason::CutShort)),
            drift: drift::drift(&samples_s, &self.rounds),
            modes: modality::modes(&samples_s),
            setup_while_sampling: self.setup,
            conditions: self.conditions.clone(),
            ..Execute::of(samples_s, host_samples_s)?
        };
        Some(self.graded(execute, planned))
    }

    /// Returns the uncertainty of the constant that was subtracted from each sample: a batch has a part of that of two events, and
    /// the same part of its uncertainty.
    fn event_uncertainty(&self, constant: Option<f64>) -> Option<f64> {
        let overhead = self.timer_overhead.as_ref()?;
        let whole = overhead.event_constant_s.filter(|whole| *whole > 0.0)?;
        let uncertainty = overhead.event_uncertainty_s? * constant? / whole;
        // A program of others may report anything.
        (0.0..1.0).contains(&uncertainty).then_some(uncertainty)
    }

    fn page_faults(&self) -> Option<PageFaults> {
        let faults = self.each(|sample| sample.page_faults);
        let usual = |kind: fn(&PageFaults) -> f64| median(&faults.iter().map(kind).collect::<Vec<_>>());
        Some(PageFaults { minor: usual(|faults| faults.minor)?, major: usual(|faults| faults.major)? })
    }

    /// Returns whether something holds for every sample; `None` if any sample lacks it, or there is none.
    fn all(&self, what: impl Fn(&Sample) -> Option<bool>) -> Option<bool> {
        self.samples.iter().map(what).reduce(|a, b| Some(a? && b?)).flatten()
    }

    /// Returns one value per sample; empty if any sample lacks it.
    fn each<T>(&self, what: impl Fn(&Sample) -> Option<T>) -> Vec<T> {
        self.samples.iter().map(what).collect::<Option<Vec<T>>>().unwrap_or_default()
    }

    fn graded(&self, mut execute: Execute, planned: &PlannedCell) -> Execute {
        let raw = execute.median_s + execute.event_constant_s.unwrap_or(0.0);
        // A device's timer overhead is that of its own clock and does not apply to times by the host's clock.
        let by_host = self.clock == Clock::Host && planned.variant.side == Side::Gpu;
        // The overhead of a device time is the constant subtracted from it, which is smaller for a hot batch.
        let of_clock = || self.timer_overhead.as_ref().filter(|_| !by_host).map(TimerOverhead::baseline_s);
        let floor = execute.event_constant_s.or_else(of_clock).filter(|floor| *floor > 0.0);
        let seen = |what: fn(&Conditions) -> &Vec<String>| {
            let words = execute.conditions.iter().flatten().flat_map(what);
            distinct(words.filter(|word| *word != SET_BY_THE_USER).cloned())
        };
        let (others, throttle_reasons) = (seen(|state| &state.others), seen(|state| &state.throttle));
        let assessment = grade::assess(&SamplingFacts {
            side_is_gpu: planned.variant.side == Side::Gpu,
            precision: planned.precision(),
            samples: &execute.samples_s,
            drift: execute.drift,
            modes: execute.modes,
            discarded: execute.discarded,
            throttled: execute.throttled,
            overhead_ratio: floor.map(|floor| raw / floor),
            disturbed: count(&execute.context_switches, |switches| *switches > 0),
            page_faults: execute.page_faults,
            others: &others,
            throttle_reasons: &throttle_reasons,
            other_programs: self.other_programs,
            quota: self.quota.as_deref().and_then(|watch| Some((watch.cpus, watch.pauses()?))),
            setup: !execute.setup_while_sampling.is_zero(),
            steady: execute.steady,
            stopped: self.stopped.unwrap_or(Reason::CutShort),
            lost_because: self.lost_because.as_deref(),
        });
        (execute.grade, execute.warnings) = (Some(assessment.grade), assessment.warnings);
        execute
    }
}

/// A reason for lower clocks that is not a disturbance: the user locked them.
const SET_BY_THE_USER: &str = "clocks set by the user";

/// Returns the median difference between the readings of the events and the samples; `None` without readings.
fn event_constant(events_s: &[f64], samples_s: &[f64]) -> Option<f64> {
    let differences: Vec<f64> =
        events_s.iter().zip(samples_s).map(|(events, sample)| events - sample).collect();
    median(&differences)
}

fn count<T>(items: &[T], is: impl Fn(&T) -> bool) -> u32 {
    u32::try_from(items.iter().filter(|item| is(item)).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;
    use gpubench_report::measure::grade::WarningKind;

    fn series(samples: Vec<Sample>) -> CellSamples {
        let mut series = CellSamples::default();
        series.add(Clock::DeviceEvents, BatchResult { samples, steady: true, ..BatchResult::default() }, 0);
        series
    }

    #[test]
    fn the_device_clock_gives_the_headline_time_next_to_the_host_clock() {
        let samples = [1.0, 2.0, 3.0].map(|t| Sample { device_s: Some(t), ..Sample::of_host(10.0 * t) });
        let execute = series(samples.to_vec()).execute(&planned(2, "a")).unwrap();
        assert_eq!((execute.median_s, execute.host_median_s), (2.0, 20.0));
        assert_eq!(execute.rounds, [0, 0, 0]);
        assert!(execute.event_constant_s.is_none() && execute.grade.is_some());
    }

    #[test]
    fn a_row_says_that_its_host_times_ended_by_the_word_if_all_did() {
        let ended = |samples: &[Option<bool>]| {
            let of = |&ended_by_word| Sample { ended_by_word, ..Sample::of_host(1.0) };
            series(samples.iter().map(of).collect()).execute(&planned(2, "a")).unwrap().ended_by_word
        };
        assert_eq!(ended(&[Some(true), Some(true)]), Some(true));
        assert_eq!(ended(&[Some(true), Some(false)]), Some(false));
        assert_eq!(ended(&[Some(true), None]), None);
    }

    #[test]
    fn a_devices_timer_overhead_does_not_apply_to_host_times() {
        let overhead =
            TimerOverhead { clock_s: 1e-6, empty_kernel_s: Some(2e-6), ..TimerOverhead::default() };
        let launch_bound = |clock, side| {
            let mut planned = planned(2, "a");
            planned.variant.side = side;
            let mut series = series(vec![Sample::of_host(2e-6); 12]);
            (series.clock, series.timer_overhead) = (clock, Some(overhead.clone()));
            let warnings = series.execute(&planned).unwrap().warnings;
            warnings.iter().any(|warning| warning.kind == WarningKind::LaunchBound)
        };
        assert!(launch_bound(Clock::DeviceEvents, Side::Gpu) && launch_bound(Clock::Host, Side::Cpu));
        assert!(!launch_bound(Clock::Host, Side::Gpu));
    }

    #[test]
    fn samples_that_are_no_times_make_no_measurement() {
        assert_eq!(CellSamples::default().execute(&planned(2, "a")), None);
        for time in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(series(vec![Sample::of_host(time)]).execute(&planned(2, "a")), None);
        }
    }
}
