//! CSV: one line a row, flat, times in seconds, as RFC 4180 has it. Raw samples are left to JSON.

use super::{Exporter, File, View};
use crate::report::{Report, Row};

/// The rows as comma-separated values.
pub struct Csv;

/// The columns, in order.
const COLUMNS: [&str; 32] = [
    "op",
    "n",
    "dtype",
    "density",
    "seed",
    "backend",
    "variant",
    "side",
    "accuracy",
    "outcome",
    "reason",
    "fix",
    "error",
    "error_bound",
    "flop",
    "bytes",
    "clock",
    "samples",
    "median_s",
    "min_s",
    "max_s",
    "mad_s",
    "ci95_low_s",
    "ci95_high_s",
    "host_median_s",
    "warmups",
    "inputs_s",
    "prepare_s",
    "first_s",
    "download_s",
    "check_s",
    "inputs",
];

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn summary(&self) -> &'static str {
        "one line a row, times in seconds"
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn files(&self, report: &Report, _: &View) -> anyhow::Result<Vec<File>> {
        let mut text = line(COLUMNS.map(String::from));
        for row in &report.rows {
            text.push_str(&line(fields(row)?));
        }
        Ok(vec![File { name: "report.csv".into(), bytes: text.into_bytes() }])
    }
}

fn fields(row: &Row) -> anyhow::Result<[String; COLUMNS.len()]> {
    let (case, error, phases) = (&row.case, row.error, row.phases.as_ref());
    let execute = row.execute.as_ref();
    let timed = |figure: fn(&crate::report::Execute) -> f64| number(execute.map(figure));
    Ok([
        case.op.clone(),
        case.n.to_string(),
        word(&case.dtype)?,
        number(case.density),
        case.seed.to_string(),
        row.backend.clone(),
        row.variant.clone(),
        word(&row.side)?,
        word(&row.accuracy)?,
        word(&row.outcome)?,
        row.reason.clone().unwrap_or_default(),
        row.fix.clone().unwrap_or_default(),
        number(error.map(|error| error.value)),
        number(error.map(|error| error.bound)),
        number(Some(row.work.flop)),
        number(Some(row.work.bytes)),
        execute.map(|execute| word(&execute.clock)).transpose()?.unwrap_or_default(),
        execute.map(|execute| execute.samples_s.len().to_string()).unwrap_or_default(),
        timed(|execute| execute.median_s),
        timed(|execute| execute.min_s),
        timed(|execute| execute.max_s),
        timed(|execute| execute.mad_s),
        timed(|execute| execute.ci95_s[0]),
        timed(|execute| execute.ci95_s[1]),
        timed(|execute| execute.host_median_s),
        execute.map(|execute| execute.warmups.to_string()).unwrap_or_default(),
        number(phases.map(|phases| phases.inputs_s)),
        number(phases.map(|phases| phases.prepare_s)),
        number(phases.map(|phases| phases.first_s)),
        number(phases.map(|phases| phases.download_s)),
        number(phases.map(|phases| phases.check_s)),
        row.inputs.clone().unwrap_or_default(),
    ])
}

/// A word as the JSON report spells it.
fn word(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_value(value)?.as_str().unwrap_or_default().to_owned())
}

/// The shortest text that reads back as the same number; empty for none.
fn number(figure: Option<f64>) -> String {
    match figure {
        None => String::new(),
        Some(figure) if figure.abs() >= 1e21 => format!("{figure:e}"),
        Some(figure) => figure.to_string(),
    }
}

fn line(fields: [String; COLUMNS.len()]) -> String {
    let quoted = fields.map(|field| {
        if field.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field
        }
    });
    quoted.join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use proptest::prelude::*;

    /// A reader of RFC 4180, as strict as the text allows.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut records, mut record, mut field, mut quoted) = (vec![], vec![], String::new(), false);
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match (quoted, c) {
                (true, '"') if rest.peek() == Some(&'"') => field.extend(rest.next()),
                (_, '"') => quoted = !quoted,
                (false, ',') => record.push(std::mem::take(&mut field)),
                (false, '\r') => {
                    assert_eq!(rest.next(), Some('\n'));
                    record.push(std::mem::take(&mut field));
                    records.push(std::mem::take(&mut record));
                }
                (_, c) => field.push(c),
            }
        }
        assert!(!quoted && field.is_empty() && record.is_empty(), "the text ends inside a record");
        records
    }

    fn csv(report: &Report) -> Vec<Vec<String>> {
        let files = Csv.files(report, &View::default()).unwrap();
        read(std::str::from_utf8(&files[0].bytes).unwrap())
    }

    #[test]
    fn every_row_reads_back_with_all_its_columns() {
        let report = example::full();
        let records = csv(&report);
        assert_eq!(records.len(), report.rows.len() + 1);
        assert!(records.iter().all(|record| record.len() == COLUMNS.len()));
        let median = COLUMNS.iter().position(|name| *name == "median_s").unwrap();
        for (record, row) in records[1..].iter().zip(&report.rows) {
            assert_eq!(record[median].parse::<f64>().ok(), row.median_s());
        }
    }

    proptest! {
        #[test]
        fn any_reason_survives(reason in "[a-z\",\r\n; ]{0,20}") {
            let mut report = example::full();
            report.rows[2].reason = Some(reason.clone());
            prop_assert_eq!(&csv(&report)[3][10], &reason);
        }

        #[test]
        fn any_number_reads_back_exactly(figure in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            prop_assert_eq!(number(Some(figure)).parse::<f64>().unwrap(), figure);
        }
    }
}
