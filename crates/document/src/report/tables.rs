//! The tables that the text and the Markdown format share: one per op, element type and cache state.

use crate::table::{Column, Field, Layout, Table, Tone};
use gpubench_analysis::answer::{Comparison, Contender, Kind, Names, Section, sections};
use gpubench_ops::find;
use gpubench_ops::peak_share::precision;
use gpubench_report::case::Family;
use gpubench_report::report::quantity::{judged_text, spread_text, three_digits};
use gpubench_report::report::{Execute, Outcome, Report, Row};

use super::cautions::is_launch_bound;
use super::{MARK, NONE, PEAK_SHARE, contenders, has_peaks, peak_share_text, speed_up, time_text};

/// Heading of the columns whose fields may be marked.
const TIME: &str = "time";
/// Columns that long lines leave out, the first first: titles have the type, and names of variants reduced precision.
const LESS_NEEDED: [&str; 3] = ["type", "samples", THREADS];
/// Heading of the column with the CPU threads of a row, shown where a row has them.
const THREADS: &str = "threads";

/// One table per section, all with the same columns left out: the best of each contender, or every variant.
pub fn tables(report: &Report, all_variants: bool) -> Vec<Table> {
    let names = Names::of(report);
    let make = if all_variants { every_variant } else { best_of_sides };
    let less_needed: &[&str] = match all_variants {
        true if has_peaks(report) => &LESS_NEEDED,
        true => &[THREADS],
        false => &[PEAK_SHARE],
    };
    let mut tables: Vec<Table> =
        sections(report).iter().map(|section| make(report, section, &names)).collect();
    for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
        let position = less_needed.iter().rev().position(|heading| column.heading == *heading);
        column.rank = position.map_or(0, |position| position as u8 + 1);
    }
    tables
}

/// `spmv f32, density 0.05, cold cache: sparse matrix times vector`, without the summary for an op unknown here.
fn title(section: &Section<'_>) -> String {
    let family = section.common_family().clause();
    let summary = find(section.op).map(|op| op.about().summary).filter(|summary| !summary.is_empty());
    let summary = summary.map(|summary| format!(": {summary}")).unwrap_or_default();
    format!("{} {}{family}, {} cache{summary}", section.op, section.dtype, section.cache)
}

/// The columns that name a case, and how their fields are made.
fn case_columns(section: &Section<'_>) -> Vec<Column> {
    let heading = Family::column(section.comparisons.iter().map(|comparison| comparison.family));
    let family = section.has_families().then(|| Column::new(heading, heading == "density"));
    [Column::figures("N")].into_iter().chain(family).collect()
}

fn case_fields(section: &Section<'_>, comparison: &Comparison<'_>) -> Vec<Field> {
    let mut fields = vec![Field::from(comparison.family.size_text(comparison.n))];
    if section.has_families() {
        fields.push(comparison.family.text().unwrap_or_else(|| NONE.into()).into());
    }
    fields
}

fn best_of_sides(report: &Report, section: &Section<'_>, names: &Names) -> Table {
    let has_peaks = has_peaks(report);
    let contenders = contenders(report);
    let compares = contenders.len() > 1;
    let mut columns = case_columns(section);
    for contender in &contenders {
        let heading = format!("best {}", section.versus.label(*contender));
        columns.extend([Column::words(heading), Column::figures(TIME), Column::figures("±")]);
        columns.push(Column::words("grade"));
        columns.extend(has_peaks.then(|| Column::figures(PEAK_SHARE)));
    }
    columns.extend(compares.then(|| Column::words("speed-up")));
    columns.push(Column::figures("error"));
    let cases = &section.comparisons;
    let marked = [
        cases.iter().filter_map(|case| case.a).any(is_launch_bound),
        cases.iter().filter_map(|case| case.b).any(is_launch_bound),
    ];
    let row = |comparison: &Comparison<'_>| {
        let mut fields = case_fields(section, comparison);
        let bests = Contender::BOTH.into_iter().zip(comparison.bests()).zip(marked);
        for ((one, best), is_marked) in bests.filter(|((one, _), _)| contenders.contains(one)) {
            let name = |row| names.below(section.versus.name(one), row);
            fields.push(best.map_or(NONE.into(), name).into());
            fields.extend(time_fields(best, comparison.kind, is_marked));
            fields.extend(has_peaks.then(|| peak_share_text(report, best).into()));
        }
        let speed_up = || comparison.best_pair().as_ref().map_or(NONE.into(), speed_up);
        fields.extend(compares.then(speed_up));
        fields.push(comparison.error().map_or(NONE.into(), judged_text).into());
        fields
    };
    let rows = section.comparisons.iter().map(row).collect();
    Table::new(title(section), columns, rows).laid_out(layout(report))
}

/// Median, spread and grade. Where a time of the column `is_marked`, the others end with a blank to align digits.
fn time_fields(row: Option<&Row>, kind: Kind, is_marked: bool) -> [Field; 3] {
    let blank = if is_marked { " " } else { "" };
    let Some((row, execute)) = row.and_then(|row| Some((row, row.execute.as_ref()?))) else {
        return [format!("{NONE}{blank}").into(), NONE.into(), NONE.into()];
    };
    let mark = if is_launch_bound(row) { MARK } else { blank };
    let time = time_text(execute, kind);
    // A single sample has no spread.
    let spread = (execute.samples_s.len() > 1).then(|| spread_text(relative_spread(execute, kind)));
    [
        format!("{time}{mark}").into(),
        spread.unwrap_or(NONE.into()).into(),
        execute.grade.map_or(NONE.into(), |grade| grade.to_string()).into(),
    ]
}

/// Half the interval of that median, relative to it.
fn relative_spread(execute: &Execute, kind: Kind) -> f64 {
    match execute.host_ci95_s.filter(|_| kind != Kind::Kernel && execute.host_median_s > 0.0) {
        Some([low, high]) => (high - low) / 2.0 / execute.host_median_s,
        None => execute.summary().relative_spread(),
    }
}

fn every_variant(report: &Report, section: &Section<'_>, names: &Names) -> Table {
    let mut columns = case_columns(section);
    columns.extend([Column::words("side"), Column::words("variant"), Column::words("type")]);
    let threads = section.comparisons.iter().flat_map(|c| &c.rows).any(|row| row.threads.is_some());
    columns.extend(threads.then(|| Column::figures(THREADS)));
    columns.extend([Column::figures(TIME), Column::figures("±")]);
    columns.extend([Column::words("grade"), Column::figures("samples"), Column::figures("host")]);
    columns.push(Column::figures("GFLOP/s"));
    columns.extend(has_peaks(report).then(|| Column::figures(PEAK_SHARE)));
    columns.extend([Column::figures("error"), Column::words("outcome")]);
    let is_marked = section.comparisons.iter().flat_map(|case| &case.rows).any(|row| is_launch_bound(row));
    let mut rows = vec![];
    for comparison in &section.comparisons {
        for row in comparison.fastest_first() {
            let mut fields = case_fields(section, comparison);
            fields.extend(variant_fields(report, row, names, threads, is_marked));
            rows.push(fields);
        }
    }
    Table::new(title(section), columns, rows).laid_out(layout(report))
}

/// Headings are narrow where shares of the peak take room.
fn layout(report: &Report) -> Layout {
    if has_peaks(report) { Layout::NarrowHeadings } else { Layout::Fitting }
}

fn variant_fields(report: &Report, row: &Row, names: &Names, threads: bool, is_marked: bool) -> Vec<Field> {
    let execute = row.execute.as_ref();
    let rate = |seconds: f64| three_digits(row.work.flop / seconds / 1e9);
    let tone = match row.outcome {
        Outcome::Incorrect | Outcome::Failed => Tone::Wrong,
        Outcome::Measured | Outcome::Skipped => Tone::Plain,
    };
    let outcome = if row.screened { "screened" } else { row.outcome.name() };
    let mut fields = vec![row.side.label().into(), names.name(row).into(), precision(row).into()];
    let count = row.threads.map_or(NONE.into(), |threads| threads.to_string());
    fields.extend(threads.then(|| count.into()));
    fields.extend(time_fields(Some(row), Kind::Kernel, is_marked));
    fields.extend([
        execute.map_or(NONE.into(), |execute| execute.samples_s.len().to_string()).into(),
        execute.map_or(NONE.into(), Execute::host_median_text).into(),
        row.median_s().filter(|median| *median > 0.0 && row.work.flop > 0.0).map_or(NONE.into(), rate).into(),
    ]);
    fields.extend(has_peaks(report).then(|| peak_share_text(report, Some(row)).into()));
    fields.extend([row.error.map_or(NONE.into(), judged_text).into(), Field { text: outcome.into(), tone }]);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn digits_follow_the_interval_and_single_samples_have_no_spread() {
        let mut row = example::measured("fft", 10, "cpu", "realfft", 12.42e-6);
        let texts = |row: &Row| time_fields(Some(row), Kind::Kernel, false).map(|field| field.text);
        assert_eq!(texts(&row), ["12.4 µs", "0.1%", "A"]);
        row.execute.as_mut().unwrap().ci95_s = [11.4e-6, 13.4e-6];
        assert_eq!(texts(&row), ["12 µs", "8.1%", "A"]);
        let execute = row.execute.as_mut().unwrap();
        (execute.samples_s, execute.grade) = (vec![12.42e-6], None);
        assert_eq!(texts(&row), ["12 µs", "-", "-"]);
    }

    #[test]
    fn a_side_without_rows_has_no_columns() {
        let text = |report: &Report| tables(report, false)[0].fields_text();
        let both = example::of(example::both_sides("fft", 10, 1e-3, 1e-4));
        assert!(["best CPU", "best GPU", "speed-up"].iter().all(|heading| text(&both).contains(heading)));
        let one = example::of([example::measured("fft", 10, "cpu", "realfft", 1e-3)]);
        assert!(text(&one).contains("best CPU"));
        assert!(!text(&one).contains("GPU") && !text(&one).contains("speed-up"), "{}", text(&one));
    }

    #[test]
    fn every_row_has_its_share_of_the_peak_where_peaks_are_known() {
        // 2 N³ FLOP at 50 TFLOP/s take 40 ms.
        let report = example::of(example::both_sides("matmul", 10_000, 1.0, 80e-3));
        assert!(!tables(&report, true)[0].fields_text().contains("peak"));
        for all_variants in [false, true] {
            let text = tables(&example::with_peaks(report.clone()), all_variants)[0].fields_text();
            assert!(text.contains("peak") && text.contains(" 50%"), "{text}");
        }
    }

    #[test]
    fn less_needed_columns_are_ranked_and_threads_are_shown_where_a_row_has_them() {
        let mut report = example::with_peaks(example::full());
        let ranked = |report: &Report, all| -> Vec<(String, u8)> {
            let columns = tables(report, all)[0].columns.clone().into_iter().filter(|column| column.rank > 0);
            columns.map(|column| (column.heading.into_owned(), column.rank)).collect()
        };
        assert_eq!(ranked(&report, true), [("type".into(), 3), ("samples".into(), 2)]);
        report.rows[0].threads = Some(4);
        assert_eq!(ranked(&report, true), [("type".into(), 3), (THREADS.into(), 1), ("samples".into(), 2)]);
        assert!(tables(&report, true)[0].fields_text().contains("| 4 |"));
        assert!(ranked(&example::full(), false).is_empty());
    }
}
