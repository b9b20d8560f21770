//! Writes a report as CSV (RFC 4180): one line per row, times in seconds. Raw samples are in JSON only.

use gpubench_document::table::{Column, Field, Table};
use gpubench_ops::peak_share;
use gpubench_report::format::Makes;
use gpubench_report::measure::stats::median;
use gpubench_report::report::{Execute, Phases, Report, Row};
use gpubench_text::csv::number;
use gpubench_text::words::json_word;

use super::Format;
use crate::csv::{CASE, case_fields};

pub(super) static CSV: Format = Format {
    name: "csv",
    summary: "one line per row, times in seconds",
    by_default: true,
    makes: Makes::Text("report.csv", |report, _| Ok(csv(report))),
};

type ReportColumn = (&'static str, fn(&Row) -> String);

/// The heading of each column after those of the case, and the field of a row below it.
const COLUMNS: &[ReportColumn] = &[
    ("backend", |row| row.backend.clone()),
    ("variant", |row| row.variant.clone()),
    ("picked", |row| row.picked.clone().unwrap_or_default()),
    ("threads", |row| row.threads.map(|threads| threads.to_string()).unwrap_or_default()),
    ("cache", |row| json_word(&row.cache)),
    ("side", |row| json_word(&row.side)),
    ("accuracy", |row| json_word(&row.accuracy)),
    ("origin", |row| row.origin().name().into()),
    ("outcome", |row| json_word(&row.outcome)),
    ("reason", |row| row.reason.clone().unwrap_or_default()),
    ("fix", |row| row.fix.clone().unwrap_or_default()),
    ("error", |row| number(row.error.map(|error| error.value))),
    ("error_bound", |row| number(row.error.map(|error| error.bound))),
    ("coarse", |row| row.error.map(|error| error.coarse.to_string()).unwrap_or_default()),
    ("unaltered", |row| row.unaltered.clone().unwrap_or_default()),
    ("flop", |row| number(Some(row.work.flop))),
    ("bytes", |row| number(Some(row.work.bytes))),
    ("clock", |row| timed(row, |execute| json_word(&execute.clock))),
    ("grade", |row| timed(row, |execute| execute.grade.map(|grade| grade.to_string()).unwrap_or_default())),
    ("warnings", |row| timed(row, warnings)),
    ("samples", |row| timed(row, |execute| execute.samples_s.len().to_string())),
    ("discarded", |row| timed(row, |execute| execute.discarded.to_string())),
    ("throttled", |row| timed(row, |execute| execute.throttled.to_string())),
    ("stopped", |row| timed(row, |execute| execute.stopped.as_ref().map(json_word).unwrap_or_default())),
    ("spent_s", |row| timed(row, |execute| number(Some(execute.spent_s)))),
    ("median_s", |row| timed(row, |execute| number(Some(execute.median_s)))),
    ("min_s", |row| timed(row, |execute| number(Some(execute.min_s)))),
    ("max_s", |row| timed(row, |execute| number(Some(execute.max_s)))),
    ("mad_s", |row| timed(row, |execute| number(Some(execute.mad_s)))),
    ("ci95_low_s", |row| timed(row, |execute| number(Some(execute.ci95_s[0])))),
    ("ci95_high_s", |row| timed(row, |execute| number(Some(execute.ci95_s[1])))),
    ("p05_s", |row| timed(row, |execute| number(execute.quantiles_s.map(|found| found[0])))),
    ("p25_s", |row| timed(row, |execute| number(execute.quantiles_s.map(|found| found[1])))),
    ("p75_s", |row| timed(row, |execute| number(execute.quantiles_s.map(|found| found[2])))),
    ("p95_s", |row| timed(row, |execute| number(execute.quantiles_s.map(|found| found[3])))),
    ("events_median_s", |row| {
        timed(row, |execute| number(execute.event_constant_s.map(|constant| execute.median_s + constant)))
    }),
    ("host_median_s", |row| timed(row, |execute| number(Some(execute.host_median_s)))),
    ("enqueue_median_s", |row| timed(row, |execute| number(execute.enqueue_median_s))),
    ("host_ci95_low_s", |row| timed(row, |execute| number(execute.host_ci95_s.map(|found| found[0])))),
    ("host_ci95_high_s", |row| timed(row, |execute| number(execute.host_ci95_s.map(|found| found[1])))),
    ("warmups", |row| timed(row, |execute| execute.warmups.to_string())),
    ("minor_faults", |row| timed(row, |execute| number(execute.page_faults.map(|faults| faults.minor)))),
    ("major_faults", |row| timed(row, |execute| number(execute.page_faults.map(|faults| faults.major)))),
    ("inputs_s", |row| phase(row, |phases| Some(phases.inputs_s))),
    ("prepare_s", |row| phase(row, |phases| Some(phases.prepare_s))),
    ("plan_s", |row| phase(row, |phases| phases.plan_s)),
    ("compile_cold_s", |row| phase(row, |phases| phases.compile?.cold_s)),
    ("compile_cached_s", |row| phase(row, |phases| phases.compile?.cached_s)),
    ("upload_bytes", |row| count(row, |phases| Some(phases.upload.as_ref()?.bytes))),
    ("upload_host_s", |row| phase(row, |phases| median(&phases.upload.as_ref()?.host_s))),
    ("upload_device_s", |row| phase(row, |phases| median(&phases.upload.as_ref()?.device_s))),
    ("upload_pinned_host_s", |row| phase(row, |phases| median(&phases.pinned.as_ref()?.upload.host_s))),
    ("upload_pinned_device_s", |row| phase(row, |phases| median(&phases.pinned.as_ref()?.upload.device_s))),
    ("first_s", |row| phase(row, |phases| Some(phases.first_s))),
    ("first_device_s", |row| phase(row, |phases| phases.first_device_s)),
    ("threads_s", |row| phase(row, |phases| Some(phases.threads_s))),
    ("download_s", |row| phase(row, |phases| Some(phases.download_s))),
    ("download_bytes", |row| count(row, |phases| Some(phases.download.as_ref()?.bytes))),
    ("download_host_s", |row| phase(row, |phases| median(&phases.download.as_ref()?.host_s))),
    ("download_device_s", |row| phase(row, |phases| median(&phases.download.as_ref()?.device_s))),
    ("download_pinned_host_s", |row| phase(row, |phases| median(&phases.pinned.as_ref()?.download.host_s))),
    ("download_pinned_device_s", |row| {
        phase(row, |phases| median(&phases.pinned.as_ref()?.download.device_s))
    }),
    ("peak_device_bytes", |row| count(row, |phases| phases.peak_device_bytes)),
    ("check_s", |row| phase(row, |phases| Some(phases.check_s))),
    ("inputs", |row| row.inputs.clone().unwrap_or_default()),
    ("screened", |row| if row.screened { "true".into() } else { String::new() }),
    ("added_by_refinement", |row| if row.added_by_refinement { "true".into() } else { String::new() }),
];

/// The last columns, which depend on the report's peaks.
const PEAK_COLUMNS: [&str; 2] = ["peak_share", "bound_by"];

pub(crate) fn csv(report: &Report) -> String {
    let headings = CASE.into_iter().chain(COLUMNS.iter().map(|(heading, _)| *heading)).chain(PEAK_COLUMNS);
    let fields = |row: &Row| {
        let fields = case_fields(&row.case).into_iter().chain(COLUMNS.iter().map(|(_, field)| field(row)));
        let found = peak_share::share(report, row);
        let share = number(found.map(|found| found.share));
        let bound_by = found.map(|found| json_word(&found.bound_by)).unwrap_or_default();
        fields.chain([share, bound_by]).map(Field::from).collect()
    };
    let rows = report.rows.iter().map(fields).collect();
    crate::csv::table(&Table::untitled(headings.map(Column::words).collect(), rows))
}

/// A field about the timed phase; empty for a row without one.
fn timed(row: &Row, field: impl Fn(&Execute) -> String) -> String {
    row.execute.as_ref().map(field).unwrap_or_default()
}

fn phase(row: &Row, seconds: impl Fn(&Phases) -> Option<f64>) -> String {
    number(row.phases.as_ref().and_then(seconds))
}

fn count(row: &Row, bytes: impl Fn(&Phases) -> Option<u64>) -> String {
    row.phases.as_ref().and_then(bytes).map(|bytes| bytes.to_string()).unwrap_or_default()
}

/// The kinds of a row's warnings: `spread;launch-bound`.
fn warnings(execute: &Execute) -> String {
    let mut kinds: Vec<String> = execute.warnings.iter().map(|warning| json_word(&warning.kind)).collect();
    kinds.dedup();
    kinds.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;
    use proptest::prelude::*;

    fn records(report: &Report) -> Vec<Vec<String>> {
        gpubench_text::csv::records(&csv(report)).unwrap()
    }

    #[test]
    fn every_row_reads_back_with_all_its_columns() {
        let report = example::full();
        let records = records(&report);
        assert_eq!(records.len(), report.rows.len() + 1);
        assert!(records.iter().all(|record| record.len() == CASE.len() + COLUMNS.len() + PEAK_COLUMNS.len()));
        for (record, row) in records[1..].iter().zip(&report.rows) {
            assert_eq!(record[place("median_s")].parse::<f64>().ok(), row.median_s());
        }
    }

    fn place(heading: &str) -> usize {
        let headings = CASE.into_iter().chain(COLUMNS.iter().map(|(heading, _)| *heading));
        headings.into_iter().position(|name| name == heading).unwrap()
    }

    #[test]
    fn headings_are_unique_and_every_column_is_filled_somewhere() {
        let mut report = example::with_pinned(example::full(), 10.0);
        report.rows[0].case.shape = serde_json::from_str(r#"{"m":"N","n":5}"#).ok();
        report.rows[0].case.density = Some(0.5);
        report.rows[0].case.matrix = Some("a@0123456789abcdef".into());
        report.rows[0].picked = Some("faer".into());
        report.rows[0].threads = Some(16);
        report.rows[0].unaltered = Some("it keeps its operands in a form of its own".into());
        (report.rows[0].added_by_refinement, report.rows[0].screened) = (true, true);
        let records = records(&report);
        for (index, heading) in records[0][..CASE.len() + COLUMNS.len()].iter().enumerate() {
            assert_eq!(place(heading), index);
            assert!(records[1..].iter().any(|record| !record[index].is_empty()), "{heading}");
        }
    }

    #[test]
    fn copies_with_pinned_memory_follow_those_with_pageable_memory() {
        let record = &records(&example::with_pinned(example::full(), 10.0))[2];
        for way in ["upload", "download"] {
            let host = place(&format!("{way}_pinned_host_s"));
            assert_eq!(record[host..host + 2], ["0.0000031", "0.0000021"]);
            assert_eq!(place(&format!("{way}_device_s")) + 1, host);
        }
        let record = &records(&example::full())[2];
        assert_eq!(record[place("upload_pinned_host_s")], "", "it was not measured");
    }

    #[test]
    fn the_last_columns_have_the_share_of_the_peak() {
        let report = example::of([example::measured("matmul", 10_000, "cuda", "v", 80e-3)]);
        assert_eq!(records(&report)[1][CASE.len() + COLUMNS.len()..], ["", ""]);
        let records = records(&example::with_peaks(report));
        assert_eq!(records[0][CASE.len() + COLUMNS.len()..], PEAK_COLUMNS);
        assert_eq!(records[1][CASE.len() + COLUMNS.len() + 1], "arithmetic");
        assert_eq!(records[1][CASE.len() + COLUMNS.len()].parse::<f64>().unwrap(), 0.5);
    }

    #[test]
    fn a_row_has_its_cache_grade_warnings_and_phases() {
        let record = &records(&example::full())[2];
        let found = ["cache", "grade", "warnings", "stopped", "upload_host_s", "peak_device_bytes"]
            .map(|heading| record[place(heading)].as_str());
        assert_eq!(found, ["cold", "B", "launch-bound", "precise", "0.000031", "120000"]);
    }

    proptest! {
        #[test]
        fn any_reason_survives(reason in "[a-z\",\r\n; ]{0,20}") {
            let mut report = example::full();
            report.rows[2].reason = Some(reason.clone());
            let found = &records(&report)[3][place("reason")];
            // A leading carriage return could begin a formula, and has an apostrophe before it.
            prop_assert_eq!(found.strip_prefix('\'').unwrap_or(found), &reason);
        }
    }
}
