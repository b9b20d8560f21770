//! Origins: whether a reader can call what a variant runs.

use gpubench_text::glob::glob;
use serde::{Deserialize, Serialize};

use crate::fewer_threads;

/// Who wrote the code of a variant, and hence whether the reader of an answer can have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Calls of a published library, as its users make them, on either side.
    #[default]
    Library,
    /// A loop or kernel that any programmer of the platform writes: one file of at most 60 lines without intrinsics, inline assembly
    /// or hand-made tiling.
    Plain,
    /// gpubench's own tuned code, or calls of a library that such code combines.
    Tuned,
}

/// Variants of the backends `cpu` and `cuda` that call no library, or do not call it as its users do: per op and origin, the first that
/// matches. `*` stands for any characters, because copies of a library have names of their own.
const OWN: [(&str, &str, Origin, &[&str]); 28] = [
    ("cpu", "elementwise", Origin::Tuned, &["parallel"]),
    ("cpu", "elementwise", Origin::Plain, &["plain", "ndarray", "temporaries"]),
    ("cpu", "sin", Origin::Tuned, &["parallel"]),
    ("cpu", "sin", Origin::Plain, &["plain", "ndarray"]),
    ("cpu", "reduction", Origin::Tuned, &["one-pass"]),
    ("cpu", "reduction", Origin::Plain, &["plain"]),
    ("cpu", "solve", Origin::Tuned, &["openblas*-blocked"]),
    ("cpu", "spgemm", Origin::Tuned, &["gustavson"]),
    ("cpu", "spmv", Origin::Tuned, &["parallel"]),
    ("cpu", "transfer", Origin::Plain, &["memcpy"]),
    ("cpu", "overhead", Origin::Plain, &["pool"]),
    // Their lesson is the cost of copies and launches; both sides take the best sine that they have.
    ("cpu", "transfer-loop", Origin::Plain, &["parallel", "ndarray"]),
    ("cpu", "host-loop", Origin::Plain, &["parallel", "serial"]),
    ("cuda", "matmul", Origin::Tuned, &["cublas-padded", "tiled", "dmma", "f64-accumulate"]),
    ("cuda", "matmul", Origin::Tuned, &["ozaki-int8", "ozaki2-int8"]),
    ("cuda", "elementwise", Origin::Tuned, &["fused", "unfused"]),
    ("cuda", "elementwise", Origin::Plain, &["plain"]),
    ("cuda", "sin", Origin::Tuned, &["fused"]),
    ("cuda", "sin", Origin::Plain, &["plain"]),
    ("cuda", "reduction", Origin::Tuned, &["one-pass", "three-pass"]),
    ("cuda", "reduction", Origin::Plain, &["plain"]),
    ("cuda", "fft", Origin::Tuned, &["hermitian", "bluestein"]),
    ("cuda", "solve", Origin::Tuned, &["cholesky", "cholesky-refined"]),
    ("cuda", "spgemm", Origin::Tuned, &["gustavson"]),
    ("cuda", "spmv", Origin::Tuned, &["vector", "adaptive", "row-per-thread"]),
    ("cuda", "svd", Origin::Tuned, &["gram", "jacobi"]),
    ("cuda", "transfer-loop", Origin::Plain, &["copy-once", "copy-each", "copy-each-pinned"]),
    ("cuda", "host-loop", Origin::Plain, &["fused", "launch-per-element"]),
];

impl Origin {
    /// Returns the word in reports: `library`.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Library => "library",
            Origin::Plain => "plain",
            Origin::Tuned => "tuned",
        }
    }

    /// Returns the origin of a variant by its name; `library` for those of other backends. A variant that picks others is tuned,
    /// until it has picked one.
    pub fn of(backend: &str, op: &str, variant: &str) -> Origin {
        let name = match fewer_threads(variant) {
            Some(_) => variant.rsplit_once('@').map_or(variant, |(name, _)| name),
            None => variant,
        };
        if (backend, name) == ("cuda", "auto") {
            return Origin::Tuned;
        }
        let is_of = |entry: &&(&str, &str, Origin, &[&str])| {
            (entry.0, entry.1) == (backend, op) && entry.3.iter().any(|pattern| glob(pattern, name))
        };
        OWN.iter().find(is_of).map_or(Origin::Library, |entry| entry.2)
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
        assert_eq!(of("cupy", "elementwise", "fuse"), "library");
    }
}
