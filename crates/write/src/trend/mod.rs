//! The formats of a trend. [`FORMATS`] lists them.

mod charts;
#[cfg(test)]
mod tests;

use crate::chart::{Format as ChartFormat, Theme};
use crate::csv::{CASE, case_fields};
use crate::terminal::{Screen, blocks};
use gpubench_document::table::{Column, Field, Table};
use gpubench_report::format::{self, Formats, Makes};
use gpubench_report::report::file::to_json_text;
use gpubench_text::csv::number;

use self::charts::files;
use gpubench_analysis::trend::{CellSeries, FILE_NAME, TimeLevel, TimePoint, Trend};
use gpubench_document::trend as document;

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
            makes: Makes::Text("trend.md", |trend, _| {
                Ok(crate::markdown::document(&document::document(trend)))
            }),
        },
        // A folder of nightly runs has hundreds of series.
        &TrendFormat {
            name: "png",
            summary: "a chart per series, as pixels",
            by_default: false,
            makes: Makes::Files {
                has: |file| file.starts_with("trend-") && file.ends_with(".png"),
                render: |trend, theme| files(trend, ChartFormat::Png, *theme),
            },
        },
        &TrendFormat {
            name: "svg",
            summary: "a chart per series, as vectors",
            by_default: false,
            makes: Makes::Files {
                has: |file| file.starts_with("trend-") && file.ends_with(".svg"),
                render: |trend, theme| files(trend, ChartFormat::Svg, *theme),
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
    makes: Makes::Screen(|trend, _| Ok(blocks(&document::blocks(trend), Screen::default()))),
};

/// The headings of the CSV after those of the case.
const HEADINGS: &str = "backend variant cache device started report host git_revision gpubench_version gpubench_revision median_s ci95_low_s \
                        ci95_high_s level_s step_ratio step";

/// Writes a trend as CSV (RFC 4180): one line per time, in order of the series, then of the reports.
fn csv(trend: &Trend) -> String {
    let points =
        trend.series.iter().flat_map(|series| series.points.iter().enumerate().map(move |at| (series, at)));
    let rows = points.map(|(series, (index, point))| {
        let case = case_fields(&series.cell.case).into_iter();
        case.chain(fields(trend, series, index, point)).map(Field::from).collect()
    });
    let columns = CASE.into_iter().chain(HEADINGS.split(' ')).map(Column::words).collect();
    crate::csv::table(&Table::untitled(columns, rows.collect()))
}

/// Returns the fields of a point after those of the case: its series, its report, and its times with the step that begins with it.
fn fields(trend: &Trend, series: &CellSeries, index: usize, point: &TimePoint) -> [String; 16] {
    let report = &trend.reports[point.report];
    let holds = |level: &&TimeLevel| (level.first..level.first + level.count).contains(&index);
    // Unconfirmed newest points have no level.
    let level = series.fit.levels.iter().find(holds);
    let step = series.changes().find(|(step, _)| step.first_after == point.report);
    [
        series.cell.backend.clone(),
        series.cell.variant.clone(),
        series.cell.cache.to_string(),
        series.device.clone(),
        report.started.clone(),
        report.name.clone(),
        report.host.clone(),
        report.git_revision.clone().unwrap_or_default(),
        report.gpubench_version.clone(),
        report.gpubench_revision.clone().unwrap_or_default(),
        number(Some(point.median_s)),
        number(Some(point.ci95_s[0])),
        number(Some(point.ci95_s[1])),
        number(level.map(|level| level.median_s)),
        number(step.map(|(step, _)| step.ratio)),
        step.map_or_else(String::new, |(step, is_confirmed)| {
            format!("{}{}", step.direction, if is_confirmed { "" } else { ", not confirmed" })
        }),
    ]
}
