//! Speed-ups by two dimensions of a shape: a field with its number and its colour for each problem.

use std::collections::BTreeSet;

use gpubench_analysis::answer::{Comparison, Contender, Kind};
use gpubench_report::case::Case;

use crate::chart::axis::{Axis, Tick};
use crate::chart::canvas::{Align, Canvas, Paint};
use crate::chart::draw::{FrameDrawing, baseline, medium, x_labels, y_labels};
use crate::chart::font::{Weight, width};
use crate::chart::frame::{Frame, LegendRow, LegendSample};
use crate::chart::geometry::Rect;
use crate::chart::layout::{Axes, Extent, TEXT};
use crate::chart::sheet::Sheet;
use crate::chart::text::{Caption, name};
use crate::palette::Role;

pub(crate) const CAPTION: Caption = ("Medians. !: unreliable. tie: neither is measurably faster.", true);

/// A problem, at its place on both axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridField {
    /// Indices of the ticks.
    pub(crate) place: [usize; 2],
    /// The speed-up of the faster side, with its marks: `3.2x`, `1.1x!`, `tie`.
    pub(crate) text: String,
    /// Who is measurably faster, and the logarithm to base 10 of how many times.
    pub(crate) winner: Option<(Contender, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridChart {
    pub(crate) frame: Frame,
    /// Positions on both axes are indices.
    pub(crate) axes: Axes,
    pub(crate) fields: Vec<GridField>,
}

/// The least number of problems that make a grid.
const LEAST: usize = 4;

/// The chart of a sheet of one report, if the problems of its shapes differ in two dimensions.
pub(super) fn chart(sheet: &Sheet<'_>, captions: Vec<String>) -> Option<GridChart> {
    let [part] = &sheet.parts[..] else { return None };
    let shaped: Vec<(&Comparison<'_>, &Case)> = part
        .section
        .comparisons
        .iter()
        .filter(|comparison| comparison.family.shape.is_some() && comparison.pair(Kind::Resident).is_some())
        .filter_map(|comparison| Some((comparison, &comparison.rows.first()?.case)))
        .collect();
    let names: BTreeSet<&str> =
        shaped.iter().filter_map(|(_, case)| case.shape.as_ref()).flat_map(|shape| shape.names()).collect();
    let values = |name: &str| -> BTreeSet<u64> { shaped.iter().map(|(_, case)| case.extent(name)).collect() };
    let varying: Vec<(&str, Vec<u64>)> = names
        .into_iter()
        .map(|name| (name, values(name).into_iter().collect::<Vec<u64>>()))
        .filter(|(_, values)| values.len() > 1)
        .collect();
    let [(x_name, columns), (y_name, rows)] = &varying[..] else { return None };
    let layouts: BTreeSet<_> =
        shaped.iter().map(|(_, case)| case.shape.as_ref().and_then(|shape| shape.word("layout"))).collect();
    if shaped.len() < LEAST || layouts.len() > 1 {
        return None;
    }
    let place = |values: &[u64], value: u64| values.iter().position(|known| *known == value);
    let fields: Vec<GridField> = shaped
        .iter()
        .filter_map(|(comparison, case)| {
            let place = [place(columns, case.extent(x_name))?, place(rows, case.extent(y_name))?];
            field(comparison, place)
        })
        .collect();
    let others = shaped[0].1.shape.as_ref()?.names().filter(|name| name != x_name && name != y_name);
    let others = others
        .filter(|name| *name != "layout")
        .map(|name| format!(", {name} = {}", shaped[0].1.extent(name)));
    let versus = part.section.versus;
    let [a, b] = Contender::BOTH.map(|one| name(versus, one));
    let swatch = |hue, text: String| LegendRow::Entry(LegendSample::Swatch(hue), text);
    let frame = Frame {
        name: sheet.name("grid"),
        title: format!("{}{}: which side is faster?", sheet.heading(), others.collect::<String>()),
        subtitle: "How many times faster, data on the device, by the host's clock; the stronger the colour, the more".into(),
        captions,
        legend: vec![
            LegendRow::Heading("Faster".into()),
            swatch(Role::Blue, b),
            swatch(Role::Vermilion, a),
            swatch(Role::Line, "neither, measurably".into()),
        ],
    };
    let axis = |title: &str, values: &[u64]| {
        let ticks =
            values.iter().enumerate().map(|(index, n)| Tick { value: index as f64, label: n.to_string() });
        Axis::linear(title, (-0.5, values.len() as f64 - 0.5), ticks.collect())
    };
    let axes = Axes { x: axis(x_name, columns), y: axis(y_name, rows) };
    Some(GridChart { frame, axes, fields })
}

fn field(comparison: &Comparison<'_>, place: [usize; 2]) -> Option<GridField> {
    let pair = comparison.pair(Kind::Resident)?;
    let mark = if pair.is_unreliable() { "!" } else { "" };
    let winner = pair.speed_up.winner().map(|winner| (winner, pair.speed_up.0.value.log10().abs()));
    let text = if winner.is_some() { pair.speed_up.factor_text() } else { "tie".into() };
    Some(GridField { place, text: format!("{text}{mark}"), winner })
}

/// Share of its room that a field leaves to the next.
const SEAM: f64 = 0.03;
/// Opacity of the colour of a side that is hardly faster, and of one that is a hundred times faster or more.
const OPACITY: [f64; 2] = [0.12, 0.5];

pub(crate) fn draw(chart: &GridChart, extent: Extent, canvas: &Canvas) {
    let frame = FrameDrawing::begin(canvas, &chart.frame, &chart.axes, extent);
    frame.titles();
    let plane = frame.layout.plane;
    x_labels(canvas, &plane, TEXT);
    y_labels(canvas, &plane, TEXT);
    let counts = [&chart.axes.x, &chart.axes.y].map(|axis| axis.ticks.len() as f64);
    let (wide, high) = (plane.area.width() / counts[0], plane.area.height() / counts[1]);
    let widest =
        chart.fields.iter().map(|field| width(&field.text, TEXT, Weight::Medium)).fold(1.0, f64::max);
    let em = TEXT * (0.9 * wide / widest).min(0.8 * high / TEXT).min(1.0);
    for field in &chart.fields {
        let (x, y) = (plane.across(field.place[0] as f64), plane.down(field.place[1] as f64));
        let (half_wide, half_high) = (wide * (0.5 - SEAM), high * (0.5 - SEAM));
        let area =
            Rect { left: x - half_wide, top: y - half_high, right: x + half_wide, bottom: y + half_high };
        let paint = match field.winner {
            Some((winner, decades)) => {
                let hue = if winner == Contender::A { Role::Vermilion } else { Role::Blue };
                Paint::Clear(hue, OPACITY[0] + (OPACITY[1] - OPACITY[0]) * (decades / 2.0).min(1.0))
            }
            None => Paint::Clear(Role::Line, 0.5),
        };
        canvas.rectangle(area.corners(), paint);
        canvas.text(&field.text, (x, baseline(y, em)), medium(em, Role::Ink, Align::Center));
    }
    frame.legend();
}

#[cfg(test)]
mod tests {
    use gpubench_report::report::{Report, example};

    use super::*;
    use crate::chart::{Chart, ChartKind, Selection, charts};

    /// A report of products of m x n x 8, in which the GPU gains by both.
    fn report(sides: &[(u64, u64)], times: impl Fn(u64, u64) -> f64) -> Report {
        let rows = sides.iter().flat_map(|&(m, n)| {
            let mut rows = example::both_sides("matmul", n, 1e-3, 1e-3 / times(m, n));
            let shape = format!(r#"{{"m":{m},"n":"N","k":8}}"#);
            rows.iter_mut().for_each(|row| row.case.shape = serde_json::from_str(&shape).ok());
            rows
        });
        example::of(rows.collect::<Vec<_>>())
    }

    fn grid(report: &Report) -> Option<GridChart> {
        let kinds = Selection::of([ChartKind::Grid as usize]);
        charts(&[("", report)], kinds).into_iter().find_map(|chart| match chart {
            Chart::Grid(grid) => Some(grid),
            _ => None,
        })
    }

    #[test]
    fn problems_that_differ_in_two_dimensions_are_fields_of_a_grid() {
        let sides = [(16, 16), (16, 64), (64, 16), (64, 64), (256, 64)];
        let found = grid(&report(&sides, |m, n| m as f64 * n as f64 / 1024.0)).unwrap();
        let ticks =
            |axis: &Axis| axis.ticks.iter().map(|tick| tick.label.clone()).collect::<Vec<_>>().join(" ");
        assert_eq!((ticks(&found.axes.x), ticks(&found.axes.y)), ("16 64 256".into(), "16 64".into()));
        assert!(found.frame.title.contains("k = 8"), "{}", found.frame.title);
        let field = |place| found.fields.iter().find(|field| field.place == place).unwrap();
        assert_eq!(field([2, 1]).winner.map(|(winner, _)| winner), Some(Contender::B));
        assert_eq!(field([0, 0]).winner.map(|(winner, _)| winner), Some(Contender::A));
        assert!(field([2, 1]).text.trim_end_matches('!').ends_with('x'), "{:?}", field([2, 1]));
        assert!(found.fields.iter().all(|field| field.place != [2, 0]), "not measured");
    }

    #[test]
    fn fewer_or_more_dimensions_make_no_grid() {
        assert!(grid(&report(&[(16, 16), (16, 64), (16, 128), (16, 256)], |_, _| 2.0)).is_none());
        assert!(grid(&example::full()).is_none());
        let mut three = report(&[(16, 16), (16, 64), (64, 16), (64, 64)], |_, _| 2.0);
        let other = serde_json::from_str(r#"{"m":64,"n":"N","k":9}"#).ok();
        three.rows.iter_mut().rev().take(2).for_each(|row| row.case.shape.clone_from(&other));
        assert!(grid(&three).is_none());
    }
}
