//! The tables that the text and the Markdown format share: one an op and element type. Knows no format.

use super::grid::{Column, Field, Grid, Tone};
use crate::backend::{Accuracy, Side};
use crate::case::density_text;
use crate::op::find;
use crate::report::headline::{Comparison, Names, Section, sections};
use crate::report::quantity::{error_text, share_text, spread_text, three_digits, time_text};
use crate::report::{Outcome, Report, Row};

const NONE: &str = "-";

/// One table a section: the best of each side, or every variant.
pub fn tables(report: &Report, all_variants: bool) -> Vec<Grid> {
    let names = Names::of(report);
    let make = if all_variants { every_variant } else { best_of_sides };
    sections(report).iter().map(|section| make(section, &names)).collect()
}

/// What the figures of the tables mean, one sentence a line.
pub fn method(report: &Report, all_variants: bool) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    if all_variants {
        lines.push(
            "± is half the 95 % interval of the median; error is shown beside its share of the bound.".into(),
        );
    } else {
        lines.push(
            "Best correct variant of each side in full precision; ± is half the 95 % interval of its median."
                .into(),
        );
        lines.push("Error: of both sides the one nearer to its bound, and its share of the bound.".into());
    }
    let sections = sections(report);
    let compared: Vec<&Comparison<'_>> = sections
        .iter()
        .flat_map(|section| &section.comparisons)
        .filter(|comparison| comparison.speed_up().is_some())
        .collect();
    if !compared.is_empty() {
        let cpu = clocks(compared.iter().filter_map(|comparison| comparison.cpu));
        let gpu = clocks(compared.iter().filter_map(|comparison| comparison.gpu));
        lines.push(format!("Kernel speed-up, operands resident, no transfers: CPU by {cpu}, GPU by {gpu}."));
    }
    lines
}

/// The clocks of the rows' samples, in words.
fn clocks<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let mut found: Vec<&str> = vec![];
    for execute in rows.filter_map(|row| row.execute.as_ref()) {
        let text = execute.clock.words();
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found.join(" and ")
}

fn figure(heading: &'static str) -> Column {
    Column { heading, figures: true }
}

fn name(heading: &'static str) -> Column {
    Column { heading, figures: false }
}

/// `spmv f32, density 0.05: sparse matrix times vector`, without the summary for an op unknown here.
fn title(section: &Section<'_>) -> String {
    let density = section
        .common_density()
        .map(|density| format!(", density {}", density_text(density)))
        .unwrap_or_default();
    let summary = find(section.op).map(|op| op.summary()).filter(|summary| !summary.is_empty());
    let summary = summary.map(|summary| format!(": {summary}")).unwrap_or_default();
    format!("{} {}{density}{summary}", section.op, section.dtype)
}

/// The columns that name a case, and how their fields are made.
fn case_columns(section: &Section<'_>) -> Vec<Column> {
    if section.has_densities() { vec![figure("N"), figure("density")] } else { vec![figure("N")] }
}

fn case_fields(section: &Section<'_>, comparison: &Comparison<'_>) -> Vec<Field> {
    let mut fields = vec![Field::from(comparison.n.to_string())];
    if section.has_densities() {
        let density = comparison.density.map_or(NONE.into(), density_text);
        fields.push(density.into());
    }
    fields
}

fn best_of_sides(section: &Section<'_>, names: &Names) -> Grid {
    let mut columns = case_columns(section);
    columns.extend([name("best CPU"), figure("time"), figure("±")]);
    columns.extend([name("best GPU"), figure("time"), figure("±")]);
    columns.extend([name("speed-up"), figure("error"), figure("of bound")]);
    let row = |comparison: &Comparison<'_>| {
        let mut fields = case_fields(section, comparison);
        for side in [comparison.cpu, comparison.gpu] {
            fields.push(side.map_or(NONE.into(), |row| names.name(row)).into());
            fields.extend(time_fields(side));
        }
        fields.push(match comparison.speed_up() {
            None => NONE.into(),
            Some(found) => {
                let tone = if found.winner() == Side::Cpu { Tone::Cpu } else { Tone::Gpu };
                Field { text: found.to_string(), tone }
            }
        });
        fields.push(comparison.error().map_or(NONE.into(), error_text).into());
        fields.push(comparison.error().map_or(NONE.into(), share_text).into());
        fields
    };
    Grid { title: title(section), columns, rows: section.comparisons.iter().map(row).collect() }
}

/// Median and spread.
fn time_fields(row: Option<&Row>) -> [Field; 2] {
    match row.and_then(|row| row.execute.as_ref()) {
        None => [NONE.into(), NONE.into()],
        Some(execute) => {
            let spread = spread_text(execute.summary().relative_spread());
            [time_text(execute.median_s).into(), spread.into()]
        }
    }
}

fn every_variant(section: &Section<'_>, names: &Names) -> Grid {
    let mut columns = case_columns(section);
    columns.extend([name("side"), name("variant"), name("precision"), figure("time"), figure("±")]);
    columns.extend([
        figure("host clock"),
        figure("GFLOP/s"),
        figure("error"),
        figure("of bound"),
        name("outcome"),
    ]);
    let mut rows = vec![];
    for comparison in &section.comparisons {
        let mut ordered = comparison.rows.clone();
        // Fastest first; rows without a time keep the order of the report, after the others.
        let time = |row: &Row| row.median_s().unwrap_or(f64::INFINITY);
        ordered.sort_by(|a, b| time(a).total_cmp(&time(b)));
        for row in ordered {
            let mut fields = case_fields(section, comparison);
            fields.extend(variant_fields(row, names));
            rows.push(fields);
        }
    }
    Grid { title: title(section), columns, rows }
}

fn variant_fields(row: &Row, names: &Names) -> Vec<Field> {
    let side = if row.side == Side::Cpu { "CPU" } else { "GPU" };
    let execute = row.execute.as_ref();
    let rate = |seconds: f64| three_digits(row.work.flop / seconds / 1e9);
    let tone = match row.outcome {
        Outcome::Incorrect | Outcome::Failed => Tone::Wrong,
        Outcome::Measured | Outcome::Skipped => Tone::Plain,
    };
    let mut fields = vec![side.into(), names.name(row).into(), precision(row).into()];
    fields.extend(time_fields(Some(row)));
    fields.extend([
        execute.map_or(NONE.into(), |execute| time_text(execute.host_median_s)).into(),
        row.median_s().filter(|median| *median > 0.0).map_or(NONE.into(), rate).into(),
        row.error.map_or(NONE.into(), error_text).into(),
        row.error.map_or(NONE.into(), share_text).into(),
        Field { text: row.outcome.name().into(), tone },
    ]);
    fields
}

/// The arithmetic of a row: its element type, or the reduced precision it names.
pub fn precision(row: &Row) -> &'static str {
    match row.accuracy {
        Accuracy::Ieee => row.case.dtype.name(),
        Accuracy::Tf32 => "tf32",
        Accuracy::F16 => "f16",
        Accuracy::Bf16 => "bf16",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Clock, example};

    /// The sentence about the speed-up, if there is one.
    fn speed_up_line(rows: Vec<Row>) -> Option<String> {
        let lines = method(&Report { rows, ..example::empty() }, false);
        lines.into_iter().find(|line| line.starts_with("Kernel speed-up"))
    }

    #[test]
    fn the_speed_up_names_the_clocks_of_its_rows_and_is_left_out_where_there_is_none() {
        let cpu = example::measured("fft", 10, "cpu", "realfft", 1e-3);
        let mut gpu = example::measured("fft", 10, "cuda", "r2c", 1e-3);
        assert_eq!(speed_up_line(vec![]), None);
        assert_eq!(speed_up_line(vec![cpu.clone()]), None);
        assert_eq!(speed_up_line(vec![gpu.clone()]), None);
        let line = speed_up_line(vec![cpu.clone(), gpu.clone()]).unwrap();
        assert!(line.ends_with("CPU by host clock, GPU by device clock."), "{line}");
        gpu.execute.as_mut().unwrap().clock = Clock::Simulated;
        let line = speed_up_line(vec![cpu, gpu]).unwrap();
        assert!(line.ends_with("CPU by host clock, GPU by simulated clock."), "{line}");
    }

    #[test]
    fn small_densities_have_short_headings() {
        let mut row = example::measured("spmv", 10, "cpu", "parallel", 1e-3);
        row.case.density = Some(1e-300);
        let report = Report { rows: vec![row], ..example::empty() };
        let heading = &tables(&report, false)[0].title;
        assert!(heading.starts_with("spmv f32, density 1e-300:"), "{heading}");
    }
}
