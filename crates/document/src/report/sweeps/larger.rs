//! Why the table of sweeps shows a smaller N than the largest of the report.

use gpubench_analysis::answer::{Comparison, Contender, Kind};
use gpubench_report::report::Outcome;
use gpubench_text::grouped::grouped;

use super::{Sweep, Sweeps};
use crate::report::problems::UNTIMED;

/// Groups of sweeps that the line names; the others are counted.
const MAX_GROUPS: usize = 3;

impl Sweeps<'_> {
    /// `Not compared at larger N: reduction f32 (cupy incorrect at 5000, 10000); svd f32, svd f64 (failed at 2048).`
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
        let larger = sweep.section.comparisons.iter().filter(|case| case.n > shown);
        let found = grouped(larger.filter_map(|case| Some((self.reason(case)?, case.n))));
        let text = |(reason, sizes): &(String, Vec<u64>)| {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            match sizes.as_slice() {
                [first, _, _, .., last] => format!("{reason} at {first} to {last}"),
                few => format!("{reason} at {}", few.join(", ")),
            }
        };
        (!found.is_empty()).then(|| found.iter().map(text).collect::<Vec<_>>().join(", "))
    }

    /// `cupy incorrect`: why a case has no comparison; `None` where the report has no row of a contender without a time.
    fn reason(&self, case: &Comparison<'_>) -> Option<String> {
        let without = |one: &Contender| case.candidates(*one, Kind::Resident).next().is_none();
        let why = |one: Contender| {
            let rows = case.rows.iter().filter(|row| self.versus.has(one, row));
            let outcomes: Vec<Outcome> = rows.map(|row| row.outcome).collect();
            UNTIMED.into_iter().find(|outcome| outcomes.contains(outcome)).map(Outcome::name)
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
    }
}
