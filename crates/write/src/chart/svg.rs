//! Charts as vectors: SVG whose texts stay texts.

use std::cell::RefCell;
use std::fmt::Write;

use crate::palette::Theme;
use gpubench_text::escape::xml;

use super::canvas::Picture;
use super::canvas::{Align, Canvas, Paint, Pixel, SCALE, Surface, Type};
use super::font::{MEDIUM, REGULAR, Weight};
use super::geometry::CanvasPoint;

/// Family that texts name; the first is the embedded font.
const FAMILY: &str = "Roboto, Helvetica, Arial, sans-serif";

/// The way in which a drawing refers to colours.
#[derive(Clone, Copy)]
enum Colors {
    /// The colours of a theme.
    Fixed(Theme),
    /// Variables of CSS, which the page around it sets.
    Variables,
}

/// A file with its font inside, in the colours of a theme.
pub(crate) fn file(picture: &impl Picture, theme: Theme) -> anyhow::Result<Vec<u8>> {
    let style = format!("<style>{}</style>\n", font_faces());
    Ok(drawn(picture, Colors::Fixed(theme), &style)?.into_bytes())
}

/// An `svg` element for a page that has [`font_faces`] and sets the variables of the palette.
pub(crate) fn fragment(picture: &impl Picture) -> anyhow::Result<String> {
    drawn(picture, Colors::Variables, "")
}

/// The chart, with `head` before anything drawn.
fn drawn(picture: &impl Picture, colors: Colors, head: &str) -> anyhow::Result<String> {
    let (width, height) = picture.size();
    let (large_width, large_height) = (width * SCALE, height * SCALE);
    let open = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {large_width} {large_height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n{head}"
    );
    let svg = Svg { text: RefCell::new(open), colors };
    picture.draw(&Canvas { surface: &svg, size: (width, height) })?;
    Ok(svg.text.into_inner() + "</svg>\n")
}

struct Svg {
    text: RefCell<String>,
    colors: Colors,
}

impl Svg {
    fn write(&self, element: &str) {
        self.text.borrow_mut().push_str(element);
    }

    /// The colour, and the opacity as an attribute.
    fn paint(&self, paint: Paint) -> (String, String) {
        let attribute = |opacity: &str| format!(" opacity=\"{opacity}\"");
        match self.colors {
            Colors::Fixed(theme) => {
                let ((red, green, blue), opacity) = paint.seen(theme);
                (format!("#{red:02X}{green:02X}{blue:02X}"), attribute(&opacity.to_string()))
            }
            Colors::Variables => {
                let (color, opacity) = paint.variables();
                (color, opacity.map_or_else(String::new, |opacity| attribute(&opacity)))
            }
        }
    }
}

impl Surface for Svg {
    fn rectangle(&self, [(left, top), (right, bottom)]: [Pixel; 2], paint: Paint) -> anyhow::Result<()> {
        let (color, opacity) = self.paint(paint);
        let (width, height) = (right - left, bottom - top);
        self.write(&format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"{opacity} fill=\"{color}\" \
             stroke=\"none\"/>\n"
        ));
        Ok(())
    }

    fn polygon(&self, corners: &[Pixel], paint: Paint) -> anyhow::Result<()> {
        let ((color, opacity), path) = (self.paint(paint), path(corners));
        self.write(&format!("<path{opacity} fill=\"{color}\" d=\"{path}z\"/>\n"));
        Ok(())
    }

    fn line(&self, points: &[Pixel], paint: Paint, width: u32) -> anyhow::Result<()> {
        let ((color, opacity), path) = (self.paint(paint), path(points));
        self.write(&format!(
            "<path fill=\"none\"{opacity} stroke=\"{color}\" stroke-width=\"{width}\" d=\"{path}\"/>\n"
        ));
        Ok(())
    }

    fn text(&self, text: &str, (x, y): CanvasPoint, kind: Type) -> anyhow::Result<()> {
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
        let ((color, opacity), text) = (self.paint(kind.paint), xml(text));
        // Texts of a fragment have the family of the page around it.
        let family = match self.colors {
            Colors::Fixed(_) => format!(" font-family=\"{FAMILY}\""),
            Colors::Variables => String::new(),
        };
        self.write(&format!(
            "<text x=\"{left}\" y=\"{top}\" dy=\"0.76em\" text-anchor=\"{anchor}\"{family} \
             font-size=\"{size}\"{opacity} fill=\"{color}\"{weight}>\n{text}\n</text>\n"
        ));
        Ok(())
    }
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
