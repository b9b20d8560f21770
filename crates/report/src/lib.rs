//! Defines the data of runs and reports: cases, operands, variants, samples, statistics, rows, and the output formats.
//! Reads and writes the files of reports.

#![deny(unsafe_code)]

/// Gives the values of an enum their names.
macro_rules! names {
    ($type:ident { $($value:ident: $name:literal),+ }) => {
        impl $type {
            /// Returns the name used on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }
        }
    };
}

pub mod calls;
pub mod case;
mod conditions;
pub mod data;
pub mod error;
pub mod format;
/// Computes statistics of samples: medians, intervals, drift, clusters, grades, and the rule when to stop.
pub mod measure {
    pub mod batch;
    pub mod drift;
    pub mod grade;
    pub mod modality;
    pub mod sampling;
    pub mod stats;
    pub mod stopping;
}
pub mod pattern;
mod peaks;
mod phases;
pub mod report;
mod sample;
pub mod shape;
mod variant;

pub use conditions::{ClockCheck, Conditions, ThreadSpeeds, TimerOverhead};
pub use peaks::{BusRates, Peaks};
pub use phases::{Compile, DevicePhases, HostMemory, PinnedCopies, Transfer, TransferMemory};
pub use report::Finding;
pub use sample::{PageFaults, Sample, SetupCounts};
pub use variant::{
    Accuracy, Origin, Shapes, Side, Variant, earlier_name, fewer_threads, on_threads, vendor_of,
};

/// Floating-point work and minimum memory traffic of one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Work {
    /// Floating-point operations by the usual count of the op, in FLOP.
    pub flop: f64,
    /// Bytes that any implementation must move: each operand read once, each answer written once, a copied matrix counted once.
    pub bytes: f64,
}

/// Result of a check: the error found, and the largest error that a right answer may have.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Checked {
    /// The error found; finite. An answer with a NaN or an infinity has `f64::MAX`.
    pub value: f64,
    /// The bound.
    pub bound: f64,
    /// True for a right answer that is less accurate than those of full precision, by a test stricter than that of right answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coarse: bool,
    /// Reason that an answer with the error `f64::MAX` is wrong, to follow "the answer is wrong: it ". Not saved:
    /// reports have it in the reason of the row.
    #[serde(skip)]
    pub fault: Option<&'static str>,
}

impl Checked {
    /// Returns an error and its bound; a NaN or infinite error becomes `f64::MAX`.
    pub fn new(value: f64, bound: f64) -> Self {
        Checked { value: if value.is_finite() { value } else { f64::MAX }, bound, coarse: false, fault: None }
    }

    /// Returns the verdict on an answer that no error describes, such as one of invalid structure.
    pub fn invalid(fault: &'static str, bound: f64) -> Self {
        Checked { value: f64::MAX, bound, coarse: false, fault: Some(fault) }
    }

    /// Returns whether the answer is right.
    pub fn is_right(&self) -> bool {
        self.value <= self.bound
    }

    /// Returns whether the answer is right and as accurate as answers of full precision are.
    pub fn is_precise(&self) -> bool {
        self.is_right() && !self.coarse
    }

    /// Describes the error of a wrong answer.
    pub fn complaint(&self) -> String {
        if self.value == f64::MAX {
            return format!("it {}", self.fault.unwrap_or("has an error that is not finite"));
        }
        format!("error {:.2e} exceeds the bound {:.2e}", self.value, self.bound)
    }

    /// Returns the same share of another bound. Checks of several kinds are put on one scale, so that an op's error is
    /// comparable between runs whichever check is the worst.
    pub fn on_scale_of(self, bound: f64) -> Self {
        Checked {
            fault: self.fault,
            coarse: self.coarse,
            ..Checked::new(self.value / self.bound * bound, bound)
        }
    }

    /// Returns the check with the larger share of its bound. It is coarse if one of the two is.
    pub fn worse(self, other: Checked) -> Checked {
        let worse = if self.value / self.bound >= other.value / other.bound { self } else { other };
        Checked { coarse: self.coarse || other.coarse, ..worse }
    }
}

/// The rounding of a variant's arithmetic, from which bounds are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Unit roundoff to which operands are rounded before they are used.
    pub input: f64,
    /// Unit roundoff of the sums.
    pub sum: f64,
    /// Unit roundoff of an element of the answer.
    pub element: f64,
}
