//! How much work an execution is, and how an answer was judged.

/// Floating-point work and least memory traffic of one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Work {
    /// Floating-point operations by the usual count of the op, in FLOP.
    pub flop: f64,
    /// Bytes that any implementation must move: each operand read once, each answer written once. A matrix that is
    /// only copied counts once.
    pub bytes: f64,
}

/// What a check found: the error, and the largest error that a right answer may have.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Checked {
    /// The error found; finite. An answer with a NaN or an infinity has `f64::MAX`.
    pub value: f64,
    /// The bound.
    pub bound: f64,
}

impl Checked {
    /// An error and its bound; a NaN or infinite error becomes `f64::MAX`.
    pub fn new(value: f64, bound: f64) -> Self {
        Checked { value: if value.is_finite() { value } else { f64::MAX }, bound }
    }

    /// Whether the answer is right.
    pub fn is_right(&self) -> bool {
        self.value <= self.bound
    }

    /// What is wrong with an answer of this error.
    pub fn complaint(&self) -> String {
        if self.value == f64::MAX {
            return "it holds values that are not finite, or has a form that no right answer has".into();
        }
        format!("error {:.2e} exceeds the bound {:.2e}", self.value, self.bound)
    }

    /// The same share of another bound: findings of several kinds on one scale, so that an op's error is comparable
    /// from run to run whichever of them is the worst.
    pub fn on_scale_of(self, bound: f64) -> Self {
        Checked::new(self.value / self.bound * bound, bound)
    }

    /// The finding that is further beyond (or nearer to) its bound.
    pub fn worse(self, other: Checked) -> Checked {
        if self.value / self.bound >= other.value / other.bound { self } else { other }
    }
}

/// The rounding of a variant's arithmetic, from which bounds are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Unit roundoff to which operands are rounded before they are used.
    pub input: f64,
    /// Unit roundoff of the sums.
    pub sum: f64,
}
