//! Writes tables as CSV.

use std::borrow::Cow;

use csv::{Terminator, WriterBuilder};
use gpubench_document::table::Table;
use gpubench_report::case::Case;
use gpubench_report::shape::Shape;
use gpubench_text::csv::number;

/// Writes headings and rows as in RFC 4180, without title, alignment and tones. A text that spreadsheets would take for a
/// formula gets an apostrophe before it.
pub fn table(table: &Table) -> String {
    const WRITTEN: &str = "memory takes rows of as many fields as there are columns";
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(vec![]);
    writer
        .write_record(table.columns.iter().map(|column| neutral(&column.full_heading()).into_owned()))
        .expect(WRITTEN);
    for row in &table.rows {
        writer.write_record(row.iter().map(|field| neutral(&field.text).into_owned())).expect(WRITTEN);
    }
    String::from_utf8(writer.into_inner().expect(WRITTEN)).expect("fields of text make a text")
}

/// The headings of [`case_fields`].
pub(crate) const CASE: [&str; 7] = ["op", "n", "dtype", "shape", "density", "matrix", "seed"];

/// Returns the fields that name a case.
pub(crate) fn case_fields(case: &Case) -> [String; 7] {
    [
        case.op.clone(),
        case.n.to_string(),
        case.dtype.to_string(),
        case.shape.as_ref().map(Shape::to_string).unwrap_or_default(),
        number(case.density),
        case.matrix.clone().unwrap_or_default(),
        case.seed.to_string(),
    ]
}

/// Returns `text` in a form that no spreadsheet computes (OWASP, "CSV Injection"). Numbers stay as they are.
fn neutral(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.len() > 1;
    if is_formula && text.parse::<f64>().is_err() { format!("'{text}").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_marked_as_text_and_numbers_are_not() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(neutral(formula), format!("'{formula}"));
        }
        let columns = ["=1+1", "N"].map(gpubench_document::table::Column::words).to_vec();
        let named = Table::new("t", columns, vec![vec!["a".into(), "5".into()]]);
        assert_eq!(table(&named), "'=1+1,N\r\na,5\r\n", "a column may have the name of a report");
        for harmless in ["-1.5e-3", "+2", "-", "", "a=b", "1-2", "-inf"] {
            assert_eq!(neutral(harmless), harmless);
        }
    }
}
