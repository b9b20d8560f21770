//! Checks that every variant must pass for any op, and helpers that the tests of each op share.

mod cold;
mod dense;
mod judged;
mod lent;
mod registers;

use std::collections::BTreeMap;

use gpubench_backend::{Backend, Options, Prepared, Variant};
use gpubench_model::case::{Case, DType};
use gpubench_model::data::generator::Stream;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;
use gpubench_ops as op;

use super::{REGISTRATION, start};

/// Returns the answer of one variant on two threads, executed twice so that state left by the first execution would
/// show.
pub(crate) fn answer_of(op: &str, variant: &str, n: usize, dtype: DType, inputs: &[Operand]) -> Vec<Operand> {
    let variants = (REGISTRATION.variants)(&Options::default()).unwrap();
    let listed = variants.iter().find(|listed| listed.op == op && listed.name == variant).unwrap();
    let library = listed.library.as_deref().map(str::to_owned);
    let options = Options { threads: Some(2), library, ..Default::default() };
    let mut cpu = (REGISTRATION.start)(&options).unwrap();
    let case = Case { op: op.into(), n: n as u64, dtype, density: None, seed: 1 };
    let mut job = cpu.prepare(variant, &case, &mut inputs.to_vec()).unwrap();
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

/// Every variant whose library is present, prepared on two threads, with its operands.
pub(crate) fn for_each_variant(check: impl Fn(&mut dyn Backend, &mut Prepared, &Case, &Variant, &[Operand])) {
    let started = |library: Option<String>| {
        start(&Options { threads: Some(2), library, ..Options::default() }).unwrap()
    };
    let mut backends = BTreeMap::new();
    for variant in (REGISTRATION.variants)(&Options::default()).unwrap() {
        let library = variant.library.as_deref().map(str::to_owned);
        let cpu = backends.entry(library.clone()).or_insert_with(|| started(library));
        let sparse = ["spgemm", "spmv"].contains(&variant.op.as_ref());
        let density = sparse.then_some(0.1);
        let case = Case { op: variant.op.to_string(), n: 200, dtype: DType::F32, density, seed: 7 };
        let inputs = op::find(&variant.op).unwrap().inputs(&case);
        match cpu.prepare(&variant.name, &case, &mut inputs.clone()) {
            Ok(mut job) => check(cpu.as_mut(), job.as_mut(), &case, &variant, &inputs),
            Err(CellError::Unavailable(_)) => {}
            Err(problem) => panic!("{case} {}: {problem}", variant.name),
        }
    }
}

pub(crate) fn title(variant: &Variant) -> String {
    format!("{}/{}", variant.op, variant.name)
}

/// Runs a test on a thread with a stack as large as that of a main thread, which LAPACK needs.
pub(crate) fn with_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
