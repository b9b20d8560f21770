//! Finds free places for labels, so that they cover neither data nor each other. Pure geometry in pixels.

use super::font::{Weight, width};
use super::geometry::{CanvasPoint, Rect};

/// Room between labels and the edges of the plot.
const INSET: f64 = 8.0;
/// Room between labels side by side.
const APART: f64 = 8.0;

/// A text in the plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) area: Rect,
    pub text: String,
}

/// A plot and what labels must not cover in it.
pub(crate) struct Room {
    plot: Rect,
    /// Markers, and labels placed before.
    areas: Vec<Rect>,
    /// Lines, as short steps.
    steps: Vec<CanvasPoint>,
}

impl Room {
    pub(crate) fn of(plot: &Rect) -> Room {
        Room { plot: plot.inset(INSET), areas: vec![], steps: vec![] }
    }

    pub(crate) fn keep(&mut self, area: Rect) {
        self.areas.push(area);
    }

    /// Keeps a line through the places free, by points near enough to each other to hit any label that the line crosses.
    pub(crate) fn keep_line(&mut self, path: &[CanvasPoint]) {
        for pair in path.windows(2) {
            let (from, across, down) = (pair[0], pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            let count = (across.hypot(down) / 4.0).ceil().max(1.0);
            let shares = (0..=count as usize).map(|index| index as f64 / count);
            self.steps.extend(shares.map(|t| (from.0 + t * across, from.1 + t * down)));
        }
    }

    /// The first of `candidates` that is free, which is then taken.
    pub(crate) fn take(&mut self, candidates: &[Rect]) -> Option<Rect> {
        let free = |area: &&Rect| {
            self.plot.holds(area)
                && !self.areas.iter().any(|other| other.intersects(area))
                && !self.steps.iter().any(|&step| area.has(step))
        };
        let found = *candidates.iter().find(free)?;
        self.areas.push(Rect { left: found.left - APART, right: found.right + APART, ..found });
        Some(found)
    }

    /// Places a text next to a marker of that half side: above it, at its sides or below, nearer places first; below it first
    /// where `is_low`. Near an edge it moves inwards.
    pub(crate) fn place_near(
        &mut self,
        place: CanvasPoint,
        marker: f64,
        text: &str,
        em: f64,
        is_low: bool,
    ) -> Option<Placed> {
        let (w, h) = (width(text, em, Weight::Medium) / 2.0, em / 2.0);
        let (across, up) = (w + marker + APART, h + marker + 7.0);
        let above = [(0.0, -up), (-across, -h), (-across, -up), (across, h), (across, 0.0), (0.0, -1.7 * up)];
        let sides = if is_low { [-1.0, 1.0] } else { [1.0, -1.0] };
        let moved = |flip: f64| above.map(|(dx, dy)| (place.0 + dx * flip, place.1 + dy * flip));
        let inside = |x: f64| x.min(self.plot.right - w).max(self.plot.left + w);
        let candidates = sides.into_iter().flat_map(moved);
        let candidates: Vec<Rect> = candidates.map(|(x, y)| Rect::around((inside(x), y), w, h)).collect();
        self.take(&candidates).map(|area| Placed { area, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Rect = Rect { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0 };

    #[test]
    fn labels_avoid_lines_areas_edges_and_each_other() {
        let mut room = Room::of(&PLOT);
        room.keep_line(&[(0.0, 140.0), (400.0, 140.0)]);
        room.keep(Rect::around((200.0, 150.0), 9.0, 9.0));
        let mut found = vec![];
        while let Some(placed) = room.place_near((200.0, 150.0), 9.0, "N = 310", 20.0, false) {
            found.push(placed.area);
        }
        assert!((2..=12).contains(&found.len()), "{found:?}");
        for (index, area) in found.iter().enumerate() {
            assert!(PLOT.inset(8.0).holds(area) && !(area.top..=area.bottom).contains(&140.0), "{area:?}");
            assert!(found[..index].iter().all(|other| !other.intersects(area)), "{found:?}");
        }
    }

    #[test]
    fn a_point_in_the_corner_has_its_label_inside() {
        let mut room = Room::of(&PLOT);
        let placed = room.place_near((395.0, 5.0), 9.0, "12x", 20.0, false).unwrap();
        assert!(PLOT.holds(&placed.area), "{placed:?}");
    }
}
