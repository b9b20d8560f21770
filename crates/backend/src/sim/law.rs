//! Computes scripted times: a law of the size, with noise around it.

use gpubench_report::case::Case;
use gpubench_report::data::generator::{Stream, normal};
use gpubench_report::shape::BATCH;
use gpubench_text::duration;
use gpubench_text::toml_reader::not_a;
use serde::Deserialize;
use serde::de::{self, Deserializer};
use toml::Value;

/// A time in seconds, written as `"100us"`, `"1.5 ms"` or a plain number of seconds; more than 0, at most 30 days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds(pub f64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        seconds(&Value::deserialize(deserializer)?)
            .unwrap_or_else(|| Err(not_a("a time such as \"100us\" or \"1.5ms\"")))
    }
}

/// Parses a string or number; `None` for another value.
fn seconds<E: de::Error>(value: &Value) -> Option<Result<Seconds, E>> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        _ => return None,
    };
    Some(duration::parse(&text).map(Seconds).map_err(E::custom))
}

/// A time, or a law `base + per_element * batch * n^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TimeLaw {
    /// One time for all sizes.
    Constant(Seconds),
    /// A time that grows with the side and the batch.
    Power(Power),
}

impl<'de> Deserialize<'de> for TimeLaw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Some(time) = seconds(&value) {
            return time.map(TimeLaw::Constant);
        }
        if !value.is_table() {
            return Err(not_a("a time such as \"100us\", or a table with base, per_element and exponent"));
        }
        let power = Power::deserialize(value).map_err(|error| de::Error::custom(error.message()))?;
        if !power.exponent.is_finite() {
            return Err(de::Error::custom("exponent must be a finite number"));
        }
        Ok(TimeLaw::Power(power))
    }
}

/// `base + per_element * batch * n^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Power {
    /// Time at size 0; none when it is left out.
    base: Option<Seconds>,
    per_element: Seconds,
    #[serde(default = "square")]
    exponent: f64,
}

fn square() -> f64 {
    2.0
}

impl TimeLaw {
    /// Returns the time for a case, in seconds; infinite where the power overflows.
    pub(crate) fn at(self, case: &Case) -> f64 {
        match self {
            TimeLaw::Constant(Seconds(time)) => time,
            TimeLaw::Power(p) => {
                let batch = case.extent(BATCH) as f64;
                p.base.map_or(0.0, |base| base.0) + p.per_element.0 * batch * side(case).powf(p.exponent)
            }
        }
    }
}

/// Returns the side of square operands whose dimensions have the same product as those of the case.
fn side(case: &Case) -> f64 {
    let (Some(_), Some(op)) = (&case.shape, gpubench_ops::find(&case.op)) else { return case.n as f64 };
    let about = op.about();
    let product: f64 = about.dimensions.iter().map(|name| case.extent(name) as f64).product();
    product.powf(1.0 / about.square().len() as f64)
}

/// Scatter of a cell's executions around its law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scatter {
    /// Relative standard deviation (of the logarithm, so that no time is negative).
    pub noise: f64,
    /// Relative growth from one execution to the next.
    pub drift: f64,
    /// Share of executions that are outliers.
    pub outliers: f64,
    /// Factor on the time of an outlier.
    pub(crate) outlier_factor: f64,
}

impl Scatter {
    /// Returns the factor on the law's time at `execution` (from 0); `stream` supplies the random numbers.
    pub(crate) fn factor(&self, stream: Stream, execution: u64) -> f64 {
        let chance = |k: u64| stream.uniform::<f64>(3 * execution + k);
        let normal = normal(chance(0), chance(1));
        let outlier = if chance(2) < self.outliers { self.outlier_factor } else { 1.0 };
        (self.noise * normal).exp() * (1.0 + self.drift * execution as f64).max(0.0) * outlier
    }
}

#[cfg(test)]
mod tests {
    use gpubench_report::case::DType;

    use super::*;

    #[test]
    fn times_are_texts_or_seconds_and_laws_are_tables() {
        #[derive(Deserialize)]
        struct Of {
            time: TimeLaw,
        }
        let case = Case::square("sin", 10, DType::F32, 1);
        let read = |text: &str| toml::from_str::<Of>(&format!("time = {text}")).map(|of| of.time.at(&case));
        for (text, expected) in [
            ("'100us'", 100.0 * 1e-6),
            ("2", 2.0),
            ("0.5", 0.5),
            ("{ per_element = '1ms', exponent = 1 }", 10.0 * 1e-3),
            ("{ base = 1, per_element = 1 }", 101.0),
        ] {
            assert_eq!(read(text).ok(), Some(expected), "{text}");
        }
        for text in ["''", "0", "-1", "nan", "inf", "'1 parsec'", "'-1s'", "[1]", "true", "{}"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read("{ per_element = '1ms', exponent = inf }").is_err());
    }

    #[test]
    fn a_law_takes_the_dimensions_of_a_shape_and_its_batch() {
        for (op, shape, exponent, expected) in [
            ("matmul", r#"{"m": 4, "n": 5, "k": "N", "batch": 10}"#, 3.0, 1400.0),
            ("elementwise", r#"{"rows": 300, "cols": "N"}"#, 2.0, 2100.0),
            ("fft", r#"{"nx": 64, "batch": "N"}"#, 2.0, 448.0),
            ("fft", r#"{"nx": 4, "ny": 4, "nz": 4}"#, 2.0, 64.0),
            ("solve", r#"{"n": "N", "rhs": 3}"#, 3.0, 343.0),
        ] {
            let case = Case { shape: serde_json::from_str(shape).ok(), ..Case::square(op, 7, DType::F32, 1) };
            let law = TimeLaw::Power(Power { base: Some(Seconds(1.0)), per_element: Seconds(1.0), exponent });
            assert!((law.at(&case) - 1.0 - expected).abs() < 1e-6, "{case}: {}", law.at(&case));
        }
    }

    #[test]
    fn scatter_has_the_configured_noise_drift_and_outliers() {
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
