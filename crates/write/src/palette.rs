//! Defines every colour of charts and pages by its role.

use serde::Serialize;

/// A colour: red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Colour theme of charts and pages.
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

    /// Returns the theme of that name, `light` or `dark`.
    pub fn find(name: &str) -> Option<Theme> {
        Theme::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }
}

/// Makes [`Role`] from a table, so that a colour is one line: its role, its name in CSS, and its two shades.
macro_rules! roles {
    ($($(#[$doc:meta])+ $role:ident = $name:literal, $light:literal, $dark:literal;)+) => {
        /// Purpose of a colour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Role {
            $($(#[$doc])+ $role,)+
        }

        impl Role {
            /// Every role.
            pub const ALL: &[Role] = &[$(Role::$role),+];

            /// Returns its name as a variable of CSS, without the dashes: `soft`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Role::$role => $name,)+
                }
            }

            /// Returns the shades on light and on dark ground, as `0xRRGGBB`.
            fn shades(self) -> [u32; 2] {
                match self {
                    $(Role::$role => [$light, $dark],)+
                }
            }
        }
    };
}

roles! {
    /// Ground of charts and pages.
    Ground = "ground", 0xFFFFFF, 0x14171C;
    /// Headings of tables, details of a row, code.
    Raised = "raised", 0xF6F7F9, 0x1C2027;
    /// Texts, and lines that matter most.
    Ink = "ink", 0x222222, 0xF2F2F2;
    /// Subtitles, captions and notes.
    Soft = "soft", 0x5A5A5A, 0xAEB4BC;
    /// Axes of charts.
    Axis = "axis", 0x888888, 0x838A94;
    /// Grid lines at labels, and borders.
    Line = "line", 0xD8D8D8, 0x363C45;
    /// Grid lines between labels.
    MinorLine = "minor-line", 0xEFEFEF, 0x24282F;

    // The colours of data follow M. Okabe, K. Ito, "Color universal design" (2008), which people with any colour vision
    // can distinguish; their shades are changed so that thin lines stand out from the ground.
    /// Data: orange.
    Orange = "orange", 0xC48600, 0xF0B030;
    /// Data: sky blue.
    Sky = "sky", 0x3E9BDD, 0x9BD4FA;
    /// Data: green.
    Green = "green", 0x008A66, 0x12A87C;
    /// Data: blue, first on the GPU's side.
    Blue = "blue", 0x0A559B, 0x3383D6;
    /// Data: red-orange, first on the CPU's side.
    Vermilion = "vermilion", 0xC23B00, 0xE8601A;
    /// Data: pink.
    Purple = "purple", 0xC56BA5, 0xD983B5;

    /// Changes for the worse, wrong answers, failures and missing times.
    Worse = "worse", 0xB2182B, 0xFF7B72;
    /// Ground of failures in tables.
    WorseGround = "worse-ground", 0xFBE6E8, 0x43211F;
    /// Changes for the better.
    Better = "better", 0x1B7837, 0x4AC26B;

    // Texts: letters are thinner than lines, and need more contrast than the colours of data have.
    /// Links, and the medians of samples.
    Link = "link", 0x0A559B, 0x7CB8F0;
    /// Texts about orange data.
    OrangeText = "orange-text", 0x8A5E00, 0xF0B030;
    /// Texts about sky-blue data.
    SkyText = "sky-text", 0x1F6FA8, 0x9BD4FA;
    /// Texts about green data.
    GreenText = "green-text", 0x00795A, 0x12A87C;
    /// Texts about pink data.
    PurpleText = "purple-text", 0xA24A82, 0xD983B5;
    /// Results that the CPU wins.
    Cpu = "cpu", 0xC23B00, 0xFF9D66;
    /// Background of results that the CPU wins.
    CpuGround = "cpu-ground", 0xFDEBE1, 0x43291A;
    /// Results that the GPU wins.
    Gpu = "gpu", 0x0A559B, 0x8CC4F5;
    /// Background of results that the GPU wins.
    GpuGround = "gpu-ground", 0xE2EEFA, 0x17314A;
}

impl Role {
    /// Returns its colour in a theme.
    pub fn rgb(self, theme: Theme) -> Rgb {
        let [_, red, green, blue] = self.shades()[theme as usize].to_be_bytes();
        (red, green, blue)
    }

    /// Returns the colour of texts about data of this colour.
    pub(crate) fn text(self) -> Role {
        match self {
            Role::Orange => Role::OrangeText,
            Role::Sky => Role::SkyText,
            Role::Green => Role::GreenText,
            Role::Purple => Role::PurpleText,
            Role::Blue => Role::Gpu,
            Role::Vermilion => Role::Cpu,
            other => other,
        }
    }
}

/// A translucent area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tint {
    /// Name of its opacity as a CSS variable, without the dashes.
    pub name: &'static str,
    /// The colour.
    pub role: Role,
    /// Opacity in each theme, from 0 (transparent) to 1.
    strengths: [f64; 2],
}

impl Tint {
    /// Region of a chart in which the CPU is faster.
    pub const CPU_REGION: Tint = Tint { name: "cpu-region", role: Role::Vermilion, strengths: [0.05, 0.09] };
    /// Region of a chart in which the GPU is faster.
    pub const GPU_REGION: Tint = Tint { name: "gpu-region", role: Role::Blue, strengths: [0.035, 0.09] };
    /// Every tint.
    pub const ALL: [Tint; 2] = [Tint::CPU_REGION, Tint::GPU_REGION];

    /// Returns its strength in a theme.
    pub fn strength(self, theme: Theme) -> f64 {
        self.strengths[theme as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the linear light of an sRGB colour.
    fn linear((red, green, blue): Rgb) -> [f64; 3] {
        [red, green, blue].map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// Returns the contrast of two colours, from 1 to 21: WCAG 2.2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let luminance = |color| times(&[[0.2126, 0.7152, 0.0722]; 3], linear(color))[0];
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// Colours as seen by a viewer without one kind of cone: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A
    /// physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15 (2009).
    const SIGHTS: [[[f64; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ];

    /// Returns a colour's coordinates in a perceptually uniform space: B. Ottosson, "A perceptual color space" (2020).
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

    /// The colours of data.
    const DATA: [Role; 7] =
        [Role::Ink, Role::Orange, Role::Sky, Role::Green, Role::Blue, Role::Vermilion, Role::Purple];

    fn assert_contrast(theme: Theme, color: Role, ground: Role, least: f64) {
        let found = contrast(color.rgb(theme), ground.rgb(theme));
        assert!(found >= least, "{}: {color:?} on {ground:?}: {found:.2}", theme.name());
    }

    /// A tint over the ground.
    fn tinted(theme: Theme, tint: Tint) -> Rgb {
        let over = |over: u8, under: u8| {
            (f64::from(under) + tint.strength(theme) * (f64::from(over) - f64::from(under))).round() as u8
        };
        let (color, ground) = (tint.role.rgb(theme), Role::Ground.rgb(theme));
        (over(color.0, ground.0), over(color.1, ground.1), over(color.2, ground.2))
    }

    /// Checks level AA of WCAG 2.2 for lines, and for texts of any size on every background that they have; labels among lines
    /// are on the ground or on the tint of a side.
    #[test]
    fn lines_can_be_seen_and_texts_can_be_read() {
        use Role::{
            Axis, Better, Cpu, CpuGround, Gpu, GpuGround, Ground, Ink, Link, Raised, Soft, Worse, WorseGround,
        };
        let texts = [(Better, Ground), (Cpu, CpuGround), (Gpu, GpuGround), (Worse, WorseGround)];
        let everywhere = [Ink, Soft, Link, Worse].map(|color| [(color, Ground), (color, Raised)]);
        let labels = DATA.map(|color| (color.text(), Ground));
        for theme in Theme::ALL {
            for (color, ground) in texts.iter().chain(everywhere.as_flattened()).chain(&labels) {
                assert_contrast(theme, *color, *ground, 4.5);
            }
            assert_contrast(theme, Axis, Ground, 3.0);
            for color in DATA {
                assert_contrast(theme, color, Ground, 3.0);
                for tint in [Tint::CPU_REGION, Tint::GPU_REGION] {
                    let found = contrast(color.text().rgb(theme), tinted(theme, tint));
                    assert!(found >= 4.5, "{}: {color:?} on {}: {found:.2}", theme.name(), tint.name);
                }
            }
        }
    }

    #[test]
    fn colours_of_data_differ_for_people_who_see_no_red_or_no_green() {
        for theme in Theme::ALL {
            for sight in &SIGHTS {
                let seen = |role: Role| oklab(times(sight, linear(role.rgb(theme))));
                for (index, &a) in DATA.iter().enumerate() {
                    for &b in &DATA[..index] {
                        let distance =
                            seen(a).iter().zip(seen(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        assert!(distance > 0.08, "{} {a:?} {b:?}: {distance:.3}", theme.name());
                    }
                }
            }
        }
    }

    #[test]
    fn variables_have_names_of_their_own() {
        let roles = Role::ALL.iter().map(|role| role.name());
        let mut names: Vec<&str> = roles.chain(Tint::ALL.iter().map(|tint| tint.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
