//! Charts for a page of HTML: plots alone, whose titles and legends the page sets as text, so that they fit any screen.

use gpubench_report::report::Report;
use rayon::prelude::*;

use super::canvas::Canvas;
use super::draw::sample;
use super::frame::LegendRow;
use super::layout::Extent;
use super::{Chart, ChartKind, Selection, charts, overview, svg};

/// A chart of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PageChart {
    pub kind: ChartKind,
    pub title: String,
    pub subtitle: String,
    pub legend: Vec<PageRow>,
    pub plots: Vec<Plot>,
    /// The last line at the foot of the file: what points and bands are.
    pub caption: String,
}

/// A row of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PageRow {
    Heading(String),
    /// A drawing of the sample, and its name.
    Entry(String, String),
    Note(String),
}

/// A drawing with its heading, which is empty where the chart has one drawing.
///
/// The page must have [`font_faces`](super::font_faces) once, and set the variables of the palette for each theme.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plot {
    pub heading: String,
    pub svg: String,
}

/// Every chart of a report for a page, in the order of [`charts`] but with the kinds together.
pub(crate) fn page_charts(report: &Report) -> Vec<PageChart> {
    let mut all = charts(&[("", report)], Selection::Default);
    all.extend(charts(&[("", report)], Selection::of([ChartKind::Roofline as usize])));
    all.par_iter().map(page_chart).collect()
}

fn page_chart(chart: &Chart) -> PageChart {
    let plots = match chart {
        Chart::Overview(overview) => {
            let plot = |panel| svg::fragment(&overview::draw_alone(panel, &overview.y));
            overview
                .panels
                .iter()
                .map(|panel| Plot { heading: panel.heading.clone(), svg: plot(panel) })
                .collect()
        }
        _ => vec![Plot { heading: String::new(), svg: svg::fragment(&chart.draw(Extent::Page)) }],
    };
    let row = |row: &LegendRow| match row {
        LegendRow::Heading(text) => PageRow::Heading(text.clone()),
        LegendRow::Note(text) => PageRow::Note(text.trim_start_matches('\u{a0}').to_owned()),
        LegendRow::Entry(shown, text) => {
            let canvas = Canvas::new((shown.length() as u32, 26));
            sample(&canvas, *shown, (0.0, 13.0), 1.0);
            PageRow::Entry(svg::fragment(&canvas), text.clone())
        }
    };
    let frame = chart.frame();
    PageChart {
        kind: chart.kind(),
        title: frame.title.clone(),
        subtitle: frame.subtitle.clone(),
        legend: frame.legend.iter().map(row).collect(),
        plots,
        caption: frame.captions.last().cloned().unwrap_or_default(),
    }
}
