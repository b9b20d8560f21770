//! Makes nearly orthonormal vectors orthonormal by products: Newton-Schulz steps and refinement, and checks the
//! result.

use gpubench_cuda::{DeviceElement, Result, driver};
use gpubench_report::case::DType;

use super::products::{plain, transposed};
use super::{GOOD, GramSvd, REPAIRABLE, ROUNDS, RecordedPart, figure};

impl<T: DeviceElement> GramSvd<T> {
    /// Enqueues both sets of vectors and the values from the vectors, with their figures. In float32, enqueues the answer, too.
    pub(super) fn compute_both_sides(&mut self) -> Result<()> {
        self.clear_figures()?;
        self.compute_right_vectors()?;
        self.compute_left_vectors()?;
        if T::DTYPE == DType::F32 {
            self.arrange()?;
        }
        self.copy_figures()
    }

    /// Repairs what [`compute_both_sides`](Self::compute_both_sides) has computed, and enqueues the answer. Returns whether that
    /// succeeded.
    pub(super) fn repair(&mut self) -> Result<bool> {
        for round in 0..ROUNDS {
            if round > 0 {
                std::mem::swap(&mut self.vectors, &mut self.found.u);
                self.compute_both_sides()?;
            }
            self.read_figures()?;
            let (right, left) = (self.norm(figure::RIGHT), self.norm(figure::LEFT));
            // The comparison is false for NaN too.
            let repairable = right < REPAIRABLE && left < REPAIRABLE;
            if !repairable {
                return Ok(false);
            }
            if T::DTYPE == DType::F64 {
                return self.refine();
            }
            if right < GOOD {
                // The correction of U by a step was weighted by the values twice.
                let moved = 0.5 * (self.read[figure::LEFT + 1] / self.read[figure::LEFT + 2]).sqrt();
                return Ok(moved < self.tolerance() && self.repair_left(left)?);
            }
        }
        Ok(false)
    }

    /// Computes V from the vectors by a Newton-Schulz step.
    fn compute_right_vectors(&mut self) -> Result<()> {
        let stream = &self.cuda.stream;
        let GramSvd { products, kernels, vectors, square, step, lengths, found, figures, .. } = self;
        products.multiply(stream, transposed(vectors), plain(vectors), square)?;
        kernels.newton_schulz(stream, square, step, lengths, (figures, figure::RIGHT))?;
        products.multiply(stream, plain(vectors), plain(step), &mut found.u)
    }

    /// Computes the values and U from V: lengths and directions of the columns of A V, by a Newton-Schulz step.
    fn compute_left_vectors(&mut self) -> Result<()> {
        let stream = &self.cuda.stream;
        let GramSvd { products, kernels, wide, product, square, step, found, figures, .. } = self;
        products.multiply(stream, transposed(wide), plain(&found.u), product)?;
        products.multiply(stream, transposed(product), plain(product), square)?;
        kernels.newton_schulz(stream, square, step, &mut found.s, (figures, figure::LEFT))?;
        products.multiply(stream, plain(product), plain(step), &mut found.v)
    }

    /// Takes more steps if U was `off` by more than one step can repair. Returns whether U is good.
    fn repair_left(&mut self, mut off: f64) -> Result<bool> {
        for _ in 0..ROUNDS {
            if off < GOOD {
                return Ok(true);
            }
            self.clear_figures()?;
            let stream = &self.cuda.stream;
            let GramSvd { products, kernels, product, square, step, lengths, found, figures, .. } = self;
            products.multiply(stream, transposed(&found.v), plain(&found.v), square)?;
            kernels.newton_schulz(stream, square, step, lengths, (figures, figure::REPAIRED))?;
            products.multiply(stream, plain(&found.v), plain(step), product)?;
            std::mem::swap(product, &mut found.v);
            self.arrange()?;
            self.copy_figures()?;
            self.read_figures()?;
            off = self.norm(figure::REPAIRED);
        }
        Ok(false)
    }

    /// Refines both sets of vectors until the squares of the corrections are negligible. Returns whether that
    /// succeeded.
    fn refine(&mut self) -> Result<bool> {
        // A correction of this norm leaves an error of its square, n ε: a fifth of `tolerance`.
        let last = (self.n as f64 * f64::EPSILON).sqrt();
        for _ in 0..ROUNDS {
            // The round reads the vectors there.
            std::mem::swap(&mut self.square, &mut self.found.v);
            std::mem::swap(&mut self.step, &mut self.found.u);
            self.record(RecordedPart::Refinement, GramSvd::refine_once)?;
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

    /// Enqueues a round of refinement of U in `square` and V in `step`, and the answer. The squared norm of A is among the
    /// figures.
    fn refine_once(&mut self) -> Result<()> {
        let stream = &self.cuda.stream;
        let GramSvd {
            products, kernels, wide, vectors, product, square, step, spare, found, figures, ..
        } = self;
        let mut correction = figures.slice_mut(figure::CORRECTION..=figure::CORRECTION);
        stream.memset_zeros(&mut correction).map_err(driver("cuMemsetD8Async"))?;
        products.multiply(stream, transposed(square), plain(square), &mut found.v)?;
        products.multiply(stream, transposed(step), plain(step), &mut found.u)?;
        products.multiply(stream, transposed(wide), plain(step), product)?;
        products.multiply(stream, transposed(square), plain(product), vectors)?;
        let corrections = [&mut *product, &mut *spare];
        let at = (figures, figure::LEFT + 2, figure::CORRECTION);
        kernels.refinement(stream, [&found.v, &found.u, vectors], corrections, &mut found.s, at)?;
        products.multiply(stream, plain(square), plain(product), &mut found.v)?;
        products.multiply(stream, plain(step), plain(spare), &mut found.u)?;
        self.arrange()?;
        self.copy_figures()
    }

    /// Returns whether the vectors are orthogonal and the product is A.
    pub(super) fn is_decomposition(&mut self) -> Result<bool> {
        self.clear_figures()?;
        let stream = &self.cuda.stream;
        let GramSvd { products, kernels, wide, product, square, found, figures, .. } = self;
        products.multiply(stream, transposed(&found.u), plain(&found.u), square)?;
        kernels.orthogonality(stream, square, (figures, figure::RIGHT))?;
        products.multiply(stream, transposed(&found.v), plain(&found.v), square)?;
        kernels.orthogonality(stream, square, (figures, figure::LEFT))?;
        products.multiply(stream, transposed(wide), plain(&found.u), product)?;
        kernels.residual(stream, product, &found.v, &found.s, (figures, figure::RESIDUAL))?;
        self.copy_figures()?;
        self.read_figures()?;
        let tolerance = self.tolerance();
        let residual = self.norm(figure::RESIDUAL) <= tolerance * self.norm(figure::RESIDUAL + 1);
        Ok(residual && self.norm(figure::RIGHT) < tolerance && self.norm(figure::LEFT) < tolerance)
    }

    /// Returns the largest acceptable Frobenius norms of UᵀU - I, VᵀV - I and of A V - U S relative to A: below the rounding of
    /// a float32 answer; for float64, 5 n ε, which a backward stable algorithm stays well below.
    fn tolerance(&self) -> f64 {
        match T::DTYPE {
            DType::F64 => 5.0 * self.n as f64 * f64::EPSILON,
            _ => 1e-7,
        }
    }

    fn clear_figures(&mut self) -> Result<()> {
        self.cuda.stream.memset_zeros(&mut self.figures).map_err(driver("cuMemsetD8Async"))
    }

    fn copy_figures(&mut self) -> Result<()> {
        self.copied.copy_from(&self.figures).map_err(driver("cuMemcpyDtoHAsync"))
    }

    fn read_figures(&mut self) -> Result<()> {
        self.copied.read(&mut self.read).map_err(driver("cuStreamSynchronize"))
    }

    fn norm(&self, figure: usize) -> f64 {
        self.read[figure].sqrt()
    }
}
