//! fft: the full complex spectrum of a real N x N matrix, by cuFFT with a kernel of ours around it or by kernels of ours.

mod mirrored;
pub(crate) mod plan;
mod radices;

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::{Dense, Operand};
use gpubench_model::error::CellError;
use rustfft::num_complex::Complex;

use super::entry::by_dtype;
use super::{Kernel, extra, input};
use crate::context::{Cuda, Element, Library};
use crate::ffi::contents::device;
use crate::ffi::cufft::{ComplexPlan, FftReal, RealPlan};
use crate::ffi::fft::FftKernels;
use crate::kernels::{KernelSource, kernel_source};
use mirrored::prepare as mirrored;

pub(crate) static SOURCE: KernelSource = kernel_source!("fft_mirror");

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: extra("fft", "r2c", "cuFFT real to complex, then one kernel fills the mirrored half"),
        sources: &[&SOURCE],
        libraries: &[Library::Cufft],
        prepare: by_dtype!(real_to_complex),
    },
    Kernel {
        variant: extra("fft", "c2c", "the input widened to complex, then cuFFT complex to complex"),
        sources: &[&SOURCE],
        libraries: &[Library::Cufft],
        prepare: by_dtype!(complex_to_complex),
    },
    Kernel {
        variant: extra(
            "fft",
            "mirrored",
            "two kernels, the second of which writes both halves of the spectrum",
        ),
        sources: &[&plan::SOURCE],
        libraries: &[],
        prepare: by_dtype!(mirrored),
    },
];

/// What the variants by cuFFT hold: the input and the place of the spectrum.
struct Resident<T> {
    cuda: Cuda,
    n: usize,
    kernels: FftKernels<T>,
    input: CudaSlice<T>,
    /// `n * n` pairs of real and imaginary part.
    spectrum: CudaSlice<T>,
}

impl<T: Element + FftReal> Resident<T> {
    fn new(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Self, CellError> {
        cuda.require(Library::Cufft)?;
        let n = case.side();
        let area = n as u128 * n as u128;
        cuda.reserve(3 * area * size_of::<T>() as u128)?;
        let host = input::<T>(inputs, 0)?;
        Ok(Resident {
            cuda: cuda.clone(),
            n,
            kernels: FftKernels::load(cuda, &SOURCE, n)?,
            input: cuda.upload(host)?,
            spectrum: cuda.alloc(2 * n * n)?,
        })
    }

    fn work_area(&self, bytes: usize) -> Result<CudaSlice<u8>, CellError> {
        self.cuda.count_plan();
        self.cuda.reserve(bytes as u128)?;
        self.cuda.alloc(bytes)
    }

    fn contents(&mut self) -> Contents<'_> {
        Contents::new([device(&mut self.input)], [device(&mut self.spectrum)])
    }

    fn answer(&self) -> Result<Vec<Operand>, CellError> {
        let values = T::into_complex_values(pairs(&self.cuda.download(&self.spectrum)?));
        Ok(vec![Operand::Dense(Dense { rows: self.n, cols: self.n, values })])
    }
}

/// Complex elements from reals in which real and imaginary parts alternate.
fn pairs<T: Copy>(reals: &[T]) -> Vec<Complex<T>> {
    reals.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

struct RealToComplex<T> {
    /// None for a single element, which is its own spectrum.
    plan: Option<RealPlan<T>>,
    resident: Resident<T>,
}

fn real_to_complex<T: Element + FftReal>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let resident = Resident::<T>::new(cuda, case, inputs)?;
    let plan = || RealPlan::new(&cuda.stream, resident.n, |bytes| resident.work_area(bytes));
    let plan = (resident.n > 1).then(plan).transpose()?;
    Ok(Prepared::new(RealToComplex { plan, resident }))
}

impl<T: Element + FftReal> Job for RealToComplex<T> {
    fn contents(&mut self) -> Contents<'_> {
        self.resident.contents()
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let Resident { cuda, kernels, input, spectrum, .. } = &mut self.resident;
        match &mut self.plan {
            Some(plan) => {
                plan.execute(input, spectrum)?;
                kernels.mirror(&cuda.stream, spectrum)
            }
            None => kernels.widen(&cuda.stream, input, spectrum),
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        self.resident.answer()
    }
}

struct ComplexToComplex<T> {
    /// None for a single element, which is its own spectrum.
    plan: Option<ComplexPlan<T>>,
    resident: Resident<T>,
}

fn complex_to_complex<T: Element + FftReal>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let resident = Resident::<T>::new(cuda, case, inputs)?;
    let plan = || ComplexPlan::new(&cuda.stream, resident.n, |bytes| resident.work_area(bytes));
    let plan = (resident.n > 1).then(plan).transpose()?;
    Ok(Prepared::new(ComplexToComplex { plan, resident }))
}

impl<T: Element + FftReal> Job for ComplexToComplex<T> {
    fn contents(&mut self) -> Contents<'_> {
        self.resident.contents()
    }

    /// The widening belongs to the op: its input is real.
    fn execute(&mut self) -> Result<(), CellError> {
        let Resident { cuda, kernels, input, spectrum, .. } = &mut self.resident;
        kernels.widen(&cuda.stream, input, spectrum)?;
        self.plan.as_mut().map_or(Ok(()), |plan| plan.execute(spectrum))
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        self.resident.answer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_parts_become_complex_elements() {
        assert_eq!(pairs(&[1.0, 2.0, 3.0, 4.0]), [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)]);
    }
}
