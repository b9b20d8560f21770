//! What paces a cell's time, and how steady such times usually are from run to run.

use gpubench_model::Side;

use super::pairing::Pair;

/// Degrees of freedom that an assumed spread is worth: it is a guess, so intervals are wider than a known one's.
pub(crate) const ASSUMED_DF: f64 = 10.0;

/// What paces a cell's time, and so how steady it is from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// The device alone: all work was queued before its clock started.
    Device,
    /// A device that waits for the host in between.
    Waiting,
    Host,
}

impl Pace {
    pub(crate) const ALL: [Pace; 3] = [Pace::Device, Pace::Waiting, Pace::Host];

    /// What is timed at that pace, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pace::Device => "for work paced by the device",
            Pace::Waiting => "for work where the device waits for the host",
            Pace::Host => "on the CPU",
        }
    }

    /// What paces the times of `pair`.
    pub(crate) fn of(pair: &Pair) -> Pace {
        match pair.side {
            Side::Cpu => Pace::Host,
            Side::Gpu if pair.timed().all(|evidence| evidence.blocked) => Pace::Device,
            Side::Gpu => Pace::Waiting,
        }
    }

    /// The change that counts where a policy names none, relative.
    pub(crate) fn threshold(self) -> f64 {
        if self == Pace::Device { 0.05 } else { 0.10 }
    }

    /// A usual standard deviation from run to run, relative: for plans, and next to the few runs of a small sweep.
    pub(crate) fn usual(self) -> f64 {
        if self == Pace::Device { 0.01 } else { 0.04 }
    }

    /// The standard deviation from run to run that is assumed for verdicts where neither runs nor other cells show one,
    /// relative. Cautious: with it, hosts that differ by 12 % from run to run raise a false alarm in less than 1 % of
    /// comparisons.
    pub(crate) fn cautious(self) -> f64 {
        if self == Pace::Device { 0.02 } else { 0.09 }
    }

    /// The least that is believed of any measured one: runs that agree better than this were lucky.
    pub(crate) fn least(self) -> f64 {
        if self == Pace::Device { 0.002 } else { 0.005 }
    }
}
