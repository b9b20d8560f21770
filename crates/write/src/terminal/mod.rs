//! Writes for terminals: aligned tables, lines no longer than the terminal, colours.

mod blocks;
mod table;
#[cfg(test)]
mod tests;

use std::fmt::Write;

pub use blocks::{Screen, blocks};
pub(crate) use table::leave_out;
pub use table::{painted, table_text};

/// Columns of a terminal, which texts other than tables fit in.
pub const TERMINAL_WIDTH: usize = 80;

/// Columns of the terminal that sentences take at most; longer lines are hard to read.
pub(crate) const MAX_PROSE: usize = 120;

/// Breaks a text at blanks so that it fits on lines of `width` columns, all but the first indented.
pub fn hanging_within(width: usize, text: &str, indent: usize) -> String {
    let (mut broken, mut column) = (String::new(), indent);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            let _ = write!(broken, "\n{:indent$}", "");
            column = indent;
        } else if column > indent {
            broken.push(' ');
            column += 1;
        }
        broken.push_str(word);
        column += length;
    }
    broken
}
