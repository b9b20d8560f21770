//! Writes tables as CSV.

use csv::{Terminator, WriterBuilder};

use super::Table;

impl Table {
    /// Writes headings and rows as in RFC 4180, without title, alignment and tones.
    pub fn csv(&self) -> String {
        const WRITTEN: &str = "memory takes rows of as many fields as there are columns";
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(vec![]);
        writer
            .write_record(self.columns.iter().map(|column| column.full_heading().into_owned()))
            .expect(WRITTEN);
        for row in &self.rows {
            writer.write_record(row.iter().map(|field| field.text.as_str())).expect(WRITTEN);
        }
        String::from_utf8(writer.into_inner().expect(WRITTEN)).expect("fields of text make a text")
    }
}
