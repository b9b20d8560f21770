//! Writes tables as Markdown.

use super::{Column, Table};
use crate::escape;

impl Table {
    /// Returns a heading of that level and a Markdown table.
    pub fn markdown(&self, level: usize) -> String {
        format!("{} {}\n\n{}", "#".repeat(level), escape::markdown(&self.title), self.markdown_table())
    }

    /// Returns the Markdown table alone.
    pub fn markdown_table(&self) -> String {
        let headings: Vec<_> = self.columns.iter().map(Column::full_heading).collect();
        let mut text = line(headings.iter().map(AsRef::as_ref));
        for column in &self.columns {
            text.push_str(if column.figures { "|---:" } else { "|---" });
        }
        text.push_str("|\n");
        for row in &self.rows {
            text.push_str(&line(row.iter().map(|field| field.text.trim_end())));
        }
        text
    }
}

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let escaped: String = fields.map(|field| format!("| {} ", escape::markdown(field))).collect();
    escaped + "|\n"
}
