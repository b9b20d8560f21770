//! Chooses among the variants that the rules name by timing them, on devices where the rules have not been measured.

use std::time::{Duration, Instant};

use gpubench_model::case::{Cache, Case};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;
use gpubench_model::measure::stats::upper_median;

use super::device_traits::DeviceTraits;
use super::rules::RULES;
use super::{is_refusal, prepare_variant};
use crate::context::Cuda;
use crate::timing::Timer;

/// The environment variable that turns trials on for every device, so that tests can run them.
const SWITCH: &str = "GPUBENCH_TEST_TRIALS";

/// Samples of each variant after the first, which includes the first call. The median counts.
const SAMPLES: usize = 5;
/// After this time, no further sample of a variant is taken.
const MAX_TIME: Duration = Duration::from_millis(200);

/// The choices made by trials so far. A case keeps its choice as long as the backend runs.
pub(crate) struct Trials {
    always: bool,
    choices: Vec<(Case, &'static str)>,
}

impl Trials {
    pub(crate) fn new() -> Trials {
        Trials { always: std::env::var_os(SWITCH).is_some(), choices: Vec::new() }
    }

    /// Returns the variant that a trial chooses for a case, or `None` where the rules decide: on a device where they
    /// have been measured, and where only one variant is possible.
    ///
    /// # Errors
    /// A variant fails for another reason than those for which `auto` skips it.
    pub(crate) fn choose(
        &mut self,
        cuda: &Cuda,
        timer: &mut Timer,
        case: &Case,
        inputs: &[Operand],
    ) -> Result<Option<&'static str>, CellError> {
        let device = DeviceTraits::of(cuda);
        if device.has_measured_rules() && !self.always {
            return Ok(None);
        }
        let names = candidates(case, &device);
        if names.len() < 2 {
            return Ok(None);
        }
        if let Some((_, name)) = self.choices.iter().find(|(known, _)| known == case) {
            return Ok(Some(name));
        }
        let fastest = cuda.outside_phases(|| fastest(cuda, timer, case, inputs, &names))?;
        self.choices.extend(fastest.map(|name| (case.clone(), name)));
        Ok(fastest)
    }
}

/// Returns the fastest of the variants that can do the case, or `None` if none can.
fn fastest(
    cuda: &Cuda,
    timer: &mut Timer,
    case: &Case,
    inputs: &[Operand],
    names: &[&'static str],
) -> Result<Option<&'static str>, CellError> {
    let mut fastest: Option<(&'static str, f64)> = None;
    for &name in names {
        if let Some(seconds) = time_s(cuda, timer, case, inputs, name)?
            && fastest.is_none_or(|(_, least)| seconds < least)
        {
            fastest = Some((name, seconds));
        }
    }
    Ok(fastest.map(|(name, _)| name))
}

/// Returns the variants that any rule names for the op and element type of a case on a device, in the order of the rules.
/// Sizes do not matter, because the borders between sizes differ between devices.
fn candidates(case: &Case, device: &DeviceTraits) -> Vec<&'static str> {
    let mut names = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.covers_some_size(case, device)) {
        if !names.contains(&rule.variant) {
            names.push(rule.variant);
        }
    }
    names
}

/// Returns the median time of a variant with hot caches, or `None` if it cannot do the case.
fn time_s(
    cuda: &Cuda,
    timer: &mut Timer,
    case: &Case,
    inputs: &[Operand],
    name: &'static str,
) -> Result<Option<f64>, CellError> {
    let mut job = match prepare_variant(cuda, case, inputs, name) {
        Ok(job) => job,
        Err(error) if is_refusal(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    timer.time(&mut job, Cache::Hot)?;
    let start = Instant::now();
    let mut times = Vec::new();
    while times.is_empty() || times.len() < SAMPLES && start.elapsed() < MAX_TIME {
        let sample = timer.time(&mut job, Cache::Hot)?;
        times.push(sample.device_s.unwrap_or(sample.host_s));
    }
    Ok(upper_median(&mut times))
}

#[cfg(test)]
mod tests {
    use gpubench_model::case::DType;

    use super::*;

    fn names(op: &str, dtype: DType, f64_ratio: u32) -> Vec<&'static str> {
        let case = Case { op: op.into(), n: 100, dtype, density: None, seed: 42 };
        candidates(&case, &DeviceTraits { f64_ratio, capability: Some(80) })
    }

    #[test]
    fn a_trial_has_each_variant_of_the_rules_once_whatever_the_size() {
        assert_eq!(names("matmul", DType::F32, 2), ["dmma", "f64-accumulate", "cublas"]);
        assert_eq!(names("matmul", DType::F64, 2), ["dmma", "cublas-padded", "cublas"]);
        assert_eq!(names("fft", DType::F32, 2), ["bluestein", "hermitian", "r2c"]);
        assert_eq!(names("elementwise", DType::F32, 2), ["fused"]);
    }

    #[test]
    fn a_trial_has_no_variant_that_needs_fast_float64_on_a_device_without() {
        assert_eq!(names("matmul", DType::F64, 64), ["cublas"]);
        assert_eq!(names("solve", DType::F64, 64), ["potrf"]);
        assert_eq!(names("svd", DType::F32, 64), ["jacobi", "gesvdp"]);
    }
}
