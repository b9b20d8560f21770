//! Writes numbers for CSV, and reads CSV; [`Table::csv`](crate::table::Table::csv) writes tables.

/// Returns the shortest text that reads back as the same number; empty for none.
pub fn number(figure: Option<f64>) -> String {
    match figure {
        None => String::new(),
        Some(figure) if figure.abs() >= 1e21 => format!("{figure:e}"),
        Some(figure) => figure.to_string(),
    }
}

/// Returns the records of a text as lists of fields; `None` if they differ in length or the last does not end in CRLF.
pub fn records(text: &str) -> Option<Vec<Vec<String>>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records = reader.records().map(|record| Some(record.ok()?.iter().map(str::to_owned).collect()));
    records.collect::<Option<_>>().filter(|_| text.ends_with("\r\n"))
}
