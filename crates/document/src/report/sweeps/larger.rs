//! Why the table of sweeps shows a smaller N than the largest that was planned or measured.

use gpubench_analysis::answer::{Contender, Kind};
use gpubench_report::report::{Outcome, Row};
use gpubench_text::grouped::{distinct, grouped};
use serde_json::{Value, json};

use super::{Sweep, Sweeps};
use crate::report::problems::UNTIMED;

/// Groups of sweeps that the line names; the others are counted.
const MAX_GROUPS: usize = 3;

impl Sweeps<'_> {
    /// `Not compared at larger N: reduction f32 (cupy incorrect at 5000, 10000); svd f32, svd f64 (not run at 2048).`
    pub fn larger_sizes(&self) -> Option<String> {
        let reasons = self.all.iter().filter_map(|sweep| Some((self.reasons(sweep)?, sweep.name.as_str())));
        let groups = grouped(reasons);
        let text = |(reasons, sweeps): &(String, Vec<&str>)| format!("{} ({reasons})", sweeps.join(", "));
        let mut texts: Vec<String> = groups.iter().take(MAX_GROUPS).map(text).collect();
        let more: usize = groups.iter().skip(MAX_GROUPS).map(|(_, sweeps)| sweeps.len()).sum();
        texts.extend((more > 0).then(|| format!("{more} more")));
        (!groups.is_empty()).then(|| format!("Not compared at larger N: {}.", texts.join("; ")))
    }

    /// The reasons at the sizes above the largest one compared, each with its sizes; `None` where there is none.
    fn reasons(&self, sweep: &Sweep<'_>) -> Option<String> {
        let shown = sweep.compared().last()?.n;
        let measured = sweep.section.comparisons.iter().map(|case| case.n);
        let mut sizes: Vec<u64> = measured.chain(self.planned(sweep, None)).filter(|n| *n > shown).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let found = grouped(sizes.into_iter().filter_map(|n| Some((self.reason(sweep, n)?, n))));
        let text = |(reason, sizes): &(String, Vec<u64>)| {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            match sizes.as_slice() {
                [first, _, _, .., last] => format!("{reason} at {first} to {last}"),
                few => format!("{reason} at {}", few.join(", ")),
            }
        };
        (!found.is_empty()).then(|| found.iter().map(text).collect::<Vec<_>>().join(", "))
    }

    /// `cupy incorrect`, `not run`: why a size has no comparison; `None` where the run did not plan both contenders.
    fn reason(&self, sweep: &Sweep<'_>, n: u64) -> Option<String> {
        let case = sweep.section.comparisons.iter().find(|case| case.n == n);
        let without =
            |one: &Contender| case.is_none_or(|case| case.candidates(*one, Kind::Resident).next().is_none());
        let why = |one: Contender| {
            let rows = case.into_iter().flat_map(|case| &case.rows).filter(|row| self.versus.has(one, row));
            let outcomes: Vec<Outcome> = rows.map(|row| row.outcome).collect();
            let gravest = UNTIMED.into_iter().find(|outcome| outcomes.contains(outcome));
            let is_planned = || self.planned(sweep, Some(one)).any(|planned| planned == n);
            gravest.map(Outcome::name).or_else(|| is_planned().then_some("not run"))
        };
        let missing: Vec<Contender> = Contender::BOTH.into_iter().filter(without).collect();
        let reasons: Vec<(&str, Contender)> =
            missing.iter().map(|one| Some((why(*one)?, *one))).collect::<Option<_>>()?;
        match reasons.as_slice() {
            [] => None,
            [(one, _), (other, _)] if one == other => Some((*one).to_owned()),
            some => {
                let named = some.iter().map(|(reason, one)| format!("{} {reason}", self.versus.label(*one)));
                Some(named.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The sizes at which the settings of the run plan a sweep with a backend that one contender, or any, has at other sizes.
    fn planned(&self, sweep: &Sweep<'_>, one: Option<Contender>) -> impl Iterator<Item = u64> {
        let cases = sweep.section.comparisons.iter().flat_map(|case| &case.rows);
        let of_contender = |row: &&&Row| one.is_none_or(|one| self.versus.has(one, row));
        let backends = distinct(cases.filter(of_contender).map(|row| row.backend.as_str()));
        let lists = |planned: &Value, key: &str, wanted: &[&str]| {
            let list = planned[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).any(|word| wanted.contains(&word))
        };
        let (dtype, cache) = (sweep.section.dtype.name(), sweep.section.cache.name());
        let is_of_sweep = |planned: &&Value| {
            planned["op"] == sweep.section.op
                && lists(planned, "dtypes", &[dtype])
                && lists(planned, "caches", &[cache])
                && lists(planned, "backends", &backends)
        };
        let planned = self.report.environment.settings["sweeps"].as_array().into_iter().flatten();
        // Shapes have sizes of their own.
        let of_sweep = sweep.section.comparisons.first().and_then(|case| case.family.shape);
        let shape = of_sweep.map_or(Value::Null, |shape| json!(shape));
        let of_shape = |planned: &'_ Value| match planned["shapes"].as_array() {
            Some(shapes) => shapes.iter().find(|one| one["shape"] == shape).map(|one| one["sizes"].clone()),
            None => Some(planned["sizes"].clone()),
        };
        let sizes: Vec<Value> = planned.filter(is_of_sweep).filter_map(of_shape).collect();
        let sizes = sizes.iter().filter_map(Value::as_array);
        let sizes: Vec<u64> = sizes.flatten().filter_map(Value::as_u64).collect();
        sizes.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use gpubench_report::report::{Report, example};

    use super::*;

    fn line(report: &Report) -> Option<String> {
        Sweeps::of(report).larger_sizes()
    }

    #[test]
    fn a_size_above_the_largest_one_compared_has_its_reason() {
        let mut report =
            example::of(["fft", "svd"].map(|op| example::both_sides(op, 8, 1e-3, 1e-4)).concat());
        assert_eq!(line(&report), None);
        for (n, outcome) in [(16, Outcome::Incorrect), (32, Outcome::Incorrect), (64, Outcome::Skipped)] {
            report.rows.push(example::measured("fft", n, "cpu", "faer", 1e-3));
            report.rows.push(example::without_time("fft", n, "cuda", "r2c", outcome, "no", None));
        }
        let of_fft = "fft (GPU incorrect at 16, 32, GPU skipped at 64)";
        assert_eq!(line(&report).unwrap(), format!("Not compared at larger N: {of_fft}."));
        // Of the sizes planned, one was not reached, and one was for a single side.
        let planned = |sizes: &[u64], backends: &[&str]| json!({ "op": "svd", "sizes": sizes, "dtypes": ["f32"], "caches": ["cold"], "backends": backends });
        report.environment.settings["sweeps"] =
            json!([planned(&[8, 16], &["cpu", "cuda"]), planned(&[32], &["cuda"])]);
        let both = format!("Not compared at larger N: {of_fft}; svd (not run at 16).");
        assert_eq!(line(&report).unwrap(), both);
        report.rows.push(example::measured("svd", 16, "cuda", "gesvd", 1e-3));
        assert!(line(&report).unwrap().ends_with("; svd (CPU not run at 16)."));
        report.rows.push(example::measured("svd", 64, "cpu", "faer", 1e-3));
        report.rows.push(example::measured("svd", 64, "cuda", "gesvd", 1e-3));
        assert_eq!(line(&report).unwrap(), format!("Not compared at larger N: {of_fft}."), "64 is compared");
    }

    #[test]
    fn many_reasons_are_counted() {
        let mut report = example::of([]);
        for (index, op) in (1..).zip(["matmul", "reduction", "fft", "solve", "svd"]) {
            report.rows.extend(example::both_sides(op, 8, 1e-3, 1e-4));
            for step in 1..=4 {
                let n = 8 + index * step;
                report.rows.push(example::without_time(op, n, "cuda", "v", Outcome::Failed, "no", None));
                report.rows.push(example::without_time(op, n, "cpu", "v", Outcome::Failed, "no", None));
            }
        }
        let found = line(&report).unwrap();
        let expected = "Not compared at larger N: matmul (failed at 9 to 12); reduction (failed at 10 to 16); \
                        fft (failed at 11 to 20); 2 more.";
        assert_eq!(found, expected);
    }
}
