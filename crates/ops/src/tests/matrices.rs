//! Answers on the matrices of files, whose entries may be negative, cancel and differ in size by orders of magnitude.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use gpubench_report::data::generator::Stream;

use super::*;
use crate::matrix::{self, FileMatrix};

/// Loads the matrix of these entries, of which the lower triangle is given where it is symmetric.
fn loaded(name: &str, n: usize, kind: &str, entries: &[(usize, usize, f64)]) -> &'static FileMatrix {
    let mut text = format!("%%MatrixMarket matrix coordinate real {kind}\n{n} {n} {}\n", entries.len());
    for (row, col, value) in entries {
        writeln!(text, "{} {} {value:e}", row + 1, col + 1).unwrap();
    }
    static FILES: AtomicU32 = AtomicU32::new(0);
    // Tests run at the same time.
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("gpubench-{}-{number}-{name}.mtx", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let matrix = matrix::load(&path, None).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(std::ptr::eq(matrix::find(&matrix.identity).unwrap(), matrix::load(&path, None).unwrap()));
    matrix
}

/// A symmetric positive definite matrix with a full row, whose weights span six orders of magnitude.
fn graph(n: usize) -> &'static FileMatrix {
    let stream = Stream::new(7, 0);
    let mut degrees = vec![0.5; n];
    let mut entries = vec![];
    for row in 1..n {
        let mut columns = vec![0, row - 1, (stream.bits(row as u64) % row as u64) as usize];
        columns.sort_unstable();
        columns.dedup();
        for col in columns {
            let weight = 10f64.powf(6.0 * stream.uniform::<f64>((row * n + col) as u64) - 3.0);
            entries.push((row, col, -weight));
            (degrees[row], degrees[col]) = (degrees[row] + weight, degrees[col] + weight);
        }
    }
    entries.extend(degrees.iter().enumerate().map(|(row, degree)| (row, row, *degree)));
    loaded(&format!("graph{n}"), n, "symmetric", &entries)
}

/// The second difference, a matrix of large condition.
fn difference(n: usize) -> &'static FileMatrix {
    let diagonal = (0..n).map(|row| (row, row, 2.0));
    let entries: Vec<_> = diagonal.chain((1..n).map(|row| (row, row - 1, -1.0))).collect();
    loaded(&format!("difference{n}"), n, "symmetric", &entries)
}

/// A matrix without symmetry, with empty rows, and rows whose sums cancel.
fn cancelling(n: usize) -> &'static FileMatrix {
    let stream = Stream::new(3, 0);
    let mut entries = vec![];
    for row in (0..n).filter(|row| row % 5 != 3) {
        for index in 0..1 + row % 17 {
            let col = (row * 31 + index * 7) % n;
            let value = stream.uniform::<f64>((row * n + col) as u64) + 0.1;
            entries.extend([(row, col, 1e3 * value), (row, (col + n / 2) % n, -1e3 * value)]);
        }
    }
    loaded(&format!("cancelling{n}"), n, "general", &entries)
}

fn case_of(op: &str, matrix: &FileMatrix, dtype: DType) -> Case {
    let density = (op != "solve").then(|| matrix.density());
    let identity = Some(matrix.identity.clone());
    Case { density, matrix: identity, ..Case::square(op, matrix.n(), dtype, 42) }
}

fn cases(sizes: &[usize]) -> Vec<(Case, Vec<Operand>)> {
    let mut found = vec![];
    for &n in sizes {
        let symmetric = [graph(n), difference(n)];
        assert!(symmetric.iter().all(|matrix| matrix.is_symmetric));
        let all = symmetric.into_iter().chain((n > 1).then(|| cancelling(n)));
        for (matrix, op, dtype) in all.flat_map(|matrix| {
            matrix::OPS.iter().flat_map(move |op| DType::REAL.iter().map(move |d| (matrix, *op, *d)))
        }) {
            if op == "solve" && !matrix.is_symmetric {
                continue;
            }
            let case = case_of(op, matrix, dtype);
            let inputs = the(op).inputs(&case);
            found.push((case, inputs));
        }
    }
    found
}

#[test]
fn right_answers_with_cancellation_stay_below_half_of_the_bound() {
    for (case, inputs) in cases(&[1, 2, 3, 31, 200, 500]) {
        let checked = check(&case, &inputs, &plain_answer(&case, &inputs));
        assert!(checked.value <= 0.5 * checked.bound, "{case}: {checked:?}");
    }
}

#[test]
fn the_largest_entries_off_by_one_percent_are_wrong() {
    for (case, inputs) in cases(&[2, 31, 200]) {
        let answer = plain_answer(&case, &inputs);
        let values = values_of(&answer[0]);
        let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let visible = |index: &usize| values[*index].abs() > 0.5 * largest;
        for index in (0..values.len()).filter(visible) {
            let mut answer = answer.clone();
            alter(&mut answer[0], index, |value| 1.01 * value);
            let checked = check(&case, &inputs, &answer);
            assert!(!checked.is_right(), "{case}: entry {index} passes with {checked:?}");
        }
    }
}

#[test]
fn the_decisive_element_changes_the_answer_beyond_the_bound() {
    for (case, mut inputs) in cases(&[1, 2, 31, 200]) {
        let stale = plain_answer(&case, &inputs);
        let decisive = the(&case.op).decisive_element(&case, &inputs).unwrap();
        alter(&mut inputs[decisive.operand], decisive.element, |_| decisive.value);
        assert!(!check(&case, &inputs, &stale).is_right(), "{case}: {decisive:?}");
        assert!(check(&case, &inputs, &plain_answer(&case, &inputs)).is_right(), "{case}");
    }
}

#[test]
fn work_counts_the_entries_and_products_of_the_file() {
    // Row lengths 1, 2 and 0; the products of the entries are 2, then 1 and 0.
    let matrix = loaded("counted", 3, "general", &[(0, 1, 2.0), (1, 0, -1.0), (1, 2, 3.0)]);
    let of = |op: &str| {
        let case = case_of(op, matrix, DType::F64);
        assert_eq!(the(op).nothing_to_compute(&case), None);
        the(op).work(&case)
    };
    assert_eq!((of("spmv").flop, of("spmv").bytes), (6.0, 36.0 + 16.0 + 48.0));
    assert_eq!((of("spgemm").flop, of("spgemm").bytes), (6.0, 3.0 * (36.0 + 16.0)));
    let empty = loaded("empty", 3, "general", &[]);
    for op in ["spmv", "spgemm"] {
        let case = case_of(op, empty, DType::F64);
        assert!(the(op).nothing_to_compute(&case).is_some_and(|reason| reason.contains("no entries")));
    }
}

#[test]
fn values_beyond_the_element_type_are_no_case_of_it() {
    let matrix = loaded("beyond", 1, "general", &[(0, 0, 1e39)]);
    for (op, dtype) in matrix::OPS.iter().flat_map(|op| DType::REAL.iter().map(move |dtype| (*op, *dtype))) {
        let case = case_of(op, matrix, dtype);
        assert_eq!(the(op).nothing_to_compute(&case).is_some(), dtype == DType::F32, "{case}");
    }
}

#[test]
fn cases_without_a_matrix_are_written_as_before() {
    let written = r#"{"op":"spmv","n":8,"dtype":"f32","density":0.5,"seed":1}"#;
    let case: Case = serde_json::from_str(written).unwrap();
    assert_eq!((serde_json::to_string(&case).unwrap().as_str(), case.matrix), (written, None));
}
