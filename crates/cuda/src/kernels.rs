//! The CUDA C sources, embedded in the binary. Each `.cu` file is one translation unit; they share one header.

/// A source file of `kernels/`.
#[derive(Debug)]
pub struct KernelSource {
    /// The file's name without its ending.
    pub name: &'static str,
    /// The CUDA C text.
    pub text: &'static str,
    /// Of a source that is compiled with constants of one size before it: examples of it with some.
    pub(crate) per_size: Option<fn() -> Vec<&'static KernelSource>>,
}

/// `common.cuh`, which sources may include: NVRTC is given it with every source.
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
