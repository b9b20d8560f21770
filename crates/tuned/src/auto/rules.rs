//! The rules by which `auto` chooses a variant from op, size, element type and device, with their reasons. Where they do not
//! decide, a trial does, among the variants that they name. The table in `docs/variants.md` repeats them, which a test checks.

use std::ops::RangeInclusive;

use Divisibility::{ByPrimeAbove, ByPrimesUpTo, MultipleOf, NotMultipleOf};
use gpubench_cuda::kernels::{ANY_SIZE, common};
use gpubench_report::case::{Case, DType};

use super::device_traits::DeviceTraits;
use crate::fft::radices::has_primes_up_to;

/// A rule. `auto` uses the first one that covers the case and whose variant supports it. With `in_trial`, a trial decides between
/// its variant and those of the following rules that cover the case, up to the first rule without `in_trial`.
#[derive(Debug)]
pub(super) struct VariantRule {
    /// The op that the rule applies to.
    pub op: &'static str,
    pub variant: &'static str,
    dtypes: &'static [DType],
    sizes: RangeInclusive<u64>,
    /// All of them must hold.
    divisibility: &'static [Divisibility],
    devices: Devices,
    /// Whether the variant is taken only if it is the fastest in a trial.
    pub in_trial: bool,
    /// A further condition in words, which the variants check themselves; empty for none.
    when: &'static str,
    /// The reason for the rule; empty for the fallback of an op.
    pub because: &'static str,
}

/// The devices that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Devices {
    All,
    /// Devices on which `has_fast_f64` holds.
    FastF64,
}

/// A condition on the size of a case. Kernels copy 16 bytes at a time only where each row begins at a multiple of them;
/// Fourier transforms have steps for small prime factors.
#[derive(Clone, Copy, Debug)]
enum Divisibility {
    MultipleOf(u64),
    NotMultipleOf(u64),
    /// No prime factor is larger.
    ByPrimesUpTo(usize),
    /// A prime factor is larger.
    ByPrimeAbove(usize),
}

impl Divisibility {
    fn covers(self, n: u64) -> bool {
        match self {
            Divisibility::MultipleOf(divisor) => n.is_multiple_of(divisor),
            Divisibility::NotMultipleOf(divisor) => !n.is_multiple_of(divisor),
            Divisibility::ByPrimesUpTo(max) => usize::try_from(n).is_ok_and(|n| has_primes_up_to(n, max)),
            Divisibility::ByPrimeAbove(limit) => !Divisibility::ByPrimesUpTo(limit).covers(n),
        }
    }

    fn text(self) -> String {
        match self {
            Divisibility::NotMultipleOf(2) => "N odd".into(),
            Divisibility::MultipleOf(2) => "N even".into(),
            Divisibility::MultipleOf(divisor) => format!("N a multiple of {divisor}"),
            Divisibility::NotMultipleOf(divisor) => format!("N not a multiple of {divisor}"),
            Divisibility::ByPrimesUpTo(max) => format!("no prime factor above {max}"),
            Divisibility::ByPrimeAbove(limit) => format!("a prime factor above {limit}"),
        }
    }
}

impl VariantRule {
    pub(crate) fn covers(&self, case: &Case, device: &DeviceTraits) -> bool {
        self.applies_to(case, device)
            && self.sizes.contains(&case.n)
            && self.divisibility.iter().all(|condition| condition.covers(case.n))
    }

    /// Returns whether the rule is one for the op and element type of the case, and for the device. The size does not matter.
    pub(super) fn applies_to(&self, case: &Case, device: &DeviceTraits) -> bool {
        self.is_for(&case.op, case.dtype) && (self.devices == Devices::All || device.has_fast_f64())
    }

    pub(super) fn is_for(&self, op: &str, dtype: DType) -> bool {
        self.op == op && self.dtypes.contains(&dtype)
    }

    /// Returns the sizes of a range that the rule can cover, if there are any.
    pub(super) fn sizes_within(&self, sizes: &RangeInclusive<u64>) -> Option<RangeInclusive<u64>> {
        common(&self.sizes, sizes)
    }

    /// Returns whether the rule covers all of those sizes on devices with fast float64. Later rules then matter only for
    /// cases that its variant does not support.
    pub(super) fn covers_sizes(&self, sizes: &RangeInclusive<u64>) -> bool {
        self.sizes_within(sizes).as_ref() == Some(sizes) && self.divisibility.is_empty() && !self.in_trial
    }

    /// Returns whether the rule covers every case of its op on devices with fast float64.
    fn covers_all_on_fast_f64(&self) -> bool {
        self.dtypes == DType::REAL && self.covers_sizes(&ANY_SIZE)
    }

    /// Returns whether the rule covers every case of its op on every device, and its variant has no further condition.
    pub(super) fn covers_all(&self) -> bool {
        self.covers_all_on_fast_f64() && self.devices == Devices::All && self.when.is_empty()
    }

    /// Returns the cases for which the rule chooses its variant, in words.
    pub(super) fn place(&self) -> String {
        let device = if self.devices == Devices::FastF64 { "with fast float64" } else { "" };
        let dtypes = match self.dtypes {
            F32 => "float32",
            F64 => "float64",
            _ => "",
        };
        let sizes = match (*self.sizes.start(), *self.sizes.end()) {
            (1, u64::MAX) => String::new(),
            (1, max) => format!("N <= {max}"),
            (min, u64::MAX) => format!("N >= {min}"),
            (min, max) => format!("{min} <= N <= {max}"),
        };
        let divisibility: Vec<String> = self.divisibility.iter().map(|condition| condition.text()).collect();
        let trial = if self.in_trial { "if fastest in a trial" } else { "" };
        let conditions = [device, dtypes, &sizes, &divisibility.join(", "), self.when, trial];
        let parts: Vec<&str> = conditions.into_iter().filter(|part| !part.is_empty()).collect();
        let is_first =
            RULES.iter().find(|rule| rule.op == self.op).is_some_and(|rule| std::ptr::eq(rule, self));
        match (parts.is_empty(), is_first) {
            (false, _) => parts.join(", "),
            (true, true) => "everywhere".into(),
            (true, false) => "otherwise".into(),
        }
    }

    /// States a condition that the variants check themselves.
    const fn when(self, when: &'static str) -> VariantRule {
        VariantRule { when, ..self }
    }

    const fn because(self, because: &'static str) -> VariantRule {
        VariantRule { because, ..self }
    }

    const fn of(self, dtypes: &'static [DType]) -> VariantRule {
        VariantRule { dtypes, ..self }
    }

    /// Restricts the rule to sizes from `min` to `max`, both included.
    const fn sizes(self, min: u64, max: u64) -> VariantRule {
        VariantRule { sizes: min..=max, ..self }
    }

    /// Restricts the rule to sizes for which these conditions hold.
    const fn where_n(self, divisibility: &'static [Divisibility]) -> VariantRule {
        VariantRule { divisibility, ..self }
    }

    const fn in_trial(self) -> VariantRule {
        VariantRule { in_trial: true, ..self }
    }

    const fn fast_f64(self) -> VariantRule {
        VariantRule { devices: Devices::FastF64, ..self }
    }
}

const F32: &[DType] = &[DType::F32];
const F64: &[DType] = &[DType::F64];

const fn rule(op: &'static str, variant: &'static str) -> VariantRule {
    VariantRule {
        op,
        variant,
        dtypes: DType::REAL,
        sizes: ANY_SIZE,
        divisibility: &[],
        devices: Devices::All,
        in_trial: false,
        when: "",
        because: "",
    }
}

const DMMA: &str = "one launch, and measured to be faster there than cuBLAS";
const CHOLESKY: VariantRule =
    rule("solve", "cholesky").because("one launch without a barrier across the grid");

const UNEVEN: &str = "the time of cuBLAS does not grow evenly with N";
const ACCUMULATE: VariantRule = rule("matmul", "f64-accumulate")
    .of(F32)
    .fast_f64()
    .because("cuBLAS has a higher peak in float64 than in float32, and float64 sums are more accurate");
const PADDED: VariantRule = rule("matmul", "cublas-padded")
    .of(F64)
    .fast_f64()
    .in_trial()
    .because("cuBLAS is faster at multiples of 16, at many sizes by more than the copies take");
const CUFFT_UNEVEN: &str = "cuFFT takes longer at some of these sizes, and less time at others";
const CUFFT: VariantRule = rule("fft", "r2c")
    .because("cuFFT has steps for such factors, and was measured to be faster there than bluestein");
const HERMITIAN: VariantRule = rule("fft", "hermitian")
    .where_n(&[ByPrimesUpTo(43)])
    .because("two launches, and each element of the spectrum is written once");
const JACOBI: VariantRule = rule("svd", "jacobi").because("one launch, without waiting for the host");
const CONVOLUTION: VariantRule = rule("fft", "bluestein").because(
    "one thread of hermitian computes a whole prime factor, and a convolution was measured to be faster there",
);

/// The rules in order of preference.
pub(super) static RULES: &[VariantRule] = &[
    rule("matmul", "dmma").of(F32).sizes(1, 512).fast_f64().because(DMMA),
    rule("matmul", "dmma")
        .of(F32)
        .sizes(900, 2048)
        .where_n(&[MultipleOf(4)])
        .fast_f64()
        .in_trial()
        .because(UNEVEN),
    ACCUMULATE.sizes(1025, 2048).in_trial(),
    ACCUMULATE.sizes(2049, u64::MAX),
    rule("matmul", "dmma").of(F64).sizes(1, 192).fast_f64().because(DMMA),
    PADDED.sizes(513, 896).where_n(&[MultipleOf(2), NotMultipleOf(4)]),
    PADDED.sizes(1025, u64::MAX).where_n(&[NotMultipleOf(8)]),
    rule("matmul", "cublas"),
    rule("elementwise", "fused").because("one kernel moves the arrays 3 times, a chain of kernels 13 times"),
    rule("reduction", "one-pass").because("it reads the matrix once instead of three times"),
    CONVOLUTION.sizes(58, 62).where_n(&[ByPrimeAbove(23)]),
    CONVOLUTION.of(F32).sizes(63, 124).where_n(&[ByPrimeAbove(29)]),
    CONVOLUTION.of(F32).sizes(1, 310).where_n(&[ByPrimeAbove(31)]),
    CONVOLUTION.of(F32).sizes(311, 350).where_n(&[ByPrimeAbove(37)]),
    CONVOLUTION.of(F32).sizes(351, 430).where_n(&[ByPrimeAbove(41)]),
    CONVOLUTION.of(F64).sizes(1, 248).where_n(&[ByPrimeAbove(29)]),
    CONVOLUTION.of(F64).sizes(249, 300).where_n(&[ByPrimeAbove(31)]),
    CONVOLUTION.of(F64).sizes(301, 492).where_n(&[ByPrimeAbove(37)]),
    CONVOLUTION.of(F64).sizes(1681, 1849).where_n(&[NotMultipleOf(2), NotMultipleOf(3), ByPrimeAbove(37)]),
    HERMITIAN.of(F32).sizes(1, 6561),
    HERMITIAN.of(F64).sizes(1, 4096),
    HERMITIAN.of(F64).sizes(4097, 6561).where_n(&[ByPrimeAbove(11), ByPrimesUpTo(43)]),
    // No larger N fits into the shared memory of the GPUs measured.
    HERMITIAN.sizes(4097, 7245).in_trial().because(CUFFT_UNEVEN),
    CUFFT.of(F64).sizes(1500, 3600).where_n(&[MultipleOf(32), ByPrimesUpTo(67)]),
    CUFFT
        .sizes(1880, 3600)
        .where_n(&[MultipleOf(2), ByPrimesUpTo(67)])
        .in_trial()
        .because("cuFFT has steps for such factors, and is faster at some of these sizes"),
    CUFFT.sizes(3600, 4096).where_n(&[MultipleOf(2), ByPrimesUpTo(127)]),
    rule("fft", "bluestein")
        .sizes(1, 4096)
        .because("two launches, like hermitian, and faster than cuFFT at most other sizes measured"),
    rule("fft", "bluestein")
        .sizes(4097, 8192)
        .where_n(&[NotMultipleOf(2), ByPrimeAbove(127)])
        .because("cuFFT has no steps for such factors, and was measured to take over 1.5 times as long"),
    rule("fft", "bluestein").sizes(4097, 8192).where_n(&[ByPrimeAbove(43)]).in_trial().because(CUFFT_UNEVEN),
    rule("fft", "r2c").because("half the arithmetic and traffic of c2c"),
    CHOLESKY.of(F32).sizes(1, 6000),
    CHOLESKY.of(F32).sizes(6001, 8192).in_trial(),
    CHOLESKY.of(F64).sizes(1, 3000).fast_f64(),
    CHOLESKY.of(F64).sizes(3001, 4500).fast_f64().in_trial(),
    rule("solve", "potrf").because("half the arithmetic of getrf, and no pivoting"),
    rule("spgemm", "gustavson")
        .when("columns of B ascend in each row, and a row fits in shared memory")
        .because("two passes over the products, and one wait between them"),
    rule("spgemm", "cusparse"),
    rule("spmv", "vector").because("the number of threads per row follows the mean length of rows"),
    rule("spmv", "cusparse").when("if vector is not available"),
    JACOBI.of(F32).sizes(1, 21),
    JACOBI.of(F64).sizes(1, 26),
    rule("svd", "gram")
        .fast_f64()
        .because("most of its work is matrix products and one symmetric eigenproblem"),
    rule("svd", "gesvdp").because("its vectors are orthogonal, unlike those of gesvdj"),
];

#[cfg(test)]
mod tests {
    use super::super::by_rules;
    use super::*;

    /// The first variant that the rules name where there is no trial.
    fn first(op: &str, n: u64, dtype: DType, f64_ratio: u32) -> &'static str {
        let case = Case { op: op.into(), n, dtype, density: None, shape: None, matrix: None, seed: 42 };
        let device = DeviceTraits { f64_ratio, ..DeviceTraits::HOPPER };
        by_rules(&case, &device).next().unwrap()
    }

    /// Where there is a choice between rules of any device; `of_rules` in `trial.rs` is tested with the sizes of the others.
    #[test]
    fn the_device_decides() {
        assert_eq!(first("matmul", 192, DType::F64, 64), "cublas");
        assert_eq!(first("matmul", 100, DType::F32, 64), "cublas");
        assert_eq!(first("svd", 12, DType::F32, 64), "jacobi");
        assert_eq!(first("solve", 4096, DType::F32, 64), "cholesky");
        assert_eq!(first("solve", 6000, DType::F32, 64), "cholesky");
        assert_eq!(first("solve", 6001, DType::F32, 64), "potrf");
    }

    /// The sizes of the rules themselves are those of the page, which another test compares.
    #[test]
    fn transforms_depend_on_the_largest_prime_factor() {
        for (n, f32, f64) in [
            (31, "hermitian", "bluestein"),
            (29 * 2, "bluestein", "bluestein"),
            (29 * 3, "hermitian", "hermitian"),
            (31 * 3, "bluestein", "bluestein"),
            (31 * 5, "hermitian", "bluestein"),
            (37 * 8, "bluestein", "bluestein"),
            (31 * 9, "hermitian", "hermitian"),
            (41 * 9, "hermitian", "bluestein"),
            (43 * 12, "hermitian", "hermitian"),
            (41 * 41, "hermitian", "bluestein"),
            (41 * 42, "hermitian", "hermitian"),
            (47 * 26, "bluestein", "bluestein"),
            (53 * 64, "bluestein", "r2c"),
            (67 * 32, "bluestein", "r2c"),
            (71 * 32, "bluestein", "bluestein"),
            (101 * 40, "r2c", "r2c"),
            (4097, "bluestein", "bluestein"),
            (4098, "r2c", "r2c"),
            (4500, "hermitian", "r2c"),
            (13 * 500, "hermitian", "hermitian"),
            (67 * 67, "r2c", "r2c"),
            (6561, "hermitian", "r2c"),
            (6562, "r2c", "r2c"),
            (8192, "r2c", "r2c"),
            (8193, "r2c", "r2c"),
        ] {
            for (dtype, variant) in [(DType::F32, f32), (DType::F64, f64)] {
                assert_eq!(first("fft", n, dtype, 2), variant, "{n} {dtype}");
            }
        }
    }

    #[test]
    fn every_op_ends_with_a_rule_for_all_cases() {
        for rule in RULES {
            let last = RULES.iter().rfind(|other| other.op == rule.op).unwrap();
            assert!(last.covers_all_on_fast_f64() && last.devices == Devices::All);
        }
    }
}
