//! CSV as RFC 4180 has it: lines of fields, and their reader.

/// The shortest text that reads back as the same number; empty for none.
pub fn number(figure: Option<f64>) -> String {
    match figure {
        None => String::new(),
        Some(figure) if figure.abs() >= 1e21 => format!("{figure:e}"),
        Some(figure) => figure.to_string(),
    }
}

/// One line: fields that need it in quotes, and the line break of RFC 4180.
pub fn line(fields: impl Iterator<Item = String>) -> String {
    let quoted = fields.map(|field| {
        if field.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\r\n"
}

/// The records of a text, each of its fields; `None` where it is no CSV with CRLF at the end of every record.
pub fn records(text: &str) -> Option<Vec<Vec<String>>> {
    let (mut records, mut record, mut field, mut quoted) = (vec![], vec![], String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (quoted, c) {
            (true, '"') if rest.peek() == Some(&'"') => field.extend(rest.next()),
            (_, '"') => quoted = !quoted,
            (false, ',') => record.push(std::mem::take(&mut field)),
            (false, '\r') => {
                rest.next_if_eq(&'\n')?;
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (_, c) => field.push(c),
        }
    }
    (!quoted && field.is_empty() && record.is_empty()).then_some(records)
}
