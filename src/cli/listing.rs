//! Plain columns of text, for lists that people read.

/// Rows of cells under a heading; columns are as wide as their widest cell.
pub struct Listing {
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Listing {
    /// An empty listing with these column heads.
    pub fn new(heads: &[&str]) -> Listing {
        let mut listing = Listing { rows: Vec::new(), widths: vec![0; heads.len()] };
        listing.row(heads.iter().map(|head| (*head).to_owned()).collect());
        listing
    }

    /// Adds a row of as many cells as there are heads.
    pub fn row(&mut self, cells: Vec<String>) {
        for (width, cell) in self.widths.iter_mut().zip(&cells) {
            *width = (*width).max(cell.chars().count());
        }
        self.rows.push(cells);
    }

    /// The lines, each ended by a line feed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let padded = row.iter().zip(&self.widths).map(|(cell, width)| format!("{cell:<width$}"));
            text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_bare() {
        let mut listing = Listing::new(&["A", "B"]);
        listing.row(vec!["long".into(), String::new()]);
        listing.row(vec!["x".into(), "y".into()]);
        assert_eq!(listing.text(), "A     B\nlong\nx     y\n");
    }
}
