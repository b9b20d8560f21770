//! The reduction of a symmetric float64 matrix to tridiagonal form: on chip, or in panels until the rest fits there.

use cudarc::driver::CudaSlice;
use gpubench_cuda::Result;

use super::on_chip::{LARGE_SIDES, OnChipReduction, Reduced, Rest};
use super::panels::{PANEL, PanelReduction};
use gpubench_cuda::context::Cuda;
use gpubench_cuda::ffi::cublas::{Cublas, Matrix, Product};

/// Householder reduction of matrices of one size.
pub(super) struct HouseholderReduction {
    /// The columns that are reduced first, and how; `None` if the whole matrix fits on chip.
    panels: Option<(usize, PanelReduction)>,
    on_chip: OnChipReduction,
    n: usize,
}

impl HouseholderReduction {
    /// Returns the float64 elements of device memory of an instance for size `n`, without its answer.
    pub(super) fn elements(n: u128) -> u128 {
        if n > LARGE_SIDES[0] as u128 { PanelReduction::elements(n) } else { 0 }
    }

    /// Makes an instance for size `n`. Returns `None` if the device cannot hold a large matrix on chip.
    pub(super) fn new(cuda: &Cuda, n: usize) -> Result<Option<HouseholderReduction>> {
        if let Some(on_chip) = OnChipReduction::load(cuda, n)? {
            return Ok(Some(HouseholderReduction { panels: None, on_chip, n }));
        }
        for side in LARGE_SIDES.into_iter().filter(|side| *side < n) {
            let columns = (n - side).next_multiple_of(PANEL);
            let Some(on_chip) = OnChipReduction::load(cuda, n - columns)? else { continue };
            let Some(panels) = PanelReduction::load(cuda, n, columns)? else { continue };
            return Ok(Some(HouseholderReduction { panels: Some((columns, panels)), on_chip, n }));
        }
        Ok(None)
    }

    /// Enqueues the reduction of the `n x n` matrix.
    pub(super) fn run(
        &mut self,
        cuda: &Cuda,
        blas: &Cublas,
        matrix: &CudaSlice<f64>,
        out: &mut Reduced,
    ) -> Result<()> {
        let stream = &cuda.stream;
        let Some((columns, panels)) = &mut self.panels else {
            return self.on_chip.run(stream, Rest { matrix, stride: self.n, from: 0 }, out);
        };
        panels.pad(stream, matrix)?;
        let side = panels.side;
        for start in (0..*columns).step_by(PANEL) {
            panels.run(stream, start, out)?;
            // V Wᵀ + W Vᵀ as one product of twice the depth.
            let below = start + PANEL;
            let left = Matrix::new(side).from(below);
            let right = left.from(PANEL * side + below).t();
            let update = Product::new([side - below, side - below, 2 * PANEL]).subtracted();
            let rest = Matrix::new(side).from(below * side + below);
            blas.product(update, (&panels.panel, left), (&panels.panel, right), (&mut panels.padded, rest))?;
        }
        self.on_chip.run(stream, Rest { matrix: &panels.padded, stride: side, from: *columns }, out)
    }
}
