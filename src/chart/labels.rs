//! Where labels stand so that they cover neither data nor each other. Pure geometry in pixels; draws nothing.

use super::font::{Weight, width};
use super::layout::{Layout, Rect, TEXT};
use super::model::ChartModel;

/// Em of the labels beside points.
pub const POINT_TEXT: f64 = 23.0;
/// Em of the names of regions.
pub const REGION_TEXT: f64 = 27.0;
/// Half the side of the square that a marker takes.
pub const MARKER: f64 = 9.0;

/// Room between labels and the edges of the plot.
const INSET: f64 = 8.0;

/// A text centred at `x`, under the x axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Below {
    /// Its centre.
    pub x: f64,
    /// The text.
    pub text: String,
}

/// A text in the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The area it takes.
    pub area: Rect,
    /// The text.
    pub text: String,
}

/// The labels of the x axis: sizes that are almost one place share a label, others give way to their neighbours.
///
/// The first and the last size keep their labels.
pub fn below(model: &ChartModel, layout: &Layout) -> Vec<Below> {
    let mut wanted: Vec<Below> = vec![];
    for tick in &model.x.ticks {
        let x = layout.place(model, tick.value, model.y.low).0;
        let lone = wanted.last().is_some_and(|last| !last.text.contains(','));
        match wanted.last_mut().filter(|last| lone && x - last.x < 0.35 * wide(&tick.label)) {
            Some(last) => {
                *last = Below { x: f64::midpoint(last.x, x), text: format!("{}, {}", last.text, tick.label) }
            }
            None => wanted.push(Below { x, text: tick.label.clone() }),
        }
    }
    let Some(last) = wanted.pop() else { return vec![] };
    let mut kept: Vec<Below> = vec![];
    for label in wanted {
        if kept.last().is_none_or(|before| apart(before, &label)) && apart(&label, &last) {
            kept.push(label);
        }
    }
    kept.push(last);
    kept
}

fn wide(text: &str) -> f64 {
    width(text, TEXT, Weight::Regular)
}

fn apart(left: &Below, right: &Below) -> bool {
    right.x - left.x > f64::midpoint(wide(&left.text), wide(&right.text)) + 14.0
}

/// What labels must not cover.
struct Obstacles {
    plot: Rect,
    /// Markers, and labels placed before.
    areas: Vec<Rect>,
    /// Lines of the series and the reference, as short steps.
    steps: Vec<(f64, f64)>,
}

impl Obstacles {
    fn of(model: &ChartModel, layout: &Layout) -> Obstacles {
        let (mut areas, mut steps) = (vec![], vec![]);
        for series in &model.series {
            let places: Vec<(f64, f64)> =
                series.points.iter().map(|point| layout.place(model, point.x, point.y)).collect();
            areas.extend(places.iter().map(|&place| around(place, MARKER + 3.0, MARKER + 3.0)));
            for pair in places.windows(2) {
                steps.extend(stepped(pair[0], pair[1]));
            }
        }
        if let Some(reference) = &model.reference {
            let y = layout.place(model, model.x.low, reference.value).1;
            steps.extend(stepped((layout.plot.left, y), (layout.plot.right, y)));
        }
        let plot = Rect {
            left: layout.plot.left + INSET,
            top: layout.plot.top + INSET,
            right: layout.plot.right - INSET,
            bottom: layout.plot.bottom - INSET,
        };
        Obstacles { plot, areas, steps }
    }

    /// The first of `candidates` that is free, which is then taken.
    fn take(&mut self, candidates: &[Rect]) -> Option<Rect> {
        let free = |area: &&Rect| {
            self.plot.holds(area)
                && !self.areas.iter().any(|other| other.intersects(area))
                && !self.steps.iter().any(|&step| area.has(step))
        };
        let found = *candidates.iter().find(free)?;
        self.areas.push(Rect { left: found.left - 8.0, right: found.right + 8.0, ..found });
        Some(found)
    }
}

fn around((x, y): (f64, f64), half_width: f64, half_height: f64) -> Rect {
    Rect { left: x - half_width, top: y - half_height, right: x + half_width, bottom: y + half_height }
}

/// Points on a line, near enough to each other to hit any label that the line crosses.
fn stepped(from: (f64, f64), to: (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    let count = ((to.0 - from.0).hypot(to.1 - from.1) / 4.0).ceil().max(1.0);
    (0..=count as usize).map(move |index| {
        let t = index as f64 / count;
        (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1))
    })
}

/// The names of the regions above and below the reference line, and the labels beside points.
///
/// Labels beside points come first, as regions have more places to choose from; what finds no free place is left out.
pub fn inside(model: &ChartModel, layout: &Layout) -> (Vec<Placed>, Vec<Placed>) {
    let mut obstacles = Obstacles::of(model, layout);
    let points = beside_points(model, layout, &mut obstacles);
    (regions(model, layout, &mut obstacles), points)
}

fn regions(model: &ChartModel, layout: &Layout, obstacles: &mut Obstacles) -> Vec<Placed> {
    let Some(reference) = &model.reference else { return vec![] };
    let plot = &layout.plot;
    let line = layout.place(model, model.x.low, reference.value).1;
    let names = [(reference.above, plot.top, line), (reference.below, line, plot.bottom)];
    let placed = names.into_iter().filter_map(|(name, top, bottom)| {
        let (w, h) = (width(name, REGION_TEXT, Weight::Medium), REGION_TEXT);
        let outer = if name == reference.above { top + 14.0 } else { bottom - 14.0 - h };
        let inner = if name == reference.above { bottom - 14.0 - h } else { top + 14.0 };
        let lefts = [plot.left + 18.0, plot.right - 18.0 - w, f64::midpoint(plot.left, plot.right) - w / 2.0];
        let candidates = [outer, inner]
            .into_iter()
            .flat_map(|top| lefts.map(|left| Rect { left, top, right: left + w, bottom: top + h }));
        let candidates: Vec<Rect> =
            candidates.filter(|area| area.top >= top && area.bottom <= bottom).collect();
        obstacles.take(&candidates).map(|area| Placed { area, text: name.into() })
    });
    placed.collect()
}

fn beside_points(model: &ChartModel, layout: &Layout, obstacles: &mut Obstacles) -> Vec<Placed> {
    let mut placed = vec![];
    for point in model.series.iter().flat_map(|series| &series.points) {
        let Some(text) = &point.label else { continue };
        let (x, y) = layout.place(model, point.x, point.y);
        let (w, h) = (width(text, POINT_TEXT, Weight::Medium) / 2.0, POINT_TEXT / 2.0);
        let (across, up) = (w + MARKER + 8.0, h + MARKER + 7.0);
        let above = [(0.0, -up), (-across, -h), (-across, -up), (across, h), (across, 0.0), (0.0, -1.7 * up)];
        let loses = model.reference.as_ref().is_some_and(|reference| point.y < reference.value);
        let sides = if loses { [-1.0, 1.0] } else { [1.0, -1.0] };
        let candidates: Vec<Rect> = sides
            .into_iter()
            .flat_map(|flip| above.map(|(dx, dy)| around((x + dx * flip, y + dy * flip), w, h)))
            .collect();
        if let Some(area) = obstacles.take(&candidates) {
            placed.push(Placed { area, text: text.clone() });
        }
    }
    placed
}
