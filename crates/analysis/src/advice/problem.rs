//! The problem of gpubench that a recorded call computes.

use gpubench_ops as op;
use gpubench_report::calls::Call;
use gpubench_report::case::{Case, DType};
use gpubench_report::shape::{BATCH, Dimension, LAYOUT, RHS, Shape};
use serde_json::{Map, Value};

/// A problem that gpubench measures, for a call that does it or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProblem {
    /// The case.
    pub case: Case,
    /// The share of the problem's work that the call does, such as a half for `syrk`, which computes one triangle of a product.
    pub share: f64,
}

/// Returns the problem of a call; `None` if gpubench has no op for it.
///
/// Matrices that are stored column by column are the transposed ones stored row by row, as gpubench's are.
pub fn problem(call: &Call) -> Option<CallProblem> {
    let dtype = DType::ALL.iter().copied().find(|dtype| dtype.name() == call.dtype)?;
    // The records of transforms have the type of the parts.
    let dtype = match (call.routine.as_str(), call.flags.as_str(), dtype) {
        ("fft", "C", DType::F32) => DType::C64,
        ("fft", "C", DType::F64) => DType::C128,
        _ => dtype,
    };
    let (m, n, k) = (call.m, call.n, call.k);
    let transposed =
        |index: usize| call.flags.chars().nth(index).is_some_and(|flag| flag == 'T' || flag == 'C');
    let letter = |is_transposed: bool| if is_transposed { 't' } else { 'n' };
    let product = |m: u64, n: u64, k: u64, [a, b]: [bool; 2]| {
        let layout = format!("{}{}", letter(a), letter(b));
        ("matmul", vec![("m", m), ("n", n), ("k", k)], Some(layout))
    };
    let share_of = |entries: u64, elements: f64| entries as f64 / elements;
    let mut density = None;
    let ((name, dims, layout), share) = match call.routine.as_str() {
        "gemm" if call.row_major => (product(m, n, k, [transposed(0), transposed(1)]), 1.0),
        "gemm" => (product(n, m, k, [transposed(1), transposed(0)]), 1.0),
        "gemv" => {
            let (rows, columns) = if transposed(0) { (n, m) } else { (m, n) };
            (product(rows, 1, columns, [transposed(0) == call.row_major, false]), 1.0)
        }
        "syrk" => (product(n, n, k, [transposed(0) == call.row_major, transposed(0) != call.row_major]), 0.5),
        "posv" => (("solve", vec![("n", n), (RHS, call.rhs)], None), 1.0),
        // The factorisation takes n³/3 of the n³/3 + 2 n² operations.
        "potrf" => (("solve", vec![("n", n), (RHS, 1)], None), n as f64 / (n as f64 + 6.0)),
        "gesdd" | "gesvd" if call.flags.starts_with(['S', 'A']) => {
            (("svd", vec![("m", m), ("n", n)], None), 1.0)
        }
        "spmv" if n == 1 => {
            density = Some(share_of(call.entries, m as f64 * k as f64));
            (("spmv", vec![("m", m), ("n", k)], None), 1.0)
        }
        // Factors of one density, with the products of those of the call.
        "spgemm" => {
            let of_both = [(call.entries, m), (call.other_entries, n)];
            let [a, b] = of_both.map(|(entries, side)| share_of(entries, side as f64 * k as f64));
            density = Some((a * b).sqrt());
            (("spgemm", vec![("m", m), ("n", n), ("k", k)], None), 1.0)
        }
        // A transform back, to real data or of complex ones, has the passes of one forward.
        "fft" if ["R", "B", "C"].contains(&call.flags.as_str()) => {
            let names = ["nx", "ny", "nz"].into_iter().zip(call.extents.iter().copied());
            (("fft", names.chain([(BATCH, call.batch)]).collect(), None), 1.0)
        }
        _ => return None,
    };
    let fixed = dims.iter().map(|(name, extent)| ((*name).to_owned(), Dimension::Fixed(*extent)));
    let word = layout.map(|layout| (LAYOUT.to_owned(), Dimension::Word(layout)));
    let largest =
        dims.iter().filter(|(name, _)| ![BATCH, RHS].contains(name)).map(|(_, extent)| *extent).max()?;
    if dims.iter().any(|(_, extent)| *extent == 0) {
        return None;
    }
    let shape = Shape::of(fixed.chain(word)).ok()?;
    let known = op::find(name).filter(|op| op.about().dtypes.contains(&dtype))?;
    if known.refuse_shape(&shape).is_some() {
        return None;
    }
    // Three digits, so that calls that hardly differ are one problem.
    let density: Option<f64> = density.and_then(|density| format!("{density:.2e}").parse().ok());
    if density.is_some_and(|density| !(density > 0.0 && density <= 1.0)) {
        return None;
    }
    let case = Case { shape: Some(shape), density, ..Case::square(name, largest, dtype, 0) };
    Some(CallProblem { case, share })
}

impl CallProblem {
    /// The problem as a line of `--problems`.
    pub fn line(&self) -> String {
        let mut keys = Map::from_iter([
            ("op".to_owned(), Value::from(self.case.op.as_str())),
            ("dtype".to_owned(), Value::from(self.case.dtype.name())),
        ]);
        if let Some(density) = self.case.density {
            keys.insert("density".to_owned(), density.into());
        }
        if let Some(shape) = &self.case.shape {
            for name in shape.names() {
                let value = shape.extent(name, self.case.n).map(Value::from);
                let word = || Value::from(shape.word(name).unwrap_or_default());
                keys.insert(name.to_owned(), value.unwrap_or_else(word));
            }
        }
        Value::Object(keys).to_string()
    }

    /// Returns whether a case of a report is this problem.
    pub fn is(&self, case: &Case) -> bool {
        (&case.op, case.dtype, case.density) == (&self.case.op, self.case.dtype, self.case.density)
            && case.matrix.is_none()
            && sizes(case) == sizes(&self.case)
    }
}

/// The extents of a case by the names of its op, and its layout, whether or not the case has a shape. An operation of one's own has N.
pub(super) fn sizes(case: &Case) -> (Vec<u64>, &str) {
    let Some(op) = op::find(&case.op) else { return (vec![case.n], "") };
    let about = op.about();
    let extent = |name: &&'static str| match &case.shape {
        None if !about.square().contains(name) => 1,
        _ => case.extent(name),
    };
    let layout = case.shape.as_ref().and_then(|shape| shape.word(LAYOUT)).unwrap_or("nn");
    (about.names().filter(|name| *name != LAYOUT).map(|name| extent(&name)).collect(), layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::tests::call;

    /// Calls by routine, flags, order of matrices, m, n, k and right-hand sides, with the problem of each.
    const CALLS: &str = r#"
gemm NN row 30 40 20 0 {"dtype":"f64","k":20,"m":30,"n":40,"op":"matmul"}
gemm NN column 30 40 20 0 {"dtype":"f64","k":20,"m":40,"n":30,"op":"matmul"}
gemm TN column 30 40 20 0 {"dtype":"f64","k":20,"layout":"nt","m":40,"n":30,"op":"matmul"}
gemv N row 30 40 0 0 {"dtype":"f64","k":40,"m":30,"n":1,"op":"matmul"}
gemv T column 30 40 0 0 {"dtype":"f64","k":30,"m":40,"n":1,"op":"matmul"}
gemv N column 30 40 0 0 {"dtype":"f64","k":40,"layout":"tn","m":30,"n":1,"op":"matmul"}
posv U column 0 30 0 2 {"dtype":"f64","n":30,"op":"solve","rhs":2}
potrf L column 0 30 0 0 {"dtype":"f64","n":30,"op":"solve"}
gesdd S column 30 20 0 0 {"dtype":"f64","m":30,"n":20,"op":"svd"}
gesdd N column 30 20 0 0 none
gesv  column 0 30 0 2 none
gemm NN row 30 40 0 0 none
"#;

    #[test]
    fn calls_are_problems_with_matrices_row_by_row() {
        let line = |routine: &str, flags: &str, row_major: bool, dims: [u64; 4]| {
            let found = problem(&Call { flags: flags.into(), row_major, ..call(routine, dims, 1, 1.0) });
            found.map_or("none".into(), |found| found.line())
        };
        for text in CALLS.trim().lines() {
            let words: Vec<&str> = text.splitn(8, ' ').collect();
            let dims = [3, 4, 5, 6].map(|place| words[place].parse().unwrap());
            assert_eq!(line(words[0], words[1], words[2] == "row", dims), words[7], "{text}");
        }
        assert!(line("syrk", "UN", true, [0, 30, 20, 0]).contains("matmul"));
    }

    #[test]
    fn sparse_products_have_the_density_of_their_factors() {
        let line = |routine: &str, dims, entries, other_entries| {
            let call = Call { entries, other_entries, ..call(routine, dims, 1, 1.0) };
            problem(&call).map_or("none".into(), |found| found.line())
        };
        let vector = r#"{"density":0.0125,"dtype":"f64","m":200,"n":400,"op":"spmv"}"#;
        assert_eq!(line("spmv", [200, 1, 400, 0], 1000, 0), vector);
        let matrices = r#"{"density":0.0002,"dtype":"f64","k":1000,"m":1000,"n":500,"op":"spgemm"}"#;
        assert_eq!(line("spgemm", [1000, 500, 1000, 0], 400, 50), matrices);
        // A dense factor of several columns is no vector, and without entries there is nothing to do.
        assert_eq!(line("spmv", [200, 3, 400, 0], 1000, 0), "none");
        assert_eq!(line("spgemm", [1000, 500, 1000, 0], 400, 0), "none");
    }

    #[test]
    fn a_square_case_is_the_same_problem_without_a_shape() {
        let square = Call { row_major: true, flags: "NN".into(), ..call("gemm", [8, 8, 8, 0], 1, 1.0) };
        let product = problem(&square).unwrap();
        let is = |n, dtype| product.is(&Case::square("matmul", n, dtype, 3));
        assert!(is(8, DType::F64) && !is(9, DType::F64) && !is(8, DType::F32));
        let fft = Call { flags: "R".into(), extents: vec![8, 8], ..call("fft", [0; 4], 1, 1.0) };
        assert!(problem(&fft).unwrap().is(&Case::square("fft", 8, DType::F64, 3)));
    }
}
