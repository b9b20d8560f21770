//! Classifies cells by the hardware that determines their time, with the typical variation between runs of each class.

use gpubench_report::Side;

use super::CellPair;

/// Degrees of freedom of an assumed variance. It is a guess, so intervals are wider than for a known variance.
pub(crate) const ASSUMED_DF: f64 = 10.0;

/// The hardware that determines a cell's time, and with it the variation between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// The device alone: all work was queued before the clock started.
    Device,
    /// The device and the host: the device waits for the host between kernels.
    Waiting,
    Host,
}

impl Pace {
    pub(crate) const ALL: [Pace; 3] = [Pace::Device, Pace::Waiting, Pace::Host];

    pub(crate) fn of(pair: &CellPair) -> Pace {
        match pair.side {
            Side::Cpu => Pace::Host,
            Side::Gpu if pair.timed().all(|evidence| evidence.blocked) => Pace::Device,
            Side::Gpu => Pace::Waiting,
        }
    }

    /// Returns the default threshold, relative.
    pub(crate) fn threshold(self) -> f64 {
        if self == Pace::Device { 0.05 } else { 0.10 }
    }

    /// Returns a typical relative standard deviation between runs, for plans and to moderate the few runs of a small sweep.
    pub(crate) fn typical_variation(self) -> f64 {
        if self == Pace::Device { 0.01 } else { 0.04 }
    }

    /// Returns the relative standard deviation assumed if nothing shows one: 12 % between runs alarm in less than 1 % of cases.
    pub(crate) fn cautious_variation(self) -> f64 {
        if self == Pace::Device { 0.02 } else { 0.09 }
    }

    /// Returns the lower bound for a measured relative standard deviation: runs that agree better do so by chance.
    pub(crate) fn min_variation(self) -> f64 {
        if self == Pace::Device { 0.002 } else { 0.005 }
    }
}
