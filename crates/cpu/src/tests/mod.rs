//! Checks that every variant must pass for any op, and helpers that the tests of each op share.

mod judged;

use std::collections::BTreeMap;

use gpubench_backend::Variant;
use gpubench_ops::{self as op, Checked};

use super::*;

/// Returns the answer of one variant on two threads, executed twice so that state left by the first execution would
/// show.
pub(crate) fn answer_of(op: &str, variant: &str, n: usize, dtype: DType, inputs: &[Operand]) -> Vec<Operand> {
    let variant = variants().into_iter().find(|listed| listed.op == op && listed.name == variant).unwrap();
    let case = Case::square(op, n as u64, dtype, 1);
    let mut workers = Workers::default();
    let mut job = prepared(workers.of(&variant), &variant, &case, inputs).unwrap();
    for _ in 0..2 {
        job.reset().unwrap();
        job.execute().unwrap();
    }
    job.answer().unwrap()
}

/// Sides that the tests of every kernel use: the smallest, odd and even ones, a prime, and one beyond a tile.
pub(crate) static TEST_SIDES: [usize; 6] = [1, 2, 31, 100, 101, 333];

/// The workers of a test, on two threads each, one for each library.
#[derive(Default)]
struct Workers(BTreeMap<Option<String>, Box<dyn Backend>>);

impl Workers {
    /// Returns the worker that can run `variant`.
    fn of(&mut self, variant: &Variant) -> &mut dyn Backend {
        let library = variant.library.as_deref().map(str::to_owned);
        let options = Options { threads: Some(2), library: library.clone(), ..Options::default() };
        self.0.entry(library).or_insert_with(|| start(&options).unwrap()).as_mut()
    }
}

fn variants() -> Vec<Variant> {
    (REGISTRATION.variants)(&Options::default()).unwrap()
}

/// Prepares a case; `None` if the library of the variant is missing.
fn prepared(
    cpu: &mut dyn Backend,
    variant: &Variant,
    case: &Case,
    inputs: &[Operand],
) -> Option<Box<Prepared>> {
    match cpu.prepare(&variant.name, case, &mut inputs.to_vec()) {
        Ok(job) => Some(job),
        Err(CellError::Unavailable(_)) => None,
        Err(problem) => panic!("{case} {}: {problem}", variant.name),
    }
}

/// Every variant whose library is present, prepared on two threads, with its operands.
fn for_each_variant(
    check: impl Fn(&mut dyn Backend, &mut Prepared, &Case, &Variant, &[Operand]) + Send + 'static,
) {
    with_stack(move || {
        let mut workers = Workers::default();
        for variant in variants() {
            let density = densities(&variant.op)[0];
            let case = Case { density, ..Case::square(&variant.op, 200, variant.dtypes[0], 7) };
            let inputs = op::find(&variant.op).unwrap().inputs(&case);
            let cpu = workers.of(&variant);
            if let Some(mut job) = prepared(cpu, &variant, &case, &inputs) {
                check(cpu, job.as_mut(), &case, &variant, &inputs);
            }
        }
    });
}

/// Densities at which tests run an op: such that rows of a sparse product are sparse or crowded.
fn densities(op: &str) -> &'static [Option<f64>] {
    match op {
        "spgemm" => &[Some(0.01), Some(0.3)],
        "spmv" => &[Some(0.05), Some(1.0)],
        _ => &[None],
    }
}

#[test]
fn every_variant_is_right_on_any_number_of_threads() {
    with_stack(|| {
        let mut workers = Workers::default();
        for variant in variants() {
            let op = op::find(&variant.op).unwrap();
            // A launch per element: only the smallest.
            let sides = if op.name() == "host-loop" { &TEST_SIDES[..3] } else { &TEST_SIDES };
            let densities = densities(op.name()).iter();
            let kinds =
                densities.flat_map(|&density| variant.dtypes.iter().map(move |&dtype| (density, dtype)));
            let of_kind = |(density, dtype)| sides.iter().map(move |&n| (n as u64, density, dtype));
            for (n, density, dtype) in kinds.flat_map(of_kind) {
                let case = Case { density, ..Case::square(op.name(), n, dtype, 1) };
                let inputs = op.inputs(&case);
                let Some(mut job) = prepared(workers.of(&variant), &variant, &case, &inputs) else {
                    continue;
                };
                let choices = job.traits.thread_choices.clone();
                for threads in choices.into_iter().rev().map(Some).chain([None, None]) {
                    threads.into_iter().for_each(|threads| job.use_threads(threads));
                    job.reset().unwrap();
                    job.execute().unwrap();
                    assert_right(&case, &variant, &inputs, &job.answer().unwrap());
                }
            }
        }
    });
}

#[test]
fn a_matrix_that_cannot_be_factorised_is_a_failed_call() {
    with_stack(|| {
        let mut workers = Workers::default();
        for variant in variants().iter().filter(|variant| variant.op == "solve") {
            let is_lu = variant.name.ends_with("-lu");
            let matrix = if is_lu { vec![1.0; 4] } else { vec![1.0, 2.0, 2.0, 1.0] };
            let inputs = [Operand::dense(2, 2, matrix), Operand::dense(2, 1, vec![1.0, 2.0])];
            let case = Case::square("solve", 2, DType::F64, 1);
            if let Some(mut job) = prepared(workers.of(variant), variant, &case, &inputs) {
                assert!(matches!(job.execute(), Err(CellError::Failed(_))), "{}", variant.name);
            }
        }
    });
}

#[test]
fn every_librarys_variants_are_named_by_its_finding() {
    let findings = |library: Option<&str>| {
        (REGISTRATION.findings)(&Options { library: library.map(str::to_owned), ..Options::default() })
    };
    assert_eq!(findings(None), [], "a worker without a library looks for none");
    for library in gpubench_backend::libraries(&REGISTRATION, &Options::default()) {
        let found = findings(Some(&library));
        assert!(!found.is_empty(), "{library}");
        for finding in found {
            assert!(!finding.serves.is_empty() && finding.path.is_some() != finding.problem.is_some());
            assert!(
                library != "mkl" || finding.serves.contains(&"svd/mkl".to_owned()),
                "{:?}",
                finding.serves
            );
        }
    }
}

/// Asserts that an answer is right, except of running sums in float32, which are not at the size of these tests.
fn assert_right(case: &Case, variant: &Variant, inputs: &[Operand], answer: &[Operand]) {
    if title(variant) != "reduction/ndarray" {
        let rounding = variant.accuracy.rounding(case.dtype);
        let checked = op::find(&case.op).unwrap().check(case, inputs, answer, rounding);
        assert!(checked.as_ref().is_ok_and(Checked::is_right), "{}: {checked:?}", title(variant));
    }
}

fn title(variant: &Variant) -> String {
    format!("{}/{}", variant.op, variant.name)
}

/// Runs a test on a thread with a stack as large as that of a main thread, which LAPACK needs.
pub(crate) fn with_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn every_variant_shows_the_memory_of_its_operands_and_of_its_answer() {
    for_each_variant(|_, job, _, variant, inputs| {
        job.reset().unwrap();
        job.execute().unwrap();
        // A handful of numbers, such as a sum, need not be shown.
        let answer: u64 = job.answer().unwrap().iter().map(Operand::bytes).filter(|&bytes| bytes > 64).sum();
        let mut shown = 0;
        job.buffers(&mut |memory| shown += memory.len() as u64);
        let owed = answer + inputs.iter().map(Operand::bytes).sum::<u64>();
        assert!(shown >= owed, "{} shows {shown} bytes of {owed}", title(variant));
    });
}

#[test]
fn no_variant_of_svd_and_solve_holds_more_memory_than_is_checked_before() {
    with_stack(|| {
        let mut workers = Workers::default();
        for (op, shape) in [
            ("svd", r#"{"m": 1500, "n": 200}"#),
            ("svd", r#"{"m": 200, "n": 1500}"#),
            ("svd", r#"{"m": 500, "n": 500}"#),
            ("svd", r#"{"m": 30, "n": 20, "batch": 5000}"#),
            ("solve", r#"{"n": 300, "rhs": 30}"#),
            ("solve", r#"{"n": 20, "rhs": 3, "batch": 5000}"#),
        ] {
            let case = Case { shape: serde_json::from_str(shape).ok(), ..Case::square(op, 1, DType::F32, 1) };
            let described = op::find(op).unwrap();
            let inputs = described.inputs(&case);
            // Next to it there are blocks of a library, whose size does not grow with the case.
            let most = described.host_bytes(&case) + (128 << 10);
            for variant in variants().iter().filter(|variant| variant.op == op && variant.shapes.have(&case))
            {
                let Some(job) = prepared(workers.of(variant), variant, &case, &inputs) else { continue };
                let mut held = 0;
                job.buffers(&mut |memory| held += memory.len() as u128);
                assert!(held <= most, "{case} {}: {held} bytes, more than {most}", variant.name);
            }
        }
    });
}

#[test]
fn every_variant_of_sparse_products_is_right_at_any_shape() {
    with_stack(|| {
        let mut workers = Workers::default();
        for (op, shape) in [
            ("spmv", r#"{"m": 1, "n": 900}"#),
            ("spmv", r#"{"m": 900, "n": 1}"#),
            ("spmv", r#"{"m": 20000, "n": 17}"#),
            ("spmv", r#"{"m": 17, "n": 20000}"#),
            ("spgemm", r#"{"m": 1, "n": 90, "k": 70}"#),
            ("spgemm", r#"{"m": 90, "n": 1, "k": 70}"#),
            ("spgemm", r#"{"m": 3000, "n": 9, "k": 65}"#),
            ("spgemm", r#"{"m": 9, "n": 3000, "k": 65}"#),
        ] {
            let shape = serde_json::from_str(shape).ok();
            let case = Case { shape, density: Some(0.2), ..Case::square(op, 1, DType::F64, 1) };
            let inputs = op::find(op).unwrap().inputs(&case);
            for variant in variants().iter().filter(|variant| variant.op == op) {
                assert!(variant.shapes.have(&case), "{}", title(variant));
                let Some(mut job) = prepared(workers.of(variant), variant, &case, &inputs) else { continue };
                job.reset().unwrap();
                job.execute().unwrap();
                assert_right(&case, variant, &inputs, &job.answer().unwrap());
            }
        }
    });
}

#[test]
fn rows_and_columns_are_reduced_or_refused_by_every_variant() {
    with_stack(|| {
        let mut workers = Workers::default();
        let shapes =
            [(1, 1), (1, 500), (500, 1), (33, 7), (1000, 3), (3, 1000), (2500, 37), (40000, 5), (5, 40000)];
        for (rows, cols) in shapes {
            for (axis, &dtype) in
                [0, 1].into_iter().flat_map(|axis| DType::REAL_AND_HALF.iter().map(move |d| (axis, d)))
            {
                let shape = serde_json::json!({"rows": rows, "cols": cols, "axis": axis});
                let shape = serde_json::from_value(shape).ok();
                let case = Case { shape, ..Case::square("reduction", 1, dtype, 1) };
                let inputs = op::find("reduction").unwrap().inputs(&case);
                let has = |variant: &&Variant| variant.op == "reduction" && variant.dtypes.contains(&dtype);
                for variant in variants().iter().filter(has) {
                    let job = workers.of(variant).prepare(&variant.name, &case, &mut inputs.clone());
                    if variant.name == "ndarray" {
                        assert!(matches!(job, Err(crate::CellError::Unavailable(_))));
                        continue;
                    }
                    let mut job = job.unwrap();
                    job.execute().unwrap();
                    assert_right(&case, variant, &inputs, &job.answer().unwrap());
                }
            }
        }
    });
}

#[test]
fn the_answer_of_a_cold_sample_is_right() {
    for_each_variant(|cpu, job, case, variant, inputs| {
        let sample = cpu.time(job, Cache::Cold).unwrap();
        assert!(sample.host_s > 0.0);
        // Not the previous answer: rounding may change the signs of singular vectors.
        assert_right(case, variant, inputs, &job.answer().unwrap());
    });
}

#[test]
fn every_variant_takes_its_operands_and_lends_them_with_the_answer() {
    for_each_variant(|_, job, case, variant, inputs| {
        for _ in 0..2 {
            job.reset().unwrap();
            job.execute().unwrap();
            let mut lent: Option<[Vec<Operand>; 2]> = None;
            job.lend(&mut |now| {
                lent = Some([now.operands.unwrap_or_default().to_vec(), now.answer.to_vec()]);
            })
            .unwrap();
            let [operands, answer] = lent.unwrap();
            assert_eq!(operands, inputs, "{}", title(variant));
            assert_eq!(answer, job.answer().unwrap(), "{} shows another answer", title(variant));
            assert_right(case, variant, inputs, &answer);
        }
    });
}

/// Returns whether a thread of the pool, or this one, has upper halves in use.
fn some_in_use() -> bool {
    let of_pool = rayon::broadcast(|_| vector_registers::are_in_use());
    of_pool.into_iter().chain([vector_registers::are_in_use()]).any(|in_use| in_use == Some(true))
}

#[test]
#[expect(clippy::print_stderr, reason = "names the variants that leave them in use")]
fn every_variant_is_timed_with_clear_vector_registers() {
    // Upper halves in use would slow the next variant, as they would not in a program of its own.
    for_each_variant(|cpu, job, _, variant, _| {
        cpu.settle();
        assert!(!some_in_use(), "{} finds them in use", title(variant));
        cpu.time(job, Cache::Hot).unwrap();
        if some_in_use() {
            eprintln!("{} leaves them in use", title(variant));
        }
    });
}
