//! Simulates the answer of a job in memory: two equal words, which each execution computes from the operands or spoils as
//! the script says.

use crate::contents::{Memory, host};
use gpubench_ops::{self as op, Decisive};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::data::hash::fnv1a;

use super::rule::AnswerFault;

/// Word for an answer with a NaN.
const NAN: u64 = 0x7FF8_0000_0000_0000;

/// The words of an answer, and the state of its faults.
pub(super) struct AnswerMemory {
    words: [u64; 2],
    /// The element on which the words depend.
    decisive: Option<Decisive>,
    /// The right word of the first execution.
    first: Option<u64>,
}

impl AnswerMemory {
    /// Creates the memory of a job before its first execution.
    pub(super) fn new(case: &Case, inputs: &[Operand]) -> Self {
        let decisive = op::find(&case.op).and_then(|op| op.decisive_element(case, inputs));
        AnswerMemory { words: [0; 2], decisive, first: None }
    }

    pub(super) fn memory(&mut self) -> Memory<'_> {
        host(&mut self.words)
    }

    fn right(&self, inputs: &[Operand]) -> u64 {
        let value = self.decisive.and_then(|at| inputs.get(at.operand)?.values().real_part(at.element));
        fnv1a(0, &value.unwrap_or_default().to_bits().to_le_bytes())
    }

    /// Applies an execution with that fault to the answer and the operands.
    pub(super) fn execute(&mut self, fault: AnswerFault, inputs: &mut [Operand]) {
        let right = self.right(inputs);
        let first = *self.first.get_or_insert(right);
        match fault {
            AnswerFault::Right => self.words = [right; 2],
            AnswerFault::Wrong => self.words = [!right; 2],
            AnswerFault::Nan => self.words = [NAN; 2],
            AnswerFault::Cached => self.words = [first; 2],
            AnswerFault::Stale => {}
            AnswerFault::OverwritesOperand => {
                self.words = [right; 2];
                inputs.iter_mut().take(1).for_each(overwrite);
            }
        }
    }

    pub(super) fn is_right(&self, inputs: &[Operand]) -> bool {
        self.words == [self.right(inputs); 2]
    }

    pub(super) fn is_nan(&self) -> bool {
        self.words == [NAN; 2]
    }
}

/// Changes the last element.
fn overwrite(operand: &mut Operand) {
    operand.values_mut().bytes_mut().iter_mut().last().into_iter().for_each(|byte| *byte ^= 0x40);
}
