//! The labels among lines: of crossings, of points, and the names of regions. Pure geometry; draws nothing.

use super::{CrossingMark, PlotLines};
use crate::chart::font::{Weight, width};
use crate::chart::geometry::{CanvasPoint, Plane, Rect};
use crate::chart::placing::{Placed, Room};
use crate::chart::series::{ChartSeries, Point};

/// Em of the names of regions.
pub(crate) const REGION_TEXT: f64 = 27.0;

/// Lines between two axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlotContents<'a> {
    pub(crate) plane: Plane<'a>,
    pub(crate) lines: &'a PlotLines,
    /// Half the side of the square that a marker takes.
    pub(crate) marker: f64,
    pub(crate) em: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Labels {
    /// Names of the regions; `true` for the one above 1.
    pub(crate) regions: Vec<(bool, Placed)>,
    pub points: Vec<PointLabel>,
    /// The labels of crossings, each with its index.
    pub(crate) crossings: Vec<(usize, Placed)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PointLabel {
    /// The index of its series.
    pub series: usize,
    pub(crate) placed: Placed,
    /// A line to its point, where it is not next to that.
    pub(crate) leader: Option<[CanvasPoint; 2]>,
}

/// Room between the marker of a first or last point and its label, for a line between them.
const LEADER: f64 = 16.0;
/// Room between a label and the edge of the plot or the line at 1.
const EDGE: f64 = 5.0;
/// Distance of labels in a column, in ems.
const PITCH: f64 = 1.08;

impl Labels {
    /// The labels of some lines. Points come first: each has its label. Regions have more places to choose from than
    /// crossings. What of these finds no free place is left out.
    pub(crate) fn of(contents: &PlotContents<'_>) -> Labels {
        let mut room = obstacles(contents);
        let points = points(contents, &mut room);
        let crossings = crossings(contents, &mut room);
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
    for series in &contents.lines.series {
        let places: Vec<CanvasPoint> =
            series.points.iter().map(|point| plane.place(point.x, point.y)).collect();
        places.iter().for_each(|&place| room.keep(Rect::around(place, half, half)));
        let path: Vec<CanvasPoint> = series.path().into_iter().map(|(x, y)| plane.place(x, y)).collect();
        room.keep_line(&path);
    }
    if contents.lines.regions.is_some() {
        let y = plane.down(1.0);
        room.keep_line(&[(plane.area.left, y), (plane.area.right, y)]);
        for crossing in &contents.lines.crossings {
            room.keep(Rect::around((plane.across(crossing.size), y), half, half));
        }
    }
    room
}

fn crossings(contents: &PlotContents<'_>, room: &mut Room) -> Vec<(usize, Placed)> {
    let mut order: Vec<(usize, &CrossingMark)> = contents.lines.crossings.iter().enumerate().collect();
    order.sort_by(|a, b| a.1.size.total_cmp(&b.1.size));
    // Lines rise from left to right: the outermost crossings have room to their left above and to their right below.
    if let Some(last) = order.pop() {
        order.insert(0, last);
    }
    let label = |(rank, (index, crossing)): (usize, (usize, &CrossingMark))| {
        let place = contents.plane.place(crossing.size, 1.0);
        Some((index, room.place_near(place, contents.marker + 3.0, &crossing.label, contents.em, rank != 1)?))
    };
    order.into_iter().enumerate().filter_map(label).collect()
}

/// A point with a label, and the index of its series.
type Labelled<'a> = (usize, &'a Point, &'a str);

fn labelled<'a>(series: &'a [ChartSeries]) -> impl Iterator<Item = Labelled<'a>> + Clone {
    let of = |(index, one): (usize, &'a ChartSeries)| {
        one.points.iter().filter_map(move |point| Some((index, point, point.label.as_deref()?)))
    };
    series.iter().enumerate().flat_map(of)
}

/// The least and the greatest size of the series.
pub(super) fn ends(series: &[ChartSeries]) -> [f64; 2] {
    let sizes = || series.iter().flat_map(|one| &one.points).map(|point| point.x);
    [sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max)]
}

/// The pixels that the labels of the first and of the last size need next to their points.
pub(crate) fn end_labels_room(series: &[ChartSeries], em: f64, marker: f64) -> [f64; 2] {
    ends(series).map(|end| {
        let texts = labelled(series).filter(|(_, point, _)| point.x == end);
        let widest = texts.map(|(.., text)| width(text, em, Weight::Medium)).reduce(f64::max);
        widest.map_or(0.0, |wide| wide + marker + LEADER)
    })
}

/// The shares of the height that the labels of an end need below and above 1, where each takes `share`.
pub(crate) fn end_label_shares(series: &[ChartSeries], share: f64) -> [f64; 2] {
    [false, true].map(|is_above| {
        let counts = ends(series).map(|end| {
            let of_end = labelled(series).filter(|(_, point, _)| point.x == end);
            of_end.filter(|(_, point, _)| (point.y >= 1.0) == is_above).count()
        });
        share * (counts[0].max(counts[1]) as f64 + 0.3)
    })
}

/// The labels of points: of the first and the last size in columns, in the order of the values and in the half of the side that
/// is faster; of others nearby.
fn points(contents: &PlotContents<'_>, room: &mut Room) -> Vec<PointLabel> {
    let [first, last] = ends(&contents.lines.series);
    let reference = if contents.lines.regions.is_some() { 1.0 } else { 0.0 };
    let mut found = vec![];
    for (end, side) in [(first, -1.0), (last, 1.0)] {
        for is_above in [true, false] {
            let of_end = labelled(&contents.lines.series).filter(|(_, point, _)| point.x == end);
            let of_half = of_end.filter(|(_, point, _)| (point.y >= reference) == is_above);
            found.extend(column(contents, of_half.collect(), side, is_above));
        }
    }
    found.iter().for_each(|label: &PointLabel| room.keep(label.placed.area));
    let line = contents.plane.down(reference);
    for (series, point, text) in labelled(&contents.lines.series) {
        if point.x == first || point.x == last {
            continue;
        }
        let (place, is_above) = (contents.plane.place(point.x, point.y), point.y >= reference);
        let near = room.place_near(place, contents.marker, text, contents.em, !is_above);
        let in_half =
            |found: &Placed| if is_above { found.area.bottom <= line } else { found.area.top >= line };
        match near.filter(in_half) {
            Some(placed) => found.push(PointLabel { series, placed, leader: None }),
            None => found.extend(column(contents, vec![(series, point, text)], 1.0, is_above)),
        }
    }
    found
}

/// The labels of an end and a half of the plot, each as near to the height of its point as the others allow.
fn column(
    contents: &PlotContents<'_>,
    mut labels: Vec<Labelled<'_>>,
    side: f64,
    is_above: bool,
) -> Vec<PointLabel> {
    let PlotContents { plane, em, marker, .. } = contents;
    labels.sort_by(|a, b| b.1.y.total_cmp(&a.1.y));
    let line = contents.lines.regions.as_ref().map(|_| plane.down(1.0));
    let top = line.filter(|_| !is_above).unwrap_or(plane.area.top) + EDGE + em / 2.0;
    let bottom = line.filter(|_| is_above).unwrap_or(plane.area.bottom) - EDGE - em / 2.0;
    let heights: Vec<f64> = labels.iter().map(|(_, point, _)| plane.down(point.y)).collect();
    let middles = spread(&heights, PITCH * em, [top, bottom.max(top)]);
    let placed = labels.into_iter().zip(middles).map(|((series, point, text), middle)| {
        let (x, y) = plane.place(point.x, point.y);
        let near = x + side * (marker + LEADER);
        let far = near + side * width(text, *em, Weight::Medium);
        let area = Rect {
            left: near.min(far),
            right: near.max(far),
            top: middle - em / 2.0,
            bottom: middle + em / 2.0,
        };
        let leader = [(x + side * (marker + 3.0), y), (near - side * 3.0, middle)];
        let is_away = (middle - y).abs() > em / 4.0;
        PointLabel { series, placed: Placed { area, text: text.into() }, leader: is_away.then_some(leader) }
    });
    placed.collect()
}

/// The positions nearest to `wanted`, which ascend, at least `pitch` apart between two limits; closer where these leave no
/// such room.
fn spread(wanted: &[f64], pitch: f64, [low, high]: [f64; 2]) -> Vec<f64> {
    let gaps = wanted.len().saturating_sub(1) as f64;
    let pitch = pitch.min((high - low) / gaps.max(1.0));
    // Without the room of those before it, each position is a step of a rising curve: pool adjacent violators.
    let mut blocks: Vec<(f64, usize)> = vec![];
    for (index, value) in wanted.iter().enumerate() {
        let (mut mean, mut count) = (value - pitch * index as f64, 1);
        while let Some((before, of)) = blocks.pop_if(|(before, _)| *before > mean) {
            mean = (mean * count as f64 + before * of as f64) / (count + of) as f64;
            count += of;
        }
        blocks.push((mean, count));
    }
    let steps = blocks.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
    let inside = steps.map(|step| step.min(high - pitch * gaps).max(low));
    inside.enumerate().map(|(index, step)| step + pitch * index as f64).collect()
}

fn regions(contents: &PlotContents<'_>, room: &mut Room) -> Vec<(bool, Placed)> {
    let Some([above, below]) = &contents.lines.regions else { return vec![] };
    let plot = &contents.plane.area;
    let line = contents.plane.down(1.0);
    let names = [(true, above, plot.top, line), (false, below, line, plot.bottom)];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_order_their_distance_and_their_half() {
        let found = spread(&[10.0, 100.0, 101.0, 102.0, 300.0], 20.0, [30.0, 290.0]);
        assert_eq!(found, [30.0, 81.0, 101.0, 121.0, 290.0]);
        assert_eq!(spread(&[50.0, 50.0, 50.0], 20.0, [40.0, 60.0]), [40.0, 50.0, 60.0], "too little room");
        assert_eq!(spread(&[], 20.0, [0.0, 1.0]), [0.0; 0]);
    }
}
