//! Builds the charts of a trend: one per case and cache state, with one panel per variant.
//!
//! The panels of a case share one x axis, which shows simultaneous changes. Each has its own y axis, so that a change of
//! 5 % is visible next to a variant that takes a hundred times as long. Reports are equally spaced, because they come in
//! bursts that would overlap on an axis of dates.

use std::collections::BTreeSet;

use crate::chart::panels::{MOST_PANELS, Mark, MarkKind, Marks, Panel, PanelChart, Point, panel_axis};
use crate::palette::Role;
use gpubench_report::Side;
use gpubench_report::case::Cache;
use gpubench_report::report::machine::processor;
use gpubench_report::report::quantity::factor_within;
use gpubench_text::count::counted;
use gpubench_text::grouped::{distinct, grouped};

use gpubench_analysis::trend::{CellSeries, TimeLevel, TimePoint, TimeStep, Trend};
use gpubench_document::trend::labels::{
    change, day, distinction, formatted, percent, revision, span, status,
};

/// Unconfirmed times beyond this factor are drawn at the edge of the axis.
const MAX_UNCONFIRMED_FACTOR: f64 = 1.5;

/// Largest number of charts; drawing one takes about 0.05 s, and nobody looks through thousands.
const MAX_CHARTS: usize = 100;

/// Builds the charts, in the order of the series. Of too many cases, those with the largest changes have charts.
pub(crate) fn charts(trend: &Trend) -> Vec<PanelChart> {
    let mut charts = vec![];
    for group in chosen(&groups(trend)) {
        let pages = pages(group);
        for (page, part) in group.chunks(group.len().div_ceil(pages)).enumerate() {
            charts.push(chart(trend, part, (pages > 1).then_some(page + 1)));
        }
    }
    charts.truncate(MAX_CHARTS);
    charts
}

/// Returns one line that says which cases have no chart because there are too many; `None` if all have one.
pub fn missing_charts_text(trend: &Trend) -> Option<String> {
    let groups = groups(trend);
    let drawn = chosen(&groups).len();
    (drawn < groups.len()).then(|| {
        format!(
            "charts show the {drawn} of {} with the largest changes: name fewer with --ops and --variants; the other \
             formats have all",
            counted(groups.len(), "case")
        )
    })
}

/// Returns the series of each case, those of the CPU first.
fn groups(trend: &Trend) -> Vec<Vec<&CellSeries>> {
    let groups = grouped(trend.series.iter().map(|series| (series.shared_case(), series)));
    let mut groups: Vec<Vec<&CellSeries>> = groups.into_iter().map(|(_, group)| group).collect();
    // Stable, so that the variants of a side keep the order of the reports.
    groups.iter_mut().for_each(|group| group.sort_by_key(|series| series.side == Side::Gpu));
    groups
}

/// Returns the number of charts of a case.
fn pages(group: &[&CellSeries]) -> usize {
    group.len().div_ceil(MOST_PANELS)
}

/// Returns the cases that have charts, in order: all, or those with the largest changes.
fn chosen<'a, 'b>(groups: &'a [Vec<&'b CellSeries>]) -> Vec<&'a [&'b CellSeries]> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    // Stable, so that the first of equal cases have charts.
    order.sort_by(|a, b| largest_change(&groups[*b]).total_cmp(&largest_change(&groups[*a])));
    let mut charts = 0;
    let fitting = order.iter().take_while(|index| {
        charts += pages(&groups[**index]);
        charts <= MAX_CHARTS
    });
    order.truncate(fitting.count().max(1));
    order.sort_unstable();
    order.into_iter().map(|index| groups[index].as_slice()).collect()
}

/// Returns the largest factor of a step in a case; 1 without any.
fn largest_change(group: &[&CellSeries]) -> f64 {
    group.iter().flat_map(|series| series.changes()).map(|(step, _)| step.factor()).fold(1.0, f64::max)
}

fn chart(trend: &Trend, group: &[&CellSeries], page: Option<usize>) -> PanelChart {
    let first = group[0];
    let times = group.iter().flat_map(|series| series.points.iter().map(|point| point.report));
    let absences = group.iter().flat_map(|series| series.without_time.iter().map(|absence| absence.report));
    let reports: BTreeSet<usize> = times.chain(absences).collect();
    let reports: Vec<usize> = reports.into_iter().collect();
    let case = &first.cell.case;
    let shows_cache = Cache::ALL.iter().all(|cache| trend.series.iter().any(|one| one.cell.cache == *cache));
    let cache = if shows_cache { format!(", {} cache", first.cell.cache) } else { String::new() };
    let (begin, end) = (&trend.reports[reports[0]], &trend.reports[reports[reports.len() - 1]]);
    let panels: Vec<Panel> = group.iter().map(|series| panel(trend, series, group.len(), &reports)).collect();
    PanelChart {
        name: name(trend, first, shows_cache, page),
        title: format!(
            "{} N={}, {}{}{cache}: time by report",
            case.op,
            case.n,
            case.dtype.words(),
            case.family().clause()
        ),
        subtitle: format!("{} {}", counted(reports.len(), "report"), span(begin, end)),
        captions: captions(trend, group, &panels),
        x_title: "Reports in order of time, equally spaced (UTC)".into(),
        positions: reports.len(),
        ticks: ticks(trend, &reports),
        panels,
    }
}

/// Returns the name of a chart, such as `trend-spgemm-f32-n1024-d0.01-cold-2`, without properties that all charts share.
fn name(trend: &Trend, series: &CellSeries, shows_cache: bool, page: Option<usize>) -> String {
    let case = &series.cell.case;
    let mut name = format!("trend-{}-{}-n{}", case.op, case.dtype, case.n);
    let differs =
        |other: &&CellSeries| other.cell.case.op == case.op && other.cell.case.family() != case.family();
    if trend.series.iter().any(|other| differs(&other)) {
        name.push_str(&case.family().suffix());
    }
    if shows_cache {
        name.push_str(&format!("-{}", series.cell.cache));
    }
    name + &page.map(|page| format!("-{page}")).unwrap_or_default()
}

/// Labels the first report of each day by its date, and every report by its time if there are at most two days.
fn ticks(trend: &Trend, reports: &[usize]) -> Vec<(usize, String)> {
    let days: Vec<String> = reports.iter().map(|report| day(&trend.reports[*report])).collect();
    let is_first = |index: &usize| *index == 0 || days[index - 1] != days[*index];
    let firsts: Vec<usize> = (0..days.len()).filter(is_first).collect();
    if firsts.len() <= 2 {
        let label = |report: &usize| formatted(&trend.reports[*report], "%m-%d %H:%M");
        return reports.iter().map(label).enumerate().collect();
    }
    firsts.into_iter().map(|index| (index, days[index].clone())).collect()
}

fn captions(trend: &Trend, group: &[&CellSeries], panels: &[Panel]) -> Vec<String> {
    let device = |series: &&CellSeries| format!("{}: {}", series.side.label(), processor(&series.device));
    let devices = distinct(group.iter().map(device));
    let threshold = percent(trend.threshold);
    let how = format!(
        "Points: medians with their 95 % intervals, {} cache. Lines: fitted levels. Dashes: steps >= {threshold}.",
        group[0].cell.cache
    );
    let mut symbols = String::from("Axes do not begin at 0.");
    if group.iter().any(|series| series.latest.is_some()) {
        symbols.push_str(" Open points: not confirmed.");
    }
    if panels.iter().any(Panel::has_points_beyond) {
        symbols.push_str(" Triangles: beyond the axis.");
    }
    if group.iter().any(|series| !series.without_time.is_empty()) {
        symbols.push_str(" Crosses: no time.");
    }
    vec![devices.join(" · "), how, symbols]
}

fn panel(trend: &Trend, series: &CellSeries, panels: usize, reports: &[usize]) -> Panel {
    let position = |report: usize| reports.binary_search(&report).unwrap_or_default() as f64;
    let times: Vec<f64> = series.points.iter().map(|point| point.median_s).collect();
    let levels = series.fit.levels.iter().map(|level| level.median_s);
    // The axis includes unconfirmed times unless they would flatten the rest.
    let newest =
        series.latest.iter().filter(|step| step.factor() < MAX_UNCONFIRMED_FACTOR).map(|step| step.after_s);
    let in_range: Vec<f64> = levels.chain(newest).collect();
    let point = |point: &TimePoint| {
        let [low, high] = point.ci95_s;
        Point {
            x: position(point.report),
            y: point.median_s,
            low,
            high,
            label: None,
            marks: Marks::default(),
            note: String::new(),
        }
    };
    let position_of = |index: usize| position(series.points[index].report);
    let level = |level: &TimeLevel| {
        (position_of(level.first), position_of(level.first + level.count - 1), level.median_s)
    };
    let marks = series.changes().map(|(step, is_confirmed)| mark(trend, step, position, is_confirmed));
    Panel {
        heading: format!("{}/{}{}", series.cell.backend, series.cell.variant, distinction(trend, series)),
        remark: format!("now {}", status(series)),
        hue: if series.side == Side::Gpu { Role::Blue } else { Role::Vermilion },
        y: panel_axis(&times, &in_range, if panels > 2 { 3 } else { 6 }),
        points: series.points.iter().map(point).collect(),
        open_from: series.latest.as_ref().map(|step| position(step.first_after)),
        levels: series.fit.levels.iter().map(level).collect(),
        marks: marks.collect(),
        gaps: series.without_time.iter().map(|absence| position(absence.report)).collect(),
    }
}

/// Places a mark halfway between the reports before and after, with texts of decreasing length to fit the space.
fn mark(trend: &Trend, step: &TimeStep, position: impl Fn(usize) -> f64, is_confirmed: bool) -> Mark {
    let after = &trend.reports[step.first_after];
    let kind = match is_confirmed {
        false => MarkKind::Open,
        true if step.ratio > 1.0 => MarkKind::Worse,
        true => MarkKind::Better,
    };
    let words = change(step.ratio) + if is_confirmed { "" } else { "?" };
    Mark {
        position: f64::midpoint(position(step.last_before), position(step.first_after)),
        texts: vec![
            format!("{words}, {}, {}", day(after), revision(after)),
            format!("{words}, {}", day(after)),
            words,
            factor_within(step.factor(), 3),
        ],
        kind,
    }
}
