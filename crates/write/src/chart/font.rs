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

/// Longest text that is measured as a whole. A longer one fits no chart, and names in reports may have any length.
const MAX_CHARS: usize = 1000;

/// The text, cut with an ellipsis where it is wider than `limit` pixels; empty where not even that fits.
pub(crate) fn fitted(text: &str, em: f64, weight: Weight, limit: f64) -> String {
    let fits = |text: &str| width(text, em, weight) <= limit;
    let ends: Vec<usize> = text.char_indices().map(|(end, _)| end).take(MAX_CHARS + 1).collect();
    if ends.len() <= MAX_CHARS && fits(text) {
        return text.to_owned();
    }
    let cut = |kept: usize| format!("{}…", text[..ends[kept]].trim_end());
    let (mut fitting, mut too_wide) = (0, ends.len());
    while too_wide - fitting > 1 {
        let middle = fitting.midpoint(too_wide);
        if fits(&cut(middle)) { fitting = middle } else { too_wide = middle }
    }
    if fits(&cut(fitting)) { cut(fitting) } else { String::new() }
}

/// The text in lines of at most `limit` pixels, broken at spaces, otherwise after punctuation or, in a long word,
/// anywhere; what is beyond [`MAX_CHARS`] is cut.
pub(crate) fn wrapped(text: &str, em: f64, weight: Weight, limit: f64) -> Vec<String> {
    let mut lines = vec![];
    let mut rest: &str = text.char_indices().nth(MAX_CHARS).map_or(text, |(end, _)| &text[..end]);
    while width(rest, em, weight) > limit {
        let ends = rest.char_indices().map(|(start, c)| start + c.len_utf8());
        let fits = ends.take_while(|end| width(rest[..*end].trim_end(), em, weight) <= limit).last();
        let fitting = &rest[..fits.unwrap_or_else(|| rest.chars().next().map_or(0, char::len_utf8))];
        let after_punctuation = || fitting.rfind(['-', '/', ',', '_']);
        let end = fitting.trim_start().rfind(' ').map(|_| fitting.rfind(' ').unwrap_or_default());
        let end = end.or_else(after_punctuation).map_or(fitting.len(), |start| start + 1);
        lines.push(rest[..end].trim_end().to_owned());
        rest = &rest[end..];
    }
    lines.push(rest.to_owned());
    lines
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
    fn lines_break_at_spaces_and_lose_no_letter() {
        let of = |text: &str| wrapped(text, 20.0, Weight::Regular, 160.0);
        assert_eq!(of("short"), ["short"]);
        assert_eq!(of("resident, end to end, pinned"), ["resident, end to", "end, pinned"]);
        for text in ["a-long-name-of-a-variant-without-a-space", &"w".repeat(60)] {
            let lines = of(text);
            assert_eq!(lines.concat(), text);
            assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 20.0, Weight::Regular) <= 160.0));
        }
        assert!(!wrapped("il", 20.0, Weight::Regular, 0.0).is_empty());
    }

    #[test]
    fn texts_of_any_length_are_cut_to_the_longest_that_fits() {
        let text = "il W·m".repeat(2000);
        for limit in [0.0, 9.0, 20.0, 333.0, 1e9] {
            let cut = fitted(&text, 20.0, Weight::Medium, limit);
            assert!(width(&cut, 20.0, Weight::Medium) <= limit, "{limit}: {cut}");
            assert!(cut.chars().count() <= MAX_CHARS + 1, "{limit}");
            let room = limit - width(&cut, 20.0, Weight::Medium);
            assert!(room < 40.0 || limit > 1e6, "{limit}: {cut}");
            assert_eq!(fitted("short", 20.0, Weight::Medium, 120.0), "short");
        }
    }
}
