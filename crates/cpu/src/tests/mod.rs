//! What every variant owes, whichever its op, and what the tests of each op share.

mod cold;
mod dense;
mod judged;

use gpubench_backend::Options;
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;

use super::REGISTRATION;

/// The answer of one variant on two threads, executed twice so that state left behind by the first would show.
pub(crate) fn answer_of(op: &str, variant: &str, n: usize, dtype: DType, inputs: &[Operand]) -> Vec<Operand> {
    let variants = (REGISTRATION.variants)(&Options::default()).unwrap();
    let listed = variants.iter().find(|listed| listed.op == op && listed.name == variant).unwrap();
    let library = listed.library.as_deref().map(str::to_owned);
    let options = Options { threads: Some(2), library, ..Default::default() };
    let mut cpu = (REGISTRATION.start)(&options).unwrap();
    let case = Case { op: op.into(), n: n as u64, dtype, density: None, seed: 1 };
    let mut job = cpu.prepare(variant, &case, inputs).unwrap();
    for _ in 0..2 {
        job.reset().unwrap();
        job.execute().unwrap();
    }
    job.answer().unwrap()
}

/// Sides that the tests of every kernel use: the smallest, odd and even ones, a prime, and one beyond a tile.
pub(crate) const TEST_SIDES: [usize; 6] = [1, 2, 31, 100, 101, 333];
