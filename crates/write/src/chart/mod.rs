//! Draws the charts of reports as PNG, SVG, or fragments of a page.
//!
//! A model says what a chart shows. It is laid out in pixels and drawn on a canvas, the same for every format.

pub(crate) mod axis;
mod bitmap;
mod canvas;
mod draw;
mod font;
pub(crate) mod frame;
mod geometry;
mod grid;
pub(crate) mod layout;
pub(crate) mod lines;
mod overview;
mod placing;
mod plot;
mod roofline;
pub(crate) mod series;
mod sheet;
mod svg;
mod text;

use std::borrow::Cow;

pub use crate::palette::Theme;
use anyhow::Context;
use gpubench_analysis::answer::Names;
use gpubench_report::data::hash::fnv1a;
use gpubench_report::report::Report;
use gpubench_report::report::file::File;
use gpubench_text::cut;
use gpubench_text::grouped::distinct;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use canvas::Canvas;
pub(crate) use canvas::SIZE;
use frame::{Frame, LegendSample};
use grid::GridChart;
use layout::Extent;
use lines::LineChart;
use lines::quantity::Quantity;
use overview::Overview;
pub use plot::{names, plot};
use roofline::Roofline;
use sheet::sheets;
pub(crate) use svg::font_faces;
use text::captions;

/// A kind of chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// The speed-ups of all ops in small panels.
    Overview,
    /// Speed-ups against size.
    SpeedUp,
    /// Work per second against size, with the measured peaks.
    Throughput,
    /// Time against size.
    Time,
    /// Speed-ups by two dimensions of a shape.
    Grid,
    /// Cells under the peaks of their machine.
    Roofline,
}

impl ChartKind {
    /// Every kind, in the order in which their names are listed.
    pub const ALL: [ChartKind; 6] = [
        ChartKind::Overview,
        ChartKind::SpeedUp,
        ChartKind::Throughput,
        ChartKind::Time,
        ChartKind::Grid,
        ChartKind::Roofline,
    ];

    /// The name of the kind on the command line, with which the names of chart files begin.
    pub fn name(self) -> &'static str {
        match self {
            ChartKind::Overview => "overview",
            ChartKind::SpeedUp => "speedup",
            ChartKind::Throughput => "throughput",
            ChartKind::Time => "time",
            ChartKind::Grid => "grid",
            ChartKind::Roofline => "roofline",
        }
    }

    /// The section of a page that has its charts.
    pub(crate) fn section(self) -> PageSection {
        match self {
            ChartKind::Overview => PageSection::Overview,
            ChartKind::SpeedUp | ChartKind::Throughput | ChartKind::Time | ChartKind::Grid => {
                PageSection::Sizes
            }
            ChartKind::Roofline => PageSection::Roofline,
        }
    }
}

/// A section of charts in a page, in the order of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageSection {
    /// All ops in one chart.
    Overview,
    /// Charts against size, by op.
    Sizes,
    /// Shares of the machine's peaks, which the reader opens.
    Roofline,
}

impl PageSection {
    pub(crate) const ALL: [PageSection; 3] =
        [PageSection::Overview, PageSection::Sizes, PageSection::Roofline];

    /// The name in the style, the heading, and whether the reader opens it.
    pub(crate) fn words(self) -> (&'static str, &'static str, bool) {
        match self {
            PageSection::Overview => ("overview", "All ops", false),
            PageSection::Sizes => ("sizes", "Speed-up and throughput by size", false),
            PageSection::Roofline => ("roofline", "Share of the machine's peaks", true),
        }
    }
}

/// The kinds of charts to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The overview, speed-ups, throughput and grids; times for ops without a throughput.
    #[default]
    Default,
    /// The kinds of [`ChartKind::ALL`] at whose index there is `true`.
    Named([bool; ChartKind::ALL.len()]),
}

impl Selection {
    /// Every kind.
    pub const ALL: Selection = Selection::Named([true; ChartKind::ALL.len()]);

    /// The kinds at these places of [`ChartKind::ALL`].
    pub fn of(places: impl IntoIterator<Item = usize>) -> Selection {
        let mut named = [false; ChartKind::ALL.len()];
        places.into_iter().for_each(|place| named[place] = true);
        Selection::Named(named)
    }

    /// Returns whether charts of a kind are drawn; of an op that `has_throughput` or not.
    pub(crate) fn draws(self, kind: ChartKind, has_throughput: bool) -> bool {
        match self {
            Selection::Default => match kind {
                ChartKind::Overview | ChartKind::SpeedUp | ChartKind::Throughput | ChartKind::Grid => true,
                ChartKind::Time => !has_throughput,
                ChartKind::Roofline => false,
            },
            Selection::Named(named) => named[kind as usize],
        }
    }
}

/// `"default"`, or the names of the kinds.
impl Serialize for Selection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Selection::Default => serializer.serialize_str("default"),
            Selection::Named(named) => {
                let kinds = ChartKind::ALL.into_iter().filter(|kind| named[*kind as usize]);
                serializer.collect_seq(kinds.map(ChartKind::name))
            }
        }
    }
}

/// Returns whether a file of that name, without extension, is a chart of a report.
pub(crate) fn is_name(name: &str) -> bool {
    let begins = |kind: ChartKind| name.strip_prefix(kind.name()).is_some_and(|rest| rest.starts_with('-'));
    name == ChartKind::Overview.name() || ChartKind::ALL.into_iter().any(begins)
}

/// Charts that are drawn at the same time; each takes about 50 MB while it is drawn.
const AT_ONCE: usize = 8;

/// The format of a chart's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Portable network graphics, `SIZE` pixels.
    Png,
    /// Scalable vector graphics with the font embedded.
    Svg,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 2] = [Format::Png, Format::Svg];

    /// The format of that name, `png` or `svg`.
    pub fn find(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.extension() == name)
    }

    /// The extension of its files, which is also its name.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Svg => "svg",
        }
    }
}

/// The charts to draw, and how.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// The formats of each chart.
    pub formats: &'a [Format],
    /// The colours.
    pub theme: Theme,
    /// The kinds of charts.
    pub selection: Selection,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Chart {
    /// Time, throughput or speed-ups against size.
    Lines(LineChart),
    /// Speed-ups by two dimensions.
    Grid(GridChart),
    /// Cells under the peaks of their machine.
    Roofline(Roofline),
    /// Speed-ups of all ops.
    Overview(Overview),
}

impl Chart {
    pub(crate) fn kind(&self) -> ChartKind {
        match self {
            Chart::Overview(_) => ChartKind::Overview,
            Chart::Lines(chart) => chart.kind,
            Chart::Grid(_) => ChartKind::Grid,
            Chart::Roofline(_) => ChartKind::Roofline,
        }
    }

    pub(crate) fn frame(&self) -> &Frame {
        match self {
            Chart::Lines(chart) => &chart.frame,
            Chart::Grid(chart) => &chart.frame,
            Chart::Roofline(chart) => &chart.frame,
            Chart::Overview(chart) => &chart.frame,
        }
    }

    /// Draws a file, or for a page the plot alone, which an overview does not have.
    fn draw(&self, extent: Extent) -> Canvas {
        let canvas = Canvas::new(extent.size());
        match self {
            Chart::Lines(chart) => lines::draw(chart, extent, &canvas),
            Chart::Grid(chart) => grid::draw(chart, extent, &canvas),
            Chart::Roofline(chart) => roofline::draw(chart, extent, &canvas),
            Chart::Overview(chart) => overview::draw(chart, &canvas),
        }
        canvas
    }

    /// The drawings for a page, each with its heading, which is empty where there is one drawing. The page must have [`font_faces`] once, and
    /// set the variables of the palette for each theme.
    pub(crate) fn plots(&self) -> Vec<(&str, String)> {
        match self {
            Chart::Overview(chart) => {
                let plot = |panel| svg::fragment(&overview::draw_alone(panel, &chart.y));
                chart.panels.iter().map(|panel| (panel.heading.as_str(), plot(panel))).collect()
            }
            _ => vec![("", svg::fragment(&self.draw(Extent::Page)))],
        }
    }
}

/// Every chart of a report for a page, with the kinds together.
pub(crate) fn page_charts(report: &Report) -> Vec<Chart> {
    let selections = [Selection::Default, Selection::of([ChartKind::Roofline as usize])];
    selections.into_iter().flat_map(|selection| charts(&[("", report)], selection)).collect()
}

/// The drawing of a sample of a legend, for a page.
pub(crate) fn page_sample(sample: LegendSample) -> String {
    let canvas = Canvas::new((sample.length() as u32, 26));
    draw::sample(&canvas, sample, (0.0, 13.0), 1.0);
    svg::fragment(&canvas)
}

/// The charts of one or several named reports. Of one: the overview, then speed-ups, grids, throughput and times by op,
/// element type and state of the caches, then the rooflines. Several share charts, of speed-ups, throughput and times.
///
/// Ops and backends without measured rows have no chart.
pub(crate) fn charts(reports: &[(&str, &Report)], selection: Selection) -> Vec<Chart> {
    let names: Vec<Names> = reports.iter().map(|(_, report)| Names::of(report)).collect();
    let sheets = sheets(reports, &names);
    let captions = |cache, caption| captions(reports, cache, caption);
    let alone = if let [(_, report)] = reports { Some(*report) } else { None };
    let mut charts = vec![];
    if let Some(report) = alone.filter(|_| selection.draws(ChartKind::Overview, true)) {
        let caches = distinct(sheets.iter().map(|sheet| sheet.subject.cache));
        let captions = captions(caches.first().copied().filter(|_| caches.len() == 1), overview::CAPTION);
        charts.extend(overview::sheets(report, &sheets, &captions).into_iter().map(Chart::Overview));
    }
    for sheet in &sheets {
        let captions = |caption| captions(Some(sheet.subject.cache), caption);
        let throughput = sheet.throughput();
        let draws = |kind| selection.draws(kind, throughput.is_some());
        let by_variant =
            |quantity: Quantity| lines::variants::charts(sheet, quantity, captions(quantity.caption()));
        if draws(ChartKind::SpeedUp) {
            charts
                .extend(lines::speed_up::chart(sheet, captions(lines::speed_up::CAPTION)).map(Chart::Lines));
        }
        if alone.is_some() && draws(ChartKind::Grid) {
            charts.extend(grid::chart(sheet, captions(grid::CAPTION)).map(Chart::Grid));
        }
        let quantity = throughput.filter(|_| draws(ChartKind::Throughput));
        let time = draws(ChartKind::Time).then_some(Quantity::Time);
        charts.extend(quantity.into_iter().chain(time).flat_map(by_variant).map(Chart::Lines));
    }
    if let Some(report) = alone.filter(|_| selection.draws(ChartKind::Roofline, true)) {
        let captions = |cache| captions(Some(cache), roofline::CAPTION);
        charts.extend(roofline::charts(report, captions).into_iter().map(Chart::Roofline));
    }
    charts
}

/// The charts of one or several named reports as files, such as `speedup-matmul-f32.png`.
///
/// # Errors
/// A chart cannot be drawn or encoded.
pub(crate) fn files(reports: &[(&str, &Report)], drawing: &Drawing<'_>) -> anyhow::Result<Vec<File>> {
    pictures(&charts(reports, drawing.selection), drawing.formats, drawing.theme)
}

/// Draws charts as files in each of the formats.
pub(crate) fn pictures(charts: &[Chart], formats: &[Format], theme: Theme) -> anyhow::Result<Vec<File>> {
    let pairs: Vec<_> =
        charts.iter().flat_map(|chart| formats.iter().map(move |&format| (chart, format))).collect();
    let file = |&(chart, format): &(&Chart, Format)| {
        let canvas = chart.draw(Extent::File);
        let name = format!("{}.{}", short(&chart.frame().name), format.extension());
        let bytes = match format {
            Format::Png => bitmap::png(&canvas, theme).with_context(|| format!("cannot draw {name}"))?,
            Format::Svg => svg::file(&canvas, theme).into_bytes(),
        };
        Ok(File { name, bytes })
    };
    let drawn = pairs.chunks(AT_ONCE).map(|some| some.par_iter().map(file).collect());
    Ok(drawn.collect::<anyhow::Result<Vec<Vec<File>>>>()?.concat())
}

/// Returns a name that file systems accept: a long one is cut, and ends with a hash of the whole.
fn short(name: &str) -> Cow<'_, str> {
    /// Bytes of a name that is kept.
    const LONGEST: usize = 150;
    if name.len() <= LONGEST {
        return name.into();
    }
    format!("{}-{:016x}", cut::start(name, LONGEST / 4), fnv1a(0, name.as_bytes())).into()
}

#[cfg(test)]
mod tests;
