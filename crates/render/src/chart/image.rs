//! A chart as the bytes of a file: averaged pixels in PNG, or SVG with its font inside. The same chart, the same bytes.

use anyhow::{Context, anyhow};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ColorType, ImageEncoder};
use plotters::prelude::*;

use super::canvas::{Canvas, FAMILY, SCALE};
use super::font::{MEDIUM, REGULAR};
use super::theme::Theme;
use super::{Format, SIZE};

/// The canvas, in its own pixels.
const LARGE: (u32, u32) = (SIZE.0 * SCALE, SIZE.1 * SCALE);

/// What a chart of any kind can do.
pub trait Picture: Sync {
    /// The name of its file, without extension.
    fn name(&self) -> &str;

    /// Draws itself on a canvas of [`SIZE`].
    ///
    /// # Errors
    /// The backend refuses to draw.
    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> anyhow::Result<()>;
}

/// Draws a chart and encodes it.
///
/// # Errors
/// The chart cannot be drawn or encoded.
pub fn render(picture: &impl Picture, format: Format, theme: Theme) -> anyhow::Result<Vec<u8>> {
    match format {
        Format::Png => png(picture, theme),
        Format::Svg => svg(picture, theme),
    }
}

fn png(picture: &impl Picture, theme: Theme) -> anyhow::Result<Vec<u8>> {
    let mut pixels = vec![0u8; 3 * LARGE.0 as usize * LARGE.1 as usize];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, LARGE).into_drawing_area();
        picture.draw(&Canvas { area: &area, keeps_text: false, palette: theme.palette() })?;
        area.present().map_err(|error| anyhow!("{error}"))?;
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

fn svg(picture: &impl Picture, theme: Theme) -> anyhow::Result<Vec<u8>> {
    let text = plain_svg(picture, theme)?;
    let head = text.find('>').map_or(0, |end| end + 1);
    let (open, rest) = text.split_at(head);
    Ok(format!("{open}\n<style>{}</style>{rest}", font_faces()).into_bytes())
}

/// The chart as SVG that names the font and does not carry it.
///
/// # Errors
/// The chart cannot be drawn.
pub fn plain_svg(picture: &impl Picture, theme: Theme) -> anyhow::Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, LARGE).into_drawing_area();
        picture.draw(&Canvas { area: &area, keeps_text: true, palette: theme.palette() })?;
        area.present().map_err(|error| anyhow!("{error}"))?;
    }
    let large = format!("<svg width=\"{}\" height=\"{}\"", LARGE.0, LARGE.1);
    let small = format!("<svg width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1);
    Ok(text.replacen(&large, &small, 1))
}

/// Rules of CSS that carry the font of all charts, in both weights.
pub fn font_faces() -> String {
    face(REGULAR, "normal") + &face(MEDIUM, "bold")
}

/// A rule that carries a font in itself.
fn face(font: &[u8], weight: &str) -> String {
    let family = FAMILY.split(',').next().unwrap_or(FAMILY);
    let data = base64(font);
    format!("@font-face{{font-family:{family};font-weight:{weight};src:url(data:font/ttf;base64,{data})}}")
}

/// Base64 with padding, as RFC 4648 has it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            (0..3).fold(0usize, |word, index| word << 8 | usize::from(*chunk.get(index).unwrap_or(&0)));
        for index in 0..4 {
            let letter = LETTERS[word >> (18 - 6 * index) & 63];
            text.push(if index <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_vectors_of_its_standard() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
