//! A trend as CSV (RFC 4180): one line per time, with its level.

use gpubench_model::format::Makes;
use gpubench_text::csv::number;
use gpubench_text::table::{Column, Table};

use super::view::Format;
use crate::{Level, Point, ReportRef, Series, Step, Trend};

pub(crate) static CSV: Format = Format {
    name: "csv",
    summary: "a line per time with the level it belongs to, times in seconds",
    by_default: true,
    makes: Makes::Text("trend.csv", |trend, _| Ok(csv(trend))),
};

/// A point with its report, series, level and step.
struct Record<'a> {
    report_ref: &'a ReportRef,
    series: &'a Series,
    point: &'a Point,
    /// `None` for unconfirmed newest points.
    level: Option<&'a Level>,
    /// The step that begins with this point, confirmed or not.
    step: Option<&'a Step>,
    is_confirmed: bool,
}

/// A heading, and the function for its fields.
type Show = (&'static str, fn(&Record<'_>) -> String);

const COLUMNS: &[Show] = &[
    ("op", |record| record.series.case.op.clone()),
    ("n", |record| record.series.case.n.to_string()),
    ("dtype", |record| record.series.case.dtype.to_string()),
    ("density", |record| number(record.series.case.density)),
    ("seed", |record| record.series.case.seed.to_string()),
    ("backend", |record| record.series.backend.clone()),
    ("variant", |record| record.series.variant.clone()),
    ("cache", |record| record.series.cache.to_string()),
    ("device", |record| record.series.device.clone()),
    ("started", |record| record.report_ref.started.clone()),
    ("report", |record| record.report_ref.name.clone()),
    ("host", |record| record.report_ref.host.clone()),
    ("git_revision", |record| record.report_ref.git_revision.clone().unwrap_or_default()),
    ("gpubench_version", |record| record.report_ref.gpubench_version.clone()),
    ("gpubench_revision", |record| record.report_ref.gpubench_revision.clone().unwrap_or_default()),
    ("median_s", |record| number(Some(record.point.median_s))),
    ("ci95_low_s", |record| number(Some(record.point.ci95_s[0]))),
    ("ci95_high_s", |record| number(Some(record.point.ci95_s[1]))),
    ("level_s", |record| number(record.level.map(|level| level.median_s))),
    ("step_ratio", |record| number(record.step.map(|step| step.ratio))),
    ("step", |record| match (record.step, record.is_confirmed) {
        (None, _) => String::new(),
        (Some(step), true) => step.direction.name().into(),
        (Some(step), false) => format!("{}, not confirmed", step.direction.name()),
    }),
];

/// Writes the headings and one line per time, in order of the series, then of the reports.
fn csv(trend: &Trend) -> String {
    let mut rows = vec![];
    for series in &trend.series {
        for (index, point) in series.points.iter().enumerate() {
            let begins = |step: &&Step| step.first_after == point.report;
            let confirmed = series.steps.iter().find(begins);
            let record = Record {
                report_ref: &trend.reports[point.report],
                series,
                point,
                level: series
                    .levels
                    .iter()
                    .find(|level| (level.first..level.first + level.count).contains(&index)),
                step: confirmed.or(series.latest.as_ref().filter(begins)),
                is_confirmed: confirmed.is_some(),
            };
            rows.push(COLUMNS.iter().map(|(_, field)| field(&record).into()).collect());
        }
    }
    let columns = COLUMNS.iter().map(|(heading, _)| Column::words(*heading)).collect();
    Table::untitled(columns, rows).csv()
}
