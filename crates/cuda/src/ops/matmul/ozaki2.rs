//! A float64 product by exact products of integers modulo small numbers, and the Chinese remainder theorem: K. Ozaki,
//! Y. Uchino, T. Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of floating-point matrix multiplication using an
//! integer modular technique", arXiv 2504.08009 (2025). `docs/kernels/ozaki2-int8.md` describes it.

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
use crate::ffi::cublaslt::ResidueProducts;
use crate::ffi::ozaki2::{GROUP, MODULI, Residues};
use crate::ffi::square_product::ConditionalProduct;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("ozaki2");

/// The largest product of two residues: -128 * -128.
const PRODUCT: u64 = 1 << 14;

struct Product {
    cuda: Cuda,
    residues: Residues,
    products: ResidueProducts,
    fallback: ConditionalProduct,
    n: usize,
    a: CudaSlice<f64>,
    b: CudaSlice<f64>,
    c: CudaSlice<f64>,
}

impl Job for Product {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.a), device(&mut self.b)], [device(&mut self.c)])
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.residues.compute(&self.a, &self.b)?;
        self.residues.multiply(&self.products)?;
        self.residues.combine(&mut self.c)?;
        self.fallback.run(&self.cuda.stream, self.residues.needed(), [&self.a, &self.b], &mut self.c)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        download_square(&self.cuda, self.n, &self.c)
    }
}

/// Returns the row length of residues, or an error if sums over `n` products could overflow 32 bits.
fn pitch(n: u32) -> Result<u32, Unavailable> {
    let pitch = u64::from(n).next_multiple_of(u64::from(GROUP));
    let exact = u64::from(n) * PRODUCT <= i32::MAX as u64;
    u32::try_from(pitch).ok().filter(|_| exact).ok_or_else(|| {
        let reason = format!("sums of {n} products of residues overflow 32 bits");
        Unavailable::new(reason, "use --variants cublas, or a size of at most 131071")
    })
}

pub(super) fn prepare(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let n = side(case)?.unsigned_abs();
    let pitch = pitch(n)?;
    let area = u128::from(pitch) * u128::from(pitch);
    // Operands and answer, one-byte residues of two operands, and as many sums of four bytes.
    cuda.reserve(3 * bytes(case, 8) + MODULI as u128 * (2 + 4) * area + WORKSPACE)?;
    let mut products = ResidueProducts::new(cuda, pitch as usize, MODULI as i32)?;
    let mut residues = Residues::load(cuda, &SOURCE, n, pitch)?;
    let fallback = ConditionalProduct::load(cuda, n)?;
    let (a, b) = (cuda.upload::<f64>(input(inputs, 0)?)?, cuda.upload::<f64>(input(inputs, 1)?)?);
    let c = cuda.alloc::<f64>(elements(case))?;
    // Use real residues for timing the algorithms: multiplying zeros draws less power, so the chip clocks higher.
    residues.compute(&a, &b)?;
    residues.choose(&mut products)?;
    Ok(Prepared::new(Product { cuda: cuda.clone(), residues, products, fallback, n: n as usize, a, b, c }))
}

#[cfg(test)]
mod tests {
    use super::pitch;

    #[test]
    fn rows_are_padded_and_sums_stay_within_32_bits() {
        assert_eq!(pitch(1).ok(), Some(128));
        assert_eq!(pitch(5000).ok(), Some(5120));
        assert_eq!(pitch(131_071).ok(), Some(131_072));
        let refused = pitch(131_072).unwrap_err();
        assert!(refused.fix.is_some_and(|fix| fix.contains("131071")));
    }
}
