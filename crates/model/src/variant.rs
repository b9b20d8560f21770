//! Variants: the ways a backend does an op.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::case::DType;
use crate::{Origin, Rounding};

/// Side of a comparison: CPU or GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The CPU's side.
    Cpu,
    /// The GPU's side.
    Gpu,
}

impl Side {
    /// Returns the word in reports: `cpu` or `gpu`.
    pub fn name(self) -> &'static str {
        match self {
            Side::Cpu => "cpu",
            Side::Gpu => "gpu",
        }
    }

    /// Returns the word in sentences and tables: `CPU` or `GPU`.
    pub fn label(self) -> &'static str {
        match self {
            Side::Cpu => "CPU",
            Side::Gpu => "GPU",
        }
    }
}

/// The arithmetic of a variant. The headline compares `Ieee` variants only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accuracy {
    /// IEEE arithmetic of the case's element type, or better.
    Ieee,
    /// TF32 products (11-bit significands), float32 sums.
    Tf32,
    /// float16 operands, float32 sums.
    F16,
    /// bfloat16 operands, float32 sums.
    Bf16,
    /// float32 to its rounding against the largest elements of rows and columns, by other than IEEE arithmetic.
    Emulated,
}

impl Accuracy {
    /// Returns the word used in reports: `tf32`.
    pub fn name(self) -> &'static str {
        match self {
            Accuracy::Ieee => "ieee",
            Accuracy::Tf32 => "tf32",
            Accuracy::F16 => "f16",
            Accuracy::Bf16 => "bf16",
            Accuracy::Emulated => "emulated",
        }
    }

    /// Returns the rounding from which an answer's bound is made.
    pub fn rounding(self, dtype: DType) -> Rounding {
        let sum = dtype.unit_roundoff();
        let input = match self {
            Accuracy::Ieee | Accuracy::Emulated => sum,
            Accuracy::Tf32 | Accuracy::F16 => 2f64.powi(-11),
            Accuracy::Bf16 => 2f64.powi(-8),
        };
        Rounding { input, sum }
    }

    /// Returns whether a result belongs in the headline.
    pub fn is_headline(self) -> bool {
        self == Accuracy::Ieee
    }
}

/// Variants of the backend `cuda` that were renamed: the earlier name, which older reports contain, and the name now.
const RENAMED: [(&str, &str); 2] = [("widened", "f64-accumulate"), ("mirrored", "hermitian")];

/// Returns the earlier name of a variant that was renamed.
pub fn earlier_name(backend: &str, variant: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(_, now)| backend == "cuda" && *now == variant).map(|(earlier, _)| *earlier)
}

/// Returns the present name of a variant that an older report calls by an earlier one.
pub(crate) fn present_name(backend: &str, variant: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(earlier, _)| backend == "cuda" && *earlier == variant).map(|(_, now)| *now)
}

/// Returns the name of a variant's rows on fewer threads than the run's maximum: `openblas@1`.
pub fn on_threads(variant: &str, threads: usize) -> String {
    format!("{variant}@{threads}")
}

/// Returns the number of threads in a name that [`on_threads`] has made.
pub fn fewer_threads(name: &str) -> Option<usize> {
    name.rsplit_once('@')?.1.parse().ok()
}

/// One way a backend does an op.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Name of the op.
    pub op: Cow<'static, str>,
    /// The word that names it, unique among the backend's variants of the op.
    pub name: Cow<'static, str>,
    /// Description in one line.
    pub summary: Cow<'static, str>,
    /// Side of the comparison.
    pub side: Side,
    /// Accuracy class of its arithmetic.
    pub accuracy: Accuracy,
    /// Its origin, where that does not follow from its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// True if a run that names no variants takes it: each backend's fair candidates for best.
    pub default: bool,
    /// The element types it does.
    pub dtypes: Cow<'static, [DType]>,
    /// The library that runs it and shares no process with another one: libraries that define routines of the same
    /// names call each other's. `None` for a variant that can run next to every other such variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<Cow<'static, str>>,
}

/// Returns the vendor of a library, whose name is the vendor's, or that and the copy's origin: `openblas` of
/// `openblas-scipy`.
pub fn vendor_of(library: &str) -> &str {
    library.split_once('-').map_or(library, |(vendor, _)| vendor)
}

impl Variant {
    /// Returns its origin as a variant of that backend.
    pub fn origin_in(&self, backend: &str) -> Origin {
        self.origin.unwrap_or_else(|| Origin::of(backend, &self.op, &self.name))
    }

    /// Returns the vendor of its library and its routine, if it has a library: equal for copies of one library. The name of
    /// a variant begins with that of its library.
    pub fn copy_of(&self) -> Option<(&str, &str)> {
        let library = self.library.as_deref()?;
        Some((vendor_of(library), self.name.strip_prefix(library)?))
    }
}
