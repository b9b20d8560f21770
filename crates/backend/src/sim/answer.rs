//! Simulates the answer of a job in memory: two equal words, which each execution computes from the operands or spoils as
//! the script says.

use crate::contents::{Memory, host};
use gpubench_ops::{self as op, Decisive};
use gpubench_report::case::Case;
use gpubench_report::data::hash::fnv1a;
use gpubench_report::data::{Operand, Values};

use super::rule::AnswerFault;

/// Word for an answer with a NaN.
const NAN: u64 = 0x7FF8_0000_0000_0000;

/// The words of an answer, and the state of its faults.
pub(super) struct AnswerMemory {
    words: [u64; 2],
    /// The element on which the words depend.
    decisive: Option<Decisive>,
    /// The right word of the last execution, and of the first.
    last: u64,
    first: Option<u64>,
    /// Word that another stream has yet to write.
    pending: Option<u64>,
}

impl AnswerMemory {
    /// Creates the memory of a job before its first execution.
    pub(super) fn new(case: &Case, inputs: &[Operand]) -> Self {
        let decisive = op::find(&case.op).and_then(|op| op.decisive_element(case, inputs));
        AnswerMemory { words: [0; 2], decisive, last: 0, first: None, pending: None }
    }

    pub(super) fn memory(&mut self) -> Memory<'_> {
        host(&mut self.words)
    }

    fn right(&self, inputs: &[Operand]) -> u64 {
        let value = self.decisive.and_then(|at| element(inputs.get(at.operand)?, at.element));
        fnv1a(0, &value.unwrap_or_default().to_bits().to_le_bytes())
    }

    pub(super) fn write_right(&mut self, inputs: &[Operand]) {
        self.words = [self.right(inputs); 2];
    }

    /// Applies an execution with that fault to the answer and the operands. `wrong` is true if a race occurs.
    pub(super) fn execute(&mut self, fault: AnswerFault, wrong: bool, inputs: &mut [Operand]) {
        self.settle();
        let right = self.right(inputs);
        let (first, last) = (*self.first.get_or_insert(right), std::mem::replace(&mut self.last, right));
        match fault {
            AnswerFault::Right => self.words = [right; 2],
            AnswerFault::Wrong => self.words = [!right; 2],
            AnswerFault::Racy => self.words = [if wrong { !right } else { right }; 2],
            AnswerFault::Nan => self.words = [NAN; 2],
            AnswerFault::Partial => self.words[0] = right,
            AnswerFault::Earlier => self.words = [last; 2],
            AnswerFault::Cached => self.words = [first; 2],
            AnswerFault::Late => self.pending = Some(right),
            AnswerFault::Stale | AnswerFault::InReset => {}
            AnswerFault::OverwritesOperand => {
                self.words = [right; 2];
                inputs.iter_mut().take(1).for_each(overwrite);
            }
        }
    }

    /// Completes the work of other streams.
    pub(super) fn settle(&mut self) {
        if let Some(word) = self.pending.take() {
            self.words = [word; 2];
        }
    }

    pub(super) fn is_right(&self, inputs: &[Operand]) -> bool {
        self.words == [self.right(inputs); 2]
    }

    pub(super) fn is_nan(&self) -> bool {
        self.words == [NAN; 2]
    }
}

fn element(operand: &Operand, index: usize) -> Option<f64> {
    match operand.values() {
        Values::F32(values) => values.get(index).map(|value| f64::from(*value)),
        Values::F64(values) => values.get(index).copied(),
        Values::C32(_) | Values::C64(_) => None,
    }
}

/// Changes the last element.
fn overwrite(operand: &mut Operand) {
    operand.values_mut().bytes_mut().iter_mut().last().into_iter().for_each(|byte| *byte ^= 0x40);
}
