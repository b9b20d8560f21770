//! A canvas over a plotters backend: lines, areas, markers and text in the pixels of the finished picture.
//!
//! Everything is drawn [`SCALE`] times larger: pixels are averaged later, and vectors gain fine coordinates.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::font::{Weight, font, glyphs, width};
use super::geometry::Place;
use super::series::Stroke;
use super::theme::{Palette, Rgb};
use ab_glyph::Font;

/// How many times larger than the picture the canvas is.
pub const SCALE: u32 = 3;
/// Family under which vector formats name the embedded font.
pub const FAMILY: &str = "Roboto, Helvetica, Arial, sans-serif";

/// Where a text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// It starts there.
    Left,
    /// Its middle is there.
    Center,
    /// It ends there.
    Right,
}

/// The looks of a text.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// Em in pixels.
    pub em: f64,
    /// Weight.
    pub weight: Weight,
    /// Colour.
    pub color: Rgb,
    /// Alignment.
    pub align: Align,
}

/// A canvas.
pub struct Canvas<'a, B: DrawingBackend> {
    /// The area, [`SCALE`] times the picture.
    pub area: &'a DrawingArea<B, Shift>,
    /// Whether texts stay texts, as vector formats can have them, or become pixels.
    pub keeps_text: bool,
    /// The colours of the theme.
    pub palette: &'static Palette,
}

impl<B: DrawingBackend> Canvas<'_, B> {
    /// Fills a rectangle given by two opposite corners; `alpha` from 0, clear, to 1.
    pub fn rectangle(&self, corners: [Place; 2], color: Rgb, alpha: f64) -> anyhow::Result<()> {
        let style = shade(color, alpha).filled();
        self.done(self.area.draw(&Rectangle::new([scaled(&corners[0]), scaled(&corners[1])], style)))
    }

    /// Fills a polygon; `alpha` from 0, clear, to 1.
    pub fn fill(&self, corners: &[Place], color: Rgb, alpha: f64) -> anyhow::Result<()> {
        let style = shade(color, alpha).filled();
        self.done(self.area.draw(&Polygon::new(corners.iter().map(scaled).collect::<Vec<_>>(), style)))
    }

    /// Strokes a line through the given places.
    pub fn stroke(&self, path: &[Place], color: Rgb, thickness: f64, stroke: Stroke) -> anyhow::Result<()> {
        match stroke {
            Stroke::Solid => self.path(path, color, thickness),
            Stroke::Dashed => self.pieces(path, color, thickness, (15.0, 8.0)),
            Stroke::Dotted => self.pieces(path, color, thickness, (3.5, 6.5)),
        }
    }

    fn pieces(&self, path: &[Place], color: Rgb, thickness: f64, lengths: Place) -> anyhow::Result<()> {
        dashes(path, lengths).iter().try_for_each(|piece| self.path(piece, color, thickness))
    }

    fn path(&self, path: &[Place], color: Rgb, thickness: f64) -> anyhow::Result<()> {
        let mut places: Vec<(i32, i32)> = path.iter().map(scaled).collect();
        places.dedup();
        if places.len() < 2 {
            return Ok(());
        }
        let width = (thickness * f64::from(SCALE)).round() as u32;
        self.done(self.area.draw(&PathElement::new(places, shade(color, 1.0).stroke_width(width))))
    }

    /// Sets a text on one line, its baseline at the place's y.
    pub fn text(&self, text: &str, place: Place, kind: Type) -> anyhow::Result<()> {
        if self.keeps_text {
            self.text_element(text, place, kind)
        } else {
            self.text_pixels(text, place, kind)
        }
    }

    /// As pixels, glyph by glyph: plotters itself drops the space to the left of each glyph.
    fn text_pixels(&self, text: &str, (x, y): Place, kind: Type) -> anyhow::Result<()> {
        let scale = f64::from(SCALE);
        let left = match kind.align {
            Align::Left => x,
            Align::Center => x - width(text, kind.em, kind.weight) / 2.0,
            Align::Right => x - width(text, kind.em, kind.weight),
        };
        let start = (left * scale, (y * scale).round());
        for glyph in glyphs(text, kind.em * scale, kind.weight, start).0 {
            let Some(outline) = font(kind.weight).outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            let mut result = Ok(());
            outline.draw(|dx, dy, cover| {
                if cover > 0.0 && result.is_ok() {
                    let pixel = (corner.x as i32 + dx as i32, corner.y as i32 + dy as i32);
                    result = self.area.draw_pixel(pixel, &shade(kind.color, f64::from(cover.min(1.0))));
                }
            });
            self.done(result)?;
        }
        Ok(())
    }

    /// As an element of a vector format.
    fn text_element(&self, text: &str, (x, y): Place, kind: Type) -> anyhow::Result<()> {
        let em = kind.em * f64::from(SCALE);
        let weight = if kind.weight == Weight::Medium { FontStyle::Bold } else { FontStyle::Normal };
        let h_pos = match kind.align {
            Align::Left => HPos::Left,
            Align::Center => HPos::Center,
            Align::Right => HPos::Right,
        };
        // The SVG backend of plotters divides sizes by 1.24 and hangs a text's baseline 0.76 em under its top.
        let font = FontDesc::new(FontFamily::Name(FAMILY), em * 1.24, weight);
        let color = shade(kind.color, 1.0);
        let style = TextStyle::from(font).color(&color).pos(Pos::new(h_pos, VPos::Top));
        let (left, baseline) = scaled(&(x, y));
        self.done(self.area.draw_text(text, &style, (left, baseline - (0.76 * em).round() as i32)))
    }

    fn done<E: std::error::Error + Send + Sync>(
        &self,
        result: Result<(), DrawingAreaErrorKind<E>>,
    ) -> anyhow::Result<()> {
        result.map_err(|error| anyhow!("{error}"))
    }
}

fn shade((red, green, blue): Rgb, alpha: f64) -> RGBAColor {
    RGBColor(red, green, blue).mix(alpha)
}

fn scaled(place: &Place) -> (i32, i32) {
    let scale = f64::from(SCALE);
    ((place.0 * scale).round() as i32, (place.1 * scale).round() as i32)
}

/// Cuts a path into dashes of the first length with gaps of the second, running on around corners.
fn dashes(path: &[Place], (dash, gap): Place) -> Vec<Vec<Place>> {
    let mut pieces = vec![];
    let mut piece: Vec<Place> = path.first().copied().into_iter().collect();
    let (mut drawing, mut left) = (true, dash);
    for pair in path.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let t = done / length;
            let place = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            if drawing {
                piece.push(place);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece.push(place);
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
