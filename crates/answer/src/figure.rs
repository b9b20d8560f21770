//! Figures inside sentences, with no-break spaces so that no line break separates a number from its unit.

use std::fmt::Display;

/// Unicode's no-break space.
const NO_BREAK: &str = "\u{a0}";

/// A figure of several words, such as `GPU 12x` or `94 %`, unbroken.
pub(crate) fn figure(text: impl Display) -> String {
    text.to_string().replace(' ', NO_BREAK)
}

/// `N = 310`, unbroken.
pub(crate) fn size(n: impl Display) -> String {
    figure(format!("N = {n}"))
}

/// A sentence with ordinary blanks, for terminals, Markdown and JSON.
pub fn plain(sentence: &str) -> String {
    sentence.replace(NO_BREAK, " ")
}
