//! Scripted times: durations as people write them, a law of the size, and the noise around it.

use serde::Deserialize;

use crate::data::generator::Stream;

/// A time in seconds, written as `"100us"`, `"1.5 ms"` or a plain number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Seconds(pub f64);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Integer(u32),
    Number(f64),
    Text(String),
}

impl TryFrom<Written> for Seconds {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let seconds = match &written {
            Written::Integer(seconds) => Some(f64::from(*seconds)),
            Written::Number(seconds) => Some(*seconds),
            Written::Text(text) => parse(text),
        };
        let seconds = seconds.filter(|s| s.is_finite() && *s >= 0.0);
        seconds.map(Seconds).ok_or_else(|| "a time is written like \"100us\", \"1.5ms\" or \"2s\"".into())
    }
}

fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E')?;
    let scale = match text[split..].trim() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    text[..split].trim().parse::<f64>().ok().map(|value| value * scale)
}

/// A time, or a law `base + per_element * n^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a time such as \"100us\", or a table with base, per_element and exponent")]
pub enum Law {
    /// The same time at every size.
    Constant(Seconds),
    /// A time that grows with the side `n`.
    Power(Power),
}

/// `base + per_element * n^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Time at size 0.
    #[serde(default = "nothing")]
    base: Seconds,
    /// Factor of the power.
    per_element: Seconds,
    /// Exponent of the side.
    #[serde(default = "square")]
    exponent: f64,
}

fn nothing() -> Seconds {
    Seconds(0.0)
}

fn square() -> f64 {
    2.0
}

impl Law {
    /// The time for side `n`, in seconds.
    pub fn at(self, n: u64) -> f64 {
        match self {
            Law::Constant(Seconds(time)) => time,
            Law::Power(p) => p.base.0 + p.per_element.0 * (n as f64).powf(p.exponent),
        }
    }
}

/// How a cell's executions scatter around its law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Relative standard deviation (of the logarithm, so that no time is negative).
    pub noise: f64,
    /// Relative growth from one execution to the next.
    pub drift: f64,
    /// Share of executions that are outliers.
    pub outliers: f64,
    /// How many times longer an outlier takes.
    pub outlier_factor: f64,
}

impl Scatter {
    /// The factor on the law's time at `execution` (from 0); `stream` fixes the chances.
    pub fn factor(&self, stream: Stream, execution: u64) -> f64 {
        let chance = |k: u64| stream.uniform::<f64>(3 * execution + k);
        // Box and Muller's transform; 1 - u keeps the logarithm's argument above zero.
        let radius = (-2.0 * (1.0 - chance(0)).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * chance(1)).cos();
        let outlier = if chance(2) < self.outliers { self.outlier_factor } else { 1.0 };
        (self.noise * normal).exp() * (1.0 + self.drift * execution as f64).max(0.0) * outlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let same = |text: &str, s: f64| assert!((parse(text).unwrap() / s - 1.0).abs() < 1e-12, "{text}");
        same("100us", 1e-4);
        same("1.5 ms", 1.5e-3);
        same("3e2ns", 3e-7);
        same("2s", 2.0);
        for text in ["", "12", "us", "5 min", "1.2.3s"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(Seconds::try_from(Written::Text("-1s".into())).is_err());
    }

    #[test]
    fn scatter_has_the_spread_the_drift_and_the_outliers_it_was_told() {
        let plain = Scatter { noise: 0.05, drift: 0.0, outliers: 0.0, outlier_factor: 5.0 };
        let stream = Stream::new(1, 2);
        let logs: Vec<f64> = (0..20_000).map(|k| plain.factor(stream, k).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let sigma = (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
        assert!(mean.abs() < 0.002 && (sigma - 0.05).abs() < 0.002, "{mean} {sigma}");
        let rough = Scatter { noise: 0.0, drift: 0.01, outliers: 0.1, outlier_factor: 5.0 };
        let slow = (0..10_000).filter(|&k| rough.factor(stream, k) > 4.0 * (1.0 + 0.01 * k as f64)).count();
        assert!((900..1100).contains(&slow), "{slow}");
        let drifting = Scatter { outliers: 0.0, ..rough };
        assert!((drifting.factor(stream, 100) - 2.0).abs() < 1e-12);
    }
}
