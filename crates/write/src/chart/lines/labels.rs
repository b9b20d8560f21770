//! The labels among lines: of crossings, of points, and the names of regions. Pure geometry; draws nothing.

use super::{CrossingMark, PeakLevel, Reference};
use crate::chart::font::{Weight, width};
use crate::chart::geometry::{CanvasPoint, Plane, Rect};
use crate::chart::placing::{Placed, Room};
use crate::chart::series::ChartSeries;

/// Em of the names of regions.
pub(crate) const REGION_TEXT: f64 = 27.0;

/// Lines between two axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlotContents<'a> {
    pub(crate) plane: Plane<'a>,
    pub series: &'a [ChartSeries],
    pub reference: Option<&'a Reference>,
    pub(crate) crossings: &'a [CrossingMark],
    pub(crate) levels: &'a [PeakLevel],
    /// Half the side of the square that a marker takes.
    pub(crate) marker: f64,
    pub(crate) em: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Labels {
    /// Names of the regions; `true` for the one above the reference line.
    pub(crate) regions: Vec<(bool, Placed)>,
    pub points: Vec<PointLabel>,
    /// The labels of crossings, each with its index.
    pub(crate) crossings: Vec<(usize, Placed)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PointLabel {
    /// The index of its series.
    pub series: usize,
    pub is_tie: bool,
    pub(crate) placed: Placed,
}

impl Labels {
    /// The labels of some lines. Crossings come first, then points; regions have more places to choose from. What finds
    /// no free place is left out.
    pub(crate) fn of(contents: &PlotContents<'_>) -> Labels {
        let mut room = obstacles(contents);
        let crossings = crossings(contents, &mut room);
        let points = points(contents, &mut room);
        Labels { regions: regions(contents, &mut room), points, crossings }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Placed> {
        let points = self.points.iter().map(|label| &label.placed);
        let crossings = self.crossings.iter().map(|(_, label)| label);
        self.regions.iter().map(|(_, label)| label).chain(points).chain(crossings)
    }
}

/// The plot with its markers and lines.
fn obstacles(contents: &PlotContents<'_>) -> Room {
    let (plane, half) = (&contents.plane, contents.marker + 3.0);
    let mut room = Room::of(&plane.area);
    for series in contents.series {
        let places: Vec<CanvasPoint> =
            series.points.iter().map(|point| plane.place(point.x, point.y)).collect();
        places.iter().for_each(|&place| room.keep(Rect::around(place, half, half)));
        let path: Vec<CanvasPoint> = series.path().into_iter().map(|(x, y)| plane.place(x, y)).collect();
        room.keep_line(&path);
    }
    if let Some(reference) = contents.reference {
        let y = plane.down(reference.value);
        room.keep_line(&[(plane.area.left, y), (plane.area.right, y)]);
        for crossing in contents.crossings {
            room.keep(Rect::around((plane.across(crossing.size), y), half, half));
        }
    }
    room
}

fn crossings(contents: &PlotContents<'_>, room: &mut Room) -> Vec<(usize, Placed)> {
    let Some(reference) = contents.reference else { return vec![] };
    let mut order: Vec<(usize, &CrossingMark)> = contents.crossings.iter().enumerate().collect();
    order.sort_by(|a, b| a.1.size.total_cmp(&b.1.size));
    // Lines rise from left to right: the outermost crossings have room to their left above and to their right below.
    if let Some(last) = order.pop() {
        order.insert(0, last);
    }
    let label = |(rank, (index, crossing)): (usize, (usize, &CrossingMark))| {
        let place = contents.plane.place(crossing.size, reference.value);
        Some((index, room.place_near(place, contents.marker + 3.0, &crossing.label, contents.em, rank != 1)?))
    };
    order.into_iter().enumerate().filter_map(label).collect()
}

fn points(contents: &PlotContents<'_>, room: &mut Room) -> Vec<PointLabel> {
    let mut placed = vec![];
    for (index, series) in contents.series.iter().enumerate() {
        for point in &series.points {
            let Some(text) = &point.label else { continue };
            let loses = contents.reference.is_some_and(|reference| point.y < reference.value);
            let place = contents.plane.place(point.x, point.y);
            let found = room.place_near(place, contents.marker, text, contents.em, loses);
            let is_tie = point.marks.is_tie;
            placed.extend(found.map(|placed| PointLabel { series: index, is_tie, placed }));
        }
    }
    placed
}

fn regions(contents: &PlotContents<'_>, room: &mut Room) -> Vec<(bool, Placed)> {
    let Some(reference) = contents.reference else { return vec![] };
    let plot = &contents.plane.area;
    let line = contents.plane.down(reference.value);
    let names = [(true, &reference.above, plot.top, line), (false, &reference.below, line, plot.bottom)];
    let placed = names.into_iter().filter(|(_, name, ..)| !name.is_empty()).filter_map(
        |(is_above, name, top, bottom)| {
            let (w, h) = (width(name, REGION_TEXT, Weight::Medium), REGION_TEXT);
            let outer = if is_above { top + 14.0 } else { bottom - 14.0 - h };
            let inner = if is_above { bottom - 14.0 - h } else { top + 14.0 };
            let lefts = [plot.left + 18.0, plot.right - 18.0 - w, plot.middle().0 - w / 2.0];
            let candidates = [outer, inner]
                .into_iter()
                .flat_map(|top| lefts.map(|left| Rect { left, top, right: left + w, bottom: top + h }));
            let candidates: Vec<Rect> =
                candidates.filter(|area| area.top >= top && area.bottom <= bottom).collect();
            room.take(&candidates).map(|area| (is_above, Placed { area, text: name.into() }))
        },
    );
    placed.collect()
}
