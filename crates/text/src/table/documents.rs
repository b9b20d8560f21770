//! Writes tables as CSV, Markdown and HTML.

use std::borrow::Cow;

use csv::{Terminator, WriterBuilder};

use super::{Column, Table, Tone};
use crate::escape;
use crate::markup::{Element, element};

impl Table {
    /// Writes headings and rows as in RFC 4180, without title, alignment and tones. A text that spreadsheets would take for a
    /// formula gets an apostrophe before it.
    pub fn csv(&self) -> String {
        const WRITTEN: &str = "memory takes rows of as many fields as there are columns";
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(vec![]);
        writer
            .write_record(self.columns.iter().map(|column| neutral(&column.full_heading()).into_owned()))
            .expect(WRITTEN);
        for row in &self.rows {
            writer.write_record(row.iter().map(|field| neutral(&field.text).into_owned())).expect(WRITTEN);
        }
        String::from_utf8(writer.into_inner().expect(WRITTEN)).expect("fields of text make a text")
    }

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

    /// Returns a `table` element, without its title. Figures have the class `figure`, wrong answers `data-tone="wrong"`.
    pub fn html(&self) -> Element {
        let headings = self.columns.iter().map(|column| {
            let cell = element("th").with("scope", "col").holding(column.full_heading().as_ref());
            aligned(cell, column.figures)
        });
        let rows = self.rows.iter().map(|row| {
            let cells = row.iter().zip(&self.columns).map(|(field, column)| {
                let cell = aligned(element("td").holding(field.text.as_str()), column.figures);
                if field.tone == Tone::Wrong { cell.with("data-tone", "wrong") } else { cell }
            });
            element("tr").holding_all(cells)
        });
        let head = element("thead").holding(element("tr").holding_all(headings));
        element("table").holding(head).holding(element("tbody").holding_all(rows))
    }
}

/// Returns `text` in a form that no spreadsheet computes (OWASP, "CSV Injection"). Numbers stay as they are.
fn neutral(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.len() > 1;
    if is_formula && text.parse::<f64>().is_err() { format!("'{text}").into() } else { text.into() }
}

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let escaped: String = fields.map(|field| format!("| {} ", escape::markdown(field))).collect();
    escaped + "|\n"
}

fn aligned(cell: Element, figures: bool) -> Element {
    if figures { cell.with("class", "figure") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_marked_as_text_and_numbers_are_not() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(neutral(formula), format!("'{formula}"));
        }
        let named = Table::new("", vec![super::super::Column::words("=1+1")], vec![]);
        assert_eq!(named.csv(), "'=1+1\r\n", "a column may have the name of a report");
        for harmless in ["-1.5e-3", "+2", "-", "", "a=b", "1-2", "-inf"] {
            assert_eq!(neutral(harmless), harmless);
        }
    }
}
