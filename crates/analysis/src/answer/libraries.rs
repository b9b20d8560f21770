//! The libraries behind an answer: those that are missing on its machine, and those that were measured.

use std::collections::BTreeSet;

use gpubench_report::report::{Outcome, Report, Row, RunWarning};
use gpubench_report::{Origin, Side, vendor_of};
use gpubench_text::grouped::{distinct, grouped};

/// A library that was not found where its side has times.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingLibrary<'a> {
    /// Side that could be faster with it.
    pub side: Side,
    /// What was found instead: `no MKL library was found`.
    pub reason: &'a str,
    /// The step that would install it.
    pub fix: &'a str,
    /// The ops whose times it could change.
    pub ops: Vec<&'a str>,
}

impl From<MissingLibrary<'_>> for RunWarning {
    fn from(missing: MissingLibrary<'_>) -> RunWarning {
        let MissingLibrary { side, reason, fix, ops } = missing;
        let text =
            format!("{reason}: the {} could be faster than it is here ({})", side.label(), ops.join(", "));
        RunWarning { text, next: fix.to_owned() }
    }
}

/// Returns the libraries that were not found where their side has times, with the ops that they could change.
pub fn missing(report: &Report) -> Vec<MissingLibrary<'_>> {
    let has_times = |row: &&Row, is: fn(&Row, &Row) -> bool| {
        report.rows.iter().any(|other| other.execute.is_some() && is(row, other))
    };
    let is_missing = |row: &&Row| {
        row.outcome == Outcome::Skipped
            && row.is_headline()
            && row.origin() == Origin::Library
            && row.fix.is_some()
            && has_times(row, |row, other| row.side == other.side && row.case.op == other.case.op)
            // What was measured somewhere is not missing.
            && !has_times(row, |row, other| (&row.case.op, &row.variant) == (&other.case.op, &other.variant))
    };
    let rows = report.rows.iter().filter(is_missing);
    let keyed = rows.map(|row| {
        let reason = row.reason.as_deref().unwrap_or("it was not found");
        ((row.side, reason, row.fix.as_deref().unwrap_or_default()), row.case.op.as_str())
    });
    let missing = |((side, reason, fix), ops)| MissingLibrary { side, reason, fix, ops: distinct(ops) };
    grouped(keyed).into_iter().map(missing).collect()
}

/// Returns the words of the libraries of which a side has times: `mkl`, `openblas`, `cublas`, or `numpy` of a Python library.
pub fn measured(report: &Report, side: Side) -> BTreeSet<&str> {
    of_origin(report, side, Origin::Library).map(word).collect()
}

/// The variants of other backends are functions of the one library that the backend is named for.
fn word(row: &Row) -> &str {
    match row.backend.as_str() {
        "cpu" | "cuda" => vendor_of(row.doer()),
        backend => backend,
    }
}

/// Returns whether a side has times of plain loops.
pub fn has_plain(report: &Report, side: Side) -> bool {
    of_origin(report, side, Origin::Plain).next().is_some()
}

fn of_origin(report: &Report, side: Side, origin: Origin) -> impl Iterator<Item = &Row> {
    let rows = report.rows.iter().filter(move |row| row.side == side && row.execute.is_some());
    rows.filter(move |row| row.is_headline() && row.origin() == origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn a_python_library_is_named_by_its_backend_whatever_its_functions_are_called() {
        let mut rows = [
            example::measured("fft", 100, "numpy", "scipy-fft2", 1e-3),
            example::measured("blur", 100, "numpy", "mine", 1e-3),
            example::measured("matmul", 100, "cpu", "openblas", 1e-3),
        ];
        rows.iter_mut().for_each(|row| row.side = Side::Cpu);
        let report = example::of(rows);
        assert_eq!(Vec::from_iter(measured(&report, Side::Cpu)), ["numpy", "openblas"]);
        assert!(!has_plain(&report, Side::Cpu));
    }

    #[test]
    fn a_library_that_was_not_found_is_named_with_its_ops_and_its_fix() {
        let fix = Some("pip install mkl");
        let skipped =
            |op| example::without_time(op, 100, "cpu", "mkl", Outcome::Skipped, "no MKL was found", fix);
        let mut report = example::of([
            example::measured("matmul", 100, "cpu", "openblas", 1e-3),
            skipped("matmul"),
            example::measured("svd", 100, "cpu", "openblas", 1e-3),
            skipped("svd"),
            skipped("fft"),
            example::measured("matmul", 100, "cuda", "cublas", 1e-3),
        ]);
        let found = missing(&report);
        assert_eq!(found.len(), 1);
        let warning = RunWarning::from(found[0].clone());
        assert_eq!(warning.text, "no MKL was found: the CPU could be faster than it is here (matmul, svd)");
        assert_eq!(warning.next, "pip install mkl");
        assert_eq!(measured(&report, Side::Cpu), BTreeSet::from(["openblas"]));
        report.rows.push(example::measured("matmul", 500, "cpu", "mkl", 1e-3));
        assert_eq!(missing(&report).len(), 1, "svd by MKL is missing at every size");
    }
}
