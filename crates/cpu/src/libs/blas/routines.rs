//! The BLAS and LAPACK routines of one library, as safe functions on row-major matrices. None of them allocates.
//! References: <https://www.netlib.org/blas/>, <https://www.netlib.org/lapack/explore-html/>.
//!
//! Everything is passed by pointer, so that one signature serves libraries with 32-bit and with 64-bit integers: the
//! former read and write the low half of each [`Int`], which comes first in memory on the little-endian CPUs that the
//! program is built for.

use std::ffi::c_char;

use gpubench_report::data::{Element, Real, Wide};
use half::{bf16, f16};
use rustfft::num_complex::Complex;

use super::open::OpenedBlas;
use super::{Provider, shim};
use crate::{CellError, CellResult, Unavailable};

const AS_IT_LIES: Letter = c"N".as_ptr();
/// Asks for the transpose of a matrix.
const TRANSPOSED: Letter = c"T".as_ptr();
const LOWER: Letter = c"L".as_ptr();
/// The leading columns of U and of V.
const THIN: Letter = c"S".as_ptr();
static ONE: Int = 1;
/// Makes a routine return the length of its workspace.
const QUERY: Int = -1;
/// Integers of gesdd's workspace per column.
const INTEGERS: usize = 8;

/// A Fortran integer.
type Int = i64;
type In = *const Int;
type Out = *mut Int;
/// A Fortran string of one letter.
type Letter = *const c_char;
/// The length of a Fortran string, which follows the other arguments by value.
type Length = usize;

#[cfg(target_endian = "big")]
compile_error!("32-bit integers are passed as the low half of 64-bit ones, which must come first in memory");

/// Defines the types of routines, for the element types in angle brackets, from their arguments.
macro_rules! signatures {
    ($($(#[$about:meta])* $name:ident<$($type:ident),*>($($argument:ty),*);)*) => {
        $($(#[$about])* type $name<$($type),*> = unsafe extern "C" fn($($argument),*);)*
    };
}

signatures! {
    /// `?gemm` with operands `T` and an answer `C`: transpositions, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc.
    Gemm<T, C>(Letter, Letter, In, In, In, *const C, *const T, In, *const T, In, *const C, *mut C, In, Length, Length);
    /// `?gemm_batch_strided` of MKL: as gemm, with the distance to the next A, B and C after each leading dimension, and the number of products.
    GemmBatch<T, C>(Letter, Letter, In, In, In, *const C, *const T, In, In, *const T, In, In, *const C, *mut C, In, In, In);
    /// `?posv`: triangle, n, right-hand sides, A, lda, B, ldb, info.
    Posv<T>(Letter, In, In, *mut T, In, *mut T, In, Out, Length);
    /// `?gesv`: n, right-hand sides, A, lda, pivots, B, ldb, info.
    Gesv<T>(In, In, *mut T, In, Out, *mut T, In, Out);
    /// `?gesdd`: job, m, n, A, lda, S, U, ldu, Vt, ldvt, work, its length, integer work, info.
    Gesdd<T>(Letter, In, In, *mut T, In, *mut T, *mut T, In, *mut T, In, *mut T, In, Out, Out, Length);
    /// `?gesdd` of complex elements `T` with parts `V`, with the real workspace after that of elements.
    ComplexGesdd<T, V>(Letter, In, In, *mut T, In, *mut V, *mut T, In, *mut T, In, *mut T, In, *mut V, Out, Out, Length);
}

/// The products of one element type.
pub(crate) struct GemmRoutines<T: BlasElement> {
    gemm: Gemm<T, T::Answer>,
    batch: Option<GemmBatch<T, T::Answer>>,
}

impl<T: BlasElement> GemmRoutines<T> {
    /// Finds the product called `name`, without the final underscore.
    pub(super) fn find(library: &OpenedBlas, name: &str) -> Result<Self, String> {
        // SAFETY: the names are those of the routines whose types these are.
        unsafe {
            Ok(GemmRoutines {
                gemm: library.routine(&format!("{name}_"))?,
                batch: library.routine(&format!("{name}_batch_strided_")).ok(),
            })
        }
    }
}

/// The element types of products by BLAS.
pub(crate) trait BlasElement: Element {
    /// Type of the answer and of the factors alpha and beta.
    type Answer: Element;

    /// Returns the products of a library; `None` if it has none of this type.
    fn products(provider: &Provider) -> Option<&GemmRoutines<Self>>;
}

macro_rules! products {
    ($($t:ty, $answer:ty, $provider:ident => $products:expr;)*) => {
        $(impl BlasElement for $t {
            type Answer = $answer;

            fn products($provider: &Provider) -> Option<&GemmRoutines<Self>> {
                $products
            }
        })*
    };
}

products! {
    f32, f32, provider => Some(&provider.single);
    f64, f64, provider => Some(&provider.double);
    Complex<f32>, Complex<f32>, provider => provider.complex_single.as_ref();
    Complex<f64>, Complex<f64>, provider => provider.complex_double.as_ref();
    bf16, f32, provider => provider.bf16.as_ref();
    f16, f32, provider => provider.f16.as_ref();
}

/// The routines of LAPACK for one real element type.
pub(crate) struct Lapack<T> {
    posv: Posv<T>,
    gesv: Gesv<T>,
    gesdd: Gesdd<T>,
    /// Called by ndarray-linalg only.
    gesvd: shim::LapackAddress,
}

impl<T> Lapack<T> {
    /// Finds the routines whose names begin with `letter`.
    pub(super) fn find(library: &OpenedBlas, letter: char) -> Result<Self, String> {
        let name = |routine: &str| format!("{letter}{routine}_");
        // SAFETY: the names are those of the routines whose types these are.
        unsafe {
            Ok(Lapack {
                posv: library.routine(&name("posv"))?,
                gesv: library.routine(&name("gesv"))?,
                gesdd: library.routine(&name("gesdd"))?,
                gesvd: library.routine(&name("gesvd"))?,
            })
        }
    }
}

/// The routines of LAPACK for complex elements with parts `V`.
pub(crate) struct ComplexLapack<V> {
    posv: Posv<Complex<V>>,
    gesdd: ComplexGesdd<Complex<V>, V>,
}

impl<V> ComplexLapack<V> {
    /// Finds the routines whose names begin with `letter`.
    pub(super) fn find(library: &OpenedBlas, letter: char) -> Result<Self, String> {
        // SAFETY: the names are those of the routines whose types these are.
        unsafe {
            Ok(ComplexLapack {
                posv: library.routine(&format!("{letter}posv_"))?,
                gesdd: library.routine(&format!("{letter}gesdd_"))?,
            })
        }
    }
}

/// The element types of systems of equations by LAPACK.
pub(crate) trait PosvElement: Element {
    /// Returns the routine of a library; `None` if it has no LAPACK.
    fn posv(provider: &Provider) -> Option<Posv<Self>>;
}

impl<T: Blas> PosvElement for T {
    fn posv(provider: &Provider) -> Option<Posv<T>> {
        Some(T::lapack(provider)?.posv)
    }
}

/// The element types of LAPACK.
pub(crate) trait Blas: Real + ndarray_linalg::Lapack<Real = Self> {
    fn lapack(provider: &Provider) -> Option<&Lapack<Self>>;
}

impl Blas for f32 {
    fn lapack(provider: &Provider) -> Option<&Lapack<f32>> {
        provider.lapack_single.as_ref()
    }
}

impl Blas for f64 {
    fn lapack(provider: &Provider) -> Option<&Lapack<f64>> {
        provider.lapack_double.as_ref()
    }
}

impl Provider {
    fn lapack<T: Blas>(&self) -> CellResult<&Lapack<T>> {
        T::lapack(self).ok_or_else(|| lacks::<T>("LAPACK"))
    }

    /// Makes ndarray-linalg call this library's gesvd. Fails if it has 64-bit integers, which ndarray-linalg does not pass, or
    /// no LAPACK.
    pub(crate) fn activate(&self) -> CellResult<()> {
        if self.has_long_integers {
            let path = self.path.display();
            let reason =
                format!("ndarray-linalg needs a LAPACK with 32-bit integers, and {path} has 64-bit ones");
            return Err(Unavailable::new(reason, "pip install scipy-openblas32").into());
        }
        shim::point_at([self.lapack::<f32>()?.gesvd, self.lapack::<f64>()?.gesvd]);
        Ok(())
    }

    fn int(&self, number: usize) -> CellResult<Int> {
        let most = if self.has_long_integers { i64::MAX } else { i64::from(i32::MAX) };
        let number = i64::try_from(number).ok().filter(|number| *number <= most);
        number.ok_or_else(|| CellError::call("BLAS", "a side exceeds what the library's integers hold"))
    }

    fn succeeded(&self, routine: &str, info: Int) -> CellResult<()> {
        // A library with 32-bit integers writes only the low half.
        let info = if self.has_long_integers { info } else { i64::from(info as i32) };
        if info == 0 { Ok(()) } else { Err(CellError::call(routine, format!("it ended with info {info}"))) }
    }

    /// Computes `c = a b` for row-major matrices of m x k, k x n and m x n, of which `a` and `b` may be stored `transposed`. To
    /// Fortran, this is the transpose of `b` times the transpose of `a`.
    pub(crate) fn gemm<T: BlasElement>(
        &self,
        sides: [usize; 3],
        transposed: [bool; 2],
        a: &[T],
        b: &[T],
        c: &mut [T::Answer],
    ) -> CellResult<()> {
        self.gemm_batch(1, sides, transposed, [a, b], c)
    }

    /// Computes `batch` such products, whose matrices follow each other; more than one by a call of MKL's `gemm_batch_strided`.
    pub(crate) fn gemm_batch<T: BlasElement>(
        &self,
        batch: usize,
        [m, n, k]: [usize; 3],
        transposed: [bool; 2],
        [a, b]: [&[T]; 2],
        c: &mut [T::Answer],
    ) -> CellResult<()> {
        let lens = [m * k, k * n, m * n];
        if [a.len(), b.len(), c.len()] != lens.map(|len| batch * len) {
            return Err(CellError::call("gemm", "the matrices have other sizes"));
        }
        let [a_step, b_step, c_step] = self.steps(batch, lens)?;
        let (m, n, k, batch) = (self.int(m)?, self.int(n)?, self.int(k)?, self.int(batch)?);
        let [alpha, beta] = [1.0, 0.0].map(|factor: f64| T::Answer::narrow(factor.into()));
        let products = T::products(self).ok_or_else(|| lacks::<T>("product"))?;
        let [a_is_transposed, b_is_transposed] = transposed;
        let (a_row, b_row, c_row) = (
            if a_is_transposed { m } else { k }.max(1),
            if b_is_transposed { k } else { n }.max(1),
            n.max(1),
        );
        let [a_letter, b_letter] = transposed.map(|is| if is { TRANSPOSED } else { AS_IT_LIES });
        let ([a, b], c) = ([a, b].map(<[T]>::as_ptr), c.as_mut_ptr());
        // SAFETY: the matrices hold m*k, k*n and m*n elements row after row, `batch` times, as checked above, and `c`,
        // being borrowed mutably, overlaps neither of the others.
        unsafe {
            let (m, n, k, alpha, beta) =
                (&raw const m, &raw const n, &raw const k, &raw const alpha, &raw const beta);
            let (a_row, b_row, c_row) = (&raw const a_row, &raw const b_row, &raw const c_row);
            if batch == 1 {
                (products.gemm)(b_letter, a_letter, n, m, k, alpha, b, b_row, a, a_row, beta, c, c_row, 1, 1);
                return Ok(());
            }
            let gemm_batch = products
                .batch
                .ok_or_else(|| CellError::call("gemm_batch_strided", "the library has none"))?;
            let (a_step, b_step, c_step, batch) =
                (&raw const a_step, &raw const b_step, &raw const c_step, &raw const batch);
            gemm_batch(
                b_letter, a_letter, n, m, k, alpha, b, b_row, b_step, a, a_row, a_step, beta, c, c_row,
                c_step, batch,
            );
        }
        Ok(())
    }

    /// The distances to the next matrices of a batch. One product has none, and its matrices may have more entries than the integers count.
    pub(super) fn steps(&self, batch: usize, [a, b, c]: [usize; 3]) -> CellResult<[Int; 3]> {
        if batch == 1 { Ok([0; 3]) } else { Ok([self.int(a)?, self.int(b)?, self.int(c)?]) }
    }

    /// Solves `a x = b` for a symmetric or Hermitian positive definite `a` of n x n, column-major, and `columns` right-hand sides, one after another: the factor
    /// replaces half of `a`, the solutions `b`. A matrix that is not positive definite is an error.
    pub(crate) fn posv<T: PosvElement>(&self, a: &mut [T], b: &mut [T], columns: usize) -> CellResult<()> {
        let side = b.len() / columns.max(1);
        let posv = T::posv(self).ok_or_else(|| lacks::<T>("posv"))?;
        let n = self.system_side(a, &b[..side])?;
        if side * columns != b.len() {
            return Err(CellError::call("posv", "the right-hand sides have other lengths"));
        }
        let (columns, mut info) = (self.int(columns)?, 0);
        // SAFETY: `a` holds n*n and `b` n elements for each column, as checked, each of them borrowed mutably.
        unsafe {
            let (n, columns, info) = (&raw const n, &raw const columns, &raw mut info);
            posv(LOWER, n, columns, a.as_mut_ptr(), n, b.as_mut_ptr(), n, info, 1);
        }
        self.succeeded("posv", info)
    }

    /// Solves `aᵀ x = b` for `a` of n x n by LU: the factors replace `a`, the solution `b`; `pivots` holds n. A singular
    /// matrix is an error.
    pub(crate) fn gesv<T: Blas>(&self, a: &mut [T], pivots: &mut [i64], b: &mut [T]) -> CellResult<()> {
        let (gesv, n) = (self.lapack::<T>()?.gesv, self.system_side(a, b)?);
        if pivots.len() != b.len() {
            return Err(CellError::call("gesv", "the number of pivots differs from the number of rows"));
        }
        let mut info = 0;
        // SAFETY: `a` holds n*n, `b` and `pivots` n elements, as checked, each of them borrowed mutably.
        unsafe {
            let (n, info) = (&raw const n, &raw mut info);
            gesv(n, &raw const ONE, a.as_mut_ptr(), n, pivots.as_mut_ptr(), b.as_mut_ptr(), n, info);
        }
        self.succeeded("gesv", info)
    }

    /// Returns the side of a system of equations.
    fn system_side<T>(&self, a: &[T], b: &[T]) -> CellResult<Int> {
        if b.len().checked_mul(b.len()) != Some(a.len()) {
            return Err(CellError::call("solve", "the matrix and the right-hand side do not agree"));
        }
        self.int(b.len())
    }
}

/// The element types of singular value decompositions by LAPACK.
pub(crate) trait SvdElement: Element {
    /// The type of the singular values.
    type Value: Real;

    /// Calls gesdd.
    ///
    /// # Safety
    /// The arguments are those of the routine: arrays as long as it expects for their sizes, or a query.
    unsafe fn gesdd(provider: &Provider, arguments: GesddArguments<Self, Self::Value>) -> CellResult<()>;
}

/// The arguments of `?gesdd`: m, n, A, S, U, Vᴴ, workspace, its length, real and integer workspace, info.
pub(crate) struct GesddArguments<T, V> {
    sides: [In; 2],
    short: In,
    a: *mut T,
    s: *mut V,
    u: *mut T,
    vt: *mut T,
    work: *mut T,
    length: In,
    real_work: *mut V,
    integers: Out,
    info: Out,
}

/// The reason why a library is not measured in element type `T`, which it lacks.
fn lacks<T: Element>(routine: &str) -> CellError {
    let reason = format!("the library has no {routine} of {}", T::DTYPE.words());
    Unavailable::new(reason, "name another library with --blas, or use another --dtypes").into()
}

impl<T: Blas> SvdElement for T {
    type Value = T;

    unsafe fn gesdd(provider: &Provider, of: GesddArguments<T, T>) -> CellResult<()> {
        let [m, n] = of.sides;
        let routine = provider.lapack::<T>()?.gesdd;
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let GesddArguments { short, a, s, u, vt, work, length, integers, info, .. } = of;
            routine(THIN, m, n, a, m, s, u, m, vt, short, work, length, integers, info, 1);
        }
        Ok(())
    }
}

/// Implements the traits of LAPACK for complex elements with parts of a type, by the routines in a field of the provider.
macro_rules! complex_lapack {
    ($value:ty, $routines:ident) => {
        impl PosvElement for Complex<$value> {
            fn posv(provider: &Provider) -> Option<Posv<Self>> {
                Some(provider.$routines.as_ref()?.posv)
            }
        }

        impl SvdElement for Complex<$value> {
            type Value = $value;

            unsafe fn gesdd(provider: &Provider, of: GesddArguments<Self, $value>) -> CellResult<()> {
                let [m, n] = of.sides;
                let routine = provider.$routines.as_ref().ok_or_else(|| lacks::<Self>("gesdd"))?.gesdd;
                // SAFETY: the caller vouches for the arguments.
                unsafe {
                    let GesddArguments {
                        short, a, s, u, vt, work, length, real_work, integers, info, ..
                    } = of;
                    routine(THIN, m, n, a, m, s, u, m, vt, short, work, length, real_work, integers, info, 1);
                }
                Ok(())
            }
        }
    };
}

complex_lapack!(f32, complex_lapack_single);
complex_lapack!(f64, complex_lapack_double);

/// The workspace of thin singular value decompositions of m x n by gesdd.
pub(crate) struct ThinSvd<T: SvdElement> {
    m: usize,
    n: usize,
    pub(crate) work: Vec<T>,
    /// Singular values of complex matrices, which are real.
    pub(crate) values: Vec<T::Value>,
    pub(crate) real_work: Vec<T::Value>,
    pub(crate) integers: Vec<Int>,
}

impl<T: SvdElement> ThinSvd<T> {
    /// Allocates the workspace for matrices of m x n. Fails if the library has no LAPACK, or if its integers cannot hold the
    /// length of the workspace.
    pub(crate) fn new(provider: &Provider, [m, n]: [usize; 2]) -> CellResult<Self> {
        // The documented minima, in elements, in case the routine asks for less.
        let (short, long) = (m.min(n), m.max(n));
        let square = short.saturating_mul(short);
        let least = square.saturating_mul(4).saturating_add(6 * short + long).max(1);
        let reals = match T::DTYPE.is_complex() {
            true => square
                .saturating_mul(2)
                .saturating_add(2 * short.saturating_mul(long) + short)
                .max(square.saturating_mul(5).saturating_add(5 * short)),
            false => 0,
        };
        provider.int(least.max(reals)).map_err(|_| {
            let reason = "a workspace of the svd exceeds what the library's 32-bit integers hold";
            Unavailable::new(reason, "use faer")
        })?;
        let zeros = |length| vec![T::default(); length];
        let values = vec![T::Value::default(); if reals > 0 { short } else { 0 }];
        let (real_work, integers) = (vec![T::Value::default(); reals], vec![0; INTEGERS * short]);
        let mut made = ThinSvd { m, n, work: zeros(1), values, real_work, integers };
        // The matrices are neither read nor written.
        let nothing = std::ptr::null_mut();
        made.call(provider, nothing, [nothing; 2], std::ptr::null_mut(), QUERY)?;
        // A count beyond 2^24 may have been rounded down to a float32.
        let length = made.work[0].widen().complex().re * (1.0 + 2.0 * f64::from(f32::EPSILON));
        made.work = zeros((length.ceil() as usize).max(least));
        Ok(made)
    }

    /// Decomposes `a`, row-major m x n, and destroys it: writes U, the singular values, descending, and the transpose of
    /// V, conjugated if it is complex.
    pub(crate) fn decompose(
        &mut self,
        provider: &Provider,
        a: &mut [T],
        u: &mut [T],
        s: &mut [T],
        vt: &mut [T],
    ) -> CellResult<()> {
        let (m, n, short) = (self.m, self.n, self.m.min(self.n));
        if [a.len(), u.len(), s.len(), vt.len()] != [m * n, m * short, short, short * n] {
            return Err(CellError::call("svd", "the matrices have other sizes"));
        }
        let length = provider.int(self.work.len())?;
        let vectors = [u, vt].map(|part| part.as_mut_ptr());
        if self.values.is_empty() {
            return self.call(provider, a.as_mut_ptr(), vectors, s.as_mut_ptr().cast(), length);
        }
        let values = self.values.as_mut_ptr();
        self.call(provider, a.as_mut_ptr(), vectors, values, length)?;
        s.iter_mut().zip(&self.values).for_each(|(s, value)| *s = T::narrow(value.to_f64().into()));
        Ok(())
    }

    /// The routine sees the transpose of `a`, which is V S Uᵀ: its U is V, whose columns are the rows of Vᵀ. Of complex matrices it is the
    /// conjugate of V, and the rows are those of Vᴴ.
    fn call(
        &mut self,
        provider: &Provider,
        a: *mut T,
        [u, vt]: [*mut T; 2],
        s: *mut T::Value,
        length: Int,
    ) -> CellResult<()> {
        let (m, n, mut info) = (provider.int(self.m)?, provider.int(self.n)?, 0);
        let short = m.min(n);
        let arguments = GesddArguments {
            sides: [&raw const n, &raw const m],
            short: &raw const short,
            a,
            s,
            u: vt,
            vt: u,
            work: self.work.as_mut_ptr(),
            length: &raw const length,
            real_work: self.real_work.as_mut_ptr(),
            integers: self.integers.as_mut_ptr(),
            info: &raw mut info,
        };
        // SAFETY: the matrices hold m*n, m*k, k and k*n elements, where k is the smaller of m and n, or the call is a query,
        // which touches none; the workspaces hold `length`, the reals of a complex one as documented, and 8k. None of them overlap.
        unsafe { T::gesdd(provider, arguments)? };
        provider.succeeded("svd", info)
    }
}
