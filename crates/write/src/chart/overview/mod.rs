//! Overview sheets: the speed-ups of every op of a report with copies and without, in small.

mod draw;

use gpubench_analysis::answer::{Comparison, Contender, Kind, Kinds, Pair, Versus};
use gpubench_report::Side;
use gpubench_report::case::DType;
use gpubench_report::report::Report;

use super::axis::Axis;
use super::frame::{Frame, LegendRow, LegendSample};
use super::lines::labels::{end_label_shares, end_labels_room};
use super::lines::speed_up::{self, TUNED, TUNED_STYLE, kind_style};
use super::lines::{PlotLines, extremes, mark_notes, sizes};
use super::series::{ChartSeries, Marks, Style};
use super::sheet::{Part, Sheet};
use super::text::marks_text;
pub(super) use draw::{draw, draw_alone};
use gpubench_document::report::copies_clause;
use gpubench_document::report::problems::cut_short;
use gpubench_text::words::capitalised;

/// Panels that one sheet holds; in more, texts would be too small.
pub(super) const MOST_PANELS: usize = 9;

/// Part of the height of a panel that a label takes.
const LABEL_SHARE: f64 = 0.1;

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
    /// The speed-ups in words, where there is one size, which is no line.
    pub(crate) figures: Vec<Figure>,
}

/// A speed-up in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) style: Style,
    pub(crate) marks: Marks,
    /// The kind of speed-up.
    pub name: &'static str,
    /// Winner and factor with marks, and the interval.
    pub texts: [String; 2],
}

/// A panel before it is known which others are on its page.
#[derive(Clone)]
struct Draft {
    dtype: DType,
    panel: OverviewPanel,
    /// The heading for a page whose title has the element type.
    without_dtype: String,
}

/// The sheets of one report: one where all panels fit, otherwise one or more per element type. None for a single speed-up,
/// which is no comparison of sizes or ops.
pub(crate) fn sheets(report: &Report, sheets: &[Sheet<'_>], captions: &[String]) -> Vec<Overview> {
    let parts = sheets.iter().flat_map(|sheet| sheet.parts.iter().map(move |part| (sheet, part)));
    let mut panels: Vec<Draft> = parts.flat_map(|(sheet, part)| panels_of(sheet, part)).collect();
    if let [Draft { panel, .. }] = panels.as_slice()
        && !panel.figures.is_empty()
    {
        return vec![];
    }
    let several = panels.len() > MOST_PANELS;
    if several {
        // Stable, so that ops keep their order.
        panels.sort_by_key(|draft| draft.dtype);
    }
    let mut pages: Vec<Vec<Draft>> = vec![];
    for group in panels.chunk_by(|a, b| !several || a.dtype == b.dtype) {
        let count = group.len().div_ceil(MOST_PANELS);
        pages.extend(group.chunks(group.len().div_ceil(count)).map(<[_]>::to_vec));
    }
    pages.into_iter().enumerate().map(|(index, page)| overview(report, index, page, captions)).collect()
}

fn overview(report: &Report, index: usize, page: Vec<Draft>, captions: &[String]) -> Overview {
    let (versus, legend) = (Versus::of(report), legend(report, &page));
    let first = page[0].dtype;
    let is_shared = page.iter().all(|draft| draft.dtype == first);
    let dtype = if is_shared { format!(", {}", first.words()) } else { String::new() };
    // The title has the element type that all share.
    let panels = page.into_iter().map(|Draft { panel, without_dtype, .. }| match is_shared {
        true => OverviewPanel { heading: without_dtype, ..panel },
        false => panel,
    });
    let panels: Vec<OverviewPanel> = panels.collect();
    let drawn = panels.iter().filter(|panel| panel.figures.is_empty());
    let shares = drawn.clone().map(|panel| end_label_shares(&panel.lines.series, LABEL_SHARE));
    let shares = shares.fold([0.0f64; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
    let values = extremes(drawn.flat_map(|panel| &panel.lines.series));
    Overview {
        frame: Frame {
            name: if index == 0 { "overview".into() } else { format!("overview-{}", index + 1) },
            title: match speed_up::question(versus) {
                names if versus.is_named() => {
                    format!("{names}: speed-up of the best variants by size{dtype}")
                }
                question => {
                    format!("{} Speed-up of the best variants by size{dtype}", capitalised(&question))
                }
            },
            subtitle: String::new(),
            captions: captions.to_vec(),
            legend,
        },
        notice: cut_short(report),
        y: Axis::ratios("", &values, versus, shares),
        panels,
    }
}

/// The lines and marks, each an [entry](LegendRow::Entry).
fn legend(report: &Report, page: &[Draft]) -> Vec<LegendRow> {
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
    let series: Vec<ChartSeries> = page.iter().flat_map(|draft| draft.panel.lines.series.clone()).collect();
    let figures: Vec<&Figure> = page.iter().flat_map(|draft| &draft.panel.figures).collect();
    let is_shown = |style: Style| {
        series.iter().any(|one| one.style == style) || figures.iter().any(|one| one.style == style)
    };
    let kinds = Kinds::of(&report.rows).all().iter().filter(|kind| is_shown(kind_style(**kind)));
    let lines = kinds.map(|kind| LegendRow::Entry(LegendSample::Line(kind_style(*kind)), words(*kind)));
    let tuned = is_shown(TUNED_STYLE).then(|| {
        let text = "data stays on the GPU, gpubench's own code on both sides too";
        LegendRow::Entry(LegendSample::Line(TUNED_STYLE), text.into())
    });
    let crosses = page.iter().any(|draft| !draft.panel.lines.crossings.is_empty());
    let ring = crosses.then(|| {
        let b = Versus::of(report).label(Contender::B);
        LegendRow::Entry(LegendSample::Crossover, format!("{b} faster from this N (column: its interval)"))
    });
    // Without the heading.
    let marks = mark_notes(&series).into_iter().skip(1);
    lines.chain(tuned).chain(ring).chain(marks).collect()
}

/// One panel per family with a size that both contenders have.
fn panels_of<'a>(sheet: &'a Sheet<'_>, part: &'a Part<'_>) -> impl Iterator<Item = Draft> + 'a {
    part.by_family().filter_map(move |comparisons| {
        let mut lines = speed_up::by_kind(part, comparisons);
        // The work alone answers no question of a caller; it is in the charts of single ops.
        if lines.iter().any(|line| line.kind != Kind::Kernel) {
            lines.retain(|line| line.kind != Kind::Kernel);
        }
        let family = part.shown(comparisons[0].family).clause();
        let series: Vec<ChartSeries> = lines.iter().map(|line| only_last_label(&line.series)).collect();
        let sizes = sizes(&series);
        let only = if let [n] = sizes.as_slice() { Some(*n) } else { None };
        let size = only.map(|n| format!(", N = {n}")).unwrap_or_default();
        let figures = only.map(|n| figures(part, comparisons, n)).unwrap_or_default();
        let panel = OverviewPanel {
            heading: format!("{}{family}{size}", sheet.heading()),
            x: Axis::sizes("", &sizes, end_labels_room(&series, draw::POINT_TEXT, draw::MARKER)),
            lines: PlotLines {
                series,
                regions: Some([String::new(), String::new()]),
                crossings: lines.iter().filter_map(speed_up::crossing).collect(),
                levels: vec![],
            },
            figures,
        };
        let without_dtype = format!("{}{family}{size}", sheet.heading_without_dtype());
        (!sizes.is_empty()).then_some(Draft { dtype: sheet.subject.dtype, panel, without_dtype })
    })
}

/// The speed-ups of one size in words.
fn figures(part: &Part<'_>, comparisons: &[Comparison<'_>], n: u64) -> Vec<Figure> {
    let kinds = speed_up::report_kinds(part);
    let Some(comparison) = comparisons.iter().find(|one| one.n == n) else { return vec![] };
    let figure = |style, name, pair: Pair<'_>| {
        let factor = pair.speed_up.factor_text() + &marks_text(&pair);
        let leader = pair.versus.label(pair.speed_up.leader());
        let texts = [format!("{leader} {factor}"), pair.speed_up.interval_text()];
        Figure { style, marks: Marks::of(&pair), name, texts }
    };
    let of_kind = |&kind: &Kind| Some(figure(kind_style(kind), kinds.name(kind), comparison.pair(kind)?));
    let tuned = comparison.tuned_pair(Kind::Resident).map(|pair| figure(TUNED_STYLE, TUNED, pair));
    let shown = kinds.all().iter().filter(|kind| **kind != Kind::Kernel);
    shown.filter_map(of_kind).chain(tuned).collect()
}

/// A line whose last point alone has a label.
fn only_last_label(series: &ChartSeries) -> ChartSeries {
    let mut series = series.clone();
    let last = series.points.len().saturating_sub(1);
    series.points.iter_mut().take(last).for_each(|point| point.label = None);
    series
}

#[cfg(test)]
mod tests;
