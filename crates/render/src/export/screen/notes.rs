//! The notes of the first screen, each a text or nothing. Knows rows and words, no terminal.

use std::collections::BTreeMap;

use gpubench_answer::crossover::crossover;
use gpubench_answer::crossover_text::crossover_clause;
use gpubench_answer::figure::plain;
use gpubench_answer::first_use::{FirstUse, Repayment, repayment};
use gpubench_answer::{Comparison, Estimate, Kind, Pair, SpeedUp, has_both_caches};
use gpubench_model::Side;
use gpubench_model::case::{Cache, DType};
use gpubench_model::report::machine::machine;
use gpubench_model::report::quantity::{three_digits, time_text};
use gpubench_model::report::{Report, Row};
use gpubench_ops as op;
use gpubench_text::words::distinct;

use super::super::cautions::shown;
use super::super::tables::has_limits;
use super::sweeps::{Sweep, Sweeps, compared};

/// The question, and what it is asked of.
pub(crate) fn title(report: &Report) -> String {
    let sides = [Side::Cpu, Side::Gpu].map(|side| {
        let measured = report.rows.iter().any(|row| row.side == side && row.execute.is_some());
        measured.then(|| machine(report, side).unwrap_or_else(|| "GPU".into()))
    });
    let conditions = conditions(report);
    match sides {
        [Some(cpu), Some(gpu)] => format!("Does the GPU pay? {gpu} against {cpu}; {conditions}."),
        [Some(cpu), None] => format!("Nothing to compare: no GPU was measured. {cpu}; {conditions}."),
        [None, Some(gpu)] => format!("Nothing to compare: no CPU was measured. {gpu}; {conditions}."),
        [None, None] => "Nothing was measured.".into(),
    }
}

/// `float32, cold caches`.
fn conditions(report: &Report) -> String {
    let dtypes = DType::ALL.iter().filter(|dtype| report.rows.iter().any(|row| row.case.dtype == **dtype));
    let dtypes: Vec<&str> = dtypes.map(|dtype| dtype.words()).collect();
    let caches = match report.rows.first().map_or(Cache::Cold, |row| row.cache) {
        _ if has_both_caches(report) => "cold and hot".into(),
        cache => cache.to_string(),
    };
    format!("{}, {caches} caches", dtypes.join(" and "))
}

/// How far the shown times can be trusted.
pub(crate) fn grades(report: &Report) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for grade in shown(report, false).iter().filter_map(|row| row.execute.as_ref()?.grade) {
        *counts.entry(grade.to_string()).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(grade, count)| format!("{count} {grade}")).collect();
    let words = "A precise, B with a reservation, C an estimate, D not to be relied on";
    (!counts.is_empty()).then(|| format!("Grades of the best times: {} ({words}).", counts.join(", ")))
}

/// The first warning about the run, and how many more there are.
pub(crate) fn run_warnings(report: &Report) -> Option<String> {
    let warnings = &report.environment.warnings;
    let first = warnings.first()?;
    let more = match warnings.len() {
        1 => String::new(),
        count => format!(" ({} more with --tables)", count - 1),
    };
    Some(format!("Mind: {}; {}{more}.", first.text, first.next))
}

impl Sweeps<'_> {
    /// From which size the GPU is faster, one line per sweep of several sizes.
    pub(crate) fn crossovers(&self) -> Vec<String> {
        let line = |sweep: &Sweep<'_>| {
            let of = |kind| crossover(&sweep.section.comparisons, kind).filter(|found| !found.is_one_size());
            let resident = plain(&crossover_clause(&of(Kind::Resident)?));
            let whole =
                of(Kind::EndToEnd).map(|found| format!("; end to end {}", plain(&crossover_clause(&found))));
            Some(format!("{}: {resident}{}.", sweep.name, whole.unwrap_or_default()))
        };
        self.all.iter().filter_map(line).collect()
    }

    /// The variants that stand for each side at the largest sizes.
    pub(crate) fn variants(&self) -> Option<String> {
        let best = |sweep: &Sweep<'_>| {
            let pair = compared(sweep).last()?.pair(Kind::Kernel)?;
            Some(format!("{} {}|{}", sweep.section.op, pair.cpu.doer(), pair.gpu.doer()))
        };
        let named = distinct(self.all.iter().filter_map(best));
        (!named.is_empty()).then(|| format!("Best at that N, CPU|GPU: {}.", named.join(", ")))
    }

    /// What the first use of the GPU costs, and how many calls at the largest size repay it.
    pub(crate) fn first_use(&self) -> Option<String> {
        let at_largest = |sweep| {
            let pair = compared(sweep).last()?.pair(Kind::Resident)?;
            let first = FirstUse::of(self.report, pair.gpu)?;
            Some((sweep, pair, first))
        };
        let found: Vec<(&Sweep<'_>, Pair<'_>, FirstUse)> = self.all.iter().filter_map(at_largest).collect();
        let most = |pick: fn(&FirstUse) -> Option<f64>| {
            found.iter().filter_map(|(_, _, first)| pick(first)).max_by(f64::total_cmp).map(time_text)
        };
        let costs = [
            most(|first| first.context_s).map(|time| format!("context {time}")),
            most(|first| first.compile_s).map(|time| format!("compiling up to {time}")),
            most(|first| first.plan_s).map(|time| format!("planning up to {time}")),
        ];
        let costs: Vec<String> = costs.into_iter().flatten().collect();
        let calls = found.iter().filter_map(|(sweep, pair, first)| match repayment(first, pair)? {
            Repayment::After(calls) => Some(format!("{} {calls}", sweep.name)),
            Repayment::Never => Some(format!("{} never", sweep.name)),
            Repayment::Open => None,
        });
        let calls: Vec<String> = calls.collect();
        let repaid = match calls.join(", ") {
            calls if calls.is_empty() => calls,
            calls => format!(" Calls needed to repay start-up: {calls}."),
        };
        (!costs.is_empty()).then(|| format!("First use of the GPU: {}.{repaid}", costs.join(", ")))
    }

    /// What the columns mean; `None` where no case has both sides.
    pub(crate) fn legend(&self) -> Option<String> {
        let about = " %: of the nearer roof, memory or arithmetic, as measured here.";
        let limit = if has_limits(self.report) { about } else { "" };
        (self.comparisons() > 0).then(|| {
            format!(
                "Kernel: the GPU by its own clock. Resident: by the host's, launch and wait included. End to end: with \
                 both copies. ? interval includes 1x, or grade D. + faster at some smaller sizes too.{limit}"
            )
        })
    }

    /// At their largest size, what each variant costs of ops that do not ask which side is faster; and of others how
    /// much slower than the best those variants of the GPU are that are measurably slower.
    pub(crate) fn lessons(&self) -> Vec<String> {
        let lesson = |sweep: &Sweep<'_>| {
            if op::compares_sides(sweep.section.op) { slower(sweep) } else { costs(sweep) }
        };
        self.all.iter().filter_map(lesson).collect()
    }
}

/// `transfer-loop N=3000, slower than copy-once: copy-each 83.4x, copy-each-pinned 17.2x.` by what a caller waits for.
fn slower(sweep: &Sweep<'_>) -> Option<String> {
    let case = compared(sweep).last()?;
    let best = case.pair(Kind::Resident)?;
    let rivals = case.candidates(Side::Gpu, Kind::Resident);
    let rivals = rivals.filter(|(row, _)| row.variant != best.gpu.variant);
    let told = |(row, time): (&Row, Estimate)| {
        let times = SpeedUp(time.over(best.gpu_s)?);
        (times.winner() == Some(Side::Gpu)).then(|| format!("{} {}", row.variant, times.factor_text()))
    };
    let told: Vec<String> = rivals.filter_map(told).collect();
    let (name, n, than) = (&sweep.name, case.n, &best.gpu.variant);
    (!told.is_empty()).then(|| format!("{name} N={n}, slower than {than}: {}.", told.join(", ")))
}

/// `transfer N=8192: h2d-pageable 32.9 ms (8.17 GB/s), h2d-pinned 4.84 ms (55.4 GB/s).`
fn costs(sweep: &Sweep<'_>) -> Option<String> {
    let measured = |case: &&Comparison<'_>| case.rows.iter().any(|row| row.execute.is_some());
    let largest = sweep.section.comparisons.iter().rev().find(measured)?;
    let cost = |row: &&Row| {
        let median_s = row.median_s()?;
        let rate = (row.work.flop == 0.0 && row.work.bytes > 0.0)
            .then(|| format!(" ({} GB/s)", three_digits(row.work.bytes / median_s / 1e9)));
        Some(format!("{} {}{}", row.variant, time_text(median_s), rate.unwrap_or_default()))
    };
    let costs: Vec<String> = largest.rows.iter().filter_map(cost).collect();
    Some(format!("{} N={}: {}.", sweep.name, largest.n, costs.join(", ")))
}
