//! Generates a worker's operands on the host, and keeps those of the last case for its next cell.

use gpubench_backend::Side;
use gpubench_host::memory;
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, fingerprint};
use gpubench_model::error::{CellError, Unavailable};
use gpubench_ops::Op;

/// Maximum expected entries of a sparse operand: `i32::MAX` less more than six standard deviations.
const MAX_EXPECTED_ENTRIES: f64 = 2.147e9;

/// The operands of one case.
pub struct CaseOperands {
    case: Case,
    /// The operands, in the op's order.
    pub operands: Vec<Operand>,
    /// Their fingerprint, hexadecimal.
    pub fingerprint: String,
}

/// The operands of the last case, if any.
#[derive(Default)]
pub(crate) struct Operands(Option<CaseOperands>);

impl Operands {
    /// Returns the operands of `case`: the kept ones if it is the last case again, otherwise new ones.
    /// `admit` may refuse a case before its operands are generated.
    ///
    /// # Errors
    /// `admit` refuses, or the host has too little memory.
    pub(crate) fn of(
        &mut self,
        op: &dyn Op,
        case: &Case,
        side: Side,
        admit: impl FnOnce() -> Result<(), CellError>,
    ) -> Result<&CaseOperands, CellError> {
        // The old operands are freed before the new ones are generated.
        let kept = match self.0.take().filter(|kept| kept.case == *case) {
            Some(kept) => kept,
            None => {
                admit()?;
                make(op, case, side)?
            }
        };
        Ok(self.0.insert(kept))
    }
}

fn make(op: &dyn Op, case: &Case, side: Side) -> Result<CaseOperands, CellError> {
    let entries = op.expected_entries(case);
    if entries > MAX_EXPECTED_ENTRIES {
        let reason = format!("about {entries:.2e} stored entries exceed 32-bit offsets (2.14e9)");
        return Err(Unavailable::new(reason, "choose a smaller size or density").into());
    }
    // The host needs the operands and the answer; a job on the CPU side has another copy of both.
    let copies = if side == Side::Cpu { 2 } else { 1 };
    let needed =
        op.footprint(case).saturating_mul(copies).max(op.footprint(case).saturating_add(op.scratch(case)));
    if let Some(free) = memory::free_host_bytes().filter(|&free| needed > free) {
        return Err(CellError::OutOfMemory { place: "host", needed, free });
    }
    let operands = op.inputs(case);
    let fingerprint = format!("{:016x}", fingerprint(&operands));
    Ok(CaseOperands { case: case.clone(), operands, fingerprint })
}
