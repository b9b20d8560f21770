//! The op matmul: cuBLAS in several arithmetics, and own kernels.

mod own;
mod ozaki2;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Accuracy, Job, Prepared};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::error::{CellError, Unavailable};

use self::own::{on_tensor_cores, tiled};
use super::dense::{DenseJob, download_square};
use super::{Kernel, by_dtype, emulated, input, opt_in, reduced, variant};
use crate::context::{Cuda, DeviceElement, Library};
use crate::ffi::contents::device;
use crate::ffi::cublas::{Arithmetic, Cublas};
use crate::ffi::cublaslt::{LtProduct, ProductReal};
use crate::ffi::map::Map;
use crate::ffi::padded::{CONVERT, PaddedCopies, padded_side};

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel::by_library(
        variant("matmul", "cublas", "cuBLAS, IEEE float32 or float64"),
        &[Library::Cublas],
        |cuda, case, inputs| match case.dtype {
            DType::F32 => product::<f32>(cuda, case, inputs, Arithmetic::F32),
            DType::F64 => product::<f64>(cuda, case, inputs, Arithmetic::F64),
        },
    ),
    Kernel::by_library(
        variant("matmul", "cublaslt", "cuBLASLt, the fastest of the algorithms that it proposes"),
        &[Library::CublasLt],
        by_dtype!(chosen_product),
    ),
    Kernel {
        variant: opt_in(
            "matmul",
            "cublas-padded",
            "cuBLAS on copies whose rows are padded to a multiple of 16",
        ),
        sources: &[&CONVERT],
        libraries: &[Library::Cublas],
        prepare: |cuda, case, inputs| match case.dtype {
            DType::F32 => padded_product::<f32, f32>(cuda, case, inputs),
            DType::F64 => padded_product::<f64, f64>(cuda, case, inputs),
        },
    },
    Kernel::by_library(
        reduced("matmul", "cublas-tf32", "cuBLAS, operands rounded to TF32", Accuracy::Tf32),
        &[Library::Cublas],
        |cuda, case, inputs| product::<f32>(cuda, case, inputs, Arithmetic::Tf32),
    ),
    Kernel {
        variant: reduced("matmul", "cublas-f16", "cuBLAS, operands rounded to float16", Accuracy::F16),
        sources: &[&CONVERT],
        libraries: &[Library::Cublas],
        prepare: |cuda, case, inputs| half_product(cuda, case, inputs, Arithmetic::F16, "to_f16"),
    },
    Kernel {
        variant: reduced("matmul", "cublas-bf16", "cuBLAS, operands rounded to bfloat16", Accuracy::Bf16),
        sources: &[&CONVERT],
        libraries: &[Library::Cublas],
        prepare: |cuda, case, inputs| half_product(cuda, case, inputs, Arithmetic::Bf16, "to_bf16"),
    },
    Kernel::by_library(
        emulated("matmul", "cublas-emulated", "cuBLAS, float64 by products of 8-bit integers (fixed point)"),
        &[Library::Cublas],
        |cuda, case, inputs| product::<f64>(cuda, case, inputs, Arithmetic::EmulatedF64),
    ),
    Kernel::own(
        opt_in("matmul", "tiled", "own kernel: shared-memory tiles, register blocks"),
        &[&own::TILED],
        by_dtype!(tiled),
    ),
    Kernel::own(
        opt_in("matmul", "dmma", "own kernel on float64 tensor cores; float32 converted on load"),
        &own::TILE_SOURCES,
        by_dtype!(on_tensor_cores),
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
        prepare: ozaki2::prepare,
    },
];

/// Returns the size as the 32-bit integer that kernels and cuBLAS take.
fn side(case: &Case) -> Result<i32, CellError> {
    i32::try_from(case.n).map_err(|_| {
        Unavailable::new(format!("N = {} exceeds cuBLAS's 32-bit sizes", case.n), "choose a smaller size")
            .into()
    })
}

/// Returns the number of elements of one matrix.
fn elements(case: &Case) -> usize {
    case.side().saturating_mul(case.side())
}

/// A product of operands rounded to 16-bit types.
struct HalfProduct {
    cuda: Cuda,
    cublas: Cublas,
    arithmetic: Arithmetic,
    n: i32,
    a: CudaSlice<u16>,
    b: CudaSlice<u16>,
    c: CudaSlice<f32>,
}

impl Job for HalfProduct {
    fn contents(&mut self) -> Contents<'_> {
        // The check replaces elements of the case's type, and these operands have another type.
        Contents::new([], [device(&mut self.c)]).with_fixed([device(&mut self.a), device(&mut self.b)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.cublas.multiply(self.arithmetic, self.n, &self.a, &self.b, &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        download_square(&self.cuda, self.n.unsigned_abs() as usize, &self.c)
    }
}

fn product<T: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    arithmetic: Arithmetic,
) -> Result<Box<Prepared>, CellError> {
    let n = side(case)?;
    cuda.reserve(3 * bytes(case, size_of::<T>()) + WORKSPACE)?;
    let cublas = match arithmetic {
        Arithmetic::EmulatedF64 => Cublas::emulating(cuda)?,
        _ => Cublas::new(cuda)?,
    };
    let job = DenseJob::<T, 2, _>::new(cuda, case, inputs, move |_, [a, b], c| {
        cublas.multiply(arithmetic, n, a, b, c)
    })?;
    Ok(Prepared::new(job))
}

/// Prepares the product of matrices of `T`, computed in IEEE arithmetic of `W` and rounded to `T` once.
fn padded_product<T: DeviceElement, W: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let arithmetic = match W::DTYPE {
        DType::F32 => Arithmetic::F32,
        DType::F64 => Arithmetic::F64,
    };
    let n = case.side();
    let padded = padded_side(n);
    let (blas_n, blas_padded) = (side(case)?, side(&Case { n: padded as u64, ..case.clone() })?);
    let len = padded * padded;
    // In float64 cuBLAS was measured to be as fast if only the operands are padded, where the rows of the answer begin at
    // multiples of 16 bytes, too.
    let answer_in_place = T::DTYPE == DType::F64 && (n * size_of::<T>()).is_multiple_of(16);
    let padded_copies = if answer_in_place { 2 } else { 3 };
    cuda.reserve(
        3 * bytes(case, size_of::<T>()) + padded_copies * (len * size_of::<W>()) as u128 + WORKSPACE,
    )?;
    let cublas = Cublas::new(cuda)?;
    let copies = PaddedCopies::<T, W>::load(cuda, n, padded)?;
    let (mut wide_a, mut wide_b) = (cuda.alloc::<W>(len)?, cuda.alloc::<W>(len)?);
    let mut wide_c = if answer_in_place { None } else { Some(cuda.alloc::<W>(len)?) };
    let job = DenseJob::<T, 2, _>::new(cuda, case, inputs, move |Cuda { stream, .. }, [a, b], c| {
        copies.pad(stream, a, &mut wide_a)?;
        copies.pad(stream, b, &mut wide_b)?;
        let Some(wide_c) = &mut wide_c else {
            return cublas.multiply_padded(arithmetic, blas_n, blas_padded, &wide_a, &wide_b, c);
        };
        cublas.multiply(arithmetic, blas_padded, &wide_a, &wide_b, wide_c)?;
        copies.unpad(stream, wide_c, c)
    })?;
    Ok(Prepared::new(job))
}

fn half_product(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    arithmetic: Arithmetic,
    conversion: &str,
) -> Result<Box<Prepared>, CellError> {
    let n = side(case)?;
    // Two 16-bit operands, one float32 answer and, while converting, one float32 operand.
    cuda.reserve(3 * bytes(case, 4) + WORKSPACE)?;
    let cublas = Cublas::new(cuda)?;
    let convert = Map::<f32, u16, 1>::load(cuda, &CONVERT, conversion, elements(case))?;
    let half = |index| {
        let full = cuda.upload::<f32>(input(inputs, index)?)?;
        let mut half = cuda.alloc::<u16>(elements(case))?;
        convert.run(&cuda.stream, [&full], &mut half)?;
        Ok::<_, CellError>(half)
    };
    let (a, b) = (half(0)?, half(1)?);
    let c = cuda.alloc::<f32>(elements(case))?;
    Ok(Prepared::new(HalfProduct { cuda: cuda.clone(), cublas, arithmetic, n, a, b, c }))
}

/// A product by cuBLASLt.
struct ChosenProduct<T> {
    // Before the memory that its work uses.
    product: LtProduct<T, T>,
    cuda: Cuda,
    n: usize,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    c: CudaSlice<T>,
}

impl<T: ProductReal> Job for ChosenProduct<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.c)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.product.enqueue(&self.a, &self.b, &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        download_square(&self.cuda, self.n, &self.c)
    }
}

fn chosen_product<T: ProductReal>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    side(case)?;
    cuda.reserve(3 * bytes(case, size_of::<T>()) + WORKSPACE)?;
    let mut product = LtProduct::dense(cuda, case.side())?;
    let (a, b) = (cuda.upload(input::<T>(inputs, 0)?)?, cuda.upload(input::<T>(inputs, 1)?)?);
    let mut c = cuda.alloc(elements(case))?;
    product.choose(&a, &b, &mut c)?;
    Ok(Prepared::new(ChosenProduct { product, cuda: cuda.clone(), n: case.side(), a, b, c }))
}

/// Returns the bytes of one matrix whose elements have `size` bytes.
fn bytes(case: &Case, size: usize) -> u128 {
    u128::from(case.n) * u128::from(case.n) * size as u128
}

/// Bytes to reserve for the cuBLAS handle and its workspace.
const WORKSPACE: u128 = 64 << 20;
