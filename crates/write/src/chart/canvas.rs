//! A canvas that records lines, areas, markers and text, given in the pixels of the finished picture, in colours of the palette.
//! A format writes what it holds, in the colours of a theme.
//!
//! Everything is drawn [`SCALE`] times larger: pixels are averaged later, and vectors gain fine coordinates.

use std::cell::RefCell;

use crate::palette::{Rgb, Role, Theme, Tint};

use super::font::Weight;
use super::geometry::CanvasPoint;
use super::series::Stroke;

pub(crate) const SIZE: (u32, u32) = (1600, 1000);
/// The scale of the canvas relative to the picture.
pub(crate) const SCALE: u32 = 3;
/// The colour of a shape or a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Paint {
    Solid(Role),
    /// A colour through which what lies beneath shows, from 0, clear, to 1.
    Clear(Role, f64),
    /// A colour as strong as the theme has it.
    Tinted(Tint),
}

impl From<Role> for Paint {
    fn from(role: Role) -> Paint {
        Paint::Solid(role)
    }
}

impl Paint {
    /// The colour in a theme, and its opacity from 0 to 1.
    pub(crate) fn seen(self, theme: Theme) -> (Rgb, f64) {
        match self {
            Paint::Solid(role) => (role.rgb(theme), 1.0),
            Paint::Clear(role, strength) => (role.rgb(theme), strength),
            Paint::Tinted(tint) => (tint.role.rgb(theme), tint.strength(theme)),
        }
    }

    /// The colour in CSS by the page's variables, and its opacity where that is not 1.
    pub(crate) fn variables(self) -> (String, Option<String>) {
        let variable = |name: &str| format!("var(--{name})");
        let color = |role: Role| variable(role.name());
        match self {
            Paint::Solid(role) => (color(role), None),
            Paint::Clear(role, strength) => (color(role), Some(strength.to_string())),
            Paint::Tinted(tint) => (color(tint.role), Some(variable(tint.name))),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    /// Em in pixels.
    pub(crate) em: f64,
    pub(crate) weight: Weight,
    pub(crate) paint: Paint,
    pub(crate) align: Align,
}

/// A place on a surface, in its own pixels: [`SCALE`] to a pixel of the picture, from the upper left corner.
pub(crate) type Pixel = (i32, i32);

/// Something drawn, its places on the surface.
pub(crate) enum CanvasShape {
    /// A filled rectangle, by its upper left and its lower right corner.
    Rectangle([Pixel; 2], Paint),
    Polygon(Vec<Pixel>, Paint),
    /// A line of that width in pixels through at least two places.
    Line(Vec<Pixel>, Paint, u32),
    /// A text on one line, its baseline at the place's y; place and em are in pixels of the picture.
    Text(String, CanvasPoint, Type),
    /// A text that a page shows while the pointer is within that many pixels of a place; not drawn.
    Note(String, Pixel, u32),
}

/// A picture: what was drawn, in order.
pub(crate) struct Canvas {
    /// Width and height of the picture.
    pub(crate) size: (u32, u32),
    pub(crate) shapes: RefCell<Vec<CanvasShape>>,
}

impl Canvas {
    pub(crate) fn new(size: (u32, u32)) -> Canvas {
        Canvas { size, shapes: RefCell::default() }
    }

    fn add(&self, shape: CanvasShape) {
        self.shapes.borrow_mut().push(shape);
    }

    /// Fills a rectangle given by two opposite corners.
    pub(crate) fn rectangle(&self, corners: [CanvasPoint; 2], paint: impl Into<Paint>) {
        let [a, b] = corners.map(|place| self.scaled(place));
        let corners = [(a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1))];
        self.add(CanvasShape::Rectangle(corners, paint.into()));
    }

    pub(crate) fn fill(&self, corners: &[CanvasPoint], paint: impl Into<Paint>) {
        let corners = corners.iter().map(|place| self.scaled(*place)).collect();
        self.add(CanvasShape::Polygon(corners, paint.into()));
    }

    /// Draws a solid line from one place to another.
    pub(crate) fn rule(&self, ends: [CanvasPoint; 2], paint: impl Into<Paint>, thickness: f64) {
        self.stroke(&ends, paint, thickness, Stroke::Solid);
    }

    /// Strokes a line through the given places.
    pub(crate) fn stroke(
        &self,
        path: &[CanvasPoint],
        paint: impl Into<Paint>,
        thickness: f64,
        stroke: Stroke,
    ) {
        let paint = paint.into();
        let pieces = match stroke {
            Stroke::Solid => vec![path.to_vec()],
            Stroke::Dashed => dashes(path, (15.0, 8.0)),
            Stroke::Dotted => dashes(path, (3.5, 6.5)),
        };
        for piece in pieces {
            let mut places: Vec<Pixel> = piece.into_iter().map(|place| self.scaled(place)).collect();
            places.dedup();
            if places.len() > 1 {
                self.add(CanvasShape::Line(places, paint, (thickness * f64::from(SCALE)).round() as u32));
            }
        }
    }

    /// Sets a text on one line, its baseline at the place's y.
    pub(crate) fn text(&self, text: &str, place: CanvasPoint, kind: Type) {
        self.add(CanvasShape::Text(text.to_owned(), place, kind));
    }

    /// Shows a text, on a page, while the pointer is near a place.
    pub(crate) fn note(&self, text: &str, place: CanvasPoint, radius: f64) {
        let radius = (radius * f64::from(SCALE)).round() as u32;
        self.add(CanvasShape::Note(text.to_owned(), self.scaled(place), radius));
    }

    /// The pixel of a place; what lies outside of the picture is moved to its edge.
    fn scaled(&self, place: CanvasPoint) -> Pixel {
        let scale = f64::from(SCALE);
        let pixel = |at: f64, size: u32| ((at * scale).round() as i32).clamp(0, (size * SCALE) as i32);
        (pixel(place.0, self.size.0), pixel(place.1, self.size.1))
    }
}

/// Cuts a path into dashes of the first length with gaps of the second, running on around corners.
fn dashes(path: &[CanvasPoint], (dash, gap): CanvasPoint) -> Vec<Vec<CanvasPoint>> {
    let mut pieces = vec![];
    let mut piece: Vec<CanvasPoint> = path.first().copied().into_iter().collect();
    let (mut drawing, mut left) = (true, dash);
    for pair in path.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let t = done / length;
            let place = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            piece.push(place);
            if drawing {
                pieces.push(std::mem::take(&mut piece));
            }
            drawing = !drawing;
            left = if drawing { dash } else { gap };
        }
        left -= length - done;
        if drawing {
            piece.push(to);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_alternate_with_gaps_and_run_on_around_corners() {
        let pieces = dashes(&[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)], (3.0, 2.0));
        assert_eq!(pieces, [vec![(0.0, 0.0), (3.0, 0.0)], vec![(4.0, 1.0), (4.0, 4.0)]]);
    }
}
