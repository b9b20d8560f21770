//! Charts as vectors: SVG whose texts stay texts.

use std::fmt::Write;

use crate::palette::Theme;
use gpubench_text::escape::xml;

use super::canvas::{Align, Canvas, CanvasShape, Paint, Pixel, SCALE, Type};
use super::font::{MEDIUM, REGULAR, Weight};
use super::geometry::CanvasPoint;

/// A file with its font inside, in the colours of a theme.
pub(crate) fn file(canvas: &Canvas, theme: Theme) -> String {
    let style = format!("<style>{}</style>\n", font_faces());
    written(canvas, Some(theme), &style)
}

/// An `svg` element for a page that has [`font_faces`] and sets the variables of the palette.
pub(crate) fn fragment(canvas: &Canvas) -> String {
    written(canvas, None, "")
}

/// The picture, with `head` before anything drawn; in the colours of a theme, or in variables of CSS, which the page around it sets.
fn written(canvas: &Canvas, theme: Option<Theme>, head: &str) -> String {
    let (width, height) = canvas.size;
    let (large_width, large_height) = (width * SCALE, height * SCALE);
    let shapes: String = canvas.shapes.borrow().iter().map(|shape| element(shape, theme)).collect();
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {large_width} {large_height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n{head}{shapes}</svg>\n"
    )
}

/// The colour, and the opacity as an attribute.
fn painted(paint: Paint, theme: Option<Theme>) -> (String, String) {
    let attribute = |opacity: String| format!(" opacity=\"{opacity}\"");
    match theme {
        Some(theme) => {
            let ((red, green, blue), opacity) = paint.seen(theme);
            (format!("#{red:02X}{green:02X}{blue:02X}"), attribute(opacity.to_string()))
        }
        None => {
            let (color, opacity) = paint.variables();
            (color, opacity.map(attribute).unwrap_or_default())
        }
    }
}

fn element(shape: &CanvasShape, theme: Option<Theme>) -> String {
    match shape {
        CanvasShape::Rectangle([(left, top), (right, bottom)], paint) => {
            let (color, opacity) = painted(*paint, theme);
            let (width, height) = (right - left, bottom - top);
            format!(
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"{opacity} fill=\"{color}\" \
                 stroke=\"none\"/>\n"
            )
        }
        CanvasShape::Polygon(corners, paint) => {
            let ((color, opacity), path) = (painted(*paint, theme), path(corners));
            format!("<path{opacity} fill=\"{color}\" d=\"{path}z\"/>\n")
        }
        CanvasShape::Line(points, paint, width) => {
            let ((color, opacity), path) = (painted(*paint, theme), path(points));
            format!(
                "<path fill=\"none\"{opacity} stroke=\"{color}\" stroke-width=\"{width}\" d=\"{path}\"/>\n"
            )
        }
        CanvasShape::Text(text, place, kind) => text_element(text, *place, *kind, theme),
        // A file is drawn where nothing points at it.
        CanvasShape::Note(..) if theme.is_some() => String::new(),
        CanvasShape::Note(text, (x, y), radius) => format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"none\" pointer-events=\"all\"><title>{}</title></circle>\n",
            xml(text)
        ),
    }
}

fn text_element(text: &str, (x, y): CanvasPoint, kind: Type, theme: Option<Theme>) -> String {
    let scale = f64::from(SCALE);
    let em = kind.em * scale;
    let anchor = match kind.align {
        Align::Left => "start",
        Align::Center => "middle",
        Align::Right => "end",
    };
    // The baseline hangs 0.76 em under the text's top.
    let [left, baseline, drop] = [x * scale, y * scale, 0.76 * em].map(|pixels| pixels.round() as i32);
    let top = baseline - drop;
    let weight = if kind.weight == Weight::Medium { " font-weight=\"bold\"" } else { "" };
    // The last digit of the size is that of plotters' writer, so that files keep every byte.
    let size = em * 1.24 / 1.24;
    let ((color, opacity), text) = (painted(kind.paint, theme), xml(text));
    // Texts of a fragment have the family of the page around it.
    let family = theme.map_or("", |_| " font-family=\"Roboto, Helvetica, Arial, sans-serif\"");
    format!(
        "<text x=\"{left}\" y=\"{top}\" dy=\"0.76em\" text-anchor=\"{anchor}\"{family} \
         font-size=\"{size}\"{opacity} fill=\"{color}\"{weight}>\n{text}\n</text>\n"
    )
}

/// The data of a path through the points: each after the first relative to the one before it, which is half as long as
/// absolute coordinates.
fn path(points: &[Pixel]) -> String {
    let mut data = String::with_capacity(6 * points.len());
    if let Some((x, y)) = points.first() {
        let _ = write!(data, "M{x} {y}");
    }
    for pair in points.windows(2) {
        let (across, down) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let _ = match (across, down) {
            (_, 0) => write!(data, "h{across}"),
            (0, _) => write!(data, "v{down}"),
            (_, ..0) => write!(data, "l{across}{down}"),
            _ => write!(data, "l{across} {down}"),
        };
    }
    data
}

/// Rules of CSS that carry the font of all charts, in both weights.
pub(crate) fn font_faces() -> String {
    face(REGULAR, "normal") + &face(MEDIUM, "bold")
}

/// A rule that carries a font in itself.
fn face(font: &[u8], weight: &str) -> String {
    let data = base64(font);
    format!("@font-face{{font-family:Roboto;font-weight:{weight};src:url(data:font/ttf;base64,{data})}}")
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
    fn a_path_reaches_each_of_its_points() {
        let points = [(5, 7), (9, 7), (9, 3), (4, 1), (6, 4), (6, 4)];
        assert_eq!(path(&points), "M5 7h4v-4l-5-2l2 3h0");
        assert_eq!(path(&[]), "");
    }

    #[test]
    fn base64_agrees_with_the_vectors_of_its_standard() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
