//! The op matmul by gpubench's own kernels, and by cuBLAS between own kernels.

mod own;
mod ozaki2;
mod padded;

use gpubench_backend::{Accuracy, Prepared};
use gpubench_cuda::ffi::cublas::{WORKSPACE, checked_side};
use gpubench_cuda::ops::dense::{Resident, matrix};
use gpubench_cuda::ops::{CONVERT, Kernel, Setup, by_dtype, emulated, opt_in, reduced};
use gpubench_cuda::{Cuda, DeviceElement, Library, Result};
use gpubench_report::case::DType;

pub use own::SquareProduct;
pub use ozaki2::ResidueProduct;
pub use padded::PaddedProduct;
pub(crate) use padded::{PaddedCopies, padded_side};

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: opt_in(
            "matmul",
            "cublas-padded",
            "cuBLAS on copies whose rows are padded to a multiple of 16",
        ),
        sources: &[&CONVERT],
        libraries: &[Library::Cublas],
        prepare: |setup| match setup.case.dtype {
            DType::F64 => padded_product::<f64, f64>(setup),
            _ => padded_product::<f32, f32>(setup),
        },
    },
    Kernel::own(
        opt_in("matmul", "tiled", "own kernel: shared-memory tiles, register blocks"),
        &[&own::TILED],
        by_dtype!(own_product, SquareProduct::tiled),
    ),
    Kernel::own(
        opt_in("matmul", "dmma", "own kernel on float64 tensor cores; float32 converted on load"),
        &own::TILE_SOURCES,
        by_dtype!(own_product, SquareProduct::on_tensor_cores),
    ),
    Kernel {
        variant: reduced(
            "matmul",
            "f64-accumulate",
            "cuBLAS in float64, rounded to float32 once",
            Accuracy::Ieee,
        ),
        sources: &[&CONVERT],
        libraries: &[Library::Cublas],
        prepare: padded_product::<f32, f64>,
    },
    Kernel {
        variant: emulated(
            "matmul",
            "ozaki2-int8",
            "float64 by exact products of 8-bit residues (Ozaki scheme II)",
        ),
        sources: &[&ozaki2::SOURCE, &own::IF_NEEDED],
        libraries: &[Library::CublasLt],
        prepare: residue_product,
    },
];

/// Makes the job of an own kernel, which `load` loads for matrices of one size.
fn own_product<T: DeviceElement>(
    setup: Setup<'_>,
    load: fn(&Cuda, u32) -> Result<SquareProduct<T>>,
) -> Result<Box<Prepared>> {
    let n = checked_side(setup.n())?.unsigned_abs();
    setup.reserve_matrices(3)?;
    let mut kernel = load(setup.cuda, n)?;
    Ok(Resident::<T, T, 2>::like_first(setup)?.job(matrix::<T>, move |_, [a, b], c| kernel.run([a, b], c)))
}

fn padded_product<T: DeviceElement, W: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let bytes = PaddedProduct::<T, W>::workspace_bytes(setup.n())?;
    setup.cuda.reserve(setup.matrix_bytes(3) + bytes + WORKSPACE)?;
    let mut product = PaddedProduct::<T, W>::new(setup.cuda, setup.n())?;
    Ok(Resident::<T, T, 2>::like_first(setup)?.job(matrix::<T>, move |_, [a, b], c| product.run([a, b], c)))
}

fn residue_product(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let n = checked_side(setup.n())?.unsigned_abs();
    setup.cuda.reserve(setup.matrix_bytes(3) + ResidueProduct::workspace_bytes(n)? + WORKSPACE)?;
    let mut product = ResidueProduct::new(setup.cuda, n)?;
    let arrays = Resident::<f64, f64, 2>::like_first(setup)?;
    let [a, b] = &arrays.operands;
    product.choose([a, b])?;
    Ok(arrays.job(matrix::<f64>, move |_, [a, b], c| product.run([a, b], c)))
}
