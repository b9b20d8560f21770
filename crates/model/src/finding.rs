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
