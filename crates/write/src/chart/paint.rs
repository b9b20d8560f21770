//! The paints of charts: colours of the palette, opaque or transparent. The surface applies the theme.

use crate::palette::{Rgb, Role, Theme, Tint};

/// The colour of a shape or a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Paint {
    Solid(Role),
    /// A colour through which what lies beneath shows, from 0, clear, to 1.
    Clear(Role, f64),
    /// A colour as strong as the theme has it.
    Tinted(Tint),
}

impl From<Role> for Paint {
    fn from(role: Role) -> Paint {
        Paint::Solid(role)
    }
}

impl Paint {
    /// The colour in a theme, and its opacity from 0 to 1.
    pub(crate) fn seen(self, theme: Theme) -> (Rgb, f64) {
        match self {
            Paint::Solid(role) => (role.rgb(theme), 1.0),
            Paint::Clear(role, strength) => (role.rgb(theme), strength),
            Paint::Tinted(tint) => (tint.role.rgb(theme), tint.strength(theme)),
        }
    }

    /// The colour in CSS by the page's variables, and its opacity where that is not 1.
    pub(crate) fn variables(self) -> (String, Option<String>) {
        let variable = |name: &str| format!("var(--{name})");
        let color = |role: Role| variable(role.name());
        match self {
            Paint::Solid(role) => (color(role), None),
            Paint::Clear(role, strength) => (color(role), Some(strength.to_string())),
            Paint::Tinted(tint) => (color(tint.role), Some(variable(tint.name))),
        }
    }
}
