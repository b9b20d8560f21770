//! Builds the charts of a trend: one per case and cache state, with one panel per variant.
//!
//! The panels of a case share one x axis, which shows simultaneous changes. Each has its own y axis, so that a change of
//! 5 % is visible next to a variant that takes a hundred times as long. Reports are equally spaced, because they come in
//! bursts that would overlap on an axis of dates.

use std::collections::BTreeSet;

use gpubench_model::Side;
use gpubench_model::case::{Cache, density_clause, density_text};
use gpubench_model::report::machine::processor;
use gpubench_render::chart::panels::{MOST_PANELS, Mark, MarkKind, Marks, Panel, PanelChart, Point, axis};
use gpubench_text::grouped::{distinct, grouped};
use gpubench_text::palette::Role;

use super::descriptions::{
    change, counted, day, differs_in_arithmetic, factor, formatted, percent, revision, span, status,
};
use super::{Direction, Level, Series, Step, Trend};

/// Unconfirmed times beyond this factor are drawn at the edge of the axis.
const MAX_UNCONFIRMED_FACTOR: f64 = 1.5;

/// Largest number of charts; drawing one takes about 0.05 s, and nobody looks through thousands.
const MAX_CHARTS: usize = 100;

/// Builds the charts, in the order of the series. Of too many cases, those with the largest changes have charts.
pub(crate) fn charts(trend: &Trend) -> Vec<PanelChart> {
    let groups = groups(trend);
    let mut charts = vec![];
    for group in chosen(&groups).into_iter().map(|index| &groups[index]) {
        let pages = pages(group);
        for (page, part) in group.chunks(group.len().div_ceil(pages)).enumerate() {
            charts.push((part, (pages > 1).then_some(page + 1)));
        }
    }
    charts.into_iter().take(MAX_CHARTS).map(|(part, page)| chart(trend, part, page)).collect()
}

/// Returns one line that says which cases have no chart; `None` if all have one.
pub(crate) fn missing(trend: &Trend) -> Option<String> {
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
fn groups(trend: &Trend) -> Vec<Vec<&Series>> {
    let groups = grouped(trend.series.iter().map(|series| (shared_case(series), series)));
    let mut groups: Vec<Vec<&Series>> = groups.into_iter().map(|(_, group)| group).collect();
    // Stable, so that the variants of a side keep the order of the reports.
    groups.iter_mut().for_each(|group| group.sort_by_key(|series| series.side == Side::Gpu));
    groups
}

/// Returns the number of charts of a case.
fn pages(group: &[&Series]) -> usize {
    group.len().div_ceil(MOST_PANELS)
}

/// Returns the positions, ascending, of the cases that have charts: all, or those with the largest changes.
fn chosen(groups: &[Vec<&Series>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    // Stable, so that the first of equal cases have charts.
    order.sort_by(|a, b| largest_change(&groups[*b]).total_cmp(&largest_change(&groups[*a])));
    let mut charts = 0;
    let fitting = order.iter().take_while(|index| {
        charts += pages(&groups[**index]);
        charts <= MAX_CHARTS
    });
    let count = fitting.count().max(1);
    order.truncate(count);
    order.sort_unstable();
    order
}

/// Returns the largest factor of a step in a case; 1 without any.
fn largest_change(group: &[&Series]) -> f64 {
    group.iter().flat_map(|series| series.changes()).map(|(step, _)| step.factor()).fold(1.0, f64::max)
}

/// Returns what the series of one chart share: the case except for its seed, and the cache state.
fn shared_case(series: &Series) -> impl PartialEq {
    let case = &series.case;
    (&case.op, case.n, case.dtype, case.density, series.cache)
}

fn chart(trend: &Trend, group: &[&Series], page: Option<usize>) -> PanelChart {
    let first = group[0];
    let reports: BTreeSet<usize> = group.iter().flat_map(|series| of(series)).collect();
    let reports: Vec<usize> = reports.into_iter().collect();
    let case = &first.case;
    let shows_cache = Cache::ALL.iter().all(|cache| trend.series.iter().any(|one| one.cache == *cache));
    let cache = if shows_cache { format!(", {} cache", first.cache) } else { String::new() };
    let (begin, end) = (&trend.reports[reports[0]], &trend.reports[reports[reports.len() - 1]]);
    let panels: Vec<Panel> = group.iter().map(|series| panel(trend, series, group, &reports)).collect();
    PanelChart {
        name: name(trend, first, shows_cache, page),
        title: format!(
            "{} N={}, {}{}{cache}: time by report",
            case.op,
            case.n,
            case.dtype.words(),
            density_clause(case.density)
        ),
        subtitle: format!("{} {}", counted(reports.len(), "report"), span(begin, end)),
        captions: captions(trend, group, &panels),
        x_title: "Reports in order of time, equally spaced (UTC)".into(),
        positions: reports.len(),
        ticks: ticks(trend, &reports),
        panels,
    }
}

/// Returns the reports that contain the cell of a series.
fn of(series: &Series) -> impl Iterator<Item = usize> {
    let absent = series.without_time.iter().map(|absence| absence.report);
    series.points.iter().map(|point| point.report).chain(absent)
}

/// Returns the name of a chart, such as `trend-spgemm-f32-n1024-d0.01-cold-2`, without properties that all charts share.
fn name(trend: &Trend, series: &Series, shows_cache: bool, page: Option<usize>) -> String {
    let case = &series.case;
    let mut name = format!("trend-{}-{}-n{}", case.op, case.dtype, case.n);
    let differs = |other: &&Series| other.case.op == case.op && other.case.density != case.density;
    if let Some(density) = case.density.filter(|_| trend.series.iter().any(|other| differs(&other))) {
        name.push_str(&format!("-d{}", density_text(density)));
    }
    if shows_cache {
        name.push_str(&format!("-{}", series.cache));
    }
    name + &page.map(|page| format!("-{page}")).unwrap_or_default()
}

/// Labels the first report of each day by its date, and every report by its time if there are at most two days.
fn ticks(trend: &Trend, reports: &[usize]) -> Vec<(usize, String)> {
    let days: Vec<String> = reports.iter().map(|report| day(&trend.reports[*report])).collect();
    let mut different = days.clone();
    different.dedup();
    let label = |position: usize| match different.len() {
        1 | 2 => formatted(&trend.reports[reports[position]], "%m-%d %H:%M"),
        _ => days[position].clone(),
    };
    let is_first =
        |position: usize| different.len() <= 2 || position == 0 || days[position - 1] != days[position];
    let firsts = (0..reports.len()).filter(|position| is_first(*position));
    firsts.map(|position| (position, label(position))).collect()
}

fn captions(trend: &Trend, group: &[&Series], panels: &[Panel]) -> Vec<String> {
    let device = |series: &&Series| format!("{}: {}", series.side.label(), processor(&series.device));
    let devices = distinct(group.iter().map(device));
    let threshold = percent(trend.threshold);
    let how = format!(
        "Points: medians with their 95 % intervals, {} cache. Lines: fitted levels. Dashes: steps >= {threshold}.",
        group[0].cache
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

fn panel(trend: &Trend, series: &Series, group: &[&Series], reports: &[usize]) -> Panel {
    let position = |report: usize| reports.binary_search(&report).unwrap_or_default() as f64;
    let times: Vec<f64> = series.points.iter().map(|point| point.median_s).collect();
    let levels = series.levels.iter().map(|level| level.median_s);
    // The axis includes unconfirmed times unless they would flatten the rest.
    let newest =
        series.latest.iter().filter(|step| step.factor() < MAX_UNCONFIRMED_FACTOR).map(|step| step.after_s);
    let in_range: Vec<f64> = levels.chain(newest).collect();
    let point = |point: &super::Point| {
        let [low, high] = point.ci95_s;
        Point {
            x: position(point.report),
            y: point.median_s,
            low,
            high,
            label: None,
            marks: Marks::default(),
        }
    };
    let place_of = |index: usize| position(series.points[index].report);
    let level =
        |level: &Level| (place_of(level.first), place_of(level.first + level.count - 1), level.median_s);
    let marks = series.changes().map(|(step, is_confirmed)| mark(trend, step, position, is_confirmed));
    Panel {
        heading: heading(series, group),
        remark: status(series),
        hue: if series.side == Side::Gpu { Role::Blue } else { Role::Vermilion },
        y: axis(&times, &in_range, if group.len() > 2 { 3 } else { 6 }),
        points: series.points.iter().map(point).collect(),
        open_from: series.latest.as_ref().map(|step| position(step.first_after)),
        levels: series.levels.iter().map(level).collect(),
        marks: marks.collect(),
        gaps: series.without_time.iter().map(|absence| position(absence.report)).collect(),
    }
}

/// Returns the variant, with the properties that distinguish it from others in the chart.
fn heading(series: &Series, group: &[&Series]) -> String {
    let mut heading = format!("{}/{}", series.backend, series.variant);
    let alike = |other: &&&Series| other.backend == series.backend && other.variant == series.variant;
    if group.iter().filter(alike).any(|other| other.device != series.device) {
        heading.push_str(&format!(", {}", processor(&series.device)));
    }
    if group.iter().filter(alike).any(|other| other.case.seed != series.case.seed) {
        heading.push_str(&format!(", seed {}", series.case.seed));
    }
    if group.iter().any(|other| differs_in_arithmetic(series, other)) {
        heading.push_str(&format!(", {}", series.accuracy.name()));
    }
    heading
}

/// Places a mark halfway between the reports before and after, with texts of decreasing length to fit the space.
fn mark(trend: &Trend, step: &Step, position: impl Fn(usize) -> f64, is_confirmed: bool) -> Mark {
    let after = &trend.reports[step.first_after];
    let kind = match (is_confirmed, step.direction) {
        (false, _) => MarkKind::Open,
        (true, Direction::Slower) => MarkKind::Worse,
        (true, Direction::Faster) => MarkKind::Better,
    };
    let words = change(step.ratio) + if is_confirmed { "" } else { "?" };
    Mark {
        position: f64::midpoint(position(step.last_before), position(step.first_after)),
        texts: vec![
            format!("{words}, {}, {}", day(after), revision(after)),
            format!("{words}, {}", day(after)),
            words,
            factor(step),
        ],
        kind,
    }
}
