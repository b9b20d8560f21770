//! Checks that every variant must pass for any op, and helpers that the tests of each op share.

mod cold;
mod dense;
mod judged;
mod registers;

use gpubench_backend::Options;
use gpubench_model::case::{Case, DType};
use gpubench_model::data::generator::Stream;
use gpubench_model::data::{Operand, Real};

use super::REGISTRATION;

/// Returns the answer of one variant on two threads, executed twice so that state left by the first execution would
/// show.
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

/// Asserts that the elements of an answer follow a formula of the operands in float64, to `most` unit roundoffs.
pub(crate) fn assert_formula<const N: usize>(
    op: &str,
    variant: &str,
    formula: impl Fn([f64; N]) -> f64,
    most: impl Fn([f64; N]) -> f64,
) {
    for n in TEST_SIDES {
        holds::<f32, N>(op, variant, n, &formula, &most);
        holds::<f64, N>(op, variant, n, &formula, &most);
    }
}

fn holds<T: Real, const N: usize>(
    op: &str,
    variant: &str,
    n: usize,
    formula: &impl Fn([f64; N]) -> f64,
    most: &impl Fn([f64; N]) -> f64,
) {
    let operands: [Vec<T>; N] = std::array::from_fn(|operand| Stream::new(1, operand as u64).uniforms(n * n));
    let inputs = operands.each_ref().map(|elements| Operand::dense(n, n, elements.clone()));
    let answer = answer_of(op, variant, n, T::DTYPE, &inputs);
    let y = answer[0].dense_slice::<T>().unwrap();
    assert_eq!(y.len(), n * n);
    for (at, y) in y.iter().enumerate() {
        let x = operands.each_ref().map(|elements| elements[at].to_f64());
        let error = (y.to_f64() - formula(x)).abs();
        assert!(error <= most(x) * T::DTYPE.unit_roundoff(), "{op}/{variant} {n} {x:?}: {error}");
    }
}
