//! Time against size, with one line per variant.

use gpubench_model::Side;
use gpubench_model::report::Row;

use super::{LineChart, SIZE_TITLE, extremes, legend, sizes};
use crate::chart::axis::Axis;
use crate::chart::frame::Frame;
use crate::chart::series::{GROUPS, Point, Series, Style, group, style};
use crate::chart::sheet::{Part, Sheet};

/// The chart of a sheet with the captions given; `None` when nothing is measured.
pub(crate) fn chart(sheet: &Sheet<'_>, captions: Vec<String>) -> Option<LineChart> {
    let mut series: Vec<Series> = sheet.parts.iter().flat_map(time_series).collect();
    // Stable, so that a group keeps the order of the reports.
    series.sort_by_key(|one| GROUPS.iter().position(|group| *group == one.group));
    restyle(&mut series);
    let values = extremes(&series)?;
    let frame = Frame {
        name: sheet.name("time"),
        title: format!("{}: time by size", sheet.heading()),
        subtitle: sheet.subject.summary(),
        captions,
        x: Axis::sizes(SIZE_TITLE, &sizes(&series)),
        y: Axis::times("Median time (log scale)", &values),
        rows_above: 0,
        legend: legend(&series),
    };
    Some(LineChart { frame, series, reference: None, crossings: vec![] })
}

/// One series a variant and density, in the order in which the rows name them.
fn time_series(part: &Part<'_>) -> Vec<Series> {
    let mut series: Vec<Series> = vec![];
    for comparison in &part.section.comparisons {
        for row in &comparison.rows {
            let Some(point) = time_point(row) else { continue };
            let label = part.label(Some(&part.names.name(row)), comparison.density);
            let group = group(row);
            match series.iter_mut().find(|one| one.label == label && one.group == group) {
                Some(one) => one.points.push(point),
                None => {
                    let style = style(row.side, !row.is_headline(), 0);
                    series.push(Series { label, group, style, points: vec![point], bends: vec![] });
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
