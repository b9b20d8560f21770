//! The sentences below the tables: the meaning of the figures and how they were measured.

use std::collections::BTreeSet;

use gpubench_analysis::answer::{Kind, Versus, sections};
use gpubench_ops::peak_share;
use gpubench_report::case::Cache;
use gpubench_report::report::{Report, Row};
use gpubench_text::count::counted;

use super::cautions::{is_launch_bound, shown};
use super::{MARK, PEAK_MEANING, PEAK_SHARE_TEXT, contenders, has_peaks};

/// The sentences for the tables of a report.
pub fn method(report: &Report, all_variants: bool) -> Vec<String> {
    let rows = shown(report, all_variants);
    let mut lines = vec![];
    if rows.iter().any(|row| is_launch_bound(row)) {
        lines.push(format!("{MARK} launch-bound: less than three times the timer overhead."));
    }
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
    if rows.iter().any(|row| row.execute.as_ref().is_some_and(|execute| execute.grade.is_some())) {
        let grades = "A precise and undisturbed, B comparable, C an estimate, D not reliable";
        lines.push(format!("Grades: {grades}."));
    }
    lines.extend(speed_up(report));
    lines.extend(caches(&rows));
    let added = report.rows.iter().filter(|row| row.added_by_refinement);
    let sizes: BTreeSet<u64> = added.map(|row| row.case.n).collect();
    if !sizes.is_empty() {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        lines.push(format!("Sizes added near crossovers: N = {}.", sizes.join(", ")));
    }
    let screened = report.rows.iter().filter(|row| row.screened).count();
    if screened > 0 {
        lines.push(format!(
            "{} far behind the best of the side in a first trial: sampled briefly or left out; --all-variants samples all.",
            counted(screened, "cell")
        ));
    }
    lines
}

/// The clocks of the speed-ups; none where there is none.
fn speed_up(report: &Report) -> impl Iterator<Item = String> {
    let sections = sections(report);
    let cases = sections.iter().flat_map(|section| &section.comparisons);
    let kinds: Vec<Kind> = cases.filter_map(|case| Some(case.best_pair()?.kind)).collect();
    let lines = [
        (Kind::Kernel, "Kernel speed-up: each side's own clock, no launch, no copies. !: unreliable."),
        (Kind::Resident, "Speed-up without a device clock: by the host's clock, launch and wait included."),
    ];
    lines.into_iter().filter(move |(kind, _)| kinds.contains(kind)).map(|(_, line)| line.to_owned())
}

fn caches(rows: &[&Row]) -> Vec<String> {
    let occurs = |cache: &&Cache| rows.iter().any(|row| row.cache == **cache);
    let line = |cache: &Cache| match cache {
        Cache::Cold => "Cold cache: gpubench flushes the operands from the caches before each sample.".into(),
        Cache::Hot => "Hot cache: the operands are where the previous execution left them.".into(),
    };
    Cache::ALL.iter().filter(occurs).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    fn line(report: &Report, start: &str) -> Option<String> {
        method(report, false).into_iter().find(|line| line.starts_with(start))
    }

    #[test]
    fn sentences_describe_only_facts_of_the_report() {
        let mut row = example::measured("fft", 10, "cuda", "r2c", 1e-3);
        row.cache = Cache::Hot;
        let execute = row.execute.as_mut().unwrap();
        (execute.grade, execute.rounds) = (None, vec![]);
        let report = example::of([row]);
        for start in ["Grades", "Cold", "Kernel", "*"] {
            assert_eq!(line(&report, start), None);
        }
        assert!(line(&report, "Hot cache").is_some());
    }
}
