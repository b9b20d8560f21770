//! What a backend looked for on a machine.

/// Something a backend looked for: a library, a driver, a device.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// What was looked for, such as `OpenBLAS` or `cuFFT`.
    pub name: String,
    /// Where it was found; `None` when it is missing.
    pub path: Option<String>,
    /// Its version and configuration, as it says itself.
    pub version: Option<String>,
    /// What its absence costs (or its presence serves): variants such as `fft/r2c`.
    pub serves: Vec<String>,
    /// Why it is missing or unusable.
    pub problem: Option<String>,
    /// The one command or step that would fix it.
    pub fix: Option<String>,
}
