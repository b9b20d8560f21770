//! Makes nearly orthonormal vectors orthonormal by products: Newton-Schulz steps and refinement, and checks the
//! result.

use gpubench_model::error::CellError;

use super::{GOOD, Gram, ROUNDS, figure};
use crate::context::Element;
use crate::ffi::cublas::{Matrix, Product};

impl<T: Element> Gram<T> {
    /// Computes V from the vectors by a Newton-Schulz step.
    pub(super) fn compute_right_vectors(&mut self) -> Result<(), CellError> {
        let Gram { blas, kernels, n, vectors, square, step, lengths, found, figures, .. } = self;
        let whole = Matrix::new(*n);
        let product = Product::new([*n, *n, *n]);
        blas.product(product, (vectors, whole.t()), (vectors, whole), (square, whole))?;
        kernels.newton_schulz(&self.cuda.stream, square, step, lengths, (figures, figure::RIGHT))?;
        blas.product(product, (vectors, whole), (step, whole), (&mut found.u, whole))
    }

    /// Computes the values and U from V: lengths and directions of the columns of A V, by a Newton-Schulz step.
    pub(super) fn compute_left_vectors(&mut self) -> Result<(), CellError> {
        let Gram { blas, kernels, n, wide, product, square, step, found, figures, .. } = self;
        let whole = Matrix::new(*n);
        let times = Product::new([*n, *n, *n]);
        blas.product(times, (wide, whole.t()), (&found.u, whole), (product, whole))?;
        blas.product(times, (product, whole.t()), (product, whole), (square, whole))?;
        kernels.newton_schulz(&self.cuda.stream, square, step, &mut found.s, (figures, figure::LEFT))?;
        blas.product(times, (product, whole), (step, whole), (&mut found.v, whole))
    }

    /// Takes more steps if U was `off` by more than one step can repair. Returns whether U is good.
    pub(super) fn repair_left(&mut self, mut off: f64) -> Result<bool, CellError> {
        let whole = Matrix::new(self.n);
        let times = Product::new([self.n; 3]);
        for _ in 0..ROUNDS {
            if off < GOOD {
                return Ok(true);
            }
            self.clear_figures()?;
            let Gram { blas, kernels, product, square, step, lengths, found, figures, .. } = self;
            blas.product(times, (&found.v, whole.t()), (&found.v, whole), (square, whole))?;
            kernels.newton_schulz(&self.cuda.stream, square, step, lengths, (figures, figure::REPAIRED))?;
            blas.product(times, (&found.v, whole), (step, whole), (product, whole))?;
            std::mem::swap(product, &mut found.v);
            self.read_figures()?;
            off = self.norm(figure::REPAIRED);
        }
        Ok(false)
    }

    /// Refines both sets of vectors until the squares of the corrections are negligible. Returns whether that
    /// succeeded.
    pub(super) fn refine(&mut self) -> Result<bool, CellError> {
        let whole = Matrix::new(self.n);
        let times = Product::new([self.n; 3]);
        let norm = self.read[figure::LEFT + 2];
        // A correction of this norm leaves an error of its square, n ε: a fifth of `tolerance`.
        let last = (self.n as f64 * f64::EPSILON).sqrt();
        for _ in 0..ROUNDS {
            self.clear_figures()?;
            let stream = &self.cuda.stream;
            let Gram { blas, kernels, wide, vectors, product, square, step, spare, found, figures, .. } =
                self;
            blas.product(times, (&found.v, whole.t()), (&found.v, whole), (square, whole))?;
            blas.product(times, (&found.u, whole.t()), (&found.u, whole), (step, whole))?;
            blas.product(times, (wide, whole.t()), (&found.u, whole), (product, whole))?;
            blas.product(times, (&found.v, whole.t()), (product, whole), (vectors, whole))?;
            let corrections = [&mut *product, &mut *spare];
            let at = (figures, figure::CORRECTION);
            kernels.refinement(stream, [square, step, vectors], corrections, &mut found.s, norm, at)?;
            blas.product(times, (&found.v, whole), (product, whole), (square, whole))?;
            blas.product(times, (&found.u, whole), (spare, whole), (step, whole))?;
            std::mem::swap(square, &mut found.v);
            std::mem::swap(step, &mut found.u);
            self.read_figures()?;
            let correction = self.norm(figure::CORRECTION);
            if correction < last {
                return Ok(true);
            }
            if correction.is_nan() || correction > 1.0 {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Returns whether the vectors are orthogonal and the product is A.
    pub(super) fn is_decomposition(&mut self) -> Result<bool, CellError> {
        self.clear_figures()?;
        let whole = Matrix::new(self.n);
        let times = Product::new([self.n; 3]);
        let stream = &self.cuda.stream;
        let Gram { blas, kernels, wide, product, square, found, figures, .. } = self;
        blas.product(times, (&found.u, whole.t()), (&found.u, whole), (square, whole))?;
        kernels.orthogonality(stream, square, (figures, figure::RIGHT))?;
        blas.product(times, (&found.v, whole.t()), (&found.v, whole), (square, whole))?;
        kernels.orthogonality(stream, square, (figures, figure::LEFT))?;
        blas.product(times, (wide, whole.t()), (&found.u, whole), (product, whole))?;
        kernels.residual(stream, product, &found.v, &found.s, (figures, figure::RESIDUAL))?;
        self.read_figures()?;
        let tolerance = self.tolerance();
        let residual = self.norm(figure::RESIDUAL) <= tolerance * self.norm(figure::RESIDUAL + 1);
        Ok(residual && self.norm(figure::RIGHT) < tolerance && self.norm(figure::LEFT) < tolerance)
    }
}
