//! The libraries behind an answer: those that are missing on its machine, and those that were measured.

use std::collections::BTreeSet;

use gpubench_report::report::{Outcome, Report, Row, RunWarning};
use gpubench_report::{Origin, Side, vendor_of};
use gpubench_text::grouped::{distinct, grouped};

/// Returns one warning per library that was not found where its side has times, with the ops that it could change.
pub fn missing(report: &Report) -> Vec<RunWarning> {
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
        ((row.side, reason, row.fix.as_deref()), row)
    });
    let mut warnings = vec![];
    for ((side, reason, fix), rows) in grouped(keyed) {
        let ops = distinct(rows.iter().map(|row: &&Row| row.case.op.as_str())).join(", ");
        let text = format!("{reason}: the {} could be faster than it is here ({ops})", side.label());
        warnings.push(RunWarning { text, next: fix.unwrap_or_default().to_owned() });
    }
    warnings
}

/// Returns the words of the libraries of which a side has times: `mkl`, `openblas`, `cublas`.
pub fn measured(report: &Report, side: Side) -> BTreeSet<&str> {
    let rows = report.rows.iter().filter(|row| row.side == side && row.execute.is_some());
    let libraries = rows.filter(|row| row.is_headline() && row.origin() == Origin::Library);
    libraries.map(|row| vendor_of(row.doer())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

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
        assert_eq!(found[0].text, "no MKL was found: the CPU could be faster than it is here (matmul, svd)");
        assert_eq!(found[0].next, "pip install mkl");
        assert_eq!(measured(&report, Side::Cpu), BTreeSet::from(["openblas"]));
        report.rows.push(example::measured("matmul", 500, "cpu", "mkl", 1e-3));
        assert_eq!(missing(&report).len(), 1, "svd by MKL is missing at every size");
    }
}
