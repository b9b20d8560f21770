//! The CUDA C sources, embedded in the binary. Each `.cu` file is one translation unit; they share `common.cuh`.

/// A source file of `kernels/`.
#[derive(Debug)]
pub struct KernelSource {
    /// The file's name without its ending.
    pub name: &'static str,
    /// The CUDA C text.
    pub text: &'static str,
    /// For a source that is compiled with the constants of one size: returns examples with the constants filled in.
    pub(crate) per_size: Option<fn() -> Vec<&'static KernelSource>>,
}

/// `common.cuh`, which NVRTC gets as a header with every source.
pub const HEADER: KernelSource = KernelSource {
    name: "common",
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/common.cuh")),
    per_size: None,
};

/// Declares the source of `kernels/<name>.cu`.
macro_rules! kernel_source {
    ($name:literal) => {
        $crate::kernels::KernelSource {
            name: $name,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/", $name, ".cu")),
            per_size: None,
        }
    };
}
pub(crate) use kernel_source;
