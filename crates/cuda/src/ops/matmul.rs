//! The op matmul by cuBLAS, in several arithmetics.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Accuracy, Job, Prepared};
use gpubench_ops as op;
use gpubench_ops::matmul::Products;
use gpubench_report::case::DType;
use gpubench_report::data::Operand;

use super::dense::{Resident, matrix};
use super::{CONVERT, Kernel, Setup, by_type, emulated, reduced, shaped_of_types};
use crate::ffi::cublas::{Arithmetic, Cublas, WORKSPACE};
use crate::ffi::cublaslt::LtProduct;
use crate::ffi::device;
use crate::ffi::map::Map;
use crate::{Cuda, DeviceValue, Library, Result};

pub(super) static KERNELS: &[Kernel] = &[
    Kernel::by_library(
        shaped_of_types(
            "matmul",
            "cublas",
            "cuBLAS, IEEE; sums of 16-bit types in float32, an answer of their type",
            DType::ALL,
        ),
        &[Library::Cublas],
        by_type!(product_in_type),
    ),
    Kernel::by_library(
        shaped_of_types(
            "matmul",
            "cublaslt",
            "cuBLASLt, the fastest of the algorithms that it proposes",
            DType::ALL,
        ),
        &[Library::CublasLt],
        by_type!(chosen_product),
    ),
    Kernel::by_library(
        reduced("matmul", "cublas-tf32", "cuBLAS, operands rounded to TF32", Accuracy::Tf32),
        &[Library::Cublas],
        |setup| product::<f32>(setup, Arithmetic::Tf32),
    ),
    Kernel {
        variant: reduced("matmul", "cublas-f16", "cuBLAS, operands rounded to float16", Accuracy::F16),
        sources: &[&CONVERT],
        libraries: &[Library::Cublas],
        prepare: |setup| half_product(setup, Arithmetic::F16, "to_f16"),
    },
    Kernel {
        variant: reduced("matmul", "cublas-bf16", "cuBLAS, operands rounded to bfloat16", Accuracy::Bf16),
        sources: &[&CONVERT],
        libraries: &[Library::Cublas],
        prepare: |setup| half_product(setup, Arithmetic::Bf16, "to_bf16"),
    },
    Kernel::by_library(
        emulated("matmul", "cublas-emulated", "cuBLAS, float64 by products of 8-bit integers (fixed point)"),
        &[Library::Cublas],
        |setup| product::<f64>(setup, Arithmetic::EmulatedF64),
    ),
];

/// Checks that operands, answer and workspace fit into device memory.
fn reserve(setup: Setup<'_>) -> Result<()> {
    setup.cuda.reserve(op::find("matmul").map_or(0, |op| op.footprint(setup.case)) + WORKSPACE)
}

fn resident<T: DeviceValue>(setup: Setup<'_>, products: &Products) -> Result<Resident<T, T, 2>> {
    let [.., c_len] = products.lens();
    Ok(Resident::new(setup, products.batch * c_len)?.of_cols(products.sides[1]))
}

fn product_in_type<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    product::<T>(setup, Arithmetic::of(T::DTYPE))
}

fn product<T: DeviceValue>(setup: Setup<'_>, arithmetic: Arithmetic) -> Result<Box<Prepared>> {
    let products = Products::of(setup.case);
    reserve(setup)?;
    let cublas = match arithmetic {
        Arithmetic::EmulatedF64 => Cublas::emulating(setup.cuda)?,
        _ => Cublas::new(setup.cuda)?,
    };
    let arrays = resident::<T>(setup, &products)?;
    Ok(arrays.job(matrix::<T>, move |_, [a, b], c| cublas.multiply(arithmetic, &products, a, b, c)))
}

/// Makes a job by the algorithm of cuBLASLt that a trial finds fastest.
fn chosen_product<T: DeviceValue>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let products = Products::of(setup.case);
    reserve(setup)?;
    let mut product = LtProduct::dense::<T>(setup.cuda, &products)?;
    let mut arrays = resident::<T>(setup, &products)?;
    let [a, b] = &arrays.operands;
    product.choose(a, b, &mut arrays.answer)?;
    Ok(arrays.job(matrix::<T>, move |_, [a, b], c| product.enqueue(a, b, c)))
}

/// A product of operands rounded to 16-bit types.
struct HalfProduct {
    cuda: Cuda,
    cublas: Cublas,
    arithmetic: Arithmetic,
    products: Products,
    a: CudaSlice<u16>,
    b: CudaSlice<u16>,
    c: CudaSlice<f32>,
}

impl Job for HalfProduct {
    fn contents(&mut self) -> Contents<'_> {
        // The check replaces elements of the case's type, and these operands have another type.
        Contents::new([], [device(&mut self.c)]).with_fixed([device(&mut self.a), device(&mut self.b)])
    }

    fn execute(&mut self) -> Result<()> {
        self.cublas.multiply(self.arithmetic, &self.products, &self.a, &self.b, &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        matrix::<f32>(&self.cuda, self.products.sides[0], &self.c)
    }
}

fn half_product(setup: Setup<'_>, arithmetic: Arithmetic, conversion: &str) -> Result<Box<Prepared>> {
    let (cuda, products) = (setup.cuda, Products::of(setup.case));
    let elements = setup.n().saturating_mul(setup.n());
    // Two 16-bit operands, one float32 answer and, while converting, one float32 operand.
    cuda.reserve(setup.matrix_bytes(3) + WORKSPACE)?;
    let cublas = Cublas::new(cuda)?;
    let convert = Map::<f32, u16, 1>::load(cuda, &CONVERT, conversion, elements)?;
    let half = |index| -> Result<_> {
        let full = setup.upload::<f32>(index)?;
        let mut half = cuda.alloc::<u16>(elements)?;
        convert.run(&cuda.stream, [&full], &mut half)?;
        Ok(half)
    };
    let (a, b) = (half(0)?, half(1)?);
    let c = cuda.alloc::<f32>(elements)?;
    Ok(Prepared::new(HalfProduct { cuda: cuda.clone(), cublas, arithmetic, products, a, b, c }))
}
