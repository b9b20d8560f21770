//! The svd variant `gram`: V are the eigenvectors of AᵀA in float64, and A V gives the singular values and U.
//!
//! AᵀA has the square of A's condition number, so the columns of U for small values lose orthogonality as A becomes
//! ill-conditioned. Each execution measures that and repairs it by one or two Newton-Schulz steps, which replace U
//! and V by the closest orthonormal matrices. If that is not enough, cuSOLVER's gesvdp and gesvd take over. A float64
//! answer is refined by products after Ogita and Aishima, "Iterative refinement for singular value decomposition
//! based on matrix multiplication", J. Comput. Appl. Math. 369 (2020).

mod products;
mod repair;

use cudarc::driver::{CudaSlice, DevicePtr};
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_cuda::ffi::cusolver::{
    Decomposition, EigenDecomposition, MatrixBatch, Solver, Vectors, gesvd, gesvdp, syevd,
};
use gpubench_cuda::ffi::device;
use gpubench_cuda::ffi::map::Map;
use gpubench_cuda::ffi::pinned::Pinned;
use gpubench_cuda::ffi::replay::Recording;
use gpubench_cuda::ops::svd::{Oriented, Right, answer, check_info};
use gpubench_cuda::ops::{CONVERT, Setup};
use gpubench_cuda::{Cuda, DeviceElement, Library, Result, Unavailable, driver};
use gpubench_report::case::DType;
use gpubench_report::data::Operand;

use super::eigen::Tridiagonal;
use super::launch::SvdKernels;
use products::{SquareProducts, plain, transposed};

/// Indices of the figures, which are sums of squares.
mod figure {
    /// VᵀV - I, then the same weighted by the lengths of V's columns, then those lengths.
    pub(crate) const RIGHT: usize = 0;
    /// UᵀU - I, then the same weighted by the singular values, then the singular values.
    pub(crate) const LEFT: usize = 3;
    /// UᵀU - I after a repair, then weighted by the lengths of U's columns, then those lengths.
    pub(crate) const REPAIRED: usize = 6;
    /// The last correction of a refinement.
    pub(crate) const CORRECTION: usize = 9;
    /// A V - U S and A V, of a rescue.
    pub(crate) const RESIDUAL: usize = 10;
    pub(crate) const COUNT: usize = 12;
}

/// Largest norm of UᵀU - I that Newton-Schulz steps can repair. One step reduces it to at most its square.
const REPAIRABLE: f64 = 0.1;
/// Norm that one step reduces to below 1e-8.
const GOOD: f64 = 1e-4;
/// Most rounds of repair or refinement.
const ROUNDS: usize = 5;
/// The largest element for which sums in AᵀA stay within float64.
const LARGEST: f64 = 1e70;

/// A part of an execution that is recorded. The host reads figures after each.
#[derive(Clone, Copy)]
enum RecordedPart {
    /// From the operand to both sets of vectors by own kernels.
    Vectors,
    /// One round of refinement.
    Refinement,
}

/// A = U S Vᵀ of one square matrix, by the eigenvectors of AᵀA.
pub struct GramSvd<T> {
    cuda: Cuda,
    products: SquareProducts,
    kernels: SvdKernels<T>,
    n: usize,
    /// The float32 operand and its conversion; `None` if the operand is float64 and already in `wide`.
    narrow: Option<(CudaSlice<f32>, Map<f32, f64, 1>)>,
    wide: CudaSlice<f64>,
    own: Option<Tridiagonal>,
    /// Divide and conquer, whose vectors are orthogonal for every matrix, and its eigenvalues.
    syevd: (EigenDecomposition<f64>, CudaSlice<f64>),
    /// For matrices whose Gram matrix has lost too much accuracy.
    gesvdp: Decomposition<f64>,
    gesvd: Decomposition<f64>,
    /// AᵀA.
    gram: CudaSlice<f64>,
    /// Eigenvectors before their orthogonality is repaired.
    vectors: CudaSlice<f64>,
    /// A V.
    product: CudaSlice<f64>,
    /// Products XᵀX.
    square: CudaSlice<f64>,
    /// What X is multiplied by to repair it.
    step: CudaSlice<f64>,
    /// One more matrix for a refinement.
    spare: CudaSlice<f64>,
    lengths: CudaSlice<f64>,
    /// cuSOLVER is column-major and decomposes Aᵀ, so `u` holds V and `v` holds U.
    found: Vectors<f64>,
    figures: CudaSlice<f64>,
    /// Page-locked copy of the figures.
    copied: Pinned,
    /// The figures as the host last read them.
    read: [f64; figure::COUNT],
    /// By `RecordedPart`.
    recordings: [Recording; 2],
    ranks: CudaSlice<i32>,
    info: CudaSlice<i32>,
    answer: Vectors<T>,
}

/// Makes the job. The conversion of a float32 operand is timed.
pub(super) fn prepare<T: DeviceElement>(setup: Setup<'_>) -> Result<Box<Prepared>> {
    let svd = GramSvd::<T>::new(setup.cuda, setup.n(), setup.operand(0)?)?;
    // Each execution reads the figures on the host.
    Ok(Prepared::with(JobTraits { synchronises: true, ..JobTraits::default() }, svd))
}

impl<T: DeviceElement> GramSvd<T> {
    /// Copies the row-major `matrix` of `n` by `n` elements of `T` to the device, loads the libraries and the kernels, and allocates about
    /// twenty matrices of float64.
    ///
    /// # Errors
    /// An element is above 1e70 or no number, `matrix` is of another type or size, a library is missing, or the device has too little
    /// memory.
    pub fn new(cuda: &Cuda, n: usize, matrix: &Operand) -> Result<Self> {
        cuda.require(Library::Cusolver)?;
        check_magnitudes(matrix.dense_slice::<T>()?)?;
        let area = n as u128 * n as u128;
        cuda.reserve(8 * (12 * area + Tridiagonal::elements(n as u128) + SquareProducts::elements(n)))?;
        let (narrow, wide) = match T::DTYPE {
            DType::F64 => (None, cuda.upload(matrix.dense_slice::<f64>()?)?),
            _ => {
                let widen = Map::load(cuda, &CONVERT, "f32_to_f64", n * n)?;
                (Some((cuda.upload(matrix.dense_slice::<f32>()?)?, widen)), cuda.alloc(n * n)?)
            }
        };
        let products = SquareProducts::new(cuda, n)?;
        cuda.count_plan();
        let square = MatrixBatch::square(n);
        let found = Vectors::thin(cuda, square)?;
        let solver = Solver::new(&cuda.stream)?;
        let gesvdp = gesvdp::<f64>(cuda, &solver, square, &wide, &found)?;
        let gesvd = gesvd::<f64>(cuda, &solver, square, &wide, &found)?;
        let (gram, values) = (cuda.alloc(n * n)?, cuda.alloc(n)?);
        let syevd = (syevd(cuda, &solver, n, (&gram, &values))?, values);
        Ok(GramSvd {
            products,
            kernels: SvdKernels::load(cuda, n)?,
            n,
            narrow,
            wide,
            own: Tridiagonal::new(cuda, n)?,
            syevd,
            gesvdp,
            gesvd,
            gram,
            vectors: cuda.alloc(n * n)?,
            product: cuda.alloc(n * n)?,
            square: cuda.alloc(n * n)?,
            step: cuda.alloc(n * n)?,
            spare: cuda.alloc(if T::DTYPE == DType::F64 { n * n } else { 1 })?,
            lengths: cuda.alloc(n)?,
            found,
            figures: cuda.alloc(figure::COUNT)?,
            copied: Pinned::new(&cuda.stream, figure::COUNT * size_of::<f64>())
                .map_err(driver("cuMemHostAlloc"))?,
            read: [0.0; figure::COUNT],
            recordings: Default::default(),
            ranks: cuda.alloc(n)?,
            info: cuda.alloc(1)?,
            answer: Vectors::thin(cuda, square)?,
            cuda: cuda.clone(),
        })
    }

    /// Decomposes the matrix, with waits for figures that decide how to continue. The answer is in [`GramSvd::parts`].
    ///
    /// # Errors
    /// A library refuses the matrix, or the device fails. [`GramSvd::check`] reports a decomposition that did not converge.
    pub fn run(&mut self) -> Result<()> {
        if self.try_own_kernels()? || self.try_syevd()? {
            return Ok(());
        }
        self.decompose_directly()
    }

    /// Waits for the decomposition, and checks that it converged.
    ///
    /// # Errors
    /// It did not, or the device fails.
    pub fn check(&self) -> Result<()> {
        check_info(self.cuda.download(&self.info)?[0])
    }

    /// Returns the columns of U, one after the other, the singular values, which descend, and the columns of V.
    pub fn parts(&self) -> [&CudaSlice<T>; 3] {
        [&self.answer.v, &self.answer.s, &self.answer.u]
    }
}

/// Rejects matrices whose Gram matrix would overflow, and NaN.
fn check_magnitudes<T: DeviceElement>(elements: &[T]) -> Result<()> {
    if elements.iter().all(|element| element.to_f64().abs() <= LARGEST) {
        return Ok(());
    }
    let reason = format!("gram supports matrix elements of up to {LARGEST:e}");
    Err(Unavailable::new(reason, "use --variants gesvd, or scale the matrix").into())
}

impl<T: DeviceElement> GramSvd<T> {
    /// Enqueues AᵀA, which reads the operand.
    fn compute_gram(&mut self) -> Result<()> {
        if let Some((operand, widen)) = &self.narrow {
            widen.run(&self.cuda.stream, [operand], &mut self.wide)?;
        }
        let GramSvd { cuda, products, wide, gram, .. } = self;
        // A row-major A is Aᵀ in column-major order.
        products.multiply(&cuda.stream, plain(wide), transposed(wide), gram)
    }

    /// Tries to compute the decomposition from the eigenvectors of AᵀA by own kernels, and enqueues AᵀA before. Returns whether
    /// that succeeded.
    fn try_own_kernels(&mut self) -> Result<bool> {
        let Some(mut own) = self.own.take() else { return self.compute_gram().map(|()| false) };
        let enqueued = self.record(RecordedPart::Vectors, |gram| {
            gram.compute_gram()?;
            let GramSvd { cuda, products, kernels, gram: matrix, vectors, .. } = gram;
            own.run(cuda, &products.blas, kernels, matrix, vectors)?;
            gram.compute_both_sides()
        });
        self.own = Some(own);
        enqueued?;
        self.repair()
    }

    /// Tries to compute the decomposition from the eigenvectors of AᵀA, which is in `gram`, by cuSOLVER. Returns whether that
    /// succeeded.
    fn try_syevd(&mut self) -> Result<bool> {
        self.cuda.copy(&self.gram, &mut self.vectors)?;
        let (syevd, values) = &mut self.syevd;
        // Another routine may accept what this one rejects.
        if syevd(&mut self.vectors, values, &mut self.info).is_err() {
            return Ok(false);
        }
        self.compute_both_sides()?;
        let succeeded = self.repair()?;
        if succeeded {
            // The vectors were measured and are good, even if the routine reported no convergence.
            self.cuda.stream.memset_zeros(&mut self.info).map_err(driver("cuMemsetD8Async"))?;
        }
        Ok(succeeded)
    }

    /// Decomposes the matrix without the Gram matrix.
    fn decompose_directly(&mut self) -> Result<()> {
        self.cuda.copy(&self.wide, &mut self.gram)?;
        if (self.gesvdp)(&mut self.gram, &mut self.found, &mut self.info).is_ok()
            && self.is_decomposition()?
        {
            return self.arrange();
        }
        self.cuda.copy(&self.wide, &mut self.gram)?;
        (self.gesvd)(&mut self.gram, &mut self.found, &mut self.info)?;
        self.kernels.transpose(&self.cuda.stream, &self.found.v, &mut self.product)?;
        std::mem::swap(&mut self.product, &mut self.found.v);
        self.arrange()
    }

    fn arrange(&mut self) -> Result<()> {
        self.kernels.arrange(&self.cuda.stream, &self.found, &mut self.ranks, &mut self.answer)
    }

    /// Enqueues a part of the execution, as a graph if it has been recorded. Every product is a launch, and at small sizes
    /// launching takes longer than the work.
    fn record(&mut self, part: RecordedPart, mut enqueue: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let cuda = self.cuda.clone();
        let swapped = [&self.vectors, &self.product, &self.square, &self.step, &self.found.u, &self.found.v];
        let memory = swapped.map(|slice| slice.device_ptr(&cuda.stream).0);
        let mut recording = std::mem::take(&mut self.recordings[part as usize]);
        // SAFETY: a part depends on nothing but the arrays that may be swapped. The job allocates all of its memory when it is made, and
        // frees it when it is dropped, after which no recording is launched.
        let enqueued = unsafe { recording.run(&cuda, &memory, || enqueue(self)) };
        self.recordings[part as usize] = recording;
        enqueued
    }
}

impl<T: DeviceElement> Job for GramSvd<T> {
    fn contents(&mut self) -> Contents<'_> {
        let operand = match &mut self.narrow {
            Some((operand, _)) => device(operand),
            None => device(&mut self.wide),
        };
        Contents::new([operand], self.answer.memory())
    }

    fn execute(&mut self) -> Result<()> {
        self.run()
    }

    fn answer(&mut self) -> Result<Vec<Operand>> {
        answer::<T>(&self.cuda, Oriented::square(self.n), &self.info, (&self.answer, Right::Columns))
    }
}

#[cfg(test)]
mod tests {
    use gpubench_cuda::CellError;

    use super::*;

    #[test]
    fn numbers_whose_squares_overflow_are_rejected_with_a_fix() {
        check_magnitudes(&[f32::MAX, -f32::MAX, 0.0, f32::MIN_POSITIVE]).unwrap();
        check_magnitudes(&[-1e70, 1e-300]).unwrap();
        for bad in [1e71, f64::INFINITY, f64::NAN] {
            let refused = check_magnitudes(&[1.0, bad]).unwrap_err();
            assert!(
                matches!(&refused, CellError::Unavailable(missing) if missing.fix.is_some()),
                "{refused}"
            );
        }
    }
}
