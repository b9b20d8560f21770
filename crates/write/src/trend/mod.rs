//! A trend as text, Markdown, JSON, CSV and charts.
//!
//! [`FORMATS`] lists all formats.

mod panels;
mod text;

pub use panels::missing_charts_text;

use crate::chart::{Format as ChartFormat, Theme, panels::files};
use gpubench_document::table::{Column, Table};
use gpubench_report::format::{self, Formats, Makes};
use gpubench_report::report::file::to_json_text;
use gpubench_text::csv::number;

use self::panels::charts;
use gpubench_analysis::trend::{CellSeries, FILE_NAME, ReportRef, TimeLevel, TimePoint, TimeStep, Trend};

/// A format of a trend; charts are drawn in a theme.
pub type TrendFormat = format::Format<Trend, Theme>;

/// Every format of a trend; the first is for people at a terminal.
pub static FORMATS: Formats<Trend, Theme> = Formats {
    all: &[
        &TABLE,
        &TrendFormat {
            name: "json",
            summary: "every series with its times, levels and steps, for programs",
            by_default: true,
            makes: Makes::Text(FILE_NAME, |trend, _| to_json_text(trend)),
        },
        &TrendFormat {
            name: "csv",
            summary: "a line per time with the level it belongs to, times in seconds",
            by_default: true,
            makes: Makes::Text("trend.csv", |trend, _| Ok(csv(trend))),
        },
        &TrendFormat {
            name: "md",
            summary: "the steps, what did not change, and the method, as Markdown",
            by_default: true,
            makes: Makes::Text("trend.md", |trend, _| Ok(text::markdown(trend))),
        },
        &TrendFormat {
            name: "png",
            summary: "a chart per case, as pixels",
            // A folder of nightly runs has hundreds of cases.
            by_default: false,
            makes: Makes::Files {
                has: |file| file.starts_with("trend-") && file.ends_with(".png"),
                render: |trend, theme| files(&charts(trend), ChartFormat::Png, *theme),
            },
        },
        &TrendFormat {
            name: "svg",
            summary: "a chart per case, as vectors",
            by_default: false,
            makes: Makes::Files {
                has: |file| file.starts_with("trend-") && file.ends_with(".svg"),
                render: |trend, theme| files(&charts(trend), ChartFormat::Svg, *theme),
            },
        },
    ],
    refused: &[("html", "a trend has no HTML page: name table, json, csv, md, png or svg")],
};

/// The trend as text.
pub static TABLE: TrendFormat = TrendFormat {
    name: "table",
    summary: "text: what changed, worst first",
    by_default: true,
    makes: Makes::Screen(|trend, _| Ok(text::text(trend))),
};

/// A line of the CSV: a point with its report, series, level and step.
struct CsvLine<'a> {
    report_ref: &'a ReportRef,
    series: &'a CellSeries,
    point: &'a TimePoint,
    /// `None` for unconfirmed newest points.
    level: Option<&'a TimeLevel>,
    /// The step that begins with this point; the flag is true for confirmed ones.
    step: Option<(&'a TimeStep, bool)>,
}

/// A heading, and the function for its fields.
type CsvColumn = (&'static str, fn(&CsvLine<'_>) -> String);

const COLUMNS: &[CsvColumn] = &[
    ("op", |line| line.series.case.op.clone()),
    ("n", |line| line.series.case.n.to_string()),
    ("dtype", |line| line.series.case.dtype.to_string()),
    ("density", |line| number(line.series.case.density)),
    ("seed", |line| line.series.case.seed.to_string()),
    ("backend", |line| line.series.backend.clone()),
    ("variant", |line| line.series.variant.clone()),
    ("cache", |line| line.series.cache.to_string()),
    ("device", |line| line.series.device.clone()),
    ("started", |line| line.report_ref.started.clone()),
    ("report", |line| line.report_ref.name.clone()),
    ("host", |line| line.report_ref.host.clone()),
    ("git_revision", |line| line.report_ref.git_revision.clone().unwrap_or_default()),
    ("gpubench_version", |line| line.report_ref.gpubench_version.clone()),
    ("gpubench_revision", |line| line.report_ref.gpubench_revision.clone().unwrap_or_default()),
    ("median_s", |line| number(Some(line.point.median_s))),
    ("ci95_low_s", |line| number(Some(line.point.ci95_s[0]))),
    ("ci95_high_s", |line| number(Some(line.point.ci95_s[1]))),
    ("level_s", |line| number(line.level.map(|level| level.median_s))),
    ("step_ratio", |line| number(line.step.map(|(step, _)| step.ratio))),
    ("step", |line| match line.step {
        None => String::new(),
        Some((step, true)) => step.direction.into(),
        Some((step, false)) => format!("{}, not confirmed", step.direction),
    }),
];

/// Writes a trend as CSV (RFC 4180): one line per time, in order of the series, then of the reports.
fn csv(trend: &Trend) -> String {
    let mut rows = vec![];
    for series in &trend.series {
        for (index, point) in series.points.iter().enumerate() {
            let mut levels = series.fit.levels.iter();
            let line = CsvLine {
                report_ref: &trend.reports[point.report],
                series,
                point,
                level: levels.find(|level| (level.first..level.first + level.count).contains(&index)),
                step: series.changes().find(|(step, _)| step.first_after == point.report),
            };
            rows.push(COLUMNS.iter().map(|(_, field)| field(&line).into()).collect());
        }
    }
    let columns = COLUMNS.iter().map(|(heading, _)| Column::words(*heading)).collect();
    crate::csv::table(&Table::untitled(columns, rows))
}
