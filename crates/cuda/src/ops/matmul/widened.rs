//! A float32 product by cuBLAS in float64: exact products, sums rounded to float64, one rounding to float32 at the end.
//! It pays where float64 tensor cores are no slower than float32 arithmetic.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::input;
use super::{WORKSPACE, bytes, elements, side, square};
use crate::context::Cuda;
use crate::ffi::contents::device;
use crate::ffi::cublas::{Arithmetic, Cublas};
use crate::ffi::launch::Map;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("convert");

/// Operands and answer in float32, and copies of them in float64.
struct Widened {
    cuda: Cuda,
    cublas: Cublas,
    widen: Map<f32, f64, 1>,
    narrow: Map<f64, f32, 1>,
    n: i32,
    a: CudaSlice<f32>,
    b: CudaSlice<f32>,
    c: CudaSlice<f32>,
    wide_a: CudaSlice<f64>,
    wide_b: CudaSlice<f64>,
    wide_c: CudaSlice<f64>,
}

impl Job for Widened {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.c)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let stream = &self.cuda.stream;
        self.widen.run(stream, [&self.a], &mut self.wide_a)?;
        self.widen.run(stream, [&self.b], &mut self.wide_b)?;
        self.cublas.multiply(Arithmetic::F64, self.n, &self.wide_a, &self.wide_b, &mut self.wide_c)?;
        self.narrow.run(stream, [&self.wide_c], &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        square(&self.cuda, self.n.unsigned_abs() as usize, &self.c)
    }
}

pub(super) fn prepare(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let (n, len) = (side(case)?, elements(case));
    cuda.reserve(3 * bytes(case, 4 + 8) + WORKSPACE)?;
    Ok(Prepared::new(Widened {
        cublas: Cublas::new(cuda)?,
        widen: Map::load(cuda, &SOURCE, "f32_to_f64", len)?,
        narrow: Map::load(cuda, &SOURCE, "f64_to_f32", len)?,
        n,
        a: cuda.upload(input::<f32>(inputs, 0)?)?,
        b: cuda.upload(input::<f32>(inputs, 1)?)?,
        c: cuda.alloc(len)?,
        wide_a: cuda.alloc(len)?,
        wide_b: cuda.alloc(len)?,
        wide_c: cuda.alloc(len)?,
        cuda: cuda.clone(),
    }))
}
