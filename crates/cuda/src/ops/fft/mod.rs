//! The op fft: the full complex spectrum of a real N x N matrix, by cuFFT and a kernel around it, or by own kernels only.

mod bluestein;
mod fill;
mod plan;
pub(crate) mod radices;
mod source;
mod tiles;
mod two_pass;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Dense, Operand};
use gpubench_report::error::CellError;
use rustfft::num_complex::Complex;

use super::{Kernel, by_dtype, input, opt_in, variant};
use crate::context::{Cuda, DeviceElement, Library};
use crate::ffi::contents::device;
use crate::ffi::cufft::{FftReal, SquareTransform};
use fill::FftKernels;
use plan::FftPlan;
use two_pass::prepare as two_pass;

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: variant("fft", "r2c", "cuFFT real to complex, then one kernel fills the other half"),
        sources: &[&fill::SOURCE],
        libraries: &[Library::Cufft],
        prepare: by_dtype!(transform, true),
    },
    Kernel {
        variant: opt_in("fft", "c2c", "input converted to complex, then cuFFT complex to complex"),
        sources: &[&fill::SOURCE],
        libraries: &[Library::Cufft],
        prepare: by_dtype!(transform, false),
    },
    Kernel::own(
        opt_in("fft", "hermitian", "two own kernels; the second writes both halves of the spectrum"),
        &[&source::HERMITIAN],
        by_dtype!(two_pass, FftPlan::hermitian),
    ),
    Kernel::own(
        opt_in(
            "fft",
            "bluestein",
            "two own kernels for any N up to 8192 (float64: 7200), whose transforms are convolutions with a chirp",
        ),
        &[&source::BLUESTEIN],
        by_dtype!(two_pass, FftPlan::bluestein),
    ),
];

/// A transform by cuFFT with an own kernel before or after it.
struct Transform<T> {
    /// `None` for a single element, which is its own spectrum.
    plan: Option<SquareTransform<T>>,
    cuda: Cuda,
    n: usize,
    kernels: FftKernels<T>,
    input: CudaSlice<T>,
    /// `n * n` pairs of real and imaginary part.
    spectrum: CudaSlice<T>,
}

fn transform<T: DeviceElement + FftReal>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    is_real: bool,
) -> Result<Box<Prepared>, CellError> {
    cuda.require(Library::Cufft)?;
    let n = case.side();
    let area = n as u128 * n as u128;
    cuda.reserve(3 * area * size_of::<T>() as u128)?;
    let host = input::<T>(inputs, 0)?;
    let kernels = FftKernels::load(cuda, n)?;
    let (input, spectrum) = (cuda.upload(host)?, cuda.alloc(2 * n * n)?);
    let work_area = |bytes| {
        cuda.count_plan();
        cuda.reserve(bytes as u128)?;
        cuda.alloc(bytes)
    };
    let plan = match n {
        ..2 => None,
        _ => Some(SquareTransform::new(&cuda.stream, n, is_real, work_area)?),
    };
    Ok(Prepared::new(Transform { plan, cuda: cuda.clone(), n, kernels, input, spectrum }))
}

impl<T: DeviceElement + FftReal> Job for Transform<T> {
    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.input)], [device(&mut self.spectrum)])
    }

    /// Converting to complex is part of the op, because its input is real.
    fn execute(&mut self) -> Result<(), CellError> {
        let Transform { plan, cuda, kernels, input, spectrum, .. } = self;
        match plan {
            Some(plan) if plan.is_real() => {
                plan.transform_real(input, spectrum)?;
                kernels.fill_half(&cuda.stream, spectrum)
            }
            Some(plan) => {
                kernels.to_complex(&cuda.stream, input, spectrum)?;
                plan.in_place(spectrum)
            }
            None => kernels.to_complex(&cuda.stream, input, spectrum),
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        spectrum(&self.cuda, self.n, &self.spectrum)
    }
}

/// Downloads pairs of real and imaginary part as the answer.
fn spectrum<T: DeviceElement>(
    cuda: &Cuda,
    n: usize,
    reals: &CudaSlice<T>,
) -> Result<Vec<Operand>, CellError> {
    let values = T::into_complex_values(pairs(&cuda.download(reals)?));
    Ok(vec![Operand::Dense(Dense { rows: n, cols: n, values })])
}

/// Converts alternating real and imaginary parts to complex elements.
fn pairs<T: Copy>(reals: &[T]) -> Vec<Complex<T>> {
    reals.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_parts_become_complex_elements() {
        assert_eq!(pairs(&[1.0, 2.0, 3.0, 4.0]), [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)]);
    }
}
