//! Names of members that fit a column heading.

use gpubench_text::cut::fitted;

/// Maximum length of a name, so that it fits a column heading.
pub(crate) const MAX_CHARS: usize = 80;

/// Maximum length of the part that distinguishes a name from others.
const MAX_SUFFIX_CHARS: usize = MAX_CHARS / 2;

/// Returns a name that passes the check of names, if `stem` has a visible character. Names that are too long lose the end of the
/// stem, because the suffix distinguishes them.
pub(crate) fn with_suffix(stem: &str, suffix: &str) -> String {
    let suffix = fitted(suffix, MAX_SUFFIX_CHARS);
    fitted(stem, MAX_CHARS - suffix.chars().count()) + &suffix
}
