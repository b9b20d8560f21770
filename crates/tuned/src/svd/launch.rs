//! Launches of `kernels/svd/gram.cu`, which `gram` and its eigensolver share, as functions that check the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_cuda::ffi::cusolver::Vectors;
use gpubench_cuda::ffi::launch::{Argument, BLOCK, enqueue, fits, read, write, write_from};
use gpubench_cuda::{CellError, Cuda, DeviceElement, KernelSource, Result, kernel_source};

pub(super) static SOURCE: KernelSource = kernel_source!("svd/gram");

/// Reflectors that are applied together.
pub(super) const PANEL: usize = 64;
/// Blocks per multiprocessor of the kernels that process a matrix column by column.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 4;

/// The kernels for matrices of one size and answers of one element type.
pub(super) struct SvdKernels<T> {
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

impl<T: DeviceElement> SvdKernels<T> {
    pub(super) fn load(cuda: &Cuda, n: usize) -> Result<Self> {
        let entry = |name: &str| cuda.function(&SOURCE, name);
        let max_blocks = cuda.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR);
        Ok(SvdKernels {
            panel_factors: entry("panel_factors")?,
            newton_schulz: entry("newton_schulz")?,
            orthogonality: entry("orthogonality")?,
            residual: entry("residual")?,
            transpose: entry("transpose")?,
            rank: entry("rank_descending")?,
            arrange: entry(&format!("arrange_{}", T::DTYPE))?,
            refinement: entry("refinement")?,
            n,
            side: i32::try_from(n).map_err(|error| CellError::call("svd", error))?,
            columns: u32::try_from(n).unwrap_or(u32::MAX).min(max_blocks).max(1),
            element: PhantomData,
        })
    }

    /// Replaces the products Yᵀ Y of the reflectors of each panel (`PANEL x PANEL`, column-major, one panel after the
    /// other) by the triangular factors T of I - Y T Yᵀ.
    pub(super) fn panel_factors(
        &self,
        stream: &CudaStream,
        panels: usize,
        products: &mut CudaSlice<f64>,
        taus: &CudaSlice<f64>,
    ) -> Result<()> {
        fits("the panels' products", products, panels * PANEL * PANEL)?;
        fits("the factors of reflectors", taus, self.n - 1)?;
        let blocks = u32::try_from(panels).map_err(|error| CellError::call("panel_factors", error))?;
        let arguments = [write(stream, products), read(stream, taus), self.side.into()];
        // SAFETY: the entry takes (double*, const double*, int); a block reads and writes its panel, and reads the n - 1 taus.
        unsafe { enqueue(stream, &self.panel_factors, (blocks, 1), arguments) }
    }

    /// Computes from Xᵀ X the matrix `step` that makes the columns of X orthonormal, and the lengths of the columns
    /// of X. Adds three sums of squares to `figures`, starting at `first`: of XᵀX - I for columns of length 1, of the
    /// same with each column times its length, and of the lengths.
    pub(super) fn newton_schulz(
        &self,
        stream: &CudaStream,
        gram: &CudaSlice<f64>,
        step: &mut CudaSlice<f64>,
        lengths: &mut CudaSlice<f64>,
        (figures, first): (&mut CudaSlice<f64>, usize),
    ) -> Result<()> {
        self.square(&[gram, step])?;
        fits("the lengths", lengths, self.n)?;
        let figures = place(stream, figures, first, 3)?;
        let (step, lengths) = (write(stream, step), write(stream, lengths));
        let arguments = [read(stream, gram), self.side.into(), step, lengths, figures];
        // SAFETY: the entry takes (const double*, int, double*, double*, double*), checked above.
        unsafe { self.by_columns(stream, &self.newton_schulz, arguments) }
    }

    /// Adds the sum of squares of `gram` - I to one of `figures`.
    pub(super) fn orthogonality(
        &self,
        stream: &CudaStream,
        gram: &CudaSlice<f64>,
        (figures, first): (&mut CudaSlice<f64>, usize),
    ) -> Result<()> {
        self.square(&[gram])?;
        let figures = place(stream, figures, first, 1)?;
        let arguments = [read(stream, gram), self.side.into(), figures];
        // SAFETY: the entry takes (const double*, int, double*), checked above.
        unsafe { self.by_columns(stream, &self.orthogonality, arguments) }
    }

    /// Adds the sums of squares of `products` - `left` S and of `products` to two of `figures`, starting at `first`.
    pub(super) fn residual(
        &self,
        stream: &CudaStream,
        products: &CudaSlice<f64>,
        left: &CudaSlice<f64>,
        values: &CudaSlice<f64>,
        (figures, first): (&mut CudaSlice<f64>, usize),
    ) -> Result<()> {
        self.square(&[products, left])?;
        fits("the values", values, self.n)?;
        let figures = place(stream, figures, first, 2)?;
        let (products, left, values) = (read(stream, products), read(stream, left), read(stream, values));
        let arguments = [products, left, values, self.side.into(), figures];
        // SAFETY: the entry takes (const double*, const double*, const double*, int, double*), checked above.
        unsafe { self.by_columns(stream, &self.residual, arguments) }
    }

    pub(super) fn transpose(
        &self,
        stream: &CudaStream,
        from: &CudaSlice<f64>,
        to: &mut CudaSlice<f64>,
    ) -> Result<()> {
        self.square(&[from, to])?;
        let arguments = [read(stream, from), self.side.into(), write(stream, to)];
        // SAFETY: the entry takes (const double*, int, double*), checked above.
        unsafe { self.by_columns(stream, &self.transpose, arguments) }
    }

    /// Sorts a decomposition by descending values, in the element type of the answer.
    pub(super) fn arrange(
        &self,
        stream: &CudaStream,
        found: &Vectors<f64>,
        ranks: &mut CudaSlice<i32>,
        answer: &mut Vectors<T>,
    ) -> Result<()> {
        self.square(&[&found.u, &found.v])?;
        fits("the values", &found.s, self.n)?;
        fits("the ranks", ranks, self.n)?;
        fits("the answer's values", &answer.s, self.n)?;
        fits("the answer's left vectors", &answer.u, self.n * self.n)?;
        fits("the answer's right vectors", &answer.v, self.n * self.n)?;
        let (values, side, ranks) = (read(stream, &found.s), self.side.into(), write(stream, ranks));
        // One warp ranks one value.
        let blocks = u32::try_from(self.n.div_ceil(BLOCK as usize / 32)).unwrap_or(u32::MAX);
        // SAFETY: the entry takes (const double*, int, int*), checked above.
        unsafe { enqueue(stream, &self.rank, (blocks, 1), [values, side, ranks]) }?;
        let arguments = [
            values,
            read(stream, &found.u),
            read(stream, &found.v),
            ranks,
            side,
            write(stream, &mut answer.s),
            write(stream, &mut answer.u),
            write(stream, &mut answer.v),
        ];
        // SAFETY: the entry takes (const double*, const double*, const double*, const int*, int, T*, T*, T*), checked
        // above; ranks are below n, for any values.
        unsafe { self.by_columns(stream, &self.arrange, arguments) }
    }

    /// Computes from Uᵀ U, Vᵀ V and Uᵀ A V, in this order, the values and the matrices I + F and I + G by which U and V are
    /// multiplied to refine them. The figure `norm` is the squared norm of A. Adds the sum of squares of F and G to the figure
    /// `sum`.
    pub(super) fn refinement(
        &self,
        stream: &CudaStream,
        products: [&CudaSlice<f64>; 3],
        corrections: [&mut CudaSlice<f64>; 2],
        values: &mut CudaSlice<f64>,
        (figures, norm, sum): (&mut CudaSlice<f64>, usize, usize),
    ) -> Result<()> {
        let [gram_u, gram_v, middle] = products;
        let [correct_u, correct_v] = corrections;
        self.square(&[gram_u, gram_v, middle, correct_u, correct_v])?;
        fits("the values", values, self.n)?;
        let (norm, sum) = (place(stream, figures, norm, 1)?, place(stream, figures, sum, 1)?);
        let arguments = [
            read(stream, gram_u),
            read(stream, gram_v),
            read(stream, middle),
            norm,
            self.side.into(),
            write(stream, values),
            write(stream, correct_u),
            write(stream, correct_v),
            sum,
        ];
        // SAFETY: the entry takes (const double*, const double*, const double*, const double*, int, double*, double*, double*,
        // double*), checked above.
        unsafe { self.by_columns(stream, &self.refinement, arguments) }
    }

    fn square(&self, matrices: &[&CudaSlice<f64>]) -> Result<()> {
        matrices.iter().try_for_each(|matrix| fits("a matrix", matrix, self.n * self.n))
    }

    /// # Safety
    ///
    /// As for [`enqueue`].
    unsafe fn by_columns<const N: usize>(
        &self,
        stream: &CudaStream,
        function: &CudaFunction,
        arguments: [Argument; N],
    ) -> Result<()> {
        // SAFETY: the caller vouches for the arguments.
        unsafe { enqueue(stream, function, (self.columns, 1), arguments) }
    }
}

/// Returns the address of `count` figures, starting at `first`.
fn place(stream: &CudaStream, figures: &mut CudaSlice<f64>, first: usize, count: usize) -> Result<Argument> {
    fits("the figures", figures, first + count)?;
    Ok(write_from(stream, figures, first))
}
