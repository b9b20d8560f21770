//! Writes tables as a fragment of HTML.

use super::{Table, Tone};
use crate::markup::{Element, element};

impl Table {
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

fn aligned(cell: Element, figures: bool) -> Element {
    if figures { cell.with("class", "figure") } else { cell }
}
