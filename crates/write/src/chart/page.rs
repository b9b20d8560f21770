//! Charts for a page of HTML: plots alone, whose titles and legends the page sets as text, so that they fit any screen.

use anyhow::Context;
use gpubench_report::report::Report;
use rayon::prelude::*;

use super::canvas::Canvas;
use super::canvas::Picture;
use super::draw::sample;
use super::frame::{LegendRow, LegendSample};
use super::layout::Extent;
use super::overview::{self, Overview};
use super::{Chart, ChartKind, Selection, charts, svg};

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
///
/// # Errors
/// A chart cannot be drawn.
pub(crate) fn page_charts(report: &Report) -> anyhow::Result<Vec<PageChart>> {
    let mut all = charts(&[("", report)], Selection::Default);
    all.extend(charts(&[("", report)], Selection::of([ChartKind::Roofline as usize])));
    let charts: anyhow::Result<Vec<PageChart>> = all.par_iter().map(page_chart).collect();
    // The page has the figures of single sizes in its tables.
    Ok(charts?.into_iter().filter(|chart| !chart.plots.is_empty()).collect())
}

fn page_chart(chart: &Chart) -> anyhow::Result<PageChart> {
    let (name, title) = chart.names();
    let drawn =
        |picture: &PagePicture<'_>| svg::fragment(picture).with_context(|| format!("cannot draw {name}"));
    let plots = match chart {
        Chart::Overview(overview) => (0..overview.panels.len())
            .filter(|index| overview.panels[*index].figures.is_empty())
            .map(|index| {
                let heading = overview.panels[index].heading.clone();
                Ok(Plot { heading, svg: drawn(&PagePicture::Panel(overview, index))? })
            })
            .collect::<anyhow::Result<Vec<Plot>>>()?,
        _ => vec![Plot { heading: String::new(), svg: drawn(&PagePicture::Chart(chart))? }],
    };
    let row = |row: &LegendRow| {
        Ok(match row {
            LegendRow::Heading(text) => PageRow::Heading(text.clone()),
            LegendRow::Note(text) => PageRow::Note(text.trim_start_matches('\u{a0}').to_owned()),
            LegendRow::Entry(shown, text) => {
                PageRow::Entry(drawn(&PagePicture::Sample(*shown))?, text.clone())
            }
        })
    };
    let (subtitle, legend, captions) = chart.texts();
    Ok(PageChart {
        kind: chart.kind(),
        title: title.to_owned(),
        subtitle,
        legend: legend.iter().map(row).collect::<anyhow::Result<Vec<PageRow>>>()?,
        plots,
        caption: captions.last().cloned().unwrap_or_default(),
    })
}

/// A drawing of a page.
enum PagePicture<'a> {
    Chart(&'a Chart),
    /// A panel of an overview.
    Panel(&'a Overview, usize),
    Sample(LegendSample),
}

impl Picture for PagePicture<'_> {
    fn name(&self) -> &str {
        match self {
            PagePicture::Chart(chart) => chart.name(),
            PagePicture::Panel(overview, _) => &overview.name,
            PagePicture::Sample(_) => "sample",
        }
    }

    fn size(&self) -> (u32, u32) {
        match self {
            PagePicture::Chart(_) => Extent::Page.size(),
            PagePicture::Panel(..) => overview::PANEL_SIZE,
            PagePicture::Sample(shown) => (shown.length() as u32, 26),
        }
    }

    fn draw(&self, canvas: &Canvas<'_>) -> anyhow::Result<()> {
        match self {
            PagePicture::Chart(chart) => chart.draw_in(Extent::Page, canvas),
            PagePicture::Panel(overview, index) => overview::draw_alone(overview, *index, canvas),
            PagePicture::Sample(shown) => sample(canvas, *shown, (0.0, 13.0), 1.0),
        }
    }
}
