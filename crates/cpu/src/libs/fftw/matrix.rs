//! The two-dimensional transform of FFTW, whose parallel loops run on rayon's threads.
//!
//! FFTW's threads are a library of their own. By its callback ([FFTW Reference, "Usage of Multi-threaded
//! FFTW"](https://www.fftw.org/fftw3_doc/Usage-of-Multi_002dthreaded-FFTW.html), version 3.3.9 and later), a program
//! runs FFTW's loops on threads that it has.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::OnceLock;

use gpubench_backend::host::shared_library::SharedLibrary;
use gpubench_report::case::DType;
use gpubench_report::data::Real;
use gpubench_report::error::{CellError, Unavailable};
use rayon::prelude::*;
use rustfft::FftNum;
use rustfft::num_complex::Complex;

use super::{Fftw, FftwPlan, MEASURE, UNALIGNED, name, planner};

/// Longest time to choose a plan by timing, in seconds; then the best so far is taken.
const PLAN_S: f64 = 10.0;

type LoopBody = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type ParallelLoop = unsafe extern "C" fn(LoopBody, *mut c_char, usize, c_int, *mut c_void);

/// FFTW's library of threads for one element type.
struct FftwThreads {
    plan_with_nthreads: unsafe extern "C" fn(c_int),
}

impl FftwThreads {
    /// Returns the library for an element type, which the first call loads and initialises.
    fn of(fftw: &Fftw, dtype: DType) -> Result<&'static FftwThreads, Unavailable> {
        static SINGLE: OnceLock<Result<FftwThreads, String>> = OnceLock::new();
        static DOUBLE: OnceLock<Result<FftwThreads, String>> = OnceLock::new();
        let threads = match dtype {
            DType::F32 => &SINGLE,
            DType::F64 => &DOUBLE,
        };
        let file = fftw.path.with_file_name(match dtype {
            DType::F32 => "libfftw3f_threads.so.3",
            DType::F64 => "libfftw3_threads.so.3",
        });
        let opened = threads.get_or_init(|| FftwThreads::open(&file, dtype));
        opened.as_ref().map_err(|problem| {
            let problem = format!("FFTW's threads at {} cannot be used: {problem}", file.display());
            Unavailable::new(problem, "install FFTW 3.3.9 or later with its library of threads")
        })
    }

    fn open(file: &Path, dtype: DType) -> Result<FftwThreads, String> {
        // SAFETY: what is loaded is FFTW, which has no initialisers; types are those of its header, fftw3.h.
        let (init, set_callback, threads) = unsafe {
            let mut library = SharedLibrary::open(file)?;
            library.own_file_defines(&name(dtype, "init_threads"));
            let init: unsafe extern "C" fn() -> c_int = library.symbol(&name(dtype, "init_threads"))?;
            let set_callback: unsafe extern "C" fn(ParallelLoop, *mut c_void) =
                library.symbol(&name(dtype, "threads_set_callback"))?;
            let plan_with_nthreads = library.symbol(&name(dtype, "plan_with_nthreads"))?;
            library.keep();
            (init, set_callback, FftwThreads { plan_with_nthreads })
        };
        let _alone = planner();
        // SAFETY: nobody else is in the planner; the callback is one for any plan, and takes no data.
        unsafe {
            if init() == 0 {
                return Err("it cannot start threads".into());
            }
            set_callback(on_rayon, std::ptr::null_mut());
        }
        Ok(threads)
    }
}

/// Runs `work` on each of `jobs` elements of `size` bytes.
unsafe extern "C" fn on_rayon(work: LoopBody, data: *mut c_char, size: usize, jobs: c_int, _: *mut c_void) {
    let first = data.expose_provenance();
    (0..usize::try_from(jobs).unwrap_or(0)).into_par_iter().with_max_len(1).for_each(|job| {
        let data = std::ptr::with_exposed_provenance_mut(first + job * size);
        // SAFETY: FFTW asks for its function to be called with each of its elements once, on any threads.
        unsafe { work(data) };
    });
}

/// A plan of the transform of a real matrix to the leading half of the columns of its spectrum.
pub(crate) struct FftwMatrix<T> {
    fftw: &'static Fftw,
    side: usize,
    plan: FftwPlan,
    /// Alignments of the input and the output that the plan is for; any, if `None`.
    alignments: Option<[c_int; 2]>,
    element: PhantomData<fn(T)>,
}

// SAFETY: a plan is only read by executions and destroyed by its owner alone.
unsafe impl<T> Send for FftwMatrix<T> {}

impl<T: Real + FftNum> FftwMatrix<T> {
    /// Plans the transform of a `side` by `side` matrix on `threads` threads for a copy of `input`, by timing it into `output`.
    ///
    /// # Errors
    /// A library is missing, or refuses the side.
    ///
    /// # Panics
    /// The matrix or the output has another number of elements.
    pub(crate) fn new(
        side: usize,
        threads: usize,
        input: &[T],
        output: &mut [Complex<T>],
    ) -> Result<Self, CellError> {
        assert_eq!((input.len(), output.len()), (side * side, side * side));
        let fftw = Fftw::of(T::DTYPE)?;
        let on_threads = FftwThreads::of(fftw, T::DTYPE)?;
        let refused = || CellError::Failed(format!("FFTW makes no plan for a side of {side}"));
        let length = c_int::try_from(side).map_err(|_| refused())?;
        let threads = c_int::try_from(threads).map_err(|_| refused())?;
        let (data, target) = (input.as_ptr().cast_mut().cast(), output.as_mut_ptr().cast::<c_void>());
        let mut copy = input.to_vec();
        let source = copy.as_mut_ptr().cast();
        // SAFETY: the routine only looks at the addresses.
        let [of_input, of_copy, of_output] =
            [data, source, target].map(|at| unsafe { (fftw.alignment_of)(at) });
        let alignments = (of_input == of_copy).then_some([of_input, of_output]);
        let flags = if alignments.is_some() { MEASURE } else { MEASURE | UNALIGNED };
        let sizes = [length, length];
        let alone = planner();
        // SAFETY: the planner works in arrays of as many elements of the library's type as the sizes say, with rows of one length in
        // both, and nobody else is in it.
        let plan = unsafe {
            (on_threads.plan_with_nthreads)(threads);
            (fftw.set_timelimit)(PLAN_S);
            let rows = sizes.as_ptr();
            let plan = (fftw.plan_many_dft_r2c)(2, rows, 1, source, rows, 1, 0, target, rows, 1, 0, flags);
            (on_threads.plan_with_nthreads)(1);
            (fftw.set_timelimit)(-1.0);
            plan
        };
        drop(alone);
        if plan.is_null() {
            return Err(refused());
        }
        Ok(FftwMatrix { fftw, side, plan, alignments, element: PhantomData })
    }

    /// Writes columns 0 to `side / 2` of every row of `output`, which has rows of `side` elements, as `input` has.
    ///
    /// # Panics
    /// One of them has another number of elements, or is aligned in another way than those that were planned for.
    pub(crate) fn transform(&self, input: &[T], output: &mut [Complex<T>]) {
        let elements = self.side * self.side;
        assert_eq!((input.len(), output.len()), (elements, elements));
        let (source, target) = (input.as_ptr().cast_mut().cast(), output.as_mut_ptr().cast::<c_void>());
        // SAFETY: the routine only looks at the addresses.
        let alignments = [source, target].map(|at| unsafe { (self.fftw.alignment_of)(at) });
        assert!(self.alignments.is_none_or(|planned| planned == alignments), "arrays were moved");
        // SAFETY: the plan is for arrays of as many elements of this type, with these alignments; it only reads the input.
        unsafe { (self.fftw.execute_dft_r2c)(self.plan, source, target) };
    }
}

impl<T> Drop for FftwMatrix<T> {
    fn drop(&mut self) {
        let _alone = planner();
        // SAFETY: the plan was made, nothing executes it any more, and the lock keeps other threads out of the planner.
        unsafe { (self.fftw.destroy_plan)(self.plan) };
    }
}
