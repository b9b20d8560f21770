//! The sentences below the tables: the meaning of the figures and how they were measured.

use std::collections::BTreeSet;

use gpubench_analysis::answer::{Contender, Kind, Pair, Versus, sections};
use gpubench_ops::peak_share;
use gpubench_report::Side;
use gpubench_report::case::Cache;
use gpubench_report::measure::sampling::Sampling;
use gpubench_report::report::quantity::{spread_text, time_text};
use gpubench_report::report::{Execute, Report, Row};
use gpubench_text::count::{agree, counted};
use gpubench_text::grouped::distinct;

use super::cautions::{is_launch_bound, shown};
use super::{MARK, PEAK_MEANING, PEAK_SHARE_TEXT, contenders, has_peaks};

/// The sentences for the tables of a report.
pub fn method(report: &Report, all_variants: bool) -> Vec<String> {
    let rows = shown(report, all_variants);
    let mut lines: Vec<String> = launch_bound(report, &rows).into_iter().collect();
    if all_variants {
        lines.push("±: half the 95 % interval of the median. Error: with its share of its bound.".into());
        lines.push("Host: median by the host's clock, launch and synchronization included.".into());
    } else {
        let (each, of_both) = match (contenders(report).len(), Versus::of(report).is_named()) {
            (2, true) => (" of each", "the larger of both, "),
            (2, false) => (" per side", "the larger of both sides, "),
            _ => ("", ""),
        };
        lines.push(format!("Best correct variant{each}. ±: half the 95 % interval of the median."));
        lines.push(format!("Error: {of_both}relative to its bound (share in parentheses)."));
    }
    if has_peaks(report) && rows.iter().any(|row| peak_share::share(report, row).is_some()) {
        lines.push(format!("{PEAK_SHARE_TEXT}: {PEAK_MEANING}."));
    }
    if executes(&rows).any(|execute| execute.grade.is_some()) {
        let grades = "A precise and undisturbed, B comparable, C an estimate, D not reliable";
        lines.push(format!("Grades: {grades}."));
    }
    lines.extend(speed_up(report));
    lines.extend(python_calls(report, &rows));
    lines.extend(caches(&rows));
    lines.extend(sampling(report, &rows));
    lines.extend(refinement(report));
    lines.extend(screening(report));
    lines
}

/// The number of variants that were not sampled to precision; `None` without any.
fn screening(report: &Report) -> Option<String> {
    let screened = report.rows.iter().filter(|row| row.screened);
    let (passed_over, timed): (Vec<&Row>, Vec<&Row>) = screened.partition(|row| row.is_passed_over());
    let timed = (!timed.is_empty()).then(|| {
        let cells = counted(timed.len(), "cell");
        format!(
            "{cells} took more than 1.5 times as long as the best of the side in a first trial: only sampled briefly (screened)"
        )
    });
    let passed_over = (!passed_over.is_empty()).then(|| {
        let cells = counted(passed_over.len(), "cell");
        format!("{cells} left out because another copy of the library was faster")
    });
    let parts: Vec<String> = timed.into_iter().chain(passed_over).collect();
    (!parts.is_empty()).then(|| format!("{}; --all-variants samples all.", parts.join("; ")))
}

fn refinement(report: &Report) -> Option<String> {
    let added = report.rows.iter().filter(|row| row.added_by_refinement);
    let sizes: BTreeSet<u64> = added.map(|row| row.case.n).collect();
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    (!sizes.is_empty()).then(|| format!("Sizes added near crossovers: N = {}.", sizes.join(", ")))
}

fn executes<'a>(rows: &[&'a Row]) -> impl Iterator<Item = &'a Execute> {
    rows.iter().filter_map(|row| row.execute.as_ref())
}

/// The footnote of marked times: `* launch-bound: less than three times the timer overhead (empty kernel 2.70 µs).`
fn launch_bound(report: &Report, rows: &[&Row]) -> Option<String> {
    let bound = rows.iter().filter(|row| is_launch_bound(row));
    let backends = distinct(bound.map(|row| row.backend.as_str()));
    let overhead = |name: &str| {
        let timer_overhead = report.environment.backend(name)?.timer_overhead.as_ref()?;
        Some(match timer_overhead.empty_kernel_s {
            Some(seconds) => format!("empty kernel {}", time_text(seconds)),
            None => format!("two readings of the clock {}", time_text(timer_overhead.clock_s)),
        })
    };
    let timer_overhead: Vec<String> = backends.iter().filter_map(|name| overhead(name)).collect();
    let timer_overhead =
        if timer_overhead.is_empty() { String::new() } else { format!(" ({})", timer_overhead.join(", ")) };
    (!backends.is_empty())
        .then(|| format!("{MARK} launch-bound: less than three times the timer overhead{timer_overhead}."))
}

/// The clocks of the speed-ups; none where there is none.
fn speed_up(report: &Report) -> Vec<String> {
    let sections = sections(report);
    let cases = sections.iter().flat_map(|section| &section.comparisons);
    let (compared, by_host): (Vec<_>, Vec<_>) =
        cases.filter(|case| case.best_pair().is_some()).partition(|case| case.kind == Kind::Kernel);
    let [a, b] = [
        clocks(compared.iter().filter_map(|case| case.a)),
        clocks(compared.iter().filter_map(|case| case.b)),
    ];
    let [of_a, of_b] = Contender::BOTH.map(|one| Versus::of(report).label(one));
    let is_marked = |pair: Pair<'_>| pair.speed_up.winner().is_some() && pair.is_unreliable();
    let mark = match compared.iter().filter_map(|case| case.pair(Kind::Kernel)).any(is_marked) {
        true => " !: unreliable.",
        false => "",
    };
    let by_host = by_host.iter().filter_map(|case| case.best_pair());
    let mut on_cpu = by_host.map(|pair| pair.is_on_cpu());
    let resident = match on_cpu.next() {
        None => "",
        Some(true) if on_cpu.all(|on_cpu| on_cpu) => "Speed-up: by the host's clock.",
        Some(_) => {
            "Without a device clock: resident times and speed-up, by the host's clock, launch and wait included."
        }
    };
    let line = format!("Kernel speed-up: no launch, no copies; {of_a} by {a}, {of_b} by {b}.{mark}");
    let lines = [line].into_iter().filter(|_| !compared.is_empty());
    lines.chain([resident.to_owned()].into_iter().filter(|line| !line.is_empty())).collect()
}

fn clocks<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    distinct(rows.filter_map(|row| Some(row.execute.as_ref()?.clock.words()))).join(" and ")
}

/// What Python adds to host times, by library; `None` without one.
fn python_calls(report: &Report, rows: &[&Row]) -> Option<String> {
    let added = |name: &&str| {
        let seconds = report.environment.backend(name)?.description.get("call_overhead_s")?.as_f64()?;
        Some(format!("{} ({name})", time_text(seconds)))
    };
    let added: Vec<String> =
        distinct(rows.iter().map(|row| row.backend.as_str())).iter().filter_map(added).collect();
    (!added.is_empty()).then(|| {
        format!("Host times of Python's libraries: an empty call takes {} of them.", added.join(", "))
    })
}

fn caches(rows: &[&Row]) -> Vec<String> {
    let occurs = |cache: &&Cache| rows.iter().any(|row| row.cache == **cache);
    let line = |cache: &Cache| match cache {
        Cache::Cold => "Cold cache: gpubench flushes the operands from the caches before each sample.".into(),
        Cache::Hot => "Hot cache: the operands are where the previous execution left them.".into(),
    };
    Cache::ALL.iter().filter(occurs).map(line).collect()
}

/// The number of rounds and the rule that stopped sampling; `None` for reports without rounds.
fn sampling(report: &Report, rows: &[&Row]) -> Option<String> {
    // A budget brings the widest cells more rounds than were asked for.
    let done = executes(rows).flat_map(|execute| execute.rounds.iter().max()).max()? + 1;
    let rounds = asked(report).map_or(done, |asked| asked.rounds.min(done));
    let rounds = counted(rounds, agree(rounds, "round", "interleaved round"));
    Some(match asked(report) {
        Some(Sampling { samples: Some(count), .. }) => {
            format!("{} per cell, in {rounds}.", counted(count, "sample"))
        }
        Some(asked) => {
            let [gpu, cpu] = [Side::Gpu, Side::Cpu].map(|side| spread_text(asked.precision(side)));
            let has = |side| rows.iter().any(|row| row.side == side);
            let until = match (has(Side::Gpu), has(Side::Cpu)) {
                (true, true) if gpu != cpu => format!("{gpu} (GPU), {cpu} (CPU)"),
                (true, _) => gpu,
                (false, _) => cpu,
            };
            format!("Samples in {rounds} until ± is {until} or time is up.")
        }
        None => format!("Samples in {rounds}."),
    })
}

fn asked(report: &Report) -> Option<Sampling> {
    let sweeps = report.environment.settings.get("sweeps")?.as_array()?;
    let read = |sweep: &serde_json::Value| serde_json::from_value(sweep.get("sampling")?.clone()).ok();
    let found: Vec<Sampling> = sweeps.iter().map(read).collect::<Option<_>>()?;
    let first = *found.first()?;
    let same = |one: &Sampling| {
        (one.samples, one.precision, one.rounds) == (first.samples, first.precision, first.rounds)
    };
    found.iter().all(same).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::{Clock, example};

    #[test]
    fn the_empty_call_of_each_python_library_is_named() {
        let rows = ["cpu", "cuda"].map(|backend| example::measured("fft", 10, backend, "one", 1e-3));
        let mut report = example::of(rows);
        assert_eq!(line(&report, "Host times"), None);
        report.environment.backends[0].description["call_overhead_s"] = serde_json::json!(8e-8);
        let expected = "Host times of Python's libraries: an empty call takes 80.0 ns (cpu) of them.";
        assert_eq!(line(&report, "Host times").as_deref(), Some(expected));
    }

    fn line(report: &Report, start: &str) -> Option<String> {
        method(report, false).into_iter().find(|line| line.starts_with(start))
    }

    #[test]
    fn the_line_about_speed_ups_names_the_clocks_of_their_rows() {
        let cpu = example::measured("fft", 10, "cpu", "realfft", 1e-3);
        let mut gpu = example::measured("fft", 10, "cuda", "r2c", 1e-3);
        let speed_up_line = |rows: Vec<Row>| line(&example::of(rows), "Kernel speed-up");
        for rows in [vec![], vec![cpu.clone()], vec![gpu.clone()]] {
            assert_eq!(speed_up_line(rows), None);
        }
        let found = speed_up_line(vec![cpu.clone(), gpu.clone()]).unwrap();
        assert!(found.ends_with("CPU by host clock, GPU by device clock."), "{found}");
        gpu.execute.as_mut().unwrap().clock = Clock::Simulated;
        let found = speed_up_line(vec![cpu, gpu]).unwrap();
        assert!(found.ends_with("CPU by host clock, GPU by simulated clock."), "{found}");
    }

    #[test]
    fn sentences_describe_only_facts_of_the_report() {
        let mut row = example::measured("fft", 10, "cuda", "r2c", 1e-3);
        row.cache = Cache::Hot;
        let execute = row.execute.as_mut().unwrap();
        (execute.grade, execute.rounds) = (None, vec![]);
        let report = example::of([row]);
        for start in ["Grades", "Cold", "Samples", "*"] {
            assert_eq!(line(&report, start), None);
        }
        assert!(line(&report, "Hot cache").is_some());
    }

    #[test]
    fn the_line_about_samples_says_what_was_asked_for() {
        let mut report = example::full();
        let expected = "Samples in 3 interleaved rounds until ± is 0.5% (GPU), 1.0% (CPU) or time is up.";
        assert_eq!(line(&report, "Samples").as_deref(), Some(expected));
        for (absent, left) in [(Side::Gpu, "until ± is 1.0% or"), (Side::Cpu, "until ± is 0.5% or")] {
            let mut of_one_side = report.clone();
            of_one_side.rows.retain(|row| row.side != absent);
            assert!(line(&of_one_side, "Samples").unwrap().contains(left));
        }
        report.environment.settings["sweeps"][0]["sampling"]["precision"] = 0.02.into();
        assert!(line(&report, "Samples").unwrap().contains("until ± is 2.0% or"));
        report.environment.settings["sweeps"][0]["sampling"]["samples"] = 30.into();
        assert_eq!(line(&report, "30").as_deref(), Some("30 samples per cell, in 3 interleaved rounds."));
        report.environment.settings = serde_json::json!({ "samples": 30 });
        assert_eq!(line(&report, "Samples").as_deref(), Some("Samples in 3 interleaved rounds."));
    }
}
