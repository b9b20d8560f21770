//! A cell that is checked.

use gpubench_backend::Variant;
use gpubench_model::case::{Cache, Case, Cell, DType};
use gpubench_ops as op;

/// Density of sparse operands: at small sizes the usual ones leave hardly an entry.
const DENSITY: f64 = 0.3;

/// A cell that is checked.
#[derive(Clone)]
pub(super) struct Tested {
    pub(super) cell: Cell,
    pub(super) variant: Variant,
}

impl Tested {
    pub(super) fn new(variant: &Variant, dtype: DType, cache: Cache, n: u64) -> Self {
        let op = variant.op.to_string();
        let density = op::find(&op).and_then(|op| op.default_density()).map(|_| DENSITY);
        let case = Case { op, n, dtype, density, seed: 42 };
        let cell = Cell { case, backend: "tested".into(), variant: variant.name.to_string(), cache };
        Tested { cell, variant: variant.clone() }
    }

    /// Returns the name under which its checks are listed.
    pub(super) fn name(&self) -> String {
        let Cell { case, variant, cache, .. } = &self.cell;
        format!("{}/{variant} {} {cache} N={}", case.op, case.dtype, case.n)
    }

    /// Returns the same cell with other operands.
    pub(super) fn seeded(&self, seed: u64) -> Self {
        let mut other = self.clone();
        other.cell.case.seed = seed;
        other
    }
}
