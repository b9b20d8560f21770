//! Time or throughput against size, with one line per variant.

use crate::palette::Role;
use gpubench_document::report::ABOVE;
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
use crate::chart::styles::VariantStyles;

/// A line, and the rows of its points.
struct VariantLine<'a> {
    series: ChartSeries,
    /// The name of its variant, which is a part of the label.
    variant: String,
    rows: Vec<&'a Row>,
    /// A number for its report and family.
    turn: usize,
}

impl VariantLine<'_> {
    fn side(&self) -> Side {
        self.rows[0].side
    }

    /// The variant that it chose at every size, if it chooses.
    fn only_pick(&self) -> Option<&str> {
        let first = self.rows[0].picked.as_deref()?;
        self.rows.iter().all(|row| row.picked.as_deref() == Some(first)).then_some(first)
    }

    /// Returns whether it is the line of what `auto` chose at every size: the same kernel, in the same case and report.
    fn is_pick_of(&self, auto: &VariantLine<'_>) -> bool {
        let [own, of_auto] = [self.rows[0], auto.rows[0]];
        auto.only_pick() == Some(own.variant.as_str())
            && (&own.backend, own.case.family()) == (&of_auto.backend, of_auto.case.family())
            && self.turn == auto.turn
    }
}

/// Leaves one line of a variant that chooses and of its only choice, which are the same kernel: its own, unless the other has
/// more sizes.
fn merge_picks(lines: &mut Vec<VariantLine<'_>>) {
    let left_out = |auto: usize| {
        let pick = lines.iter().position(|line| line.is_pick_of(&lines[auto]))?;
        Some(if lines[pick].rows.len() > lines[auto].rows.len() { auto } else { pick })
    };
    let left_out: Vec<usize> = (0..lines.len()).filter_map(left_out).collect();
    let mut index = 0..;
    lines.retain(|_| index.next().is_some_and(|index| !left_out.contains(&index)));
}

/// The chart of a sheet; `None` with fewer than two sizes, which a table shows better.
pub(crate) fn chart(
    sheet: &Sheet<'_>,
    quantity: Quantity,
    styles: &VariantStyles<'_>,
    captions: Vec<String>,
) -> Option<LineChart> {
    let parts = sheet.parts.iter().enumerate();
    let mut lines: Vec<VariantLine<'_>> =
        parts.flat_map(|(turn, part)| lines_of(part, quantity, styles, turn)).collect();
    // Stable, so that a group keeps the order of the reports.
    lines.sort_by_key(|line| GROUPS.iter().position(|group| *group == line.series.group));
    merge_picks(&mut lines);
    let is_line = |line: &VariantLine<'_>| line.series.points.len() > 1;
    let sides_with_lines: Vec<Side> =
        lines.iter().filter(|line| is_line(line)).map(VariantLine::side).collect();
    lines.retain(|line| is_line(line) || !sides_with_lines.contains(&line.side()));
    let mut picks: Vec<LegendRow> = lines.iter_mut().flat_map(name_pick).collect();
    if sheet.parts.len() > 1 {
        picks.clear();
    }
    let (levels, exceeded) = levels(sheet, quantity, &lines);
    let series: Vec<ChartSeries> = lines.into_iter().map(|line| line.series).collect();
    let sizes = sizes(&series);
    if sizes.len() < 2 {
        return None;
    }
    let mut values = extremes(&series);
    values.extend(levels.iter().map(|level| level.value));
    let mut legend = legend(&series);
    let level_row =
        |level: &PeakLevel| LegendRow::Entry(LegendSample::Rule(level.style), level.label.clone());
    let peaks = levels.iter().map(level_row).chain(exceeded).collect();
    legend.extend(LegendRow::headed("Measured peaks", peaks));
    legend.extend(mark_notes(&series));
    legend.extend(picks);
    let kind = if quantity == Quantity::Time { ChartKind::Time } else { ChartKind::Throughput };
    let subtitle = [sheet.subject.summary(), quantity.method()];
    let subtitle: Vec<&str> = subtitle.into_iter().filter(|text| !text.is_empty()).collect();
    let frame = Frame {
        name: sheet.name(kind.name()),
        title: format!("{}: {}", sheet.heading(), quantity.title()),
        subtitle: subtitle.join("; "),
        captions,
        legend,
    };
    let axes = Axes {
        x: Axis::sizes(&sheet.size_title(true), &sizes, [0.0; 2]),
        y: quantity.axis(&values),
        rows_above: 0,
    };
    let lines = PlotLines { series, regions: None, crossings: vec![], levels };
    Some(LineChart { kind, frame, axes, lines })
}

/// One line per variant and family, in the order in which the rows name them; the shapes of markers also distinguish
/// reports and families.
fn lines_of<'a>(
    part: &'a Part<'_>,
    quantity: Quantity,
    styles: &VariantStyles<'_>,
    turn: usize,
) -> Vec<VariantLine<'a>> {
    let mut lines: Vec<VariantLine<'_>> = vec![];
    let families = part.by_family().enumerate();
    let comparisons = families.flat_map(|(index, some)| some.iter().map(move |one| (turn + index, one)));
    for (turn, comparison) in comparisons {
        for &row in comparison.rows.iter().filter(|row| comparison.versus.covers(row)) {
            let Some(point) = point(row, quantity) else { continue };
            let variant = part.names.variant(row);
            let label = part.label(Some(&variant), comparison.family);
            let group = group(row);
            match lines.iter_mut().find(|line| line.series.label == label && line.series.group == group) {
                Some(line) => {
                    line.series.points.push(point);
                    line.rows.push(row);
                }
                None => {
                    let style = styles.style(row, turn);
                    let series = ChartSeries { label, group, style, points: vec![point], bends: vec![] };
                    lines.push(VariantLine { series, variant, rows: vec![row], turn });
                }
            }
        }
    }
    lines
}

fn point(row: &Row, quantity: Quantity) -> Option<Point> {
    let execute = row.execute.as_ref()?;
    let [y, low, high] = quantity.of(row)?;
    let marks = Marks { grade_d: execute.is_unreliable(), ..Marks::default() };
    let [median, from, to] = [execute.median_s, execute.ci95_s[0], execute.ci95_s[1]].map(time_text);
    let note = format!("{}/{}, N = {}: {median} ({from} to {to})", row.backend, row.variant, row.case.n);
    Some(Point { x: row.case.n as f64, y, low, high, label: None, marks, note })
}

/// Adds the choice of a variant that chooses among others to the name of its line; where it depends on the size, the
/// choices are rows of the legend.
fn name_pick(line: &mut VariantLine<'_>) -> Vec<LegendRow> {
    let all: Vec<u64> = line.rows.iter().map(|row| row.case.n).collect();
    let picks = line.rows.iter().filter_map(|row| Some((row.picked.as_deref()?, row.case.n)));
    match grouped(picks).as_slice() {
        [] => vec![],
        [(pick, _)] => {
            let named = format!("{} ({pick})", line.variant);
            line.series.label = line.series.label.replacen(&line.variant, &named, 1);
            vec![]
        }
        several => {
            let text = |(pick, sizes): &(&str, Vec<u64>)| format!("{pick}: {}", size_list(sizes, &all));
            let heading = format!("Chosen by {}, at N", line.series.label);
            LegendRow::notes(&heading, several.iter().map(text).collect())
        }
    }
}

/// `100, 500`; the ends of more than two neighbours among `all`: `100 to 1000`.
fn size_list(sizes: &[u64], all: &[u64]) -> String {
    match sizes {
        [first, _, .., last] if all.windows(sizes.len()).any(|some| some == sizes) => {
            format!("{first} to {last}")
        }
        few => few.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// The measured peaks of a single report: one per side and accuracy. A rate more than a few per cent above it shows that what was
/// measured is no peak: then that of wider units is, or there is a note instead.
fn levels(
    sheet: &Sheet<'_>,
    quantity: Quantity,
    lines: &[VariantLine<'_>],
) -> (Vec<PeakLevel>, Vec<LegendRow>) {
    let (mut levels, mut exceeded): (Vec<PeakLevel>, Vec<String>) = (vec![], vec![]);
    let [part] = sheet.parts.as_slice() else { return (levels, vec![]) };
    let rows: Vec<&Row> = lines.iter().flat_map(|line| &line.rows).copied().collect();
    for row in &rows {
        let peaks = quantity.peaks(part.report, row);
        let same = rows.iter().filter(|other| (other.side, other.accuracy) == (row.side, row.accuracy));
        let rates = same.filter_map(|row| Some(quantity.of(row)?[0]));
        let highest = rates.fold(0.0, f64::max);
        let text = |peak| quantity.peak_text(row.side.label(), peak);
        match (peaks.iter().find(|(rate, _)| ABOVE * rate >= highest), peaks.last()) {
            (Some(&peak), _) if levels.iter().all(|level| level.label != text(peak)) => {
                let style = Style { hue: Role::Soft, stroke: Stroke::of(row), marker: 0, filled: true };
                levels.push(PeakLevel { value: peak.0, label: text(peak), style });
            }
            (None, Some(&peak)) => exceeded.push(format!("{}: exceeded", text(peak))),
            _ => {}
        }
    }
    let notes = distinct(exceeded).into_iter().map(LegendRow::Note).collect();
    (levels, notes)
}
