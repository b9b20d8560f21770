//! Looks at the operands that jobs have taken and lend.

use std::collections::BTreeMap;

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::Ready;
use crate::worker::operands::hexadecimal;

/// Shows to `judge` the operands that a job has taken, or else `kept`, and the answer of its last execution.
pub(super) fn show<R>(
    job: &mut Prepared,
    kept: &[Operand],
    judge: impl Fn(&[Operand], &[Operand]) -> R,
) -> Result<R, CellError> {
    let mut judged = None;
    job.lend(&mut |lent| judged = Some(judge(lent.operands.unwrap_or(kept), lent.answer)))?;
    judged.ok_or_else(|| CellError::Failed("the job did not show its answer; please report this bug".into()))
}

/// Returns a copy of the operands of `case` from a job that has taken them and left them unchanged, which is faster than
/// generating them again.
pub(super) fn copied(jobs: &mut BTreeMap<u64, Ready>, case: &Case) -> Option<Vec<Operand>> {
    let mut holding = jobs.values_mut().filter(|ready| ready.has_operands && ready.cell.case == *case);
    holding.find_map(|ready| {
        let mut copy = None;
        ready.job.lend(&mut |lent| copy = lent.operands.map(<[Operand]>::to_vec)).ok()?;
        copy.filter(|operands| hexadecimal(operands) == ready.inputs)
    })
}
