//! Charts in pixels: PNG. Everything is drawn large and averaged, which smooths all edges.

use crate::palette::Theme;
use ab_glyph::Font;
use anyhow::{Context, anyhow};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ColorType, ImageEncoder};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{Align, Canvas, CanvasShape, Paint, SCALE, SIZE, Type};
use super::font::{font, glyphs, width};
use super::geometry::CanvasPoint;

/// The surface, in its own pixels.
const LARGE: (u32, u32) = (SIZE.0 * SCALE, SIZE.1 * SCALE);

/// Encodes a picture of [`SIZE`] as PNG.
pub(crate) fn png(canvas: &Canvas, theme: Theme) -> anyhow::Result<Vec<u8>> {
    let mut pixels = vec![0u8; 3 * LARGE.0 as usize * LARGE.1 as usize];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, LARGE).into_drawing_area();
        let shapes = canvas.shapes.borrow();
        let drawn =
            shapes.iter().try_for_each(|shape| draw(&area, shape, theme)).and_then(|()| area.present());
        drawn.map_err(|error| anyhow!("{error}"))?;
    }
    let mut bytes = vec![];
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::Adaptive)
        .write_image(&averaged(&pixels), SIZE.0, SIZE.1, ColorType::Rgb8)
        .context("cannot encode the picture")?;
    Ok(bytes)
}

/// The mean of each square of [`SCALE`] by [`SCALE`] pixels: smooth edges for everything drawn.
fn averaged(large: &[u8]) -> Vec<u8> {
    let (width, scale) = (LARGE.0 as usize, SCALE as usize);
    let mut small = Vec::with_capacity(3 * SIZE.0 as usize * SIZE.1 as usize);
    for rows in large.chunks_exact(3 * width * scale) {
        for x in 0..SIZE.0 as usize {
            for channel in 0..3 {
                let at = |row: usize, column: usize| rows[3 * (row * width + x * scale + column) + channel];
                let cells = (0..scale).flat_map(|row| (0..scale).map(move |column| (row, column)));
                let sum: u32 = cells.map(|(row, column)| u32::from(at(row, column))).sum();
                small.push(((sum + SCALE * SCALE / 2) / (SCALE * SCALE)) as u8);
            }
        }
    }
    small
}

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

type Drawn = Result<(), DrawingAreaErrorKind<<BitMapBackend<'static> as DrawingBackend>::ErrorType>>;

fn draw(area: &Area<'_>, shape: &CanvasShape, theme: Theme) -> Drawn {
    let shade = |paint: &Paint| {
        let ((red, green, blue), alpha) = paint.seen(theme);
        RGBColor(red, green, blue).mix(alpha)
    };
    match shape {
        CanvasShape::Rectangle(corners, paint) => area.draw(&Rectangle::new(*corners, shade(paint).filled())),
        CanvasShape::Polygon(corners, paint) => {
            area.draw(&Polygon::new(corners.as_slice(), shade(paint).filled()))
        }
        CanvasShape::Line(path, paint, width) => {
            area.draw(&PathElement::new(path.as_slice(), shade(paint).stroke_width(*width)))
        }
        CanvasShape::Note(..) => Ok(()),
        CanvasShape::Text(text, place, kind) => draw_text(area, text, *place, *kind, shade(&kind.paint)),
    }
}

/// Draws glyph by glyph: plotters itself drops the space to the left of each glyph.
fn draw_text(area: &Area<'_>, text: &str, (x, y): CanvasPoint, kind: Type, shade: RGBAColor) -> Drawn {
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
                result = area.draw_pixel(pixel, &shade.mix(f64::from(cover.min(1.0))));
            }
        });
        result?;
    }
    Ok(())
}
