//! Which variant is picked for which case on which device; the reasons stand in `docs/variants.md`.

use std::ops::RangeInclusive;

use super::chip::Chip;
use crate::case::{Case, DType};

/// One rule. Of those that cover a case the first whose variant can do it is followed.
#[derive(Debug)]
pub(super) struct Rule {
    /// The op that it is about.
    pub op: &'static str,
    /// The element types.
    pub dtypes: &'static [DType],
    /// The sides.
    pub sides: RangeInclusive<u64>,
    /// The devices.
    pub chips: Chips,
    /// The variant that it names.
    pub variant: &'static str,
}

/// Devices that a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chips {
    /// Every one.
    All,
    /// Those on which float64 costs little more than its bytes.
    FastF64,
}

impl Rule {
    /// Whether the rule is about that case on that device.
    pub fn covers(&self, case: &Case, chip: &Chip) -> bool {
        self.op == case.op
            && self.dtypes.contains(&case.dtype)
            && self.sides.contains(&case.n)
            && (self.chips == Chips::All || chip.has_fast_f64())
    }
}

const BOTH: &[DType] = DType::ALL;
const F32: &[DType] = &[DType::F32];
const ANY: RangeInclusive<u64> = 1..=u64::MAX;

const fn always(op: &'static str, variant: &'static str) -> Rule {
    Rule { op, dtypes: BOTH, sides: ANY, chips: Chips::All, variant }
}

/// The rules, the first first.
pub(super) static RULES: &[Rule] = &[
    always("matmul", "cublas"),
    always("elementwise", "fused"),
    always("reduction", "one-pass"),
    always("fft", "r2c"),
    always("solve", "potrf"),
    always("spgemm", "cusparse"),
    always("spmv", "cusparse"),
    always("svd", "gesvdp"),
];
