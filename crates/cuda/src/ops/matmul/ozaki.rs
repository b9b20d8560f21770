//! A float32 product by exact products of 8-bit integers: K. Ozaki, T. Ogita, S. Oishi, S. M. Rump, "Error-free
//! transformations of matrix multiplication by using fast routines of matrix multiplication and its applications",
//! Numerical Algorithms 59 (2012), and H. Ootomo, K. Ozaki, R. Yokota, "DGEMM on integer matrix multiplication unit",
//! IJHPCA 38 (2024). `docs/kernels/ozaki-int8.md` describes it.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::{CellError, Unavailable};

use super::super::input;
use super::{WORKSPACE, bytes, download_square, elements, side};
use crate::context::Cuda;
use crate::ffi::contents::device;
use crate::ffi::cublaslt::{SLICES, SliceProducts};
use crate::ffi::ozaki::Slices;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("ozaki");

/// cuBLASLt's integer products require rows that are a multiple of this.
const ALIGNMENT: u32 = 16;
/// The largest sum of two digits' products: -128 * -128.
const PRODUCT: u64 = 1 << 14;

struct Product {
    cuda: Cuda,
    slices: Slices,
    products: SliceProducts,
    n: usize,
    a: CudaSlice<f32>,
    b: CudaSlice<f32>,
    c: CudaSlice<f32>,
}

impl Job for Product {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.c)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.slices.cut(&self.a, &self.b)?;
        self.slices.multiply(&self.products)?;
        self.slices.combine(&self.a, &self.b, &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        download_square(&self.cuda, self.n, &self.c)
    }
}

/// Returns the row length of a slice, or an error if sums over `n` products could overflow 32 bits.
fn pitch(n: u32) -> Result<u32, Unavailable> {
    let pitch = u64::from(n).next_multiple_of(u64::from(ALIGNMENT));
    let exact = SLICES as u64 * pitch * PRODUCT <= i32::MAX as u64;
    u32::try_from(pitch).ok().filter(|_| exact).ok_or_else(|| {
        let reason = format!("sums of {n} products in three slices overflow 32 bits");
        Unavailable::new(reason, "use --variants cublas, or a size of at most 43680")
    })
}

pub(super) fn prepare(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let n = side(case)?.unsigned_abs();
    let pitch = pitch(n)?;
    let area = u128::from(pitch) * u128::from(pitch);
    // Operands and answer, one-byte slices of two operands, and as many sums of four bytes.
    cuda.reserve(3 * bytes(case, 4) + SLICES as u128 * (2 + 4) * area + WORKSPACE)?;
    let mut products = SliceProducts::new(cuda, pitch as usize)?;
    let mut slices = Slices::load(cuda, &SOURCE, n, pitch)?;
    let (a, b) = (cuda.upload::<f32>(input(inputs, 0)?)?, cuda.upload::<f32>(input(inputs, 1)?)?);
    let c = cuda.alloc::<f32>(elements(case))?;
    // Use real digits for timing the algorithms: multiplying zeros draws less power, so the chip clocks higher.
    slices.cut(&a, &b)?;
    slices.choose(&mut products)?;
    Ok(Prepared::new(Product { cuda: cuda.clone(), slices, products, n: n as usize, a, b, c }))
}

#[cfg(test)]
mod tests {
    use super::pitch;

    #[test]
    fn rows_are_padded_and_sums_stay_within_32_bits() {
        assert_eq!(pitch(1).ok(), Some(16));
        assert_eq!(pitch(5000).ok(), Some(5008));
        assert_eq!(pitch(43_680).ok(), Some(43_680));
        let refused = pitch(43_681).unwrap_err();
        assert!(refused.fix.is_some_and(|fix| fix.contains("43680")));
    }
}
