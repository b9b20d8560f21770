//! The colours of the page as variables of CSS: those of the palette, for each theme.

use std::fmt::Write;

use crate::palette::{Role, Theme, Tint};

/// The rules that give the variables their values: dark by the system or by choice, but never on paper.
pub(crate) fn style() -> String {
    let [light, dark] = Theme::ALL.map(variables);
    format!(
        ":root{{{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=\"light\"]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=\"dark\"]{{{dark}}}}}\n"
    )
}

/// `color-scheme:light;--ground:#FFFFFF;` and so on: a variable for each role and each tint.
fn variables(theme: Theme) -> String {
    let mut text = format!("color-scheme:{};", theme.name());
    for role in Role::ALL {
        let (red, green, blue) = role.rgb(theme);
        let _ = write!(text, "--{}:#{red:02X}{green:02X}{blue:02X};", role.name());
    }
    for tint in Tint::ALL {
        let _ = write!(text, "--{}:{};", tint.name, tint.strength(theme));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_themes_set_every_variable() {
        let style = style();
        assert!(style.starts_with(":root{color-scheme:light;--ground:#FFFFFF;"), "{style}");
        assert_eq!(style.matches("{color-scheme:dark;--ground:#14171C;").count(), 2, "{style}");
        assert_eq!(style.matches("--gpu-region:0.09;").count(), 2, "{style}");
    }

    /// A misspelt variable would silently be no colour at all.
    #[test]
    fn the_style_uses_variables_of_the_palette_alone_and_no_other_colour() {
        let names = Role::ALL.iter().map(|role| role.name()).chain(Tint::ALL.iter().map(|tint| tint.name));
        let names: Vec<&str> = names.collect();
        for style in super::super::STYLES {
            for used in style.split("var(--").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(names.contains(&used), "--{used} is not in the palette");
            }
            // A mask is no colour: it is opaque or not.
            for line in style.lines().filter(|line| !line.contains("mask-image")) {
                let value = line.split_once(": ").map_or("", |(_, value)| value);
                assert!(!value.contains('#') && !value.contains("rgb("), "{line}");
            }
        }
    }
}
