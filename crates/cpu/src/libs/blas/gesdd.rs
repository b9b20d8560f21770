//! Computes thin singular value decompositions by divide and conquer, in memory allocated in advance. Reference:
//! <https://www.netlib.org/lapack/explore-html/>, gesdd.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use gpubench_report::data::Real;
use gpubench_report::error::{CellError, Unavailable};

use super::abi::Int;
use super::{Blas, Provider};
use crate::operands::memory;

const THIN: *const c_char = c"S".as_ptr();
/// Makes gesdd return the length of its workspace.
const QUERY: Int = -1;
/// Integers of workspace per column.
const INTEGERS: usize = 8;

/// The factors of an n x n matrix, and the workspace.
pub(crate) struct GesddFactors<T> {
    n: usize,
    /// U, row-major n x n.
    pub(crate) u: Vec<T>,
    /// The singular values, descending.
    pub(crate) s: Vec<T>,
    /// The transpose of V, row-major n x n.
    pub(crate) vt: Vec<T>,
    work: Vec<T>,
    integers: Vec<Int>,
}

impl<T: Blas> GesddFactors<T> {
    /// Allocates everything for matrices of n x n.
    ///
    /// # Errors
    /// The library has no LAPACK, or its integers cannot hold the length of the workspace.
    pub(crate) fn new(provider: &Provider, n: usize) -> Result<Self, CellError> {
        // The documented minimum, in elements, in case the routine asks for less.
        let least = n.saturating_mul(n).saturating_mul(4).saturating_add(7 * n).max(1);
        provider.int(least).map_err(|_| {
            Unavailable::new(
                "a workspace of gesdd exceeds what the library's 32-bit integers hold",
                "use faer",
            )
        })?;
        let zeros = |length| vec![T::default(); length];
        let (u, s, vt) = (zeros(n * n), zeros(n), zeros(n * n));
        let mut factors = GesddFactors { n, u, s, vt, work: zeros(1), integers: vec![0; INTEGERS * n] };
        // The matrix is not read.
        factors.call(provider, std::ptr::null_mut(), QUERY)?;
        // A count beyond 2^24 may have been rounded down to a float32.
        let length = <T as Real>::to_f64(factors.work[0]) * (1.0 + 2.0 * f64::from(f32::EPSILON));
        factors.work = zeros((length.ceil() as usize).max(least));
        Ok(factors)
    }

    /// Decomposes `a`, row-major n x n, and destroys it.
    pub(crate) fn decompose(&mut self, provider: &Provider, a: &mut [T]) -> Result<(), CellError> {
        if a.len() != self.n * self.n {
            return Err(CellError::call("gesdd", "the matrix has another size than its factors"));
        }
        let length = provider.int(self.work.len())?;
        self.call(provider, a.as_mut_ptr(), length)
    }

    pub(crate) fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        [&self.u[..], &self.s, &self.vt, &self.work].map(memory).into_iter().for_each(&mut *show);
        show(memory(&self.integers));
    }

    /// The routine sees the transpose of `a`, which is V S Uᵀ: its U is V, whose columns are the rows of Vᵀ.
    fn call(&mut self, provider: &Provider, a: *mut T, length: Int) -> Result<(), CellError> {
        let gesdd = provider.lapack::<T>()?.gesdd;
        let (n, mut info) = (provider.int(self.n)?, 0);
        // SAFETY: `a` holds n*n elements, or the call is a query, which reads none; the factors hold n*n, n and n*n,
        // the workspaces `length` and 8n, none of which overlap.
        unsafe {
            let (n, u, vt) = (&raw const n, self.u.as_mut_ptr(), self.vt.as_mut_ptr());
            let (work, integers) = (self.work.as_mut_ptr(), self.integers.as_mut_ptr());
            let (length, info) = (&raw const length, &raw mut info);
            gesdd(THIN, n, n, a, n, self.s.as_mut_ptr(), vt, n, u, n, work, length, integers, info, 1);
        }
        provider.succeeded("gesdd", info)
    }
}
