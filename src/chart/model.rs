//! What the charts of reports show: titles, axes, series, notes. Pure data from rows; knows no pixels.

use super::axis::Axis;
use super::series::{Point, Series, Style, group, style};
use super::text::{captions, ratio_text};
use crate::answer::{Comparison, Kind, Names, Section, sections};
use crate::backend::Side;
use crate::case::{Cache, DType, density_text};
use crate::op::{OPS, find};
use crate::report::{Report, Row};

/// A value that splits the plot in two named regions.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The value on the y axis.
    pub value: f64,
    /// Name of the region above.
    pub above: &'static str,
    /// Name of the region below.
    pub below: &'static str,
}

/// Lines of text in the legend's strip, under a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Notes {
    /// The heading.
    pub heading: &'static str,
    /// The lines.
    pub lines: Vec<String>,
}

/// One chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartModel {
    /// Name of its file, without extension: `time-matmul-f32`, or `time-matmul-f32-cold` beside hot ones.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// A line under the title.
    pub subtitle: String,
    /// Lines at the foot: machine, clocks, date.
    pub captions: Vec<String>,
    /// Sizes.
    pub x: Axis,
    /// Times or ratios.
    pub y: Axis,
    /// The lines, those of one legend group together.
    pub series: Vec<Series>,
    /// The line at which neither side wins.
    pub reference: Option<Reference>,
    /// Text in the legend's strip.
    pub notes: Option<Notes>,
}

/// A report's section, with what its series are called after.
struct Part<'a> {
    /// Name of the report; empty where there is only one.
    report: &'a str,
    names: &'a Names,
    section: Section<'a>,
    /// Whether the cases that share its charts differ in density, here or among reports.
    shows_density: bool,
}

/// What all series of a chart share.
#[derive(Clone, Copy, PartialEq)]
struct Subject<'a> {
    op: &'a str,
    dtype: DType,
    cache: Cache,
}

impl<'a> Subject<'a> {
    fn of(section: &Section<'a>) -> Subject<'a> {
        Subject { op: section.op, dtype: section.dtype, cache: section.cache }
    }
}

/// The parts of one chart, and the words that stand around them.
struct Sheet<'a> {
    subject: Subject<'a>,
    parts: Vec<&'a Part<'a>>,
    /// Whether there are charts of the other state of the caches, so that names and titles must tell which.
    shows_cache: bool,
    captions: Vec<String>,
}

impl Sheet<'_> {
    /// `time-matmul-f32`, with the state of the caches where it must be told.
    fn name(&self, kind: &str) -> String {
        let Subject { op, dtype, cache } = self.subject;
        let cache = if self.shows_cache { format!("-{cache}") } else { String::new() };
        format!("{kind}-{op}-{dtype}{cache}")
    }

    /// `spmv, float32, density 0.05`; densities that differ stand with the series.
    fn heading(&self) -> String {
        let Subject { op, dtype, cache } = self.subject;
        let shared = self.parts.first().filter(|part| !part.shows_density);
        let density = shared.and_then(|part| part.section.common_density());
        let density = density.map(|density| format!(", density {}", density_text(density)));
        let cache = self.shows_cache.then(|| format!(", {cache} cache"));
        let [density, cache] = [density, cache].map(Option::unwrap_or_default);
        format!("{op}, {}{density}{cache}", dtype.words())
    }
}

/// The charts of one or several named reports: per op, element type and state of the caches, time and then speed-up.
///
/// What has nothing measured has no chart.
pub fn charts(reports: &[(&str, &Report)]) -> Vec<ChartModel> {
    let all: Vec<Names> = reports.iter().map(|(_, report)| Names::of(report)).collect();
    let mut parts: Vec<Part<'_>> = vec![];
    for (&(name, report), names) in reports.iter().zip(&all) {
        let name = if reports.len() > 1 { name } else { "" };
        let found = sections(report).into_iter();
        parts.extend(found.map(|section| Part { report: name, names, section, shows_density: false }));
    }
    for index in 0..parts.len() {
        let subject = Subject::of(&parts[index].section);
        let same = parts.iter().filter(|part| Subject::of(&part.section) == subject);
        let mut densities =
            same.flat_map(|part| &part.section.comparisons).map(|comparison| comparison.density);
        let first = densities.next();
        parts[index].shows_density = densities.any(|density| Some(density) != first);
    }
    let shows_cache = Cache::ALL.iter().all(|cache| parts.iter().any(|part| part.section.cache == *cache));
    let mut charts = vec![];
    for subject in subjects(&parts) {
        let here = parts.iter().filter(|part| Subject::of(&part.section) == subject).collect();
        let captions = captions(reports, subject.cache);
        let sheet = Sheet { subject, parts: here, shows_cache, captions };
        charts.extend(time_chart(&sheet));
        charts.extend(speed_up_chart(&sheet));
    }
    charts
}

/// What the charts are about, in the order of reports.
fn subjects<'a>(parts: &[Part<'a>]) -> Vec<Subject<'a>> {
    let mut subjects: Vec<Subject<'_>> = vec![];
    for part in parts {
        let subject = Subject::of(&part.section);
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    // Stable, so that ops unknown here keep the order of the reports, after the known ones.
    subjects.sort_by_key(|subject| {
        let place = OPS.iter().position(|known| known.name() == subject.op).unwrap_or(OPS.len());
        (place, (place < OPS.len()).then_some((subject.dtype, subject.cache)))
    });
    subjects
}

fn time_chart(sheet: &Sheet<'_>) -> Option<ChartModel> {
    let mut series: Vec<Series> = vec![];
    for part in &sheet.parts {
        series.extend(time_series(part));
    }
    // Stable, so that a group keeps the order of the reports.
    let order = ["CPU", "CPU, reduced precision", "GPU", "GPU, reduced precision"];
    series.sort_by_key(|one| order.iter().position(|group| *group == one.group));
    restyle(&mut series);
    let values = extremes(&series)?;
    Some(ChartModel {
        name: sheet.name("time"),
        title: format!("{}: time by size", sheet.heading()),
        subtitle: summary(sheet.subject.op),
        captions: sheet.captions.clone(),
        x: Axis::sizes(SIZE_TITLE, &sizes(&series)),
        y: Axis::times("Median time (log scale)", &values),
        series,
        reference: None,
        notes: None,
    })
}

const SIZE_TITLE: &str = "N, side of the square operands (log scale)";

/// One series a variant and density, in the order in which the rows name them.
fn time_series(part: &Part<'_>) -> Vec<Series> {
    let mut series: Vec<Series> = vec![];
    for comparison in &part.section.comparisons {
        for row in &comparison.rows {
            let Some(point) = time_point(row) else { continue };
            let label = label(part, Some(&part.names.name(row)), comparison);
            let group = group(row);
            match series.iter_mut().find(|one| one.label == label && one.group == group) {
                Some(one) => one.points.push(point),
                None => {
                    let style = style(row.side, !row.accuracy.is_headline(), 0);
                    series.push(Series { label, group, style, points: vec![point] });
                }
            }
        }
    }
    series
}

/// The point of a row with a time that a logarithmic axis can show.
fn time_point(row: &Row) -> Option<Point> {
    let execute = row.execute.as_ref().filter(|execute| execute.median_s > 0.0)?;
    let [low, high] = execute.ci95_s;
    let low = if low > 0.0 { low } else { execute.median_s };
    Some(Point { x: row.case.n as f64, y: execute.median_s, low, high, label: None })
}

/// The name of a series: report, variant and density, as far as they are needed to tell series apart.
fn label(part: &Part<'_>, variant: Option<&str>, comparison: &Comparison<'_>) -> String {
    let density = comparison.density.filter(|_| part.shows_density);
    let density = density.map(|density| format!("density {}", density_text(density)));
    let parts = [Some(part.report).filter(|name| !name.is_empty()), variant, density.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Gives the series of each side consecutive colours and markers.
fn restyle(series: &mut [Series]) {
    let mut used = [0, 0];
    for one in series {
        let (side, count) =
            if one.style.filled { (Side::Gpu, &mut used[1]) } else { (Side::Cpu, &mut used[0]) };
        let stroke = one.style.stroke;
        one.style = Style { stroke, ..style(side, false, *count) };
        *count += 1;
    }
}

fn speed_up_chart(sheet: &Sheet<'_>) -> Option<ChartModel> {
    let mut series: Vec<Series> = vec![];
    for part in &sheet.parts {
        for comparison in &part.section.comparisons {
            let Some(point) = speed_up_point(comparison) else { continue };
            let label = match label(part, None, comparison) {
                empty if empty.is_empty() => "best GPU over best CPU".into(),
                label => label,
            };
            match series.iter_mut().find(|one| one.label == label) {
                Some(one) => one.points.push(point),
                None => {
                    let style = style(Side::Gpu, false, series.len());
                    series.push(Series { label, group: "Kernel speed-up", style, points: vec![point] });
                }
            }
        }
    }
    let values = extremes(&series)?;
    let notes = if series.len() == 1 { pairings(&sheet.parts) } else { None };
    Some(ChartModel {
        name: sheet.name("speedup"),
        title: format!("{}: does the GPU pay?", sheet.heading()),
        subtitle: "Kernel speed-up: best correct variant of each side, operands resident, no transfers"
            .into(),
        captions: sheet.captions.clone(),
        x: Axis::sizes(SIZE_TITLE, &sizes(&series)),
        y: Axis::ratios("How many times faster (log scale)", &values),
        series,
        reference: Some(Reference { value: 1.0, above: "GPU faster", below: "CPU faster" }),
        notes,
    })
}

fn speed_up_point(comparison: &Comparison<'_>) -> Option<Point> {
    let found = comparison.speed_up(Kind::Kernel)?;
    let label = Some(ratio_text(&found));
    Some(Point { x: comparison.n as f64, y: found.0.value, low: found.0.low, high: found.0.high, label })
}

/// Which variants stand behind the speed-ups; sizes in a row with the same pair share a line.
fn pairings(parts: &[&Part<'_>]) -> Option<Notes> {
    let mut runs: Vec<(u64, u64, String)> = vec![];
    for part in parts {
        for comparison in part.section.comparisons.iter().filter(|one| one.speed_up(Kind::Kernel).is_some()) {
            let pair = format!("{} / {}", part.names.name(comparison.gpu?), part.names.name(comparison.cpu?));
            match runs.last_mut().filter(|(_, _, last)| *last == pair) {
                Some(run) => run.1 = comparison.n,
                None => runs.push((comparison.n, comparison.n, pair)),
            }
        }
    }
    let sizes = |first: u64, last: u64| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    let lines = runs.iter().flat_map(|(first, last, pair)| {
        [format!("N = {}:", sizes(*first, *last)), format!("\u{a0}\u{a0}\u{a0}{pair}")]
    });
    Some(Notes { heading: "Best GPU / best CPU", lines: lines.collect() })
}

/// All sizes of the series, ascending.
fn sizes(series: &[Series]) -> Vec<u64> {
    let mut sizes: Vec<u64> = series.iter().flat_map(|one| &one.points).map(|point| point.x as u64).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// All values that the y axis must hold; `None` when there is no point.
fn extremes(series: &[Series]) -> Option<Vec<f64>> {
    let values: Vec<f64> = series
        .iter()
        .flat_map(|one| &one.points)
        .flat_map(|point| [point.low, point.y, point.high])
        .collect();
    (!values.is_empty()).then_some(values)
}

fn summary(op: &str) -> String {
    find(op).map(|op| op.summary().to_owned()).unwrap_or_default()
}
