//! Overview sheets: the speed-ups of every op of a report with copies and without, in small.

mod draw;

use gpubench_analysis::answer::{Contender, Kind, Kinds, Versus};
use gpubench_report::Side;
use gpubench_report::case::DType;
use gpubench_report::report::Report;

use super::axis::Axis;
use super::frame::{Frame, LegendRow, LegendSample};
use super::lines::speed_up::{self, TUNED_STYLE, kind_style};
use super::lines::{PlotLines, extremes, mark_notes, sizes};
use super::series::{ChartSeries, Style};
use super::sheet::{Part, Sheet};
use super::text::Caption;
pub(super) use draw::{draw, draw_alone};
use gpubench_document::report::copies_clause;
use gpubench_document::report::problems::cut_short;
use gpubench_text::words::capitalised;

pub(crate) const CAPTION: Caption = (
    "Host clock. Best correct variant of each{side}. Bands and columns: 95 % intervals. Log axes; x: N.",
    false,
);

/// Panels that one sheet holds; in more, texts would be too small.
pub(super) const MOST_PANELS: usize = 9;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overview {
    pub(crate) frame: Frame,
    /// What a reader must know first: that the run ended early, and what is missing.
    pub(crate) notice: Option<String>,
    /// Ratios, for every panel the same.
    pub y: Axis,
    /// The panels, row by row; 1 to [`MOST_PANELS`].
    pub panels: Vec<OverviewPanel>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OverviewPanel {
    /// The op, and what it is about.
    pub heading: String,
    pub x: Axis,
    /// A line per kind of speed-up.
    pub(crate) lines: PlotLines,
}

/// The sheets of one report, with about as many panels on each; of several, those of one element type come first.
pub(crate) fn sheets(report: &Report, sheets: &[Sheet<'_>], captions: &[String]) -> Vec<Overview> {
    let parts = sheets.iter().flat_map(|sheet| sheet.parts.iter().map(move |part| (sheet, part)));
    let of_part = |(sheet, part): (&Sheet<'_>, &Part<'_>)| {
        panels_of(sheet, part).map(|panel| (sheet.subject.dtype, panel)).collect::<Vec<_>>()
    };
    let mut panels: Vec<(DType, OverviewPanel)> = parts.flat_map(of_part).collect();
    if panels.len() > MOST_PANELS {
        // Stable, so that ops keep their order.
        panels.sort_by_key(|(dtype, _)| *dtype);
    }
    let panels: Vec<OverviewPanel> = panels.into_iter().map(|(_, panel)| panel).collect();
    let count = panels.len().div_ceil(MOST_PANELS).max(1);
    let pages = panels.chunks(panels.len().div_ceil(count).max(1));
    pages.enumerate().map(|(index, page)| overview(report, index, page, captions)).collect()
}

fn overview(report: &Report, index: usize, panels: &[OverviewPanel], captions: &[String]) -> Overview {
    let versus = Versus::of(report);
    let values = extremes(panels.iter().flat_map(|panel| &panel.lines.series));
    Overview {
        frame: Frame {
            name: if index == 0 { "overview".into() } else { format!("overview-{}", index + 1) },
            title: match speed_up::question(versus) {
                names if versus.is_named() => {
                    format!("{names}: speed-up of the best variants by size")
                }
                question => {
                    format!("{} Speed-up of the best variants by size", capitalised(&question))
                }
            },
            subtitle: String::new(),
            captions: captions.to_vec(),
            legend: legend(report, panels),
        },
        notice: cut_short(report),
        y: Axis::ratios("", &values, versus),
        panels: panels.to_vec(),
    }
}

/// The lines and marks, each an [entry](LegendRow::Entry).
fn legend(report: &Report, panels: &[OverviewPanel]) -> Vec<LegendRow> {
    let words = |kind| match kind {
        Kind::Kernel => "the work alone".into(),
        Kind::Resident if report.rows.iter().any(|row| row.side == Side::Gpu) => {
            "data stays on the GPU: launch and wait included".into()
        }
        Kind::Resident => "launch and wait included".into(),
        Kind::EndToEnd | Kind::EndToEndPinned => {
            format!("copied each call: {}", copies_clause(report.rows.iter(), &[kind]))
        }
    };
    let series: Vec<ChartSeries> = panels.iter().flat_map(|panel| panel.lines.series.clone()).collect();
    let is_shown = |style: Style| series.iter().any(|one| one.style == style);
    let kinds = Kinds::of(&report.rows).all().iter().filter(|kind| is_shown(kind_style(**kind)));
    let lines = kinds.map(|kind| LegendRow::Entry(LegendSample::Line(kind_style(*kind)), words(*kind)));
    let tuned = is_shown(TUNED_STYLE).then(|| {
        let text = "data stays on the GPU, gpubench's own code on both sides too";
        LegendRow::Entry(LegendSample::Line(TUNED_STYLE), text.into())
    });
    let crosses = panels.iter().any(|panel| !panel.lines.crossings.is_empty());
    let ring = crosses.then(|| {
        let b = Versus::of(report).label(Contender::B);
        LegendRow::Entry(LegendSample::Crossover, format!("{b} faster from this N (column: its interval)"))
    });
    // Without the heading.
    let marks = mark_notes(&series).into_iter().skip(1);
    lines.chain(tuned).chain(ring).chain(marks).collect()
}

/// One panel per family with several sizes that both contenders have; a table shows one size better.
fn panels_of<'a>(sheet: &'a Sheet<'_>, part: &'a Part<'_>) -> impl Iterator<Item = OverviewPanel> + 'a {
    part.by_family().filter_map(move |comparisons| {
        let mut lines = speed_up::by_kind(part, comparisons);
        // The work alone answers no question of a caller; it is in the charts of single ops.
        if lines.iter().any(|line| line.kind != Kind::Kernel) {
            lines.retain(|line| line.kind != Kind::Kernel);
        }
        let family = part.shown(comparisons[0].family).clause();
        let mut series: Vec<ChartSeries> = lines.iter().map(|line| line.series.clone()).collect();
        for one in &mut series {
            let last = one.points.len().saturating_sub(1);
            one.points.iter_mut().take(last).for_each(|point| point.label = None);
        }
        let sizes = sizes(&series);
        let panel = OverviewPanel {
            heading: format!("{}{family}", sheet.heading()),
            x: Axis::sizes("", &sizes),
            lines: PlotLines {
                series,
                has_sides: true,
                crossings: lines.iter().filter_map(speed_up::crossing).collect(),
                levels: vec![],
            },
        };
        (sizes.len() > 1).then_some(panel)
    })
}

#[cfg(test)]
mod tests;
