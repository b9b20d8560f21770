//! Variants: the ways a backend does an op.

use std::borrow::Cow;

use gpubench_text::glob::glob;
use serde::{Deserialize, Serialize};

use crate::Rounding;
use crate::case::{Case, DType};
use crate::shape::BATCH;

/// Side of a comparison: CPU or GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The CPU's side.
    Cpu,
    /// The GPU's side.
    Gpu,
}

names!(Side { Cpu: "cpu", Gpu: "gpu" });

impl Side {
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
    /// The element type to its rounding against the largest elements of rows and columns, by other than IEEE arithmetic.
    Emulated,
}

names!(Accuracy { Ieee: "ieee", Tf32: "tf32", F16: "f16", Bf16: "bf16", Emulated: "emulated" });

impl Accuracy {
    /// Returns the rounding from which an answer's bound is made.
    pub fn rounding(self, dtype: DType) -> Rounding {
        // Elements are operands as they are, and sums are taken in the working type: an operand of 16 bits is not rounded.
        let sum = dtype.working().unit_roundoff();
        let input = match self {
            Accuracy::Ieee | Accuracy::Emulated => sum,
            Accuracy::Tf32 | Accuracy::F16 => DType::F16.unit_roundoff(),
            Accuracy::Bf16 => DType::Bf16.unit_roundoff(),
        };
        Rounding { input, sum, element: dtype.unit_roundoff() }
    }

    /// Returns whether a result belongs in the headline.
    pub fn is_headline(self) -> bool {
        self == Accuracy::Ieee
    }
}

/// Who wrote the code of a variant, and hence whether the reader of an answer can have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Calls of a published library, as its users make them, on either side.
    #[default]
    Library,
    /// A loop or kernel that any programmer writes: one file of at most 60 lines without intrinsics, assembly or tiling.
    Plain,
    /// gpubench's own tuned code, or calls of a library that such code combines.
    Tuned,
}

names!(Origin { Library: "library", Plain: "plain", Tuned: "tuned" });

/// Variants of the backends `cpu` and `cuda` that call no library, or do not call it as its users do, except those with the name
/// `plain`: per op and origin, the first that matches. Names are glob patterns, because copies of a library have names of their own. Variants that gpubench no longer has stay in the
/// list, because older reports contain them.
const OWN: &[(&str, &str, Origin, &[&str])] = &[
    ("cpu", "elementwise", Origin::Tuned, &["parallel"]),
    ("cpu", "elementwise", Origin::Plain, &["ndarray", "temporaries"]),
    ("cpu", "sin", Origin::Tuned, &["parallel"]),
    ("cpu", "sin", Origin::Plain, &["ndarray"]),
    ("cpu", "reduction", Origin::Tuned, &["one-pass"]),
    ("cpu", "fft", Origin::Library, &["*-2d"]),
    ("cpu", "fft", Origin::Tuned, &["realfft", "fftw", "mkl*"]),
    ("cpu", "solve", Origin::Tuned, &["openblas*-blocked"]),
    ("cpu", "spgemm", Origin::Tuned, &["gustavson*"]),
    ("cpu", "spmv", Origin::Tuned, &["parallel"]),
    ("cpu", "transfer", Origin::Plain, &["memcpy"]),
    ("cpu", "overhead", Origin::Plain, &["pool"]),
    // The lesson is the cost of copies and launches, not that of the sine.
    ("cpu", "transfer-loop", Origin::Plain, &["parallel", "ndarray"]),
    ("cpu", "host-loop", Origin::Plain, &["parallel", "serial"]),
    ("cuda", "matmul", Origin::Tuned, &["cublas-padded", "tiled", "dmma", "f64-accumulate"]),
    ("cuda", "matmul", Origin::Tuned, &["ozaki-int8", "ozaki2-int8"]),
    ("cuda", "elementwise", Origin::Tuned, &["fused", "unfused"]),
    ("cuda", "sin", Origin::Tuned, &["fused"]),
    ("cuda", "reduction", Origin::Tuned, &["one-pass", "three-pass"]),
    ("cuda", "fft", Origin::Tuned, &["hermitian", "bluestein"]),
    ("cuda", "solve", Origin::Tuned, &["cholesky", "cholesky-refined"]),
    ("cuda", "spgemm", Origin::Tuned, &["gustavson*"]),
    ("cuda", "spmv", Origin::Tuned, &["vector", "adaptive", "row-per-thread"]),
    ("cuda", "svd", Origin::Tuned, &["gram", "jacobi"]),
    ("cuda", "transfer-loop", Origin::Plain, &["copy-once", "copy-each", "copy-each-pinned"]),
    ("cuda", "host-loop", Origin::Plain, &["fused", "launch-per-element"]),
];

impl Origin {
    /// Returns the origin of a variant by its name; `library` for those of other backends. A variant that picks others is tuned,
    /// until it has picked one.
    pub fn of(backend: &str, op: &str, variant: &str) -> Origin {
        let name = without_threads(variant);
        if (backend, name) == ("cuda", "auto") {
            return Origin::Tuned;
        }
        let is_of = |entry: &&(&str, &str, Origin, &[&str])| {
            (entry.0, entry.1) == (backend, op) && entry.3.iter().any(|pattern| glob(pattern, name))
        };
        let by_name = if name == "plain" && ["cpu", "cuda"].contains(&backend) {
            Origin::Plain
        } else {
            Origin::Library
        };
        OWN.iter().find(is_of).map_or(by_name, |entry| entry.2)
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

/// Returns whether a variant repeats a product whose size or structure earlier executions have found, which is a part of the op.
pub(crate) fn reuses(backend: &str, op: &str, variant: &str) -> bool {
    op == "spgemm" && ["cpu", "cuda"].contains(&backend) && without_threads(variant).ends_with("-reuse")
}

/// Returns the name without the number of threads that [`on_threads`] has added.
fn without_threads(name: &str) -> &str {
    fewer_threads(name).and_then(|_| name.rsplit_once('@')).map_or(name, |(name, _)| name)
}

/// Returns the number of threads in a name that [`on_threads`] has made.
pub fn fewer_threads(name: &str) -> Option<usize> {
    name.rsplit_once('@')?.1.parse().ok()
}

/// The shapes of which a variant computes problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shapes {
    /// Square operands alone.
    #[default]
    Square,
    /// Square ones, and every shape of the op.
    Any,
    /// Batches alone, of any shape.
    Batches,
}

impl Shapes {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn are_square(&self) -> bool {
        *self == Shapes::Square
    }

    /// Returns whether they include that of a case.
    pub fn have(self, case: &Case) -> bool {
        match self {
            Shapes::Square => case.shape.is_none(),
            Shapes::Any => true,
            Shapes::Batches => {
                case.shape.as_ref().is_some_and(|shape| shape.names().any(|name| name == BATCH))
            }
        }
    }
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
    /// Origin, where that does not follow from the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// True if a run that names no variants takes it: each backend's fair candidates for best.
    pub default: bool,
    /// The element types it does.
    pub dtypes: Cow<'static, [DType]>,
    /// The shapes it does.
    #[serde(default, skip_serializing_if = "Shapes::are_square")]
    pub shapes: Shapes,
    /// The library that runs it and shares no process with another one: libraries that define routines of the same
    /// names call each other's. `None` for a variant that can run next to every other such variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<Cow<'static, str>>,
}

/// Returns the vendor of a library, whose name may end in that of a copy: `openblas` of `openblas-scipy`.
pub fn vendor_of(library: &str) -> &str {
    library.split_once('-').map_or(library, |(vendor, _)| vendor)
}

impl Variant {
    /// Returns its origin as a variant of that backend.
    pub fn origin_in(&self, backend: &str) -> Origin {
        self.origin.unwrap_or_else(|| Origin::of(backend, &self.op, &self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_follow_the_code_that_runs() {
        let of = |backend: &str, op: &str, name: &str| Origin::of(backend, op, name).name();
        assert_eq!(of("cuda", "matmul", "cublas"), "library");
        assert_eq!(of("cuda", "matmul", "auto"), "tuned", "before it has picked");
        assert_eq!(of("cpu", "solve", "openblas-scipy-blocked"), "tuned", "of a copy too");
        assert_eq!(of("cpu", "solve", "openblas-blocked@1"), "tuned", "on one thread too");
        assert_eq!(of("cpu", "elementwise", "plain@2"), "plain");
        assert_eq!(of("cpu", "elementwise", "parallel@2"), "tuned", "of older reports");
        assert_eq!(of("cupy", "elementwise", "fuse"), "library");
    }
}
