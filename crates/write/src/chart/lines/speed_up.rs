//! Speed-ups against size, and where they cross 1: the three kinds of one report, or one kind of several.

use crate::palette::Role;
use gpubench_analysis::answer::{Comparison, Contender, Crossover, Kind, Kinds, Pair, Place, Versus};
use gpubench_document::report::crossover_text::{crossover_text, size_text};
use gpubench_document::report::sentences::largest;
use gpubench_ops as op;
use gpubench_report::case::Family;
use gpubench_report::report::Row;
use gpubench_report::report::quantity::time_text;

use super::{CrossingMark, LineChart, PlotLines, extremes, legend, mark_notes, sizes};
use crate::chart::ChartKind;
use crate::chart::axis::Axis;
use crate::chart::frame::{Frame, LegendRow};
use crate::chart::layout::Axes;
use crate::chart::series::{ChartSeries, Marks, Point, Stroke, Style};
use crate::chart::sheet::{Part, Sheet};
use crate::chart::text::{Caption, name, ratio_text};
use gpubench_document::report::copies_clause;

pub(crate) const CAPTION: Caption =
    ("Points: ratios of medians. Rings: {b} faster from this N. Bands: 95 % intervals of both.", true);

/// The only kind shown where several reports or families share a chart.
const LONE_KIND: Kind = Kind::Resident;

/// The looks of a kind's line.
pub(crate) fn kind_style(kind: Kind) -> Style {
    let (hue, stroke, marker) = match kind {
        Kind::Kernel => (Role::Blue, Stroke::Solid, 0),
        Kind::Resident => (Role::Green, Stroke::Solid, 1),
        Kind::EndToEnd => (Role::Orange, Stroke::Solid, 3),
        Kind::EndToEndPinned => (Role::Purple, Stroke::Dashed, 2),
    };
    Style { hue, stroke, marker, filled: true }
}

/// The looks of the line for gpubench's tuned code on both sides.
pub(crate) const TUNED_STYLE: Style =
    Style { hue: Role::Ink, stroke: Stroke::Dotted, marker: 4, filled: false };

/// The name of that line.
pub(crate) const TUNED: &str = "tuned, resident";

/// The kinds of a report.
pub(crate) fn report_kinds(part: &Part<'_>) -> Kinds {
    Kinds::of(&part.report.rows)
}

/// The kinds that differ for an op: one that copies by itself has no copies to add.
pub(crate) fn kinds(part: &Part<'_>) -> &'static [Kind] {
    match op::copies_itself(part.section.op) {
        true => &[Kind::Kernel, Kind::Resident],
        false => report_kinds(part).all(),
    }
}

/// A line of a chart, and where it crosses 1. Its first and its last point have labels.
pub(crate) struct SpeedUpLine<'a> {
    pub series: ChartSeries,
    pub(crate) kind: Kind,
    crossover: Option<Crossover<'a>>,
}

impl<'a> SpeedUpLine<'a> {
    /// `None` without points.
    fn of(mut series: ChartSeries, kind: Kind, crossover: Option<Crossover<'a>>) -> Option<SpeedUpLine<'a>> {
        let last = series.points.len().checked_sub(1)?;
        series.points.iter_mut().take(last).skip(1).for_each(|point| point.label = None);
        let changes = crossover.iter().flat_map(|found| &found.changes);
        series.bends = changes.map(|(size, _)| (*size, 1.0)).collect();
        Some(SpeedUpLine { series, kind, crossover })
    }
}

/// The chart of a sheet with the captions given; `None` when fewer than two sizes have both contenders: a table shows one
/// better.
pub(crate) fn chart(sheet: &Sheet<'_>, captions: Vec<String>) -> Option<LineChart> {
    let lone_part = sheet.parts.first().filter(|part| sheet.parts.len() == 1 && !part.shows_family);
    let lines = match lone_part {
        Some(part) => by_kind(part, &part.section.comparisons),
        None => by_part(&sheet.parts),
    };
    let series: Vec<ChartSeries> = lines.iter().map(|line| line.series.clone()).collect();
    let sizes = sizes(&series);
    if sizes.len() < 2 {
        return None;
    }
    let mut legend = legend(&series);
    let crossed = lines.iter().flat_map(|line| match (&line.series.label, &line.crossover) {
        (_, None) => vec![],
        (label, Some(found)) if lone_part.is_some() => vec![format!("{label}: {}", crossover_text(found))],
        // The name may be long.
        (label, Some(found)) => {
            vec![format!("{label}:"), format!("\u{a0}\u{a0}\u{a0}{}", crossover_text(found))]
        }
    });
    let versus = sheet.versus();
    let heading = format!("{} faster from N", versus.label(Contender::B));
    legend.extend(LegendRow::notes(&heading, crossed.collect()));
    legend.extend(mark_notes(&series));
    let frame = Frame {
        name: sheet.name(ChartKind::SpeedUp.name()),
        title: format!("{}: {}", sheet.heading(), question(versus)),
        subtitle: subtitle(&lines, sheet),
        captions,
        legend,
    };
    let axes = Axes {
        x: Axis::sizes(&sheet.size_title(), &sizes),
        y: Axis::ratios("How many times faster (log scale)", &extremes(&series), versus),
    };
    let crossings = lines.iter().filter_map(crossing).collect();
    let lines = PlotLines { series, has_sides: true, crossings, levels: vec![] };
    Some(LineChart { kind: ChartKind::SpeedUp, frame, axes, lines })
}

/// `is the GPU faster?`, `numpy against cupy, torch and jax`
pub(crate) fn question(versus: Versus<'_>) -> String {
    let [a, b] = Contender::BOTH.map(|one| name(versus, one));
    if versus.is_named() { format!("{a} against {b}") } else { format!("is {b} faster?") }
}

/// The subtitle: the kinds of speed-up that the lines show.
fn subtitle(lines: &[SpeedUpLine<'_>], sheet: &Sheet<'_>) -> String {
    if lines.iter().all(|line| line.kind == LONE_KIND) {
        let mut pairs = sheet.parts.iter().filter_map(|part| largest(&part.section.comparisons, LONE_KIND));
        return match pairs.all(|(_, pair)| pair.is_on_cpu()) {
            true => "Best variants, by the host's clock".into(),
            false => {
                "Best variants, resident: data on the device, launch and wait included, no copies".into()
            }
        };
    }
    let kinds: Vec<Kind> = lines.iter().map(|line| line.kind).collect();
    let rows = sheet.parts.iter().flat_map(|part| part.section.comparisons.iter().flat_map(|one| &one.rows));
    let copies = match kinds.contains(&Kind::EndToEnd) {
        true => format!(". End to end: with {}", copies_clause(rows.copied(), &kinds)),
        false => String::new(),
    };
    let kernel = if kinds.contains(&Kind::Kernel) { "Kernel: device clock. " } else { "" };
    format!("Best variants. {kernel}Resident: with launch and wait{copies}")
}

/// The kinds of some comparisons of one family, then gpubench's tuned code.
pub(crate) fn by_kind<'a>(part: &Part<'a>, comparisons: &[Comparison<'_>]) -> Vec<SpeedUpLine<'a>> {
    let all = report_kinds(part);
    let line = |label: &str, style, kind, points, crossover| {
        let (label, group) = (label.to_owned(), "Time included");
        SpeedUpLine::of(ChartSeries { label, group, style, points, bends: vec![] }, kind, crossover)
    };
    let of_kind = |&kind: &Kind| {
        let found = crossover(part, comparisons[0].family, kind);
        line(all.name(kind), kind_style(kind), kind, points(comparisons, |one| one.pair(kind)), found)
    };
    let tuned = points(comparisons, |one| one.tuned_pair(Kind::Resident));
    let tuned = line(TUNED, TUNED_STYLE, Kind::Resident, tuned, None);
    kinds(part).iter().filter_map(of_kind).chain(tuned).collect()
}

/// One line a report and family.
fn by_part<'a>(parts: &[Part<'a>]) -> Vec<SpeedUpLine<'a>> {
    const HUES: [Role; 7] =
        [Role::Blue, Role::Green, Role::Orange, Role::Purple, Role::Sky, Role::Vermilion, Role::Ink];
    let mut lines: Vec<SpeedUpLine<'_>> = vec![];
    for part in parts {
        for comparisons in part.by_family() {
            let (family, index) = (comparisons[0].family, lines.len());
            let hue = HUES[index % HUES.len()];
            let series = ChartSeries {
                label: part.label(None, family),
                group: "Resident speed-up",
                style: Style { hue, stroke: Stroke::Solid, marker: index, filled: true },
                points: points(comparisons, |one| one.pair(LONE_KIND)),
                bends: vec![],
            };
            lines.extend(SpeedUpLine::of(series, LONE_KIND, crossover(part, family, LONE_KIND)));
        }
    }
    lines
}

fn points<'a>(
    comparisons: &[Comparison<'a>],
    pair: impl Fn(&Comparison<'a>) -> Option<Pair<'a>>,
) -> Vec<Point> {
    let point = |comparison: &Comparison<'a>| {
        let pair = pair(comparison)?;
        let (label, ratio, marks) = (Some(ratio_text(&pair)), pair.speed_up.0, Marks::of(&pair));
        let note = format!("N = {}: {}", comparison.n, pair_text(&pair));
        Some(Point {
            x: comparison.n as f64,
            y: ratio.value,
            low: ratio.low,
            high: ratio.high,
            label,
            marks,
            note,
        })
    };
    comparisons.iter().filter_map(point).collect()
}

/// `GPU 5.3x (4.9 to 5.6), cuda/r2c 40 µs against cpu/mkl-2d 212 µs`
fn pair_text(pair: &Pair<'_>) -> String {
    let side = |row: &Row, seconds: f64| format!("{}/{} {}", row.backend, row.variant, time_text(seconds));
    let [a, b] = [side(pair.a, pair.a_s.value), side(pair.b, pair.b_s.value)];
    let [winner, other] = if pair.speed_up.leader() == Contender::A { [a, b] } else { [b, a] };
    format!("{} ({}), {winner} against {other}", pair.speed_up_text(), pair.speed_up.interval_text())
}

fn crossover<'a>(part: &Part<'a>, family: Family<'_>, kind: Kind) -> Option<Crossover<'a>> {
    part.crossovers.iter().find(|found| found.family == family && found.kind == kind).cloned()
}

/// The mark of a line that crosses 1 between two sizes.
pub(crate) fn crossing(line: &SpeedUpLine<'_>) -> Option<CrossingMark> {
    let found = line.crossover.as_ref()?;
    let Some(Place::At(size)) = found.from else { return None };
    // Beyond the sizes measured nothing is known, so the band ends there.
    let points = &line.series.points;
    let [first, last] = [points.first()?.x, points.last()?.x];
    let end = |place| match place {
        Place::Below => first,
        Place::At(size) => size.clamp(first, last),
        Place::Beyond => last,
    };
    let mark = if found.is_unreliable { "!" } else { "" };
    let label = format!("N = {}{mark}", size_text(size, found.interval));
    Some(CrossingMark { hue: line.series.style.hue, size, interval: found.interval.map(end), label })
}
