//! Time or throughput against size, with one line per variant.

use crate::palette::Role;
use gpubench_analysis::answer::Comparison;
use gpubench_document::report::ABOVE;
use gpubench_ops as op;
use gpubench_report::Side;
use gpubench_report::report::Row;
use gpubench_report::report::quantity::time_text;
use gpubench_text::grouped::{distinct, grouped};

use super::quantity::Quantity;
use super::{LineChart, PeakLevel, PlotLines, extremes, legend, mark_notes, sizes};
use crate::chart::ChartKind;
use crate::chart::axis::Axis;
use crate::chart::frame::{Frame, LegendRow, LegendSample};
use crate::chart::layout::Axes;
use crate::chart::series::{ChartSeries, GROUPS, Marks, Point, Stroke, Style, group};
use crate::chart::sheet::{Part, Sheet};

/// Colours of each side, in the order in which its variants have them. The sides begin with different ones.
const CPU_HUES: [Role; 7] =
    [Role::Vermilion, Role::Orange, Role::Purple, Role::Ink, Role::Sky, Role::Green, Role::Blue];
const GPU_HUES: [Role; 7] =
    [Role::Blue, Role::Green, Role::Sky, Role::Ink, Role::Purple, Role::Orange, Role::Vermilion];

/// A side, a backend and a name.
type Variant<'a> = (Side, &'a str, &'a str);

fn variant(row: &Row) -> Variant<'_> {
    (row.side, &row.backend, &row.variant)
}

/// The style of a row's variant by its place among those of its side, which all differ in colour or shape; `turn` shifts the
/// shape, for the reports and families that share a chart.
fn style(row: &Row, variants: &[Variant<'_>], turn: usize) -> Style {
    let mut of_side = variants.iter().filter(|(side, ..)| *side == row.side);
    let index = of_side.position(|known| *known == variant(row)).unwrap_or_default();
    let hues = if row.side == Side::Cpu { CPU_HUES } else { GPU_HUES };
    let (hue, marker) = (hues[index % hues.len()], index + index / hues.len() + turn);
    Style { hue, stroke: Stroke::of(row), marker, filled: row.side == Side::Gpu }
}

/// The rows of both contenders.
fn covered<'a>(part: &'a Part<'_>) -> impl Iterator<Item = &'a Row> {
    let rows = |one: &'a Comparison<'_>| one.rows.iter().copied().filter(|row| one.versus.covers(row));
    part.section.comparisons.iter().flat_map(rows)
}

/// A line, and the rows of its points.
type VariantLine<'a> = (ChartSeries, Vec<&'a Row>);

/// Lines that a chart of several families may have.
const MOST_LINES: usize = 12;

/// Families of a sheet that have charts of their own.
const MOST_FAMILIES: usize = 20;

/// The chart of a sheet; if families share it and it has more than [`MOST_LINES`] lines, a chart for each family.
pub(crate) fn charts(sheet: &Sheet<'_>, quantity: Quantity, captions: Vec<String>) -> Vec<LineChart> {
    let whole = chart(sheet, quantity, captions.clone());
    let shows_families = sheet.parts.iter().any(|part| part.shows_family);
    if !shows_families || whole.as_ref().is_none_or(|chart| chart.lines.series.len() <= MOST_LINES) {
        return whole.into_iter().collect();
    }
    let (families, mut captions) = (sheet.by_family(), captions);
    if let (Some(last), true) = (captions.last_mut(), families.len() > MOST_FAMILIES) {
        *last += &format!(" The first {MOST_FAMILIES} of {} shapes have charts.", families.len());
    }
    let some = families.iter().take(MOST_FAMILIES);
    some.filter_map(|family| chart(family, quantity, captions.clone())).collect()
}

/// The chart of a sheet; `None` with fewer than two sizes, which a table shows better.
fn chart(sheet: &Sheet<'_>, quantity: Quantity, captions: Vec<String>) -> Option<LineChart> {
    let variants = distinct(sheet.parts.iter().flat_map(covered).map(variant));
    let parts = sheet.parts.iter().enumerate();
    let mut lines: Vec<VariantLine<'_>> =
        parts.flat_map(|(turn, part)| lines_of(part, quantity, &variants, turn)).collect();
    // Stable, so that a group keeps the order of the reports.
    lines.sort_by_key(|(series, _)| GROUPS.iter().position(|group| *group == series.group));
    let is_line = |(series, _): &VariantLine<'_>| series.points.len() > 1;
    let sides_with_lines: Vec<Side> =
        lines.iter().filter(|line| is_line(line)).map(|(_, rows)| rows[0].side).collect();
    lines.retain(|line| is_line(line) || !sides_with_lines.contains(&line.1[0].side));
    let levels = levels(sheet, quantity, &lines);
    let series: Vec<ChartSeries> = lines.into_iter().map(|(series, _)| series).collect();
    let sizes = sizes(&series);
    if sizes.len() < 2 {
        return None;
    }
    let mut values = extremes(&series);
    values.extend(levels.iter().map(|level| level.value));
    let mut legend = legend(&series);
    let level_row =
        |level: &PeakLevel| LegendRow::Entry(LegendSample::Rule(level.style), level.label.clone());
    let peaks = levels.iter().map(level_row).collect();
    legend.extend(LegendRow::headed("Measured peaks", peaks));
    legend.extend(mark_notes(&series));
    let kind = if quantity == Quantity::Time { ChartKind::Time } else { ChartKind::Throughput };
    let summary = op::find(sheet.subject.op).map_or("", |op| op.about().summary);
    let subtitle = [summary, quantity.method()];
    let subtitle: Vec<&str> = subtitle.into_iter().filter(|text| !text.is_empty()).collect();
    let frame = Frame {
        name: sheet.name(kind.name()),
        title: format!("{}: {}", sheet.heading(), quantity.title()),
        subtitle: subtitle.join("; "),
        captions,
        legend,
    };
    let axes = Axes { x: Axis::sizes(&sheet.size_title(), &sizes), y: quantity.axis(&values) };
    let lines = PlotLines { series, has_sides: false, crossings: vec![], levels };
    Some(LineChart { kind, frame, axes, lines })
}

/// One line per variant and family, in the order in which the rows name them; the shapes of markers also distinguish
/// reports and families.
fn lines_of<'a>(
    part: &'a Part<'_>,
    quantity: Quantity,
    variants: &[Variant<'_>],
    turn: usize,
) -> Vec<VariantLine<'a>> {
    let families = part.by_family().enumerate();
    let comparisons = families.flat_map(|(index, some)| some.iter().map(move |one| (turn + index, one)));
    let rows = comparisons.flat_map(|(turn, one)| {
        let covered = one.rows.iter().copied().filter(|row| one.versus.covers(row));
        covered.filter_map(move |row| {
            let label = part.label(Some(&part.names.variant(row)), one.family);
            Some(((label, group(row)), (turn, row, point(row, quantity)?)))
        })
    });
    let line = |((label, group), found): (_, Vec<(usize, &'a Row, Point)>)| {
        let style = style(found[0].1, variants, found[0].0);
        let (rows, points) = found.into_iter().map(|(_, row, point)| (row, point)).unzip();
        (ChartSeries { label, group, style, points, bends: vec![] }, rows)
    };
    grouped(rows).into_iter().map(line).collect()
}

fn point(row: &Row, quantity: Quantity) -> Option<Point> {
    let execute = row.execute.as_ref()?;
    let [y, low, high] = quantity.of(row)?;
    let marks = Marks { grade_d: execute.is_unreliable(), ..Marks::default() };
    let [median, from, to] = [execute.median_s, execute.ci95_s[0], execute.ci95_s[1]].map(time_text);
    let note = format!("{}/{}, N = {}: {median} ({from} to {to})", row.backend, row.variant, row.case.n);
    Some(Point { x: row.case.n as f64, y, low, high, label: None, marks, note })
}

/// The measured peaks of a single report: one per side and accuracy. A rate more than a few per cent above it shows that what was
/// measured is no peak: then that of wider units is, or there is none.
fn levels(sheet: &Sheet<'_>, quantity: Quantity, lines: &[VariantLine<'_>]) -> Vec<PeakLevel> {
    let mut levels: Vec<PeakLevel> = vec![];
    let [part] = sheet.parts.as_slice() else { return levels };
    let rows: Vec<&Row> = lines.iter().flat_map(|(_, rows)| rows).copied().collect();
    for row in &rows {
        let same = rows.iter().filter(|other| (other.side, other.accuracy) == (row.side, row.accuracy));
        let highest = same.filter_map(|row| Some(quantity.of(row)?[0])).fold(0.0, f64::max);
        let peaks = quantity.peaks(part.report, row);
        let Some(peak) = peaks.into_iter().find(|(rate, _)| ABOVE * rate >= highest) else { continue };
        let label = quantity.peak_text(row.side.label(), peak);
        if levels.iter().all(|level| level.label != label) {
            let style = Style { hue: Role::Soft, stroke: Stroke::of(row), marker: 0, filled: true };
            levels.push(PeakLevel { value: peak.0, label, style });
        }
    }
    levels
}
