//! The timed phase of a row.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::measure::drift::Drift;
use crate::measure::grade::{Grade, Warning};
use crate::measure::modality::Modes;
use crate::measure::stats::{Summary, has_interval};
use crate::measure::stopping::Reason;
use crate::report::quantity::time_within;
use crate::{Conditions, PageFaults, SetupCounts};

/// The clock of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// CUDA events around the work, on its stream.
    DeviceEvents,
    /// The host's monotonic clock.
    #[default]
    Host,
    /// The clock of the simulated device.
    Simulated,
}

impl Clock {
    /// Returns the clock in words: `device clock`.
    pub fn words(self) -> &'static str {
        match self {
            Clock::DeviceEvents => "device clock",
            Clock::Host => "host clock",
            Clock::Simulated => "simulated clock",
        }
    }
}

/// The timed phase. Arrays have one entry per sample, in the order the samples were taken.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execute {
    /// Clock of `samples_s` and of every figure but the host's.
    pub clock: Clock,
    /// Samples in seconds: on a device, the readings of the events less `event_constant_s`.
    pub samples_s: Vec<f64>,
    /// Constant that was subtracted from each reading of the events, in seconds.
    pub event_constant_s: Option<f64>,
    /// Standard uncertainty of `event_constant_s`, in seconds; `None` where the backend does not report it.
    pub event_uncertainty_s: Option<f64>,
    /// Median, in seconds.
    pub median_s: f64,
    /// Smallest sample, in seconds.
    pub min_s: f64,
    /// Largest sample, in seconds.
    pub max_s: f64,
    /// Median absolute deviation, in seconds.
    pub mad_s: f64,
    /// 95 % interval of the median, in seconds.
    pub ci95_s: [f64; 2],
    /// The quantiles 0.05, 0.25, 0.75 and 0.95 by linear interpolation (Hyndman and Fan's type 7), in seconds.
    pub quantiles_s: Option<[f64; 4]>,
    /// Repetitions by the host's clock, in seconds, launch and synchronisation included; empty where they are `samples_s`. See
    /// [`Execute::host_samples`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_samples_s: Vec<f64>,
    /// Median of `host_samples_s`, in seconds.
    pub host_median_s: f64,
    /// 95 % interval of `host_median_s`, in seconds.
    pub host_ci95_s: Option<[f64; 2]>,
    /// Median of the host seconds until the call that enqueues the work returned; `None` without a device.
    pub enqueue_median_s: Option<f64>,
    /// The round, from 0, in which each sample was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<u32>,
    /// True if a blocking kernel delayed the device until all work of a sample was queued, in every sample. Work that
    /// waits for the device itself, or is so long that gaps between launches do not matter, is not blocked. `None`
    /// without a device.
    #[serde(alias = "held")]
    pub blocked: Option<bool>,
    /// True if the host time of every sample ended when the host read the word that the device writes after the work.
    /// The others ended when a synchronisation returned. `None` if the backend does not say.
    pub ended_by_word: Option<bool>,
    /// Clock of the multiprocessors around each sample, in MHz.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sm_mhz: Vec<f64>,
    /// Involuntary context switches during each sample.
    #[serde(default, alias = "switches", skip_serializing_if = "Vec::is_empty")]
    pub context_switches: Vec<u64>,
    /// Page faults of an execution: the median of each kind over the samples, 0 where all memory is touched before
    /// timing. `None` on a device.
    pub page_faults: Option<PageFaults>,
    /// Samples discarded because the device's clock was throttled.
    #[serde(default, alias = "set_aside")]
    pub discarded: u32,
    /// Samples kept although the clock was throttled.
    #[serde(default)]
    pub throttled: u32,
    /// Executions spent on warming up.
    pub warmups: u32,
    /// Number of checks that timed executions left the operands unchanged and a right answer: one after each round, and
    /// one more on an erased answer.
    #[serde(default)]
    pub verified: u32,
    /// True if times had stopped falling when sampling began.
    #[serde(default = "yes")]
    pub steady: bool,
    /// Seconds that sampling took, warm-up not included.
    #[serde(default)]
    pub spent_s: f64,
    /// The reason that sampling stopped.
    pub stopped: Option<Reason>,
    /// Difference between the rounds, if they could be compared.
    pub drift: Option<Drift>,
    /// The two clusters of the samples, if there are two.
    pub modes: Option<Modes>,
    /// Allocations, plans and compilations while samples were taken.
    pub setup_while_sampling: SetupCounts,
    /// The machine before and after each round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<[Conditions; 2]>,
    /// Trustworthiness of the times.
    pub grade: Option<Grade>,
    /// Warnings, most serious first, each with the next step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

fn yes() -> bool {
    true
}

/// Rounds to nine significant digits: a nanosecond in a second.
fn nine_digits(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

impl Execute {
    /// Returns whether the time has grade D.
    pub fn is_unreliable(&self) -> bool {
        self.grade == Some(Grade::D)
    }

    /// Returns whether a device time is below a microsecond, or less than what was subtracted for the events: it then says more about
    /// the events than about the work.
    pub fn is_clock_limited(&self) -> bool {
        let of_device = self.clock == Clock::DeviceEvents;
        of_device
            && (self.median_s < 1e-6
                || self.event_constant_s.is_some_and(|constant| constant > self.median_s))
    }

    /// Returns the samples, with nine significant digits as the clocks have at most, and their figures, by both clocks; `None` when
    /// one of them has no sample.
    pub fn of(samples_s: Vec<f64>, host_samples_s: Vec<f64>) -> Option<Execute> {
        let [samples_s, mut host_samples_s] = [samples_s, host_samples_s]
            .map(|samples| samples.into_iter().map(nine_digits).collect::<Vec<_>>());
        let summary = Summary::of(&samples_s)?;
        let mut host = summary;
        if host_samples_s == samples_s {
            host_samples_s.clear();
        } else {
            host = Summary::of(&host_samples_s)?;
        }
        Some(Execute {
            median_s: summary.median,
            min_s: summary.min,
            max_s: summary.max,
            mad_s: summary.mad,
            ci95_s: [summary.low, summary.high],
            quantiles_s: Some([summary.p05, summary.p25, summary.p75, summary.p95]),
            host_median_s: host.median,
            host_ci95_s: Some([host.low, host.high]),
            samples_s,
            host_samples_s,
            ..Execute::default()
        })
    }

    /// Returns the repetitions by the host's clock, in seconds; empty if the report has none.
    pub fn host_samples(&self) -> &[f64] {
        let are_same = self.host_samples_s.is_empty() && self.host_median_s == self.median_s;
        if are_same { &self.samples_s } else { &self.host_samples_s }
    }

    /// Multiplies every time by `factor`, as if the work were slower.
    pub fn scale(&mut self, factor: f64) {
        let arrays = [&mut self.samples_s, &mut self.host_samples_s];
        let figures = [
            &mut self.median_s,
            &mut self.min_s,
            &mut self.max_s,
            &mut self.mad_s,
            &mut self.host_median_s,
            &mut self.spent_s,
        ];
        let intervals = self.ci95_s.iter_mut().chain(self.host_ci95_s.iter_mut().flatten());
        let quantiles = self.quantiles_s.iter_mut().flatten();
        let times = arrays.into_iter().flatten().chain(figures).chain(intervals).chain(quantiles);
        let times = times.chain(&mut self.enqueue_median_s);
        times.for_each(|time| *time *= factor);
    }

    /// Returns whether the samples are enough for an interval of the median.
    pub fn has_interval(&self) -> bool {
        has_interval(self.samples_s.len())
    }

    /// Formats the median with the digits that its interval allows, as [`time_within`] does.
    pub fn median_text(&self) -> String {
        self.text(self.median_s, Some(self.ci95_s))
    }

    /// Formats the median by the host's clock with the digits that its interval allows.
    pub fn host_median_text(&self) -> String {
        self.text(self.host_median_s, self.host_ci95_s)
    }

    fn text(&self, median_s: f64, interval: Option<[f64; 2]>) -> String {
        let interval = interval.filter(|_| self.has_interval());
        time_within(median_s, interval.map(|[low, high]| (high - low) / 2.0))
    }

    /// Returns the summary of the samples.
    pub fn summary(&self) -> Summary {
        let [p05, p25, p75, p95] = self.quantiles_s.unwrap_or([self.median_s; 4]);
        Summary {
            median: self.median_s,
            min: self.min_s,
            max: self.max_s,
            mad: self.mad_s,
            low: self.ci95_s[0],
            high: self.ci95_s[1],
            p05,
            p25,
            p75,
            p95,
        }
    }
}
