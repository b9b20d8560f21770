//! The variants among which a report does not let `auto` be judged, because it did not measure them.

use gpubench_backend::Variant;
use gpubench_text::grouped::distinct;
use serde::Serialize;

use super::AUTO;
use crate::backend::{CUDA, Options};
use crate::report::Report;

/// The variants of an op that a report did not measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unmeasured {
    /// The op.
    pub op: String,
    /// The variants.
    pub variants: Vec<String>,
}

/// Returns the variants of this gpubench that a report did not try, for each op in which it has `auto`.
pub(super) fn unmeasured(report: &Report) -> Vec<Unmeasured> {
    let variants = (CUDA.variants)(&Options::default()).unwrap_or_default();
    let rows = || report.rows.iter().filter(|row| row.backend == CUDA.name);
    let ops = distinct(rows().filter(|row| row.variant == AUTO).map(|row| row.case.op.as_str()));
    let of_op = |op: &str| {
        let rows = || rows().filter(|row| row.case.op == op);
        let is_tried = |name: &str| rows().any(|row| row.variant == name || row.doer() == name);
        let could_run = |variant: &&Variant| {
            variant.op == op
                && variant.accuracy.is_headline()
                && rows().any(|row| variant.dtypes.contains(&row.case.dtype))
        };
        let names = variants.iter().filter(could_run).map(|variant| variant.name.as_ref());
        let names = names.filter(|name| !is_tried(name));
        Unmeasured { op: op.to_owned(), variants: names.map(str::to_owned).collect() }
    };
    ops.into_iter().map(of_op).filter(|found| !found.variants.is_empty()).collect()
}

/// Returns the command that measures every variant of these ops.
pub(super) fn command(ops: &[Unmeasured]) -> String {
    let names: Vec<&str> = ops.iter().map(|of_op| of_op.op.as_str()).collect();
    let ops = if names.is_empty() { String::new() } else { format!(" --ops {}", names.join(",")) };
    format!("gpubench run --backends cuda --variants '*'{ops}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use super::super::text::text;
    use super::super::verdict;
    use super::*;
    use crate::case::DType;
    use crate::report::{Outcome, example};

    #[test]
    fn missing_variants_are_named_with_the_command_that_measures_them() {
        let mut report = example::of(rows(100, 1.0, 1.0, 1.0));
        let found = verdict(&report);
        let [Unmeasured { op, variants }] = found.unmeasured.as_slice() else { panic!("{found:?}") };
        assert_eq!(op, "matmul");
        let has = |name: &str| variants.iter().any(|variant| variant == name);
        assert!(has("f64-accumulate") && has("tiled"), "{variants:?}");
        assert!(!has("auto") && !has("cublas") && !has("dmma") && !has("cublas-tf32"), "{variants:?}");
        let shown = text(&found);
        let command = "\n\nTo measure them: gpubench run --backends cuda --variants '*' --ops matmul\n\n";
        assert!(shown.contains("\n\nmatmul: ") && shown.contains(command), "{shown}");
        let mut in_f64 = report.clone();
        in_f64.rows.iter_mut().for_each(|row| row.case.dtype = DType::F64);
        let [Unmeasured { variants: in_f64, .. }] = &verdict(&in_f64).unmeasured[..] else { panic!() };
        assert!(!in_f64.iter().any(|name| name == "f64-accumulate"), "takes float32 only: {in_f64:?}");
        // A variant that was tried and skipped cannot be measured by another run of that sort.
        for name in variants {
            report.rows.push(example::without_time(
                "matmul",
                100,
                "cuda",
                name,
                Outcome::Skipped,
                "no",
                None,
            ));
        }
        let found = verdict(&report);
        assert_eq!(found.unmeasured, []);
        assert!(!text(&found).contains("To measure them"));
    }
}
