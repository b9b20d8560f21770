//! The op fft: the full complex spectra of real arrays, by cuFFT and a kernel of `kernels/fft/fill.cu` before or after it.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_backend::Prepared;
use gpubench_ops as op;
use gpubench_ops::fft::Transforms;
use gpubench_report::case::DType;
use rustfft::num_complex::Complex;

use super::dense::{Resident, matrix};
use super::shaped_of_types;
use crate::ffi::cufft::PlannedTransforms;
use crate::ffi::launch::{enqueue, fits, read, write};
use crate::ffi::tuning::grid;
use crate::kernels::{KernelSource, kernel_source};
use crate::{CellError, Cuda, DeviceElement, Kernel, Library, Result, Setup, by_dtype, shaped};

static SOURCE: KernelSource = kernel_source!("fft/fill");

pub(super) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: shaped("fft", "r2c", "cuFFT real to complex, then one kernel fills the other half"),
        sources: &[&SOURCE],
        libraries: &[Library::Cufft],
        prepare: by_dtype!(transform, true),
    },
    Kernel {
        variant: shaped_of_types(
            "fft",
            "c2c",
            "cuFFT complex to complex; a real input is converted before",
            DType::REAL_AND_COMPLEX,
        ),
        sources: &[&SOURCE],
        libraries: &[Library::Cufft],
        prepare: |setup| match setup.case.dtype {
            DType::C64 => complex_transform::<f32>(setup),
            DType::C128 => complex_transform::<f64>(setup),
            DType::F64 => transform::<f64>(setup, false),
            _ => transform::<f32>(setup, false),
        },
    },
];

/// Returns the transforms of a case, after loading cuFFT and checking that operand and answer fit into device memory.
fn transforms(setup: Setup<'_>) -> Result<Transforms> {
    setup.cuda.require(Library::Cufft)?;
    setup.cuda.reserve(op::find("fft").map_or(0, |op| op.footprint(setup.case)))?;
    Ok(Transforms::of(setup.case))
}

/// Makes the job. Converting to complex is part of the op, because its input is real.
fn transform<T: DeviceElement>(setup: Setup<'_>, is_real: bool) -> Result<Box<Prepared>> {
    let (cuda, transforms) = (setup.cuda, transforms(setup)?);
    let kernels = FftKernels::load(cuda, &transforms)?;
    let arrays = Resident::<T, Complex<T>, 1>::new(setup, transforms.elements())?.of_cols(transforms.cols);
    // A single element is its own spectrum.
    let plan = match transforms.points() {
        ..2 => None,
        _ => Some(PlannedTransforms::new(cuda, &transforms, is_real)?),
    };
    Ok(arrays.job(matrix::<Complex<T>>, move |Cuda { stream, .. }, [input], spectrum| match &plan {
        Some(plan) if plan.is_real() => {
            plan.transform_real(input, spectrum)?;
            kernels.fill_half(stream, spectrum)
        }
        Some(plan) => {
            kernels.to_complex(stream, input, spectrum)?;
            plan.in_place(spectrum)
        }
        None => kernels.to_complex(stream, input, spectrum),
    }))
}

/// Makes the job of complex arrays with parts `T`.
fn complex_transform<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let (cuda, transforms) = (setup.cuda, transforms(setup)?);
    let arrays = Resident::<Complex<T>, Complex<T>, 1>::new(setup, transforms.elements())?;
    let plan = PlannedTransforms::<T>::new(cuda, &transforms, false)?;
    Ok(arrays
        .of_cols(transforms.cols)
        .job(matrix::<Complex<T>>, move |_, [input], spectrum| plan.transform_complex(input, spectrum)))
}

/// Threads of a block of `fft_fill`, which has up to this number of columns side by side and the rows that then fit.
const FILL_THREADS: u32 = 256;
const FILL_COLUMNS: u32 = 64;
/// Rows that each of its threads writes, if there are enough.
const FILL_ROWS: u32 = 4;
/// Maximum number of blocks along y that every device supports; the kernel loops over further rows.
const MAX_BLOCKS_Y: u32 = 65_535;

/// The kernels before and after cuFFT.
struct FftKernels<T> {
    fill_half: CudaFunction,
    to_complex: CudaFunction,
    elements: usize,
    /// Extents of an array: of the last axis, of the one before and of the first of three; 1 without one.
    sides: [u32; 3],
    /// Rows of all arrays.
    rows: u32,
    to_complex_grid: u32,
    element: PhantomData<T>,
}

impl<T: DeviceElement> FftKernels<T> {
    fn load(cuda: &Cuda, transforms: &Transforms) -> Result<Self> {
        let narrow =
            |number: usize| u32::try_from(number).map_err(|error| CellError::call("fft_fill", error));
        let mut sides = [1; 3];
        for (to, side) in sides.iter_mut().zip(transforms.sides.iter().rev()) {
            *to = narrow(*side)?;
        }
        let (last, _) = transforms.last();
        Ok(FftKernels {
            fill_half: cuda.function(&SOURCE, &format!("fft_fill_{}", T::DTYPE))?,
            to_complex: cuda.function(&SOURCE, &format!("fft_to_complex_{}", T::DTYPE))?,
            elements: transforms.elements(),
            sides,
            rows: narrow(transforms.elements() / last)?,
            to_complex_grid: grid(cuda, transforms.elements()),
            element: PhantomData,
        })
    }

    /// Enqueues the kernel that fills the columns right of the middle of all spectra, which are pairs of reals.
    fn fill_half(&self, stream: &CudaStream, spectrum: &mut CudaSlice<T>) -> Result<()> {
        fits("the spectrum", spectrum, 2 * self.elements)?;
        let [n, middle, first] = self.sides;
        let columns = n.saturating_sub(n / 2 + 1);
        if columns == 0 {
            return Ok(());
        }
        let width = columns.next_power_of_two().min(FILL_COLUMNS);
        let together = FILL_THREADS / width * FILL_ROWS;
        let grid = (columns.div_ceil(width), self.rows.div_ceil(together).min(MAX_BLOCKS_Y));
        let (rows, width) = (self.rows.into(), width.ilog2().into());
        let arguments = [write(stream, spectrum), n.into(), middle.into(), first.into(), rows, width];
        // SAFETY: the entry takes (pair*, u32, u32, u32, u32, u32); it reads and writes columns below `n` of rows below `rows`, within the
        // checked length.
        unsafe { enqueue(stream, &self.fill_half, grid, arguments) }
    }

    /// Enqueues the kernel that copies reals to the real parts of as many pairs, with imaginary parts zero.
    fn to_complex(&self, stream: &CudaStream, real: &CudaSlice<T>, pairs: &mut CudaSlice<T>) -> Result<()> {
        fits("the input", real, self.elements)?;
        fits("the spectrum", pairs, 2 * self.elements)?;
        let arguments = [read(stream, real), write(stream, pairs), (self.elements as u64).into()];
        // SAFETY: the entry takes (const T*, pair*, u64); it reads and writes elements below the count, within the lengths.
        unsafe { enqueue(stream, &self.to_complex, (self.to_complex_grid, 1), arguments) }
    }
}
