//! The operands that a worker holds on the host: those of the last case, kept for its next cell.

use gpubench_backend::Side;
use gpubench_host::memory;
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, fingerprint};
use gpubench_model::error::{CellError, Unavailable};
use gpubench_ops::Op;

/// Expected entries of a sparse operand: `i32::MAX`, less six standard deviations and some.
const MOST_ENTRIES: f64 = 2.147e9;

/// The operands of one case.
pub struct Held {
    case: Case,
    /// The operands, in the op's order.
    pub operands: Vec<Operand>,
    /// Their fingerprint, hexadecimal.
    pub fingerprint: String,
}

/// The operands of the last case, if any.
#[derive(Default)]
pub(crate) struct Operands(Option<Held>);

impl Operands {
    /// Returns the operands of `case`: those that are held where it is the last case again, else new ones in their place.
    /// `admit` refuses a case that cannot be done before operands are made for it.
    ///
    /// # Errors
    /// A refusal, or too little memory on the host.
    pub(crate) fn of(
        &mut self,
        op: &dyn Op,
        case: &Case,
        side: Side,
        admit: impl FnOnce() -> Result<(), CellError>,
    ) -> Result<&Held, CellError> {
        // Those of another case are let go before new ones are made.
        let held = match self.0.take().filter(|held| held.case == *case) {
            Some(held) => held,
            None => {
                admit()?;
                make(op, case, side)?
            }
        };
        Ok(self.0.insert(held))
    }
}

fn make(op: &dyn Op, case: &Case, side: Side) -> Result<Held, CellError> {
    let entries = op.expected_entries(case);
    if entries > MOST_ENTRIES {
        let reason = format!("about {entries:.2e} stored entries exceed 32-bit offsets (2.14e9)");
        return Err(Unavailable::new(reason, "choose a smaller size or density").into());
    }
    // The operands and the answer are on the host; a job of the CPU's side holds its own copy of both.
    let copies = if side == Side::Cpu { 2 } else { 1 };
    let needed =
        op.footprint(case).saturating_mul(copies).max(op.footprint(case).saturating_add(op.scratch(case)));
    if let Some(free) = memory::free_host_bytes().filter(|&free| needed > free) {
        return Err(CellError::OutOfMemory { place: "host", needed, free });
    }
    let operands = op.inputs(case);
    let fingerprint = format!("{:016x}", fingerprint(&operands));
    Ok(Held { case: case.clone(), operands, fingerprint })
}
