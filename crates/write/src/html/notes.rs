//! The method and the warnings of a report as parts of the page.

use gpubench_analysis::answer::peak_share;
use gpubench_report::report::{Report, Row};

use super::markup::{Element, Html, classed, element};
use super::rows::anchor;
use super::table::next_step;
use gpubench_document::report::MARK;
use gpubench_document::report::cautions::{self, Caution, cautions};
use gpubench_document::report::method::method as sentences;
use gpubench_document::report::problems::{ProblemGroup, groups, run_warnings, summary};

/// The meaning of each figure, the same for every report; that of the shares of the peak follows.
const MEANINGS: [(&str, &str); 5] = [
    (
        "Sample",
        "One execution of the op between two readings of a clock, or the mean of a batch where one is too short for the \
         clock; nothing is allocated, planned, compiled or copied in between.",
    ),
    (
        "Time",
        "The median of the samples after warm-up, by the device's own clock on a GPU, by the host's on a CPU.",
    ),
    ("Kernel speed-up", "The CPU's time over the GPU's by those clocks: the work alone."),
    (
        "Resident speed-up",
        "By the host's clock from the call until the answer is on the device: launch and wait included.",
    ),
    ("End-to-end speed-up", "The same with copying the operands to the device and the answer back."),
];

pub(crate) fn method(report: &Report) -> Html {
    let meaning = |(name, text): (&str, &str)| {
        element("div").holding(element("dt").holding(name)).holding(element("dd").holding(text))
    };
    let peak = format!("The {}. Above 100 %, {}.", peak_share::MEANING, peak_share::ABOVE_PEAK);
    let meanings = MEANINGS.into_iter().chain([("Rate / peak", peak.as_str())]);
    let lines = sentences(report, true, MARK).into_iter().map(|line| element("li").holding(line));
    let always = [
        "Every answer was checked in float64 before it was timed; a wrong answer has no time.",
        "Crossover: its interval covers the sizes at which the 95 % interval of the speed-up, measured or \
         interpolated, includes 1. At such sizes the page names no side as faster.",
    ];
    let always = always.into_iter().map(|line| element("li").holding(line));
    Html::from(classed("dl", "meanings").holding_all(meanings.map(meaning)))
        .and(element("ul").holding_all(lines.chain(always)))
}

/// Warnings about the run, notes on times by kind, and cells without a time by reason. The identifiers of rows begin with
/// `prefix`.
pub(crate) fn warnings(report: &Report, prefix: &str) -> Html {
    let of_run = run_warnings(report);
    let mut html = Html::new();
    if !of_run.is_empty() {
        let item =
            |text: &str, next: &str| element("li").holding(format!("{text}. ")).holding(next_step(next));
        let items = of_run.iter().map(|warning| item(&warning.text, &warning.next));
        html = html
            .and(element("h3").holding("The whole run"))
            .and(classed("ul", "reservations").holding_all(items));
    }
    let found = cautions(report, true);
    if !found.is_empty() {
        let count = cautions::summary(report, true).map(|text| format!("{text}.")).unwrap_or_default();
        html = html.and(element("h3").holding("Times with a grade below A")).and(element("p").holding(count));
        html = html.and(list(found.iter().map(|caution| about(report, caution, prefix))));
    }
    if let Some(count) = summary(report) {
        html = html
            .and(element("h3").holding("Cells without a time"))
            .and(element("p").holding(format!("{count}.")));
        html = html.and(list(groups(report).iter().map(|group| without(report, group, prefix))));
    }
    if html.is_empty() {
        element("p").holding("None: every cell was measured, and nothing disturbed it.").into()
    } else {
        html
    }
}

fn list(items: impl Iterator<Item = Element>) -> Element {
    classed("ul", "reservations").holding_all(items)
}

fn about(report: &Report, caution: &Caution<'_>, prefix: &str) -> Element {
    let item = element("li").holding(element("b").holding(caution.name()));
    let item = item.holding(format!(", {}: {}. ", caution.count(), caution.text()));
    let rows = caution.cells.iter().map(|(row, _)| *row);
    item.holding(next_step(&caution.worst().next)).holding(links(report, rows, &caution.count(), prefix))
}

fn without(report: &Report, group: &ProblemGroup<'_>, prefix: &str) -> Element {
    let item = element("li").holding(element("b").holding(group.outcome.name()));
    let item = item.holding(format!(", {}: {}. ", group.count(), group.reason));
    let item = item.holding_all(group.fix.map(next_step));
    item.holding(links(report, group.rows.iter().copied(), &group.count(), prefix))
}

/// Links to the rows, the worst first.
fn links<'a>(report: &Report, rows: impl Iterator<Item = &'a Row>, count: &str, prefix: &str) -> Element {
    let link = |row: &Row| {
        let to = format!("#{}", anchor(report, row, prefix));
        element("li").holding(element("a").with("href", &to).holding(row.cell().to_string()))
    };
    let summary = element("summary").holding(count);
    element("details").holding(summary).holding(classed("ul", "cells").holding_all(rows.map(link)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn warnings_are_grouped_by_kind_with_links_to_their_rows() {
        let html = warnings(&example::full(), "m2-").into_string();
        for expected in [
            "other programs were using the CPU",
            "Next: close other programs and run again.",
            "<b>spread</b>, 1 cell: half the 95 % interval",
            "2 of 5 times have a grade below A.",
            "<b>skipped</b>, 2 cells: mkl: not found",
            "href=\"#m2-row-1\"",
        ] {
            assert!(html.contains(expected), "{expected}\n{html}");
        }
    }

    #[test]
    fn a_report_without_warnings_says_so() {
        let report = example::of([example::measured("fft", 10, "cpu", "realfft", 1e-3)]);
        assert!(warnings(&report, "").into_string().contains("None: every cell was measured"));
    }
}
