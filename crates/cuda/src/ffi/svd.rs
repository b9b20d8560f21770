//! Launches of `kernels/svd.cu` as safe functions that check the length of every slice.

use std::ffi::c_void;
use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use gpubench_model::error::CellError;

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::cusolver::Vectors;
use super::launch::{BLOCK, enqueue, fits, parameter};

/// Reflectors that are applied together.
pub(crate) const PANEL: usize = 64;
/// Blocks a multiprocessor of the kernels that go over a matrix column by column.
const BLOCKS_A_MULTIPROCESSOR: u32 = 4;

/// The kernels for matrices of one side and answers of one element type.
pub(crate) struct SvdKernels<T> {
    panel_factors: CudaFunction,
    newton_schulz: CudaFunction,
    orthogonality: CudaFunction,
    residual: CudaFunction,
    transpose: CudaFunction,
    rank: CudaFunction,
    arrange: CudaFunction,
    refinement: CudaFunction,
    n: usize,
    side: i32,
    columns: u32,
    element: PhantomData<T>,
}

impl<T: Element> SvdKernels<T> {
    /// Loads the kernels for matrices of side `n`.
    ///
    /// # Errors
    /// They do not compile, or the side exceeds 32 bits.
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, n: usize) -> Result<Self, CellError> {
        let most = cuda.multiprocessors().saturating_mul(BLOCKS_A_MULTIPROCESSOR);
        Ok(SvdKernels {
            panel_factors: cuda.function(source, "panel_factors")?,
            newton_schulz: cuda.function(source, "newton_schulz")?,
            orthogonality: cuda.function(source, "orthogonality")?,
            residual: cuda.function(source, "residual")?,
            transpose: cuda.function(source, "transpose")?,
            rank: cuda.function(source, "rank_descending")?,
            arrange: cuda.function(source, &format!("arrange_{}", T::DTYPE))?,
            refinement: cuda.function(source, "refinement")?,
            n,
            side: i32::try_from(n).map_err(|error| CellError::call("svd", error))?,
            columns: u32::try_from(n).unwrap_or(u32::MAX).min(most).max(1),
            element: PhantomData,
        })
    }

    /// Replaces the products Yᵀ Y of the reflectors of each panel (`PANEL x PANEL` by columns, one panel after the
    /// other) by the triangular factors of their products I - Y T Yᵀ.
    pub(crate) fn panel_factors(
        &self,
        stream: &CudaStream,
        panels: usize,
        products: &mut CudaSlice<f64>,
        taus: &CudaSlice<f64>,
    ) -> Result<(), CellError> {
        fits("the panels' products", products, panels * PANEL * PANEL)?;
        fits("the factors of reflectors", taus, self.n - 1)?;
        let (mut products, mut side) = (products.device_ptr_mut(stream).0, self.side);
        let mut taus = taus.device_ptr(stream).0;
        let blocks = u32::try_from(panels).map_err(|error| CellError::call("panel_factors", error))?;
        let mut parameters = [parameter(&mut products), parameter(&mut taus), parameter(&mut side)];
        // SAFETY: the entry takes (double*, const double*, int); a block touches its panel and the n - 1 taus.
        unsafe { enqueue(stream, &self.panel_factors, (blocks, 1), &mut parameters) }
    }

    /// From Xᵀ X to the matrix `step` by which X is multiplied to get orthonormal columns, and the lengths of its
    /// columns. Adds to three of `figures` from `first` on: the sum of squares of what the product with columns of
    /// length 1 differs from I by, the same with each column times its length, and that of the lengths.
    pub(crate) fn newton_schulz(
        &self,
        stream: &CudaStream,
        gram: &CudaSlice<f64>,
        step: &mut CudaSlice<f64>,
        lengths: &mut CudaSlice<f64>,
        (figures, first): (&mut CudaSlice<f64>, usize),
    ) -> Result<(), CellError> {
        self.square(&[gram, step])?;
        fits("the lengths", lengths, self.n)?;
        let mut figures = place(stream, figures, first, 3)?;
        let (mut gram, mut side) = (gram.device_ptr(stream).0, self.side);
        let mut step = step.device_ptr_mut(stream).0;
        let mut lengths = lengths.device_ptr_mut(stream).0;
        let mut parameters = [
            parameter(&mut gram),
            parameter(&mut side),
            parameter(&mut step),
            parameter(&mut lengths),
            parameter(&mut figures),
        ];
        // SAFETY: the entry takes (const double*, int, double*, double*, double*), checked above.
        unsafe { self.by_columns(stream, &self.newton_schulz, &mut parameters) }
    }

    /// Adds to one of `figures` the sum of squares of what `gram` differs from I by.
    pub(crate) fn orthogonality(
        &self,
        stream: &CudaStream,
        gram: &CudaSlice<f64>,
        (figures, first): (&mut CudaSlice<f64>, usize),
    ) -> Result<(), CellError> {
        self.square(&[gram])?;
        let mut figures = place(stream, figures, first, 1)?;
        let (mut gram, mut side) = (gram.device_ptr(stream).0, self.side);
        let mut parameters = [parameter(&mut gram), parameter(&mut side), parameter(&mut figures)];
        // SAFETY: the entry takes (const double*, int, double*), checked above.
        unsafe { self.by_columns(stream, &self.orthogonality, &mut parameters) }
    }

    /// Adds to two of `figures` from `first` on the sums of squares of `products` - `left` S and of `products`.
    pub(crate) fn residual(
        &self,
        stream: &CudaStream,
        products: &CudaSlice<f64>,
        left: &CudaSlice<f64>,
        values: &CudaSlice<f64>,
        (figures, first): (&mut CudaSlice<f64>, usize),
    ) -> Result<(), CellError> {
        self.square(&[products, left])?;
        fits("the values", values, self.n)?;
        let mut figures = place(stream, figures, first, 2)?;
        let (mut products, mut left) = (products.device_ptr(stream).0, left.device_ptr(stream).0);
        let (mut values, mut side) = (values.device_ptr(stream).0, self.side);
        let mut parameters = [
            parameter(&mut products),
            parameter(&mut left),
            parameter(&mut values),
            parameter(&mut side),
            parameter(&mut figures),
        ];
        // SAFETY: the entry takes (const double*, const double*, const double*, int, double*), checked above.
        unsafe { self.by_columns(stream, &self.residual, &mut parameters) }
    }

    /// Enqueues the transposition of a matrix.
    pub(crate) fn transpose(
        &self,
        stream: &CudaStream,
        from: &CudaSlice<f64>,
        to: &mut CudaSlice<f64>,
    ) -> Result<(), CellError> {
        self.square(&[from, to])?;
        let (mut from, mut side) = (from.device_ptr(stream).0, self.side);
        let mut to = to.device_ptr_mut(stream).0;
        let mut parameters = [parameter(&mut from), parameter(&mut side), parameter(&mut to)];
        // SAFETY: the entry takes (const double*, int, double*), checked above.
        unsafe { self.by_columns(stream, &self.transpose, &mut parameters) }
    }

    /// Puts a decomposition in descending order of its values, in the element type of the answer.
    pub(crate) fn arrange(
        &self,
        stream: &CudaStream,
        found: &Vectors<f64>,
        ranks: &mut CudaSlice<i32>,
        answer: &mut Vectors<T>,
    ) -> Result<(), CellError> {
        self.square(&[&found.u, &found.v])?;
        fits("the values", &found.s, self.n)?;
        fits("the ranks", ranks, self.n)?;
        fits("the answer's values", &answer.s, self.n)?;
        fits("the answer's left vectors", &answer.u, self.n * self.n)?;
        fits("the answer's right vectors", &answer.v, self.n * self.n)?;
        let (mut values, mut side) = (found.s.device_ptr(stream).0, self.side);
        let mut ranks = ranks.device_ptr_mut(stream).0;
        let (mut u, mut v) = (found.u.device_ptr(stream).0, found.v.device_ptr(stream).0);
        let mut values_out = answer.s.device_ptr_mut(stream).0;
        let (mut u_out, mut v_out) = (answer.u.device_ptr_mut(stream).0, answer.v.device_ptr_mut(stream).0);
        // A warp ranks a value.
        let blocks = u32::try_from(self.n.div_ceil(BLOCK as usize / 32)).unwrap_or(u32::MAX);
        let mut parameters = [parameter(&mut values), parameter(&mut side), parameter(&mut ranks)];
        // SAFETY: the entry takes (const double*, int, int*), checked above.
        unsafe { enqueue(stream, &self.rank, (blocks, 1), &mut parameters) }?;
        let mut parameters = [
            parameter(&mut values),
            parameter(&mut u),
            parameter(&mut v),
            parameter(&mut ranks),
            parameter(&mut side),
            parameter(&mut values_out),
            parameter(&mut u_out),
            parameter(&mut v_out),
        ];
        // SAFETY: the entry takes (const double*, const double*, const double*, const int*, int, T*, T*, T*), checked
        // above; ranks are below n, whatever the values.
        unsafe { self.by_columns(stream, &self.arrange, &mut parameters) }
    }

    /// From Uᵀ U, Vᵀ V and Uᵀ A V, in this order, to the matrices I + F and I + G that U and V are multiplied by to come
    /// closer to singular vectors, and the values. `norm` is the squared norm of A; the sum of squares of F and G is
    /// added to one of `figures`.
    pub(crate) fn refinement(
        &self,
        stream: &CudaStream,
        products: [&CudaSlice<f64>; 3],
        corrections: [&mut CudaSlice<f64>; 2],
        values: &mut CudaSlice<f64>,
        mut norm: f64,
        (figures, first): (&mut CudaSlice<f64>, usize),
    ) -> Result<(), CellError> {
        let [gram_u, gram_v, middle] = products;
        let [correct_u, correct_v] = corrections;
        self.square(&[gram_u, gram_v, middle, correct_u, correct_v])?;
        fits("the values", values, self.n)?;
        let mut figures = place(stream, figures, first, 1)?;
        let (mut gram_u, mut gram_v) = (gram_u.device_ptr(stream).0, gram_v.device_ptr(stream).0);
        let (mut middle, mut side) = (middle.device_ptr(stream).0, self.side);
        let mut values = values.device_ptr_mut(stream).0;
        let mut correct_u = correct_u.device_ptr_mut(stream).0;
        let mut correct_v = correct_v.device_ptr_mut(stream).0;
        let mut parameters = [
            parameter(&mut gram_u),
            parameter(&mut gram_v),
            parameter(&mut middle),
            parameter(&mut norm),
            parameter(&mut side),
            parameter(&mut values),
            parameter(&mut correct_u),
            parameter(&mut correct_v),
            parameter(&mut figures),
        ];
        // SAFETY: the entry takes (const double*, const double*, const double*, double, int, double*, double*, double*,
        // double*), checked above.
        unsafe { self.by_columns(stream, &self.refinement, &mut parameters) }
    }

    fn square(&self, matrices: &[&CudaSlice<f64>]) -> Result<(), CellError> {
        matrices.iter().try_for_each(|matrix| fits("a matrix", matrix, self.n * self.n))
    }

    /// # Safety
    ///
    /// As for [`enqueue`].
    unsafe fn by_columns(
        &self,
        stream: &CudaStream,
        function: &CudaFunction,
        parameters: &mut [*mut c_void],
    ) -> Result<(), CellError> {
        // SAFETY: the caller vouches for the parameters.
        unsafe { enqueue(stream, function, (self.columns, 1), parameters) }
    }
}

/// The address of `count` figures from `first` on.
fn place(
    stream: &CudaStream,
    figures: &mut CudaSlice<f64>,
    first: usize,
    count: usize,
) -> Result<u64, CellError> {
    fits("the figures", figures, first + count)?;
    Ok(figures.device_ptr_mut(stream).0 + (first * size_of::<f64>()) as u64)
}
