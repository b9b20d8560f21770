//! SEAM ONLY: replaced by the real op.
use super::{Checked, Op, Rounding, Work};
use crate::case::Case;
use crate::data::Operand;
use crate::error::CellError;
pub struct Elementwise;
impl Op for Elementwise {
    fn name(&self) -> &'static str {
        "elementwise"
    }
    fn summary(&self) -> &'static str {
        ""
    }
    fn default_sizes(&self) -> &'static [u64] {
        &[100, 500, 1000]
    }
    fn work(&self, _: &Case) -> Work {
        todo!()
    }
    fn footprint(&self, _: &Case) -> u128 {
        todo!()
    }
    fn inputs(&self, _: &Case) -> Vec<Operand> {
        todo!()
    }
    fn check(&self, _: &Case, _: &[Operand], _: &[Operand], _: Rounding) -> Result<Checked, CellError> {
        todo!()
    }
}
