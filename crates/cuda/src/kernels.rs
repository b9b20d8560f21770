//! The CUDA C sources and their headers, embedded in the binary.
//!
//! Each `.cu` file is one translation unit, or several: where compiling a whole file takes long, each of its parts is a
//! unit of its own, so that a cell waits only for what it runs. A part begins by defining its name, and `#ifdef NAME` in
//! the file surrounds the entries that only this part has.

use std::ops::RangeInclusive;

use gpubench_report::case::DType;

/// Declares the header `kernels/<name>.cuh`.
macro_rules! header {
    ($name:literal) => {
        KernelSource::new(
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/", $name, ".cuh")),
        )
    };
}

/// A file of `kernels/`, or a part of one.
#[derive(Debug)]
pub struct KernelSource {
    /// The file in `kernels/` without its ending, followed by the name of the part: `matmul/dmma-F32`.
    pub name: &'static str,
    /// The CUDA C text.
    pub text: &'static str,
    /// The element type of the cases that need it; `None` if several do.
    pub dtype: Option<DType>,
    /// The sizes N of cases that need it, with 132 multiprocessors. With another number, other sizes can need it; it is then
    /// compiled with the first cell of those, and not when the run starts.
    pub sizes: RangeInclusive<u64>,
    /// For a source that is compiled with the constants of one size.
    pub per_size: Option<PerSize>,
}

impl KernelSource {
    /// A source for every type and size.
    pub const fn new(name: &'static str, text: &'static str) -> KernelSource {
        KernelSource { name, text, dtype: None, sizes: ANY_SIZE, per_size: None }
    }
}

/// Every size of a case.
pub const ANY_SIZE: RangeInclusive<u64> = 1..=u64::MAX;

/// Returns the sizes that two ranges have in common, if there are any.
pub fn common(a: &RangeInclusive<u64>, b: &RangeInclusive<u64>) -> Option<RangeInclusive<u64>> {
    let both = *a.start().max(b.start())..=*a.end().min(b.end());
    (!both.is_empty()).then_some(both)
}

/// Fills in the constants of a source.
#[derive(Debug)]
pub struct PerSize {
    /// Returns the sources for `n` on a device, each with one kernel, or `None` if they do not support that size there.
    pub of: fn(n: usize, dtype: DType, capacity: Capacity) -> Option<[&'static KernelSource; 2]>,
    /// Returns examples.
    pub examples: fn() -> Vec<&'static KernelSource>,
}

/// The limits of a device that plans depend on.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Multiprocessors of the device.
    pub multiprocessors: usize,
    /// Bytes of shared memory that one block can request.
    pub shared_memory_per_block: usize,
}

impl Capacity {
    /// The limits of an NVIDIA H100 SXM or H200, for sources without a device.
    pub const HOPPER: Capacity = Capacity { multiprocessors: 132, shared_memory_per_block: 227 << 10 };
}

/// The headers, which NVRTC gets with every source.
pub static HEADERS: [KernelSource; 10] = [
    header!("common/common"),
    header!("common/dependent_launch"),
    header!("common/mma"),
    header!("elementwise/sine_cosine"),
    header!("fft/stages"),
    header!("solve/cholesky_tiles"),
    header!("solve/cholesky_triangles"),
    header!("solve/cholesky_diagonal"),
    header!("solve/cholesky_substitution"),
    header!("svd/reflector"),
];

/// Two parts of a file: each has the entries of one element type.
#[derive(Debug)]
pub struct ByType {
    /// The part for float32.
    pub f32: KernelSource,
    /// The part for float64.
    pub f64: KernelSource,
}

impl ByType {
    /// Returns the part for an element type.
    pub fn of(&'static self, dtype: DType) -> &'static KernelSource {
        match dtype {
            DType::F64 => &self.f64,
            _ => &self.f32,
        }
    }
}

/// Declares the source of `kernels/<name>.cu`, or of one part of it, which can be for one element type.
#[macro_export]
macro_rules! kernel_source {
    ($name:literal) => {
        $crate::kernels::KernelSource::new(
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/", $name, ".cu")),
        )
    };
    ($name:literal, $part:expr, $dtype:ident) => {
        $crate::kernels::KernelSource {
            dtype: Some(gpubench_report::case::DType::$dtype),
            ..$crate::kernel_source!($name, $part)
        }
    };
    ($name:literal, $part:expr) => {
        $crate::kernels::KernelSource::new(
            concat!($name, "-", $part),
            // The second line keeps the numbers of lines in messages of the compiler.
            concat!(
                "#define ",
                $part,
                "\n#line 1\n",
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/", $name, ".cu"))
            ),
        )
    };
}
pub use crate::kernel_source;

/// Declares the two parts of `kernels/<name>.cu` for the element types, named `F32` and `F64` after a prefix.
#[macro_export]
macro_rules! kernel_source_by_type {
    ($name:literal, $prefix:literal) => {
        $crate::kernels::ByType {
            f32: $crate::kernel_source!($name, concat!($prefix, "F32"), F32),
            f64: $crate::kernel_source!($name, concat!($prefix, "F64"), F64),
        }
    };
}
pub use crate::kernel_source_by_type;
