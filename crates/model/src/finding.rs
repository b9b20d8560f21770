//! Defines the findings of `gpubench doctor`: libraries, drivers and devices of a backend.

/// A library, driver or device that a backend searched for.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// Name, such as `OpenBLAS` or `cuFFT`.
    pub name: String,
    /// Path at which it was found; `None` when it is missing.
    pub path: Option<String>,
    /// Version and configuration, as the library itself reports them.
    pub version: Option<String>,
    /// Variants that need it, such as `fft/r2c`.
    pub serves: Vec<String>,
    /// The reason that it is missing or unusable.
    pub problem: Option<String>,
    /// The command or step that would fix it.
    pub fix: Option<String>,
}

impl Finding {
    /// Returns the version without the number of threads that a BLAS adds, which changes with the cell.
    pub fn version_without_threads(&self) -> Option<&str> {
        self.version.as_deref().map(|version| split_threads(version).0)
    }

    /// Returns the number of threads of a BLAS when it reported its version.
    pub fn threads(&self) -> Option<u64> {
        split_threads(self.version.as_deref()?).1
    }
}

/// Splits the version that a BLAS reports into the version and its number of threads.
fn split_threads(version: &str) -> (&str, Option<u64>) {
    let split = version.rsplit_once(", ").and_then(|(version, threads)| {
        // Earlier reports have `1 threads`.
        let count = threads.strip_suffix(" threads").or_else(|| threads.strip_suffix(" thread"))?;
        Some((version, Some(count.parse().ok()?)))
    });
    split.unwrap_or((version, None))
}
