//! The embedded font, Roboto: glyphs, widths and where text is cut. Looks for no font on the system.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Labels and running text.
    Regular,
    /// Titles and headings.
    Medium,
}

pub(crate) const REGULAR: &[u8] = include_bytes!("fonts/Roboto-Regular.ttf");
pub(crate) const MEDIUM: &[u8] = include_bytes!("fonts/Roboto-Medium.ttf");

static FONTS: LazyLock<[FontRef<'static>; 2]> = LazyLock::new(|| {
    [REGULAR, MEDIUM].map(|bytes| FontRef::try_from_slice(bytes).expect("the embedded file is a font"))
});

pub(crate) fn font(weight: Weight) -> &'static FontRef<'static> {
    match weight {
        Weight::Regular => &FONTS[0],
        Weight::Medium => &FONTS[1],
    }
}

/// The glyphs of a text whose baseline starts at (`x`, `y`), with an em of `em` pixels, and its width.
pub(crate) fn glyphs(text: &str, em: f64, weight: Weight, (x, y): (f64, f64)) -> (Vec<Glyph>, f64) {
    let font = font(weight);
    let units = font.units_per_em().unwrap_or(1000.0);
    // The scale of ab_glyph is the height from ascent to descent, not the em.
    let scaled = font.as_scaled(PxScale::from(em as f32 * font.height_unscaled() / units));
    let mut right = x as f32;
    let glyphs = text.chars().map(|c| {
        let mut glyph = scaled.scaled_glyph(c);
        glyph.position = point(right, y as f32);
        right += scaled.h_advance(glyph.id);
        glyph
    });
    let glyphs = glyphs.collect();
    (glyphs, f64::from(right) - x)
}

/// Width of a text, in pixels.
pub(crate) fn width(text: &str, em: f64, weight: Weight) -> f64 {
    glyphs(text, em, weight, (0.0, 0.0)).1
}

/// The text, cut with an ellipsis where it is wider than `limit` pixels.
pub(crate) fn fitted(text: &str, em: f64, weight: Weight, limit: f64) -> String {
    if width(text, em, weight) <= limit {
        return text.to_owned();
    }
    widest(text, limit, em, weight, |chars, kept| {
        let head: String = chars[..kept].iter().collect();
        format!("{}…", head.trim_end())
    })
}

/// The text, with an ellipsis for what is too much where it is wider than `limit` pixels: of what is left a third is its
/// beginning and the rest its end, since names of series differ in their ends.
pub(crate) fn fitted_inside(text: &str, em: f64, weight: Weight, limit: f64) -> String {
    if width(text, em, weight) <= limit {
        return text.to_owned();
    }
    widest(text, limit, em, weight, |chars, kept| {
        let head: String = chars[..kept / 3].iter().collect();
        let tail: String = chars[chars.len() - (kept - kept / 3)..].iter().collect();
        format!("{}…{}", head.trim_end(), tail.trim_start())
    })
}

/// Returns what `cut` makes of the text with the most characters for which that is no wider than `limit` pixels; empty if none
/// is. It bisects, since the width grows with the characters and a report may have names of any length.
fn widest(text: &str, limit: f64, em: f64, weight: Weight, cut: impl Fn(&[char], usize) -> String) -> String {
    let chars: Vec<char> = text.chars().collect();
    let kept: Vec<usize> = (0..chars.len()).collect();
    let fitting = kept.partition_point(|kept| width(&cut(&chars, *kept), em, weight) <= limit);
    fitting.checked_sub(1).map(|kept| cut(&chars, kept)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_fonts_have_every_character_that_charts_use() {
        for weight in [Weight::Regular, Weight::Medium] {
            let summaries = gpubench_ops::OPS.iter().map(|op| op.about().summary).collect::<String>();
            for c in "azAZ09 µ·–…%±(),./=_-:é\u{a0}".chars().chain(summaries.chars()) {
                assert_ne!(font(weight).glyph_id(c).0, 0, "{c}");
            }
        }
    }

    #[test]
    fn names_of_series_keep_their_ends() {
        let text = "a machine of a rather long name, 2026-11-21 21:10:26, h2d-pinned";
        let cut = fitted_inside(text, 20.0, Weight::Regular, 260.0);
        assert!(cut.starts_with("a mach") && cut.ends_with(", h2d-pinned"), "{cut}");
        assert!(width(&cut, 20.0, Weight::Regular) <= 260.0, "{cut}");
        assert_eq!(fitted_inside("short", 20.0, Weight::Regular, 120.0), "short");
        assert_eq!(fitted_inside("short", 20.0, Weight::Regular, 0.0), "");
    }

    #[test]
    fn long_texts_are_cut_to_the_width() {
        let text = "a rather long name of a variant";
        let cut = fitted(text, 20.0, Weight::Regular, 120.0);
        assert!(cut.ends_with('…') && width(&cut, 20.0, Weight::Regular) <= 120.0, "{cut}");
        assert_eq!(fitted("short", 20.0, Weight::Regular, 120.0), "short");
    }
}
