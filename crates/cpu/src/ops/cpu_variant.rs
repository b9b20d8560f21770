//! A variant that needs no BLAS library, and the function that prepares its jobs.

use gpubench_backend::{Prepared, Variant};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use crate::context::Cpu;

pub(crate) type Prepare = fn(&Cpu, &Case, &mut [Operand]) -> Result<Box<Prepared>, CellError>;

/// A variant and the function that prepares its jobs.
pub(crate) struct CpuVariant {
    pub(crate) variant: Variant,
    pub(crate) prepare: Prepare,
}
