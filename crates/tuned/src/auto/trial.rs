//! Chooses among the variants that the rules name by timing them: where a rule says so, and in all cases on devices where the
//! rules have not been measured.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gpubench_backend::Prepared;
use gpubench_cuda::catalogue::Choices;
use gpubench_cuda::{CellError, Cuda, KernelSource, Result, Setup, Timer};
use gpubench_report::case::{Cache, Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::measure::stats::upper_median;

use super::device_traits::DeviceTraits;
use super::rules::{RULES, VariantRule};
use super::{compiled_for_sizes, kernel, prepare_first, prepare_variant};

/// The environment variable that makes trials decide in all cases on every device, so that tests can run them.
const SWITCH: &str = "GPUBENCH_TEST_TRIALS";

/// Samples of each variant after the first, which includes the first call. The median counts.
const SAMPLES: usize = 5;
/// After this time, no further sample of a variant is taken.
const MAX_TIME: Duration = Duration::from_millis(200);

/// The choices made by trials so far on a device.
pub(crate) struct Trials {
    device: DeviceTraits,
    of_all_cases: bool,
    choices: Vec<(Case, &'static str)>,
}

struct Times {
    /// Median of the samples.
    execute_s: f64,
    /// Planning, allocating, and what the first call takes beyond later ones.
    first_use_s: f64,
}

impl Trials {
    pub(crate) fn new(cuda: &Cuda) -> Trials {
        let device = DeviceTraits::of(cuda);
        let of_all_cases = !device.has_measured_rules() || std::env::var_os(SWITCH).is_some();
        Trials { device, of_all_cases, choices: Vec::new() }
    }
}

impl Choices for Trials {
    fn by_trial(&self) -> bool {
        self.of_all_cases
    }

    fn sources_of_sizes(
        &self,
        cuda: &Cuda,
        sizes: &BTreeMap<String, Vec<u64>>,
        dtypes: &[DType],
    ) -> Vec<&'static KernelSource> {
        compiled_for_sizes((&self.device, cuda.capacity(), self.of_all_cases), sizes, dtypes)
    }

    /// The first calls of libraries happen in the trial. So the time to plan the job that is prepared next includes the first
    /// use of the chosen variant, and of those that call a library of it, since either may have loaded that.
    fn choose(
        &mut self,
        cuda: &Cuda,
        timer: &mut Timer,
        case: &Case,
        inputs: &[Operand],
    ) -> Result<Option<&'static str>> {
        if let Some((_, name)) = self.choices.iter().find(|(known, _)| known == case) {
            return Ok(Some(name));
        }
        // The rules were measured on random matrices; one of a file has rows of any length.
        let by_trial = self.of_all_cases || case.matrix.is_some();
        let candidates = if by_trial { of_all_sizes } else { of_rules };
        let names = candidates(case, &self.device);
        if names.len() < 2 {
            return Ok(None);
        }
        let start = Instant::now();
        let time =
            |name| (name, cuda.with_single_uploads(|| time(Setup { cuda, case, inputs }, timer, name)));
        let trial = evaluate(names.into_iter().map(time))?;
        cuda.phases();
        let first_use_s = trial.first_use_s(|name| share_library(&case.op, name, trial.fastest));
        cuda.exclude_from_plan(start.elapsed().as_secs_f64() - first_use_s);
        self.choices.push((case.clone(), trial.fastest));
        Ok(Some(trial.fastest))
    }

    fn prepare(&self, setup: Setup<'_>, chosen: Option<&'static str>) -> Result<Box<Prepared>> {
        prepare_first(setup, chosen)
    }
}

#[derive(Debug, PartialEq)]
struct TrialResult {
    fastest: &'static str,
    /// The variants that were timed, with the seconds of their first use.
    first_uses: Vec<(&'static str, f64)>,
}

impl TrialResult {
    /// Returns the seconds of the first use of the fastest variant and of others.
    fn first_use_s(&self, is_counted: impl Fn(&str) -> bool) -> f64 {
        let counted = |(name, _): &&(&str, f64)| *name == self.fastest || is_counted(name);
        self.first_uses.iter().filter(counted).map(|(_, seconds)| seconds).sum()
    }
}

/// Returns whether two variants of an op call the same library.
fn share_library(op: &str, one: &str, other: &str) -> bool {
    let libraries = |name| kernel(op, name).map_or(&[][..], |kernel| kernel.libraries);
    libraries(one).iter().any(|library| libraries(other).contains(library))
}

/// Finds the fastest variant. One that fails is left out, as it may need what this device does not have.
fn evaluate(timed: impl Iterator<Item = (&'static str, Result<Times>)>) -> Result<TrialResult> {
    let (mut fastest, mut first_uses, mut refusal) = (None, Vec::new(), None);
    for (name, times) in timed {
        match times {
            Ok(times) => {
                first_uses.push((name, times.first_use_s));
                if fastest.is_none_or(|(_, least)| times.execute_s < least) {
                    fastest = Some((name, times.execute_s));
                }
            }
            Err(error @ CellError::DeviceLost(_)) => return Err(error),
            Err(error) => refusal = Some(error),
        }
    }
    match (fastest, refusal) {
        (Some((fastest, _)), _) => Ok(TrialResult { fastest, first_uses }),
        (None, Some(error)) => Err(error),
        (None, None) => Err(CellError::Failed("a trial has no variants".into())),
    }
}

/// Returns the variants that any rule names for the op and element type of a case on a device, in the order of the rules.
/// Sizes do not matter, because the borders between sizes differ between devices.
pub(super) fn of_all_sizes(case: &Case, device: &DeviceTraits) -> Vec<&'static str> {
    distinct(RULES.iter().filter(|rule| rule.applies_to(case, device)))
}

/// Returns the variants of the rules that cover a case on a device, up to the first rule that needs no trial.
fn of_rules(case: &Case, device: &DeviceTraits) -> Vec<&'static str> {
    let covering = || RULES.iter().filter(|rule| rule.covers(case, device));
    let in_trial = covering().take_while(|rule| rule.in_trial).count();
    distinct(covering().take(in_trial + 1))
}

fn distinct(rules: impl Iterator<Item = &'static VariantRule>) -> Vec<&'static str> {
    let mut names = Vec::new();
    for rule in rules {
        if !names.contains(&rule.variant) {
            names.push(rule.variant);
        }
    }
    names
}

fn time(setup: Setup<'_>, timer: &mut Timer, name: &'static str) -> Result<Times> {
    let cuda = setup.cuda;
    // Compile and copy times of a variant that failed before.
    cuda.phases();
    let start = Instant::now();
    let mut job = prepare_variant(setup, name)?;
    let plan_s = start.elapsed().as_secs_f64() - cuda.phases().compile_and_copy_s;
    let first_s = timer.time(&mut job, Cache::Hot)?.host_s;
    let start = Instant::now();
    let (mut samples, mut later_s) = (Vec::new(), first_s);
    while samples.is_empty() || samples.len() < SAMPLES && start.elapsed() < MAX_TIME {
        let sample = timer.time(&mut job, Cache::Hot)?;
        samples.push(sample.device_s.unwrap_or(sample.host_s));
        later_s = sample.host_s.min(later_s);
    }
    let execute_s = upper_median(&mut samples).unwrap_or(f64::INFINITY);
    Ok(Times { execute_s, first_use_s: plan_s + first_s - later_s })
}

#[cfg(test)]
mod tests {
    use gpubench_report::error::Unavailable;

    use super::*;

    fn names(op: &str, dtype: DType, f64_ratio: u32) -> Vec<&'static str> {
        let case = Case { op: op.into(), n: 100, dtype, density: None, shape: None, matrix: None, seed: 42 };
        of_all_sizes(&case, &DeviceTraits { f64_ratio, capability: Some(80), multiprocessors: 108 })
    }

    fn times(execute_s: f64, first_use_s: f64) -> Result<Times> {
        Ok(Times { execute_s, first_use_s })
    }

    fn failed(why: &str) -> Result<Times> {
        Err(CellError::Failed(why.into()))
    }

    #[test]
    fn a_trial_has_each_variant_of_the_rules_once_whatever_the_size() {
        assert_eq!(names("matmul", DType::F32, 2), ["dmma", "f64-accumulate", "cublas"]);
        assert_eq!(names("matmul", DType::F64, 2), ["dmma", "cublas-padded", "cublas"]);
        assert_eq!(names("fft", DType::F32, 2), ["bluestein", "hermitian", "r2c"]);
        assert_eq!(names("elementwise", DType::F32, 2), ["fused"]);
    }

    #[test]
    fn where_rules_were_measured_a_trial_has_only_variants_of_rules_for_the_size() {
        let of_size = |op: &str, n, dtype| {
            of_rules(
                &Case { op: op.into(), n, dtype, density: None, shape: None, matrix: None, seed: 42 },
                &DeviceTraits::HOPPER,
            )
        };
        let matmul = |n, dtype| of_size("matmul", n, dtype);
        for (n, names) in [
            (512, ["dmma"].as_slice()),
            (513, &["cublas"]),
            (900, &["dmma", "cublas"]),
            (999, &["cublas"]),
            (1025, &["f64-accumulate", "cublas"]),
            (2048, &["dmma", "f64-accumulate", "cublas"]),
            (2052, &["f64-accumulate"]),
        ] {
            assert_eq!(matmul(n, DType::F32), names, "{n}");
        }
        for (n, names) in [
            (192, ["dmma"].as_slice()),
            (193, &["cublas"]),
            (513, &["cublas"]),
            (514, &["cublas-padded", "cublas"]),
            (516, &["cublas"]),
            (898, &["cublas"]),
            (1025, &["cublas-padded", "cublas"]),
            (1960, &["cublas"]),
            (16381, &["cublas-padded", "cublas"]),
        ] {
            assert_eq!(matmul(n, DType::F64), names, "{n}");
        }
        let slow = DeviceTraits { f64_ratio: 64, ..DeviceTraits::HOPPER };
        for dtype in DType::REAL {
            let case = Case {
                op: "matmul".into(),
                n: 1028,
                dtype: *dtype,
                density: None,
                shape: None,
                matrix: None,
                seed: 42,
            };
            assert_eq!(of_rules(&case, &slow), ["cublas"]);
        }
        assert_eq!(of_size("fft", 777, DType::F32), ["hermitian"]);
        assert_eq!(of_size("fft", 2544, DType::F32), ["r2c", "bluestein"], "a prime factor 53");
        assert_eq!(of_size("fft", 3008, DType::F64), ["r2c"], "a multiple of 32");
        assert_eq!(of_size("fft", 2543, DType::F32), ["bluestein"]);
        assert_eq!(of_size("fft", 5000, DType::F32), ["hermitian"]);
        assert_eq!(of_size("fft", 5000, DType::F64), ["hermitian", "r2c"]);
        assert_eq!(of_size("fft", 6750, DType::F32), ["hermitian", "r2c"]);
        assert_eq!(of_size("fft", 4489, DType::F32), ["bluestein", "r2c"], "a prime factor 67");
        assert_eq!(of_size("fft", 4097, DType::F64), ["bluestein"], "a prime factor 241");
        assert_eq!(of_size("fft", 8192, DType::F32), ["r2c"]);
        for (n, dtype, name) in [(21, DType::F32, "jacobi"), (22, DType::F32, "gram")] {
            assert_eq!(of_size("svd", n, dtype), [name], "{n}");
        }
        assert_eq!(of_size("svd", 26, DType::F64), ["jacobi"]);
        assert_eq!(of_size("svd", 27, DType::F64), ["gram"]);
        for (n, names) in
            [(3000, ["cholesky"].as_slice()), (3001, &["cholesky", "potrf"]), (4501, &["potrf"])]
        {
            assert_eq!(of_size("solve", n, DType::F64), names, "{n}");
        }
        assert_eq!(of_size("elementwise", 100, DType::F32), ["fused"]);
    }

    #[test]
    fn a_trial_has_no_variant_that_needs_fast_float64_on_a_device_without() {
        assert_eq!(names("matmul", DType::F32, 64), ["cublas"]);
        assert_eq!(names("matmul", DType::F64, 64), ["cublas"]);
        assert_eq!(names("solve", DType::F64, 64), ["potrf"]);
        assert_eq!(names("svd", DType::F32, 64), ["jacobi", "gesvdp"]);
    }

    #[test]
    fn the_first_use_of_a_library_counts_for_the_variants_that_call_it() {
        let first_use_s = |fastest| {
            let first_uses = vec![("dmma", 0.5), ("cublas-padded", 0.25), ("cublas", 0.125)];
            TrialResult { fastest, first_uses }.first_use_s(|name| share_library("matmul", name, fastest))
        };
        assert_eq!(["dmma", "cublas"].map(first_use_s), [0.5, 0.375]);
    }

    #[test]
    fn the_fastest_wins_and_those_that_fail_are_left_out() {
        let of = |all: [Result<Times>; 3]| evaluate(["a", "b", "c"].into_iter().zip(all));
        let trial = of([times(3.0, 0.5), times(1.0, 0.25), times(2.0, 0.25)]).unwrap();
        assert_eq!(
            trial,
            TrialResult { fastest: "b", first_uses: vec![("a", 0.5), ("b", 0.25), ("c", 0.25)] }
        );
        let missing = || Err(Unavailable::new("no library", "install it").into());
        assert_eq!(of([missing(), failed("x"), times(2.0, 0.25)]).unwrap().fastest, "c");
        assert_eq!(of([missing(), missing(), failed("x")]).unwrap_err().to_string(), "x");
        let lost = || Err(CellError::DeviceLost("gone".into()));
        assert!(matches!(of([times(1.0, 0.0), lost(), times(2.0, 0.0)]), Err(CellError::DeviceLost(_))));
    }
}
