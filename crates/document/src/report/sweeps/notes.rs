//! The title of a report, and sentences about its sweeps: variants, first use, costs.

use gpubench_analysis::answer::first_use::{FirstUse, calls_to_repay};
use gpubench_analysis::answer::{Comparison, Contender, Kind, Names, Pair, Versus, has_both_caches};
use gpubench_ops as op;
use gpubench_report::Side;
use gpubench_report::case::{Cache, DType};
use gpubench_report::report::machine::machine_of;
use gpubench_report::report::quantity::{three_digits, time_text};
use gpubench_report::report::{Report, Row};

use super::super::problems::why_none_of;
use super::{Sweep, Sweeps};

/// The machines compared and the conditions; for a report of one side, why there is no comparison.
pub fn title(report: &Report) -> String {
    let versus = Versus::of(report);
    if versus.is_named() {
        return title_of(report, versus);
    }
    let sides = [Side::Cpu, Side::Gpu].map(|side| {
        let measured = report.rows.iter().any(|row| row.side == side && row.execute.is_some());
        measured.then(|| machine_of(report, |row| row.side == side).unwrap_or_else(|| "GPU".into()))
    });
    let is_square = report.rows.iter().all(|row| row.case.shape.is_none());
    let (of_one, conditions) =
        (conditions(report, ""), conditions(report, if is_square { ", N x N" } else { "" }));
    match sides {
        [Some(cpu), Some(gpu)] if versus.is_tuned() => {
            format!("{gpu} against {cpu}, both with gpubench's own tuned code; {conditions}.")
        }
        [Some(cpu), Some(gpu)] => format!("{gpu} against {cpu}; {conditions}."),
        [Some(cpu), None] => format!("{} {cpu}; {of_one}.", no_gpu(report)),
        [None, Some(gpu)] => format!("No CPU was measured. {gpu}; {of_one}."),
        [None, None] => format!("Nothing was measured{}.", why_none_of(&report.rows)),
    }
}

/// The title where `--versus` names the contenders.
fn title_of(report: &Report, versus: Versus<'_>) -> String {
    let is_measured =
        |one: &Contender| report.rows.iter().any(|row| versus.has(*one, row) && row.execute.is_some());
    let conditions = conditions(report, "");
    let Some(missing) = Contender::BOTH.into_iter().find(|one| !is_measured(one)) else {
        return format!("{}; {conditions}.", versus.machines(report).unwrap_or_default());
    };
    match versus.machine(report, missing.other()).filter(|_| is_measured(&missing.other())) {
        Some(other) => {
            let [none, times] = [missing, missing.other()].map(|one| versus.name(one));
            let why = why_none_of(report.rows.iter().filter(|row| versus.has(missing, row)));
            format!("No cell of {none} was measured{why}. {times} times only: {other}; {conditions}.")
        }
        None => format!("Nothing was measured{}.", why_none_of(&report.rows)),
    }
}

/// Says why a report has CPU times only.
fn no_gpu(report: &Report) -> &'static str {
    let backends = &report.environment.backends;
    // A backend without a row that did not start was left out of the plan, because this machine has no GPU.
    let is_found = match report.rows.iter().find(|row| row.side == Side::Gpu) {
        Some(row) => report.environment.backend(&row.backend).is_some_and(|backend| backend.available),
        None => backends.iter().all(|backend| backend.available),
    };
    match is_found {
        true => "CPU only: no GPU cell was measured (gpubench show --tables).",
        false => "No GPU found (gpubench doctor).",
    }
}

/// `float32, N x N, cold caches`: element type of the operands with their `shape`, and the state of the caches.
fn conditions(report: &Report, shape: &str) -> String {
    let dtypes = DType::ALL.iter().filter(|dtype| report.rows.iter().any(|row| row.case.dtype == **dtype));
    let dtypes: Vec<&str> = dtypes.map(|dtype| dtype.words()).collect();
    let caches = match report.rows.first().map_or(Cache::Cold, |row| row.cache) {
        _ if has_both_caches(report) => "cold and hot".into(),
        cache => cache.to_string(),
    };
    let dtypes = match dtypes.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => dtypes.concat(),
    };
    format!("{dtypes}{shape}, {caches} caches")
}

/// The first warning about the run, and the number of further ones.
pub fn first_run_warning(report: &Report) -> Option<String> {
    let warnings = &report.environment.warnings;
    let first = warnings.first()?;
    // The consequence and the advice are in the tables.
    let fact = first.text.split(", so ").next().unwrap_or_default();
    let more = match warnings.len() {
        1 => String::new(),
        count => format!(" And {} more: --tables.", count - 1),
    };
    Some(format!("Warning: {fact}.{more}"))
}

impl Sweeps<'_> {
    /// The cost of the first use of B's GPU, and the number of calls at the largest size that repay it.
    pub fn first_use(&self) -> Option<String> {
        let found = self.all.iter().filter_map(|sweep| {
            let (_, pair) = sweep.largest(Kind::Resident)?;
            let first = FirstUse::of(self.report, pair.b)?;
            Some((sweep, pair, first))
        });
        let found: Vec<(&Sweep<'_>, Pair<'_>, FirstUse)> = found.collect();
        let max = |pick: fn(&FirstUse) -> Option<f64>| {
            found.iter().filter_map(|(_, _, first)| pick(first)).max_by(f64::total_cmp).map(time_text)
        };
        let mark = |pair: &Pair<'_>| if pair.is_unreliable() { "!" } else { "" };
        let once = max(|first| first.context_s).map(|time| format!("context {time}"));
        let of_op = found.iter().filter_map(|(sweep, _, first)| {
            let seconds = first.compile_s.unwrap_or(0.0) + first.plan_s.unwrap_or(0.0);
            (seconds > 0.0).then(|| format!("{} {}", sweep.name, time_text(seconds)))
        });
        let of_op: Vec<String> = of_op.collect();
        let of_op = (!of_op.is_empty()).then(|| format!("compiling and planning {}", of_op.join(", ")));
        let costs: Vec<String> = [once, of_op].into_iter().flatten().collect();
        let calls = found.iter().filter_map(|(sweep, pair, _)| {
            Some(format!("{} {}{}", sweep.name, calls_to_repay(self.report, pair)?, mark(pair)))
        });
        let calls: Vec<String> = calls.collect();
        let repaid = match calls.join(", ") {
            calls if calls.is_empty() => calls,
            calls => format!(" Calls at the largest N to repay it (host clock, data on the GPU): {calls}."),
        };
        (!costs.is_empty()).then(|| {
            format!("First use of {}: {}.{repaid}", self.versus.noun(Contender::B), costs.join("; "))
        })
    }

    /// One line per op that does not compare sides, with the time of each variant at its largest size.
    pub fn costs(&self) -> Vec<String> {
        let sweeps = self.all.iter().filter(|sweep| !op::compares_sides(sweep.section.op));
        let names = Names::of(self.report);
        sweeps.filter_map(|sweep| costs(sweep, &names)).collect()
    }
}

/// `transfer N=8192: h2d-pageable 32.9 ms (8.17 GB/s), h2d-pinned 4.84 ms (55.4 GB/s).`
fn costs(sweep: &Sweep<'_>, names: &Names) -> Option<String> {
    let measured = |case: &&Comparison<'_>| case.rows.iter().any(|row| row.execute.is_some());
    let largest = sweep.section.comparisons.iter().rev().find(measured)?;
    let cost = |row: &&Row| {
        let execute = row.execute.as_ref()?;
        let rate = (row.work.flop == 0.0 && row.work.bytes > 0.0)
            .then(|| format!(" ({} GB/s)", three_digits(row.work.bytes / execute.median_s / 1e9)));
        Some(format!("{} {}{}", names.variant(row), execute.median_text(), rate.unwrap_or_default()))
    };
    let costs: Vec<String> = largest.rows.iter().filter_map(cost).collect();
    Some(format!("{} N={}: {}.", sweep.name, largest.n, costs.join(", ")))
}
