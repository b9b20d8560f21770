//! Draws a roofline in its frame.

use super::{Dot, Roofline};
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{FrameDrawing, baseline, marker, medium};
use crate::chart::geometry::{CanvasPoint, Plane, Rect};
use crate::chart::layout::Extent;
use crate::chart::placing::{Placed, Room};

/// Half the side of the square that the largest marker takes, and of that of a variant that is not the best.
const LARGEST: f64 = 11.0;
const LARGEST_OTHER: f64 = 8.0;
/// Em of the sizes next to cells.
const SIZE_TEXT: f64 = 20.0;
/// Thickness of the peaks.
const ROOF: f64 = 2.6;

pub(crate) fn draw(chart: &Roofline, extent: Extent, canvas: &Canvas) {
    let frame = FrameDrawing::begin(canvas, &chart.frame, &chart.axes, extent);
    let plane = frame.layout.plane;
    frame.titles();
    frame.grid();
    frame.axis_labels();
    for roof in &chart.roofs {
        let ends = roof.path.map(|(x, y)| plane.place(x, y));
        canvas.stroke(&ends, roof.style.hue, ROOF, roof.style.stroke);
    }
    for dot in &chart.dots {
        marker(canvas, plane.place(dot.x, dot.y), dot.style, dot.style.hue, radius(dot));
    }
    for (index, label) in labels(chart, &plane) {
        let place = (label.area.left, baseline(label.area.middle().1, SIZE_TEXT));
        let hue = chart.dots[index].style.hue;
        canvas.text(&label.text, place, medium(SIZE_TEXT, hue.text(), Align::Left));
    }
    frame.legend()
}

fn radius(dot: &Dot) -> f64 {
    dot.scale * if dot.style.filled { LARGEST } else { LARGEST_OTHER }
}

/// The sizes that there is room for, each with the index of its cell.
pub(crate) fn labels(chart: &Roofline, plane: &Plane<'_>) -> Vec<(usize, Placed)> {
    let mut room = Room::of(&plane.area);
    for roof in &chart.roofs {
        room.keep_line(&roof.path.map(|(x, y)| plane.place(x, y)));
    }
    let places: Vec<CanvasPoint> = chart.dots.iter().map(|dot| plane.place(dot.x, dot.y)).collect();
    for (dot, place) in chart.dots.iter().zip(&places) {
        let half = radius(dot) + 2.0;
        room.keep(Rect::around(*place, half, half));
    }
    let mut labels = vec![];
    for (index, (dot, place)) in chart.dots.iter().zip(places).enumerate() {
        let Some(text) = &dot.label else { continue };
        labels
            .extend(room.place_near(place, radius(dot), text, SIZE_TEXT, false).map(|label| (index, label)));
    }
    labels
}
