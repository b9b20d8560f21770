//! Charts in pixels: PNG. Everything is drawn large and averaged, which smooths all edges.

use crate::palette::Theme;
use ab_glyph::Font;
use anyhow::{Context, anyhow};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ColorType, ImageEncoder};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::Picture;
use super::canvas::{Align, Canvas, Paint, Pixel, SCALE, SIZE, Surface, Type};
use super::font::{font, glyphs, width};
use super::geometry::CanvasPoint;

/// The surface, in its own pixels.
const LARGE: (u32, u32) = (SIZE.0 * SCALE, SIZE.1 * SCALE);

/// Draws a chart as PNG of [`SIZE`].
pub(crate) fn png(picture: &impl Picture, theme: Theme) -> anyhow::Result<Vec<u8>> {
    let mut pixels = vec![0u8; 3 * LARGE.0 as usize * LARGE.1 as usize];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, LARGE).into_drawing_area();
        let bitmap = Bitmap { area, theme };
        picture.draw(&Canvas { surface: &bitmap, size: SIZE })?;
        done(bitmap.area.present())?;
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

struct Bitmap<'a> {
    area: DrawingArea<BitMapBackend<'a>, Shift>,
    theme: Theme,
}

impl Bitmap<'_> {
    fn shade(&self, paint: Paint) -> RGBAColor {
        let ((red, green, blue), alpha) = paint.seen(self.theme);
        RGBColor(red, green, blue).mix(alpha)
    }
}

impl Surface for Bitmap<'_> {
    fn rectangle(&self, corners: [Pixel; 2], paint: Paint) -> anyhow::Result<()> {
        done(self.area.draw(&Rectangle::new(corners, self.shade(paint).filled())))
    }

    fn polygon(&self, corners: &[Pixel], paint: Paint) -> anyhow::Result<()> {
        done(self.area.draw(&Polygon::new(corners, self.shade(paint).filled())))
    }

    fn line(&self, path: &[Pixel], paint: Paint, width: u32) -> anyhow::Result<()> {
        done(self.area.draw(&PathElement::new(path, self.shade(paint).stroke_width(width))))
    }

    /// Glyph by glyph: plotters itself drops the space to the left of each glyph.
    fn text(&self, text: &str, (x, y): CanvasPoint, kind: Type) -> anyhow::Result<()> {
        let scale = f64::from(SCALE);
        let left = match kind.align {
            Align::Left => x,
            Align::Center => x - width(text, kind.em, kind.weight) / 2.0,
            Align::Right => x - width(text, kind.em, kind.weight),
        };
        let start = (left * scale, (y * scale).round());
        let shade = self.shade(kind.paint);
        for glyph in glyphs(text, kind.em * scale, kind.weight, start).0 {
            let Some(outline) = font(kind.weight).outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            let mut result = Ok(());
            outline.draw(|dx, dy, cover| {
                if cover > 0.0 && result.is_ok() {
                    let pixel = (corner.x as i32 + dx as i32, corner.y as i32 + dy as i32);
                    result = self.area.draw_pixel(pixel, &shade.mix(f64::from(cover.min(1.0))));
                }
            });
            done(result)?;
        }
        Ok(())
    }
}

fn done<E: std::error::Error + Send + Sync>(
    result: Result<(), DrawingAreaErrorKind<E>>,
) -> anyhow::Result<()> {
    result.map_err(|error| anyhow!("{error}"))
}
