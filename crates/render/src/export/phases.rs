//! The table of the phases around the timed one, for the best GPU variant of each case.

use gpubench_answer::{Comparison, Names, Section, sections};
use gpubench_model::Transfer;
use gpubench_model::measure::stats::median;
use gpubench_model::report::quantity::{bytes_text, time_text};
use gpubench_model::report::{Report, Row};
use gpubench_text::table::{Column, Field, Table};

/// The columns after those that name the case.
const COLUMNS: [&str; 9] = [
    "variant",
    "compile",
    "from cache",
    "plan",
    "upload",
    "first call",
    "execute",
    "download",
    "device memory",
];

/// The phases of each case's best GPU variant; `None` where no row has them.
pub(crate) fn phases(report: &Report) -> Option<Table> {
    let names = Names::of(report);
    let sections = sections(report);
    let mut rows = vec![];
    for section in &sections {
        for comparison in &section.comparisons {
            rows.extend(comparison.gpu.and_then(|row| fields(section, comparison, row, &names)));
        }
    }
    let mut columns = vec![Column::words("case"), Column::figures("N")];
    columns.extend(COLUMNS.map(|heading| Column::new(heading, heading != "variant")));
    (!rows.is_empty()).then(|| Table::new("Phases", columns, rows))
}

fn fields(
    section: &Section<'_>,
    comparison: &Comparison<'_>,
    row: &Row,
    names: &Names,
) -> Option<Vec<Field>> {
    let phases = row.phases.as_ref()?;
    phases.upload.as_ref()?;
    let compile = phases.compile.unwrap_or_default();
    let time = |seconds: Option<f64>| seconds.map_or("-".into(), time_text);
    let case = format!("{} {}, {}", section.op, section.dtype, section.cache);
    let texts = [
        case,
        comparison.n.to_string(),
        names.name(row),
        time(compile.cold_s),
        time(compile.cached_s),
        time(phases.plan_s),
        copied(phases.upload.as_ref()),
        time(Some(phases.first_s)),
        time(row.median_s()),
        copied(phases.download.as_ref()),
        phases.peak_device_bytes.map_or("-".into(), bytes_text),
    ];
    Some(texts.map(Field::from).to_vec())
}

/// `60.0 MiB in 1.20 ms`, by the host's clock.
fn copied(transfer: Option<&Transfer>) -> String {
    let found = transfer.and_then(|transfer| Some((transfer.bytes, median(&transfer.host_s)?)));
    found.map_or("-".into(), |(bytes, seconds)| format!("{} in {}", bytes_text(bytes), time_text(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

    #[test]
    fn the_best_gpu_variant_of_each_case_has_its_phases() {
        let table = phases(&example::full()).unwrap().markdown_table();
        let expected = "| matmul f32, cold | 100 | cublas | 210 ms | 1.20 ms | 4.00 ms | 78.1 KiB in 31.0 µs | 30.0 ms | 12.4 µs | 39.1 KiB in 31.0 µs | 117 KiB |\n";
        assert!(table.contains(expected), "{table}");
        assert_eq!(table.lines().count(), 2 + 2);
    }

    #[test]
    fn reports_without_copies_have_no_table() {
        let mut report = example::full();
        for row in &mut report.rows {
            row.phases.as_mut().unwrap().upload = None;
        }
        assert!(phases(&report).is_none());
    }
}
