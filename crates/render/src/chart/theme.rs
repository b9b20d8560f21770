//! Light and dark: every colour that a chart is drawn in. Knows no chart.

use serde::Serialize;

/// A colour: red, green, blue.
pub type Rgb = (u8, u8, u8);

/// The look of charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on almost black.
    Dark,
}

impl Theme {
    /// Every theme.
    pub const ALL: [Theme; 2] = [Theme::Light, Theme::Dark];

    /// The theme of that name, `light` or `dark`.
    pub fn find(name: &str) -> Option<Theme> {
        Theme::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// The word used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// Its colours.
    pub fn palette(self) -> &'static Palette {
        match self {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }
}

/// The colours of data, by what they look like; each theme has its own shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hue {
    /// As text.
    Ink,
    /// Orange.
    Orange,
    /// Sky blue.
    Sky,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Red-orange.
    Vermilion,
    /// Pink.
    Purple,
}

impl Hue {
    /// Every hue.
    pub const ALL: [Hue; 7] =
        [Hue::Ink, Hue::Orange, Hue::Sky, Hue::Green, Hue::Blue, Hue::Vermilion, Hue::Purple];
}

/// The colours of a theme. Those of data follow M. Okabe, K. Ito, "Color universal design" (2008), which people with any
/// colour vision can tell apart; their shades are changed so that thin lines stand out from the ground.
#[derive(Debug)]
pub struct Palette {
    /// Ground.
    pub ground: Rgb,
    /// Titles, labels and lines that matter most.
    pub ink: Rgb,
    /// Subtitles and captions.
    pub soft_ink: Rgb,
    /// Axes.
    pub axis: Rgb,
    /// Grid lines at labels.
    pub major: Rgb,
    /// Grid lines between labels.
    pub minor: Rgb,
    /// Changes to the worse, and what has no time.
    pub worse: Rgb,
    /// Changes to the better.
    pub better: Rgb,
    /// How strongly the regions in which a side wins are tinted: CPU, GPU.
    pub tints: [f64; 2],
    /// In the order of [`Hue::ALL`].
    hues: [Rgb; 7],
}

impl Palette {
    /// The shade of a hue.
    pub fn hue(&self, hue: Hue) -> Rgb {
        self.hues[hue as usize]
    }
}

/// A colour laid over a ground; `strength` from 0, the ground alone, to 1.
pub fn blend(color: Rgb, ground: Rgb, strength: f64) -> Rgb {
    let mixed = |over: u8, under: u8| {
        (f64::from(under) + strength * (f64::from(over) - f64::from(under))).round() as u8
    };
    (mixed(color.0, ground.0), mixed(color.1, ground.1), mixed(color.2, ground.2))
}

static LIGHT: Palette = Palette {
    ground: (0xFF, 0xFF, 0xFF),
    ink: (0x22, 0x22, 0x22),
    soft_ink: (0x5A, 0x5A, 0x5A),
    axis: (0x88, 0x88, 0x88),
    major: (0xD8, 0xD8, 0xD8),
    minor: (0xEF, 0xEF, 0xEF),
    worse: (0xB2, 0x18, 0x2B),
    better: (0x1B, 0x78, 0x37),
    tints: [0.05, 0.035],
    hues: [
        (0x22, 0x22, 0x22),
        (0xC4, 0x86, 0x00),
        (0x3E, 0x9B, 0xDD),
        (0x00, 0x8A, 0x66),
        (0x0A, 0x55, 0x9B),
        (0xC2, 0x3B, 0x00),
        (0xC5, 0x6B, 0xA5),
    ],
};

static DARK: Palette = Palette {
    ground: (0x14, 0x17, 0x1C),
    ink: (0xF2, 0xF2, 0xF2),
    soft_ink: (0xAE, 0xB4, 0xBC),
    axis: (0x83, 0x8A, 0x94),
    major: (0x36, 0x3C, 0x45),
    minor: (0x24, 0x28, 0x2F),
    worse: (0xFF, 0x7B, 0x72),
    better: (0x4A, 0xC2, 0x6B),
    tints: [0.09, 0.09],
    hues: [
        (0xF2, 0xF2, 0xF2),
        (0xF0, 0xB0, 0x30),
        (0x9B, 0xD4, 0xFA),
        (0x12, 0xA8, 0x7C),
        (0x33, 0x83, 0xD6),
        (0xE8, 0x60, 0x1A),
        (0xD9, 0x83, 0xB5),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear light of a colour of sRGB.
    fn linear((red, green, blue): Rgb) -> [f64; 3] {
        [red, green, blue].map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// The contrast of two colours, from 1 to 21: WCAG 2.2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let luminance = |color| times(&[[0.2126, 0.7152, 0.0722]; 3], linear(color))[0];
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// What a viewer without one kind of cone sees: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A
    /// physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15 (2009).
    const SIGHTS: [[[f64; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ];

    /// A colour as a place in a space where distances are as seen: B. Ottosson, "A perceptual color space" (2020).
    fn oklab(light: [f64; 3]) -> [f64; 3] {
        let cones = times(
            &[
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            light.map(|c| c.clamp(0.0, 1.0)),
        );
        times(
            &[
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            cones.map(f64::cbrt),
        )
    }

    #[test]
    fn lines_and_texts_stand_out_from_the_ground() {
        for theme in Theme::ALL {
            let palette = theme.palette();
            for hue in Hue::ALL {
                let found = contrast(palette.hue(hue), palette.ground);
                assert!(found >= 3.0, "{} {hue:?}: {found:.2}", theme.name());
            }
            for color in [palette.ink, palette.soft_ink, palette.worse, palette.better] {
                let found = contrast(color, palette.ground);
                assert!(found >= 4.5, "{} {color:?}: {found:.2}", theme.name());
            }
            assert!(contrast(palette.axis, palette.ground) >= 3.0);
        }
    }

    #[test]
    fn every_two_colours_of_data_differ_for_people_who_see_no_red_or_no_green() {
        for theme in Theme::ALL {
            for sight in &SIGHTS {
                let seen = |hue| oklab(times(sight, linear(theme.palette().hue(hue))));
                for (index, &a) in Hue::ALL.iter().enumerate() {
                    for &b in &Hue::ALL[..index] {
                        let distance =
                            seen(a).iter().zip(seen(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        assert!(distance > 0.08, "{} {a:?} {b:?}: {distance:.3}", theme.name());
                    }
                }
            }
        }
    }

    #[test]
    fn themes_are_found_by_name() {
        assert!(Theme::ALL.iter().all(|theme| Theme::find(theme.name()) == Some(*theme)));
        assert_eq!(Theme::find("sepia"), None);
    }
}
