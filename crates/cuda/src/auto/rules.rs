//! The rules by which `auto` chooses a variant from op, size, element type and device. `docs/variants.md` has the
//! reasons.

use std::ops::RangeInclusive;

use gpubench_model::case::{Case, DType};

use super::device_traits::DeviceTraits;

/// A rule. The first rule that covers a case and whose variant supports it decides.
#[derive(Debug)]
pub(super) struct Rule {
    /// The op that the rule applies to.
    pub op: &'static str,
    pub variant: &'static str,
    dtypes: &'static [DType],
    sizes: RangeInclusive<u64>,
    devices: Devices,
}

/// The devices that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Devices {
    All,
    /// Devices on which `has_fast_f64` holds.
    FastF64,
}

impl Rule {
    /// Returns whether the rule applies to the case on the device.
    pub(crate) fn covers(&self, case: &Case, device: &DeviceTraits) -> bool {
        self.op == case.op
            && self.dtypes.contains(&case.dtype)
            && self.sizes.contains(&case.n)
            && (self.devices == Devices::All || device.has_fast_f64())
    }

    /// Returns whether the rule covers every case of its op on devices with fast float64. Later rules then matter
    /// only for cases that its variant does not support.
    pub(crate) fn covers_all_on_fast_f64(&self) -> bool {
        self.dtypes == DType::ALL && self.sizes == (1..=u64::MAX)
    }

    /// Restricts the rule to some element types.
    const fn of(self, dtypes: &'static [DType]) -> Rule {
        Rule { dtypes, ..self }
    }

    /// Restricts the rule to sizes from `min` to `max`, both included.
    const fn sizes(self, min: u64, max: u64) -> Rule {
        Rule { sizes: min..=max, ..self }
    }

    /// Restricts the rule to devices with fast float64.
    const fn fast_f64(self) -> Rule {
        Rule { devices: Devices::FastF64, ..self }
    }
}

const F32: &[DType] = &[DType::F32];
const F64: &[DType] = &[DType::F64];

const fn rule(op: &'static str, variant: &'static str) -> Rule {
    Rule { op, variant, dtypes: DType::ALL, sizes: 1..=u64::MAX, devices: Devices::All }
}

/// The rules in order of preference.
pub(super) static RULES: &[Rule] = &[
    rule("matmul", "dmma").of(F32).sizes(1, 512).fast_f64(),
    rule("matmul", "dmma").of(F32).sizes(900, 1100).fast_f64(),
    rule("matmul", "f64-accumulate").of(F32).sizes(1101, u64::MAX).fast_f64(),
    rule("matmul", "dmma").of(F64).sizes(1, 192).fast_f64(),
    rule("matmul", "cublas"),
    rule("elementwise", "fused"),
    rule("reduction", "one-pass"),
    rule("fft", "hermitian"),
    rule("fft", "c2c").sizes(1, 800),
    rule("fft", "r2c"),
    rule("solve", "cholesky").of(F32).sizes(1, 4096),
    rule("solve", "cholesky").of(F64).sizes(1, 3000).fast_f64(),
    rule("solve", "potrf"),
    rule("spgemm", "gustavson"),
    rule("spgemm", "cusparse"),
    rule("spmv", "vector"),
    rule("spmv", "cusparse"),
    rule("svd", "gram").fast_f64(),
    rule("svd", "gesvdp"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn first(op: &str, n: u64, dtype: DType, f64_ratio: u32) -> &'static str {
        let case = Case { op: op.into(), n, dtype, density: None, seed: 42 };
        RULES.iter().find(|rule| rule.covers(&case, &DeviceTraits { f64_ratio })).unwrap().variant
    }

    #[test]
    fn size_type_and_device_decide() {
        assert_eq!(first("matmul", 512, DType::F32, 2), "dmma");
        assert_eq!(first("matmul", 513, DType::F32, 2), "cublas");
        assert_eq!(first("matmul", 2048, DType::F32, 2), "f64-accumulate");
        assert_eq!(first("matmul", 2048, DType::F64, 2), "cublas");
        assert_eq!(first("matmul", 100, DType::F32, 64), "cublas");
        assert_eq!(first("fft", 777, DType::F32, 2), "hermitian");
        assert_eq!(first("solve", 4096, DType::F64, 2), "potrf");
        assert_eq!(first("solve", 4096, DType::F32, 64), "cholesky");
    }

    #[test]
    fn every_op_ends_with_a_rule_for_all_cases() {
        for rule in RULES {
            let last = RULES.iter().rfind(|other| other.op == rule.op).unwrap();
            assert!(last.covers_all_on_fast_f64() && last.devices == Devices::All);
        }
    }
}
