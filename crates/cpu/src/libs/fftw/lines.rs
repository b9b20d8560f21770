//! One-dimensional transforms of FFTW, as lines of the real FFT.
//!
//! Constants are those of the FFTW 3.3 manual, [FFTW Reference](https://www.fftw.org/fftw3_doc/FFTW-Reference.html).
//! FFTW chooses plans by timing them, before gpubench times anything. Each call runs on the calling thread: FFTW's own
//! threads are not used.

use std::ffi::c_int;
use std::marker::PhantomData;

use gpubench_report::data::Real;
use gpubench_report::error::CellError;
use rustfft::FftNum;
use rustfft::num_complex::Complex;
use rustfft::num_traits::Zero;

use super::{Fftw, FftwPlan, MEASURE, UNALIGNED, planner};

const FORWARD: c_int = -1;

/// Plans of in-place complex transforms of one length.
pub(crate) struct FftwLines<T> {
    fftw: &'static Fftw,
    side: usize,
    /// For lines aligned for vectors.
    aligned: FftwPlan,
    /// For lines at any address.
    unaligned: FftwPlan,
    element: PhantomData<T>,
}

// SAFETY: a plan is only read by executions, of which any number of threads may do some at a time, on data of their own
// (manual, "Thread safety"). It is destroyed by its owner alone.
unsafe impl<T> Send for FftwLines<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for FftwLines<T> {}

impl<T: Real + FftNum> FftwLines<T> {
    /// Plans transforms of length `side`.
    ///
    /// # Errors
    /// The library is missing, or refuses the length.
    pub(crate) fn new(side: usize) -> Result<Self, CellError> {
        let fftw = Fftw::of(T::DTYPE)?;
        let refused = || CellError::Failed(format!("FFTW makes no plan for a length of {side}"));
        let length = c_int::try_from(side).map_err(|_| refused())?;
        let mut line: Vec<Complex<T>> = vec![Complex::zero(); side];
        let data = line.as_mut_ptr().cast();
        let alone = planner();
        // SAFETY: the planner works in as many elements as the length says, of the library's element type, and nobody
        // else is in it.
        let plan = |flags| unsafe { (fftw.plan_dft_1d)(length, data, data, FORWARD, flags) };
        // SAFETY: the routine only looks at the address.
        let begins_aligned = unsafe { (fftw.alignment_of)(data) } == 0;
        let lines = FftwLines {
            fftw,
            side,
            aligned: if begins_aligned { plan(MEASURE) } else { plan(MEASURE | UNALIGNED) },
            unaligned: plan(MEASURE | UNALIGNED),
            element: PhantomData,
        };
        drop(alone);
        if lines.aligned.is_null() || lines.unaligned.is_null() { Err(refused()) } else { Ok(lines) }
    }

    /// Transforms `lines`, stored one after another, in place.
    pub(crate) fn transform(&self, lines: &mut [Complex<T>]) {
        for line in lines.chunks_exact_mut(self.side) {
            let data = line.as_mut_ptr().cast();
            // SAFETY: the plan is for in-place transforms of as many elements of this type as the line has, and for
            // its alignment.
            unsafe {
                let is_aligned = (self.fftw.alignment_of)(data) == 0;
                let plan = if is_aligned { self.aligned } else { self.unaligned };
                (self.fftw.execute_dft)(plan, data, data);
            }
        }
    }
}

impl<T> Drop for FftwLines<T> {
    fn drop(&mut self) {
        let _alone = planner();
        for plan in [self.aligned, self.unaligned] {
            if !plan.is_null() {
                // SAFETY: the plan was made, nothing executes it any more, and the lock keeps other threads out of the planner.
                unsafe { (self.fftw.destroy_plan)(plan) };
            }
        }
    }
}
