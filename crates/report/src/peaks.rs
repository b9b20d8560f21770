//! Defines the measured peaks of a machine: memory bandwidth, FLOP rates, and bandwidth between host and device.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::HostMemory;

/// Rates that no implementation should exceed by much. Rates that a backend does not have are `None`.
///
/// Each is the best of several repetitions over data that no cache holds.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// Bytes per second of reading memory and reducing it to a number.
    pub read: Option<f64>,
    /// Bytes per second, reads plus writes, of a copy within memory.
    pub copy: Option<f64>,
    /// Bytes per second, reads plus writes, of a = b + s c (STREAM triad).
    pub triad: Option<f64>,
    /// FLOP per second of a large matrix product, by precision: `f32`, `f64`, `tf32`, `f16`, `bf16`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub matmul: BTreeMap<String, f64>,
    /// Bytes per second from host memory to the device.
    pub upload: Option<BusRates>,
    /// Bytes per second from the device to host memory.
    pub download: Option<BusRates>,
    /// Time of the measurement: RFC 3339, UTC.
    #[serde(default)]
    pub measured: String,
    /// True if an earlier run on this machine measured them.
    #[serde(default)]
    pub cached: bool,
}

impl Peaks {
    /// Drops figures that are not finite or not above 0; returns `None` when none is left.
    pub fn plausible(self) -> Option<Peaks> {
        let peaks = self.with_rates_alone();
        let rates = Peaks { measured: String::new(), cached: false, ..peaks.clone() };
        (rates != Peaks::default()).then_some(peaks)
    }

    /// Combines two measurements of one machine into the higher rate of each kind.
    pub fn highest(mut self, other: Peaks) -> Peaks {
        let higher = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).max_by(f64::total_cmp);
        self.read = higher(self.read, other.read);
        self.copy = higher(self.copy, other.copy);
        self.triad = higher(self.triad, other.triad);
        for (precision, rate) in other.matmul {
            let known = self.matmul.entry(precision).or_insert(rate);
            *known = known.max(rate);
        }
        let pair = |a: BusRates, b: BusRates| BusRates {
            pageable: a.pageable.max(b.pageable),
            pinned: a.pinned.max(b.pinned),
        };
        let of_bus = |a: Option<BusRates>, b: Option<BusRates>| a.into_iter().chain(b).reduce(pair);
        self.upload = of_bus(self.upload, other.upload);
        self.download = of_bus(self.download, other.download);
        self
    }

    /// Returns whether every figure is a rate from 1e-100 to 1e100 per second. Shares of it are then finite and above 0.
    pub fn has_rates_alone(&self) -> bool {
        self.clone().with_rates_alone() == *self
    }

    fn with_rates_alone(mut self) -> Peaks {
        let is_rate = |rate: &f64| (1e-100..=1e100).contains(rate);
        self.read = self.read.filter(is_rate);
        self.copy = self.copy.filter(is_rate);
        self.triad = self.triad.filter(is_rate);
        self.matmul.retain(|_, rate| is_rate(rate));
        let are_rates = |rates: &BusRates| is_rate(&rates.pageable) && is_rate(&rates.pinned);
        self.upload = self.upload.filter(are_rates);
        self.download = self.download.filter(are_rates);
        self
    }
}

/// Bytes per second of copies between host and device, by kind of host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BusRates {
    /// To or from ordinary memory.
    pub pageable: f64,
    /// To or from page-locked memory.
    pub pinned: f64,
}

impl BusRates {
    /// Returns the rate for memory of that kind.
    pub fn of(&self, memory: HostMemory) -> f64 {
        match memory {
            HostMemory::Pageable => self.pageable,
            HostMemory::Pinned => self.pinned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_are_no_rates_are_left_out() {
        let bus = |pageable, pinned| Some(BusRates { pageable, pinned });
        let matmul = [("f32", 1e12), ("f64", f64::NAN), ("f16", -1.0)];
        let measured = Peaks {
            read: Some(1e11),
            copy: Some(f64::INFINITY),
            triad: Some(0.0),
            matmul: matmul.map(|(word, rate)| (word.to_owned(), rate)).into(),
            upload: bus(1e10, 0.0),
            download: bus(1e10, 2e10),
            ..Peaks::default()
        };
        let expected = Peaks {
            read: Some(1e11),
            matmul: BTreeMap::from([("f32".to_owned(), 1e12)]),
            download: bus(1e10, 2e10),
            ..Peaks::default()
        };
        assert!(!measured.has_rates_alone() && expected.has_rates_alone());
        assert_eq!(measured.plausible(), Some(expected));
        let none = Peaks { read: Some(f64::NAN), measured: "now".into(), ..Peaks::default() };
        assert_eq!(none.plausible(), None);
    }

    #[test]
    fn of_two_measurements_the_higher_figure_of_each_kind_counts() {
        let of = |read, matmul: &[(&str, f64)], upload: Option<[f64; 2]>| Peaks {
            read,
            matmul: matmul.iter().map(|(word, rate)| ((*word).to_owned(), *rate)).collect(),
            upload: upload.map(|[pageable, pinned]| BusRates { pageable, pinned }),
            ..Peaks::default()
        };
        let one = of(Some(2.0), &[("f32", 3.0), ("f64", 1.0)], Some([1.0, 5.0]));
        let other = of(None, &[("f32", 2.0), ("f16", 9.0)], Some([4.0, 2.0]));
        let expected = of(Some(2.0), &[("f32", 3.0), ("f64", 1.0), ("f16", 9.0)], Some([4.0, 5.0]));
        assert_eq!(one.clone().highest(other.clone()), expected);
        assert_eq!(other.highest(one), expected);
    }
}
