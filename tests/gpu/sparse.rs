//! Sparse products of special matrices: empty, full and long rows, power laws, odd shapes and non-finite values.

use std::collections::BTreeMap;

use gpubench::backend::Backend;
use gpubench::case::{Cache, Case, DType};
use gpubench::data::hash::fnv1a;
use gpubench::data::{Csr, Operand, Real};
use gpubench::error::CellError;

use crate::{skipped, start_alone};

/// The own variants to test. Libraries need not accept every one of these matrices.
const PRODUCTS: [&str; 2] = ["gustavson", "gustavson-reuse"];
const VECTOR_PRODUCTS: [&str; 3] = ["vector", "adaptive", "row-per-thread"];

/// A matrix whose row `r` has at most `length(r)` entries in scattered columns, with values in (-1, 1).
fn matrix<T: Real>(rows: usize, cols: usize, seed: u64, length: impl Fn(usize) -> usize) -> Csr {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        let random = |entry: usize| fnv1a(seed, &((row as u64) << 32 | entry as u64).to_le_bytes());
        let wanted = length(row).min(cols);
        let mut columns: Vec<i32> = if wanted == cols {
            (0..cols as i32).collect()
        } else {
            (0..wanted).map(|entry| (random(entry) % cols as u64) as i32).collect()
        };
        columns.sort_unstable();
        columns.dedup();
        let value = |entry| T::from_f64((random(entry) >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
        values.extend((0..columns.len()).map(value));
        indices.extend(columns);
        indptr.push(indices.len() as i32);
    }
    Csr { rows, cols, indptr, indices, values: T::into_values(values) }
}

/// Lengths of rows of which one in eight is long, decreasing by a power law.
fn power_law(most: usize) -> impl Fn(usize) -> usize {
    move |row| {
        if row % 8 == 3 { (most as f64 / (1.0 + row as f64 / 8.0).powf(0.8)) as usize } else { row % 5 }
    }
}

fn row(csr: &Csr, row: usize) -> std::ops::Range<usize> {
    csr.indptr[row] as usize..csr.indptr[row + 1] as usize
}

/// A row of the product: for each column the float64 entry and the sum of the magnitudes of its terms.
type Row = BTreeMap<i32, (f64, f64)>;

/// Computes the rows of A B on the host.
fn product<T: Real>(a: &Csr, b: &Csr) -> Vec<Row> {
    let (a_values, b_values) = (T::slice(&a.values).unwrap(), T::slice(&b.values).unwrap());
    let mut rows = vec![Row::new(); a.rows];
    for (r, found) in rows.iter_mut().enumerate() {
        for e in row(a, r) {
            for f in row(b, a.indices[e] as usize) {
                let term = a_values[e].to_f64() * b_values[f].to_f64();
                let (sum, size) = found.entry(b.indices[f]).or_insert((0.0, 0.0));
                *sum += term;
                *size += term.abs();
            }
        }
    }
    rows
}

/// Returns whether `found` is `expected` up to the rounding of `terms` terms, or the same kind of non-finite value.
fn agrees<T: Real>(found: T, expected: f64, size: f64, terms: usize) -> bool {
    let found = found.to_f64();
    if !expected.is_finite() {
        return found.is_nan() == expected.is_nan() && (expected.is_nan() || found == expected);
    }
    let (roundoff, tiniest) = match T::DTYPE {
        DType::F64 => (f64::EPSILON, f64::from_bits(1)),
        _ => (f64::from(f32::EPSILON), f64::from(f32::from_bits(1))),
    };
    (found - expected).abs() <= (terms as f64 + 1.0) * (roundoff * size + tiniest)
}

/// The answers of two executions, or `None` if the variant does not support the case.
fn answers(
    backend: &mut dyn Backend,
    what: &str,
    variant: &str,
    case: &Case,
    inputs: &[Operand],
) -> Option<[Operand; 2]> {
    let mut job = match backend.prepare(variant, case, &mut inputs.to_vec()) {
        Ok(job) => job,
        Err(CellError::Unavailable(missing)) => {
            skipped(&format!("{what} {variant}"), &missing.reason);
            return None;
        }
        Err(error) => panic!("{what} {variant}: {error}"),
    };
    assert!(job.traits.synchronises == (variant == "gustavson"), "{what} {variant}");
    let answers = [Cache::Cold, Cache::Hot].map(|cache| {
        backend.time(&mut *job, cache).unwrap_or_else(|error| panic!("{what} {variant}: {error}"));
        job.answer().unwrap().remove(0)
    });
    Some(answers)
}

fn case<T: Real>(op: &str, n: usize) -> Case {
    Case { density: Some(0.01), ..Case::square(op, n as u64, T::DTYPE, 1) }
}

/// Checks C = A B by every own variant, and that two executions agree bit for bit.
fn multiply<T: Real>(backend: &mut dyn Backend, what: &str, a: &Csr, b: &Csr) {
    let inputs = [Operand::Csr(a.clone()), Operand::Csr(b.clone())];
    let expected = product::<T>(a, b);
    for variant in PRODUCTS {
        let what = format!("{what} {}", T::DTYPE);
        let Some([first, second]) = answers(backend, &what, variant, &case::<T>("spgemm", a.rows), &inputs)
        else {
            continue;
        };
        let (c, again) = (first.as_csr().unwrap(), second.as_csr().unwrap());
        assert_eq!((c.rows, c.cols), (a.rows, b.cols), "{what}");
        assert_eq!((&c.indptr, &c.indices), (&again.indptr, &again.indices), "{what}");
        let (values, repeated) = (T::slice(&c.values).unwrap(), T::slice(&again.values).unwrap());
        for (r, expected) in expected.iter().enumerate() {
            let columns: Vec<i32> = expected.keys().copied().collect();
            assert_eq!(c.indices[row(c, r)], columns, "{what}: columns of row {r}");
            let terms = row(a, r).len();
            for (place, (column, (sum, size))) in row(c, r).zip(expected) {
                let found = values[place];
                assert!(agrees(found, *sum, *size, terms), "{what} ({r}, {column}): {found:?}, not {sum:e}");
                assert_eq!(
                    found.to_f64().to_bits(),
                    repeated[place].to_f64().to_bits(),
                    "{what} ({r}, {column})"
                );
            }
        }
    }
}

/// Checks y = A x by every own variant, and that two executions agree bit for bit.
fn multiply_vector<T: Real>(backend: &mut dyn Backend, what: &str, a: &Csr, x: &[T]) {
    let inputs = [Operand::Csr(a.clone()), Operand::dense(x.len(), 1, x.to_vec())];
    let values = T::slice(&a.values).unwrap();
    for variant in VECTOR_PRODUCTS {
        let what = format!("{what} {}", T::DTYPE);
        let Some([first, second]) = answers(backend, &what, variant, &case::<T>("spmv", a.rows), &inputs)
        else {
            continue;
        };
        let (y, again) = (first.dense_slice::<T>().unwrap(), second.dense_slice::<T>().unwrap());
        assert_eq!(y.len(), a.rows, "{what}");
        for (r, found) in y.iter().enumerate() {
            let terms = row(a, r).map(|e| values[e].to_f64() * x[a.indices[e] as usize].to_f64());
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
            let right = agrees(*found, sum, size, row(a, r).len());
            assert!(right, "{what} {variant} row {r}: {found:?}, not {sum:e}");
            assert_eq!(found.to_f64().to_bits(), again[r].to_f64().to_bits(), "{what} {variant} row {r}");
        }
    }
}

/// Sprinkles infinities, NaN, denormals and zeros of both signs over the values.
fn spoil<T: Real>(csr: &mut Csr) {
    let tiny = if T::DTYPE == DType::F32 { 1e-40 } else { 1e-310 };
    let odd = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, tiny, 0.0, -0.0];
    let mut values = T::slice(&csr.values).unwrap().to_vec();
    for (index, value) in values.iter_mut().enumerate().filter(|(index, _)| index % 11 == 0) {
        *value = T::from_f64(odd[index / 11 % odd.len()]);
    }
    csr.values = T::into_values(values);
}

fn products<T: Real>(backend: &mut dyn Backend) {
    let third = |r: usize| if r.is_multiple_of(3) { 9 } else { 0 };
    multiply::<T>(backend, "empty", &matrix::<T>(37, 37, 1, |_| 0), &matrix::<T>(37, 37, 2, |_| 4));
    multiply::<T>(backend, "empty rows", &matrix::<T>(301, 301, 1, third), &matrix::<T>(301, 301, 2, third));
    multiply::<T>(backend, "full", &matrix::<T>(131, 131, 1, |_| 131), &matrix::<T>(131, 131, 2, |_| 131));
    let (a, b) = (matrix::<T>(77, 501, 3, |r| r % 7 * 9), matrix::<T>(501, 9001, 4, |r| r % 13));
    multiply::<T>(backend, "not square", &a, &b);
    let some = |r: usize| r % 4;
    for [m, n, k] in
        [[1, 3000, 700], [3000, 1, 700], [700, 300, 1], [1, 1, 5000], [200_000, 3, 5], [3, 200_000, 50]]
    {
        let (a, b) = (matrix::<T>(m, k, 12, |r| some(r + 3)), matrix::<T>(k, n, 13, |r| some(r + 2)));
        multiply::<T>(backend, &format!("{m} x {n} x {k}"), &a, &b);
    }
    let b = matrix::<T>(501, 9001, 4, |r| if r.is_multiple_of(50) { 9001 } else { r % 90 });
    multiply::<T>(backend, "full rows of B", &a, &b);
    let (a, b) = (matrix::<T>(3, 5000, 5, |_| 4000), matrix::<T>(5000, 70_001, 6, |r| r % 11));
    multiply::<T>(backend, "more columns than a tile has bits", &a, &b);
    let wide = matrix::<T>(2500, 2500, 7, power_law(2500));
    multiply::<T>(backend, "power law", &wide, &wide);
    let wide = matrix::<T>(9000, 9000, 8, |r| if r == 4000 { 9000 } else { 3 });
    multiply::<T>(backend, "one full row", &wide, &wide);
    let thin = matrix::<T>(20_000, 20_000, 9, |r| if r % 100 == 7 { 60 } else { 5 });
    multiply::<T>(backend, "rows longer than the room for them", &thin, &thin);
    let (mut a, mut b) = (matrix::<T>(257, 257, 10, |_| 12), matrix::<T>(257, 257, 11, |_| 13));
    spoil::<T>(&mut a);
    spoil::<T>(&mut b);
    multiply::<T>(backend, "not finite", &a, &b);
}

#[test]
fn products_of_awkward_matrices_are_right_and_repeat_to_the_bit() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    products::<f32>(&mut *backend);
    products::<f64>(&mut *backend);
}

fn vector_products<T: Real>(backend: &mut dyn Backend) {
    let x = |cols: usize| -> Vec<T> { (0..cols).map(|c| T::from_f64((c % 17) as f64 / 4.0 - 2.0)).collect() };
    multiply_vector(backend, "empty", &matrix::<T>(37, 37, 1, |_| 0), &x(37));
    multiply_vector(backend, "one", &matrix::<T>(1, 1, 1, |_| 1), &x(1));
    let third = matrix::<T>(1001, 1003, 2, |r| if r.is_multiple_of(3) { 7 } else { 0 });
    multiply_vector(backend, "empty rows", &third, &x(1003));
    for [m, n] in [[1, 200_000], [200_000, 1], [300_000, 7], [7, 300_000]] {
        let a = matrix::<T>(m, n, 7, |r| if m < 10 { n / 3 } else { r % 6 });
        multiply_vector(backend, &format!("{m} x {n}"), &a, &x(n));
    }
    multiply_vector(backend, "full", &matrix::<T>(333, 333, 3, |_| 333), &x(333));
    let long = matrix::<T>(301, 9001, 4, |r| if r % 50 == 7 { 9001 } else { r % 5 });
    multiply_vector(backend, "long rows", &long, &x(9001));
    multiply_vector(backend, "power law", &matrix::<T>(20_000, 20_000, 5, power_law(20_000)), &x(20_000));
    let mut odd = matrix::<T>(257, 257, 6, |r| r % 70);
    spoil::<T>(&mut odd);
    multiply_vector(backend, "not finite", &odd, &x(257));
}

#[test]
fn vector_products_of_awkward_matrices_are_right_and_repeat_to_the_bit() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    vector_products::<f32>(&mut *backend);
    vector_products::<f64>(&mut *backend);
}

#[test]
fn unsorted_or_repeated_columns_are_rejected_in_b_and_accepted_in_a() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let (ordered, case) = (matrix::<f32>(50, 50, 1, |_| 6), case::<f32>("spgemm", 50));
    let mut reversed = ordered.clone();
    let second = row(&ordered, 2);
    reversed.indices[second.clone()].reverse();
    multiply::<f32>(&mut *backend, "A out of order", &reversed, &ordered);
    let mut twice = ordered.clone();
    twice.indices[second.start + 1] = twice.indices[second.start];
    multiply::<f32>(&mut *backend, "A twice", &twice, &ordered);
    for b in [reversed, twice] {
        let inputs = [Operand::Csr(ordered.clone()), Operand::Csr(b)];
        match backend.prepare("gustavson", &case, &mut inputs.clone()).err() {
            Some(CellError::Unavailable(missing)) => {
                assert!(missing.reason.contains("row 2 of B"), "{}", missing.reason);
                assert!(missing.fix.is_some_and(|fix| fix.contains("cusparse")));
            }
            other => panic!("{other:?}"),
        }
    }
}
