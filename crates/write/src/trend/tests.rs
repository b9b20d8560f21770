//! Tests of trends of folders: series with and without steps, in every format.

use std::fs;
use std::path::Path;

use gpubench_analysis::trend::{TrendRequest, trend};
use gpubench_document::trend::labels;
use gpubench_report::report::example::{empty, measured, without_time};
use gpubench_report::report::{Outcome, Report, Row, file};
use gpubench_report::{Accuracy, Side};

use super::*;
use crate::chart::frame::LegendRow;
use crate::chart::lines::LineChart;

/// A report of the `day`-th day.
fn report(day: usize, rows: Vec<Row>) -> Report {
    let mut report = Report { rows, ..empty() };
    report.environment.started = format!("2026-{:02}-{:02}T10:00:00Z", 1 + day / 28, 1 + day % 28);
    report.environment.git_revision = Some(format!("{day:040x}"));
    report
}

/// A trend in the format of that name.
fn shown(trend: &Trend, format: &str) -> String {
    FORMATS.find(format).unwrap().text(trend, &Theme::Light).unwrap()
}

/// The text for a terminal, on one line.
fn text_of(trend: &Trend) -> String {
    shown(trend, "table").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A small daily variation that is never a step.
fn spread(day: usize) -> f64 {
    1.0 + 0.003 * ((day * 7 % 5) as f64 - 2.0)
}

/// The rows of a day; cublas is 1.3 times slower for days >= 12, and faer is steady.
fn rows(day: usize) -> Vec<Row> {
    let slower = if day < 12 { 1.0 } else { 1.3 };
    vec![
        measured("matmul", 512, "cpu", "faer", 1e-3 * spread(day)),
        measured("matmul", 512, "cuda", "cublas", 1e-5 * slower * spread(day)),
    ]
}

fn save(folder: &Path, reports: impl IntoIterator<Item = Report>) {
    for (index, report) in reports.into_iter().enumerate() {
        let folder = folder.join(format!("run-{index:02}"));
        fs::create_dir_all(&folder).unwrap();
        file::save(&report, &folder.join(file::FILE_NAME)).unwrap();
    }
}

fn of(reports: impl IntoIterator<Item = Report>) -> Trend {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), reports);
    trend(&request(folder.path())).unwrap()
}

fn request(folder: &Path) -> TrendRequest {
    TrendRequest { folders: vec![folder.into()], ops: None, variants: None, threshold: 0.02 }
}

/// The trend of `count` days, with `change` applied to each report.
fn days(count: usize, change: impl Fn(usize, &mut Report)) -> Trend {
    of((0..count).map(|day| {
        let mut report = report(day, rows(day));
        change(day, &mut report);
        report
    }))
}

fn stepped() -> Trend {
    days(20, |_, _| ())
}

#[test]
fn a_step_is_shown_with_its_date_revision_levels_and_reports() {
    let text = shown(&stepped(), "table");
    let expected = "\
20 reports from 2026-01-01 to 2026-01-20, 2 series: 1 with steps

matmul N=512 f32 cuda/cublas cold:
  now           13.0 µs, 1.30x the best level of 10.0 µs, noise 0.6%
  1.30x slower  10.0 µs -> 13.0 µs, 2026-01-13 10:00, 000000000, 12 reports
                before, 8 after

1 series steady (no step >= 2%)
";
    assert_eq!(text, expected);
}

/// Returns the changes shown next to the GPU's step, and their facts, if `change` applies to reports >= 12.
fn changes_shown(change: impl Fn(&mut Report)) -> (Option<String>, Vec<String>) {
    let trend = days(20, |day, report| {
        if day >= 12 {
            // The CPU steps too, in the other direction.
            report.rows[0] = measured("matmul", 512, "cpu", "faer", 5e-4 * spread(day));
            change(report);
        }
    });
    let gpu = trend.series.iter().find(|series| series.side == Side::Gpu).unwrap();
    let facts = gpu.steps[0].environment.iter().map(|difference| difference.fact.clone());
    (labels::also_changed(&trend, &gpu.steps[0]), facts.collect())
}

#[test]
fn facts_that_bear_on_the_cell_are_shown_next_to_its_step() {
    let (shown_text, facts) = changes_shown(|report| {
        let environment = &mut report.environment;
        environment.variables.insert("CUDA_LAUNCH_BLOCKING".into(), "1".into());
        // Of no concern to the GPU's times, and of no concern at all.
        environment.backends[0].description = serde_json::json!({ "threads": 4 });
        environment.host.memory_bytes = 1 << 30;
    });
    assert_eq!(
        shown_text.as_deref(),
        Some("variables CUDA_LAUNCH_BLOCKING: unset -> 1 (waits for each kernel)")
    );
    assert_eq!(facts, ["variables"]);
    assert_eq!(changes_shown(|_| ()), (None, vec![]));
}

#[test]
fn a_deviating_newest_report_is_not_yet_a_step() {
    let text = text_of(&days(13, |_, _| ()));
    assert!(text.contains("2 series: no steps, 1 with an unconfirmed change "), "{text}");
    for part in [" 1.31x slower ", "newest, 1 report: not confirmed ", "run the sweep again"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn models_and_kinds_of_arithmetic_have_their_own_series() {
    let check = |change: fn(&mut Report), names: [&str; 2]| {
        let trend = days(20, |day, report| {
            report.rows = rows(0);
            if day >= 12 {
                change(report);
            }
        });
        assert_eq!(trend.series.len(), 3);
        assert!(trend.series.iter().all(CellSeries::is_steady), "{:?}", trend.series);
        let labels: Vec<String> =
            trend.series[1..].iter().map(|series| labels::label(&trend, series)).collect();
        assert_eq!(labels, names.map(|name| format!("matmul N=512 f32 cuda/cublas cold, {name}")));
    };
    check(
        |report| report.environment.backends[1].description = serde_json::json!({ "name": "NVIDIA L4" }),
        ["NVIDIA H200", "NVIDIA L4"],
    );
    check(
        |report| {
            // Twice as fast, by products of fewer digits.
            report.rows[1] = measured("matmul", 512, "cuda", "cublas", 5e-6);
            report.rows[1].accuracy = Accuracy::Tf32;
        },
        ["ieee", "tf32"],
    );
}

#[test]
fn times_of_other_operands_than_the_newest_are_ignored_and_counted() {
    let trend = days(20, |day, report| {
        report.rows = rows(0);
        report.rows[1].inputs = Some(if day < 8 { "old".into() } else { "new".into() });
    });
    let series = trend.series.iter().find(|series| series.cell.variant == "cublas").unwrap();
    assert_eq!((series.points.len(), series.other_operands), (12, 8));
    let text = text_of(&trend);
    let expected = "ignored, because their operands differ from those of the newest report: 8 reports of matmul \
    N=512 f32 cuda/cublas cold; the operands";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_drift_is_reported_as_such_with_its_size_and_without_steps() {
    let drifting =
        |day: usize| measured("matmul", 512, "cpu", "faer", 1e-3 * spread(day) * (1.0 + 0.01 * day as f64));
    let trend = of((0..30).map(|day| report(day, vec![drifting(day)])));
    let text = text_of(&trend);
    let expected = "30 reports from 2026-01-01 to 2026-02-02, 1 series: no steps, 1 drifting ";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("drift: 1.29x slower from first to last"), "{text}");
    let markdown = shown(&trend, "md");
    assert!(markdown.contains("drift: 1.29x slower") && !markdown.contains("before,"), "{markdown}");
}

#[test]
fn a_cell_without_a_recent_time_is_shown_with_the_reason() {
    let lost = without_time("matmul", 512, "cuda", "cublas", Outcome::Failed, "out of luck", None);
    let trend = days(10, |day, report| {
        if day == 9 {
            report.rows[1] = lost.clone();
        }
    });
    let text = text_of(&trend);
    assert!(text.contains("1 series without a time in their newest report: matmul N=512"), "{text}");
    assert!(text.contains("(failed: out of luck)"), "{text}");
    assert_eq!(
        charts::charts(&trend)[1].frame.subtitle,
        "9 reports from 2026-01-01 to 2026-01-09; 1 report without a time"
    );
}

#[test]
fn few_reports_are_too_short_and_the_text_says_what_to_do() {
    let text = text_of(&days(3, |_, _| ()));
    let expected = "2 series too short: a step needs 6 reports; run the sweep again";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn json_csv_and_markdown_have_the_step() {
    let trend = stepped();
    let json: serde_json::Value = serde_json::from_str(&shown(&trend, "json")).unwrap();
    assert_eq!(json["series"][1]["steps"][0]["direction"], "slower");
    let csv = shown(&trend, "csv");
    assert_eq!(csv.lines().count(), 1 + 40);
    let stepped: Vec<&str> = csv.lines().filter(|line| line.ends_with(",slower")).collect();
    assert!(stepped.len() == 1 && stepped[0].contains("2026-01-13T10:00:00Z"), "{stepped:?}");
    let text = shown(&trend, "md");
    let row = "- 1.30x slower: 10.0 µs -> 13.0 µs, 2026-01-13 10:00, 000000000, 12 reports before, 8 after\n";
    assert!(text.contains(row) && text.contains("## Method"), "{text}");
}

#[test]
fn a_series_has_a_chart_of_its_times_with_its_levels_and_steps() {
    let trend = stepped();
    let charts = charts::charts(&trend);
    let names: Vec<&str> = charts.iter().map(|chart| chart.frame.name.as_str()).collect();
    assert_eq!(names, ["trend-1-matmul-f32-n512-cpu-faer", "trend-2-matmul-f32-n512-cuda-cublas"]);
    let LineChart { frame, axes, lines, .. } = &charts[1];
    let [levels, times] = lines.series.as_slice() else { panic!("{lines:?}") };
    let [(_, before), .., (_, after)] = levels.bends[..] else { panic!("{levels:?}") };
    assert!(levels.points.is_empty() && (after / before - 1.3).abs() < 0.01, "{levels:?}");
    assert_eq!((times.points.len(), axes.x.ticks.len()), (20, 7));
    let step = LegendRow::Note("1.30x slower, 2026-01-13, 000000000".into());
    assert_eq!(frame.legend.last(), Some(&step));
    assert!(charts::files(&trend, ChartFormat::Svg, Theme::Light).unwrap().len() == 2);
}
