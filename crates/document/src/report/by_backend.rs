//! The table of the best variant of each backend, for reports with several backends on a side.

use crate::table::{Column, Field, Table};
use gpubench_analysis::answer::{Contender, Kind, Names, Versus, cost, sections};
use gpubench_ops as op;
use gpubench_report::report::quantity::{factor_within, time_text};
use gpubench_report::report::{Report, Row};
use gpubench_text::grouped::distinct;

use super::NONE;

/// Per case the resident time of each backend's best variant, and over it that of the first. `None` for one backend per side.
pub fn by_backend(report: &Report) -> Option<Table> {
    Names::of(report).has_several().then_some(())?;
    let backends = backends(report);
    let columns = [Column::words("op"), Column::figures("N")];
    let columns = columns.into_iter().chain(backends.iter().map(|name| Column::words((*name).to_owned())));
    let sections = sections(report);
    let cases = sections.iter().filter(|section| op::compares_sides(section.op));
    let cases = cases.flat_map(|section| section.comparisons.iter().map(move |case| (section, case)));
    let rows = cases.map(|(section, case)| {
        let bests: Vec<Option<(&Row, f64)>> = backends.iter().map(|name| best(&case.rows, name)).collect();
        let first = bests.first().copied().flatten();
        let name = format!("{} {}, {}{}", section.op, section.dtype, section.cache, case.family.clause());
        let times = bests.into_iter().map(|found| {
            let Some((row, seconds)) = found else { return NONE.into() };
            let ratio = first.filter(|(other, _)| !std::ptr::eq(*other, row));
            let ratio = ratio.map(|(_, of_first)| format!(" ({})", factor_within(of_first / seconds, 3)));
            Field::from(format!("{} {}{}", row.variant_text(), time_text(seconds), ratio.unwrap_or_default()))
        });
        [Field::from(name), case.family.size_text(case.n).into()].into_iter().chain(times).collect()
    });
    Some(Table::untitled(columns.collect(), rows.collect()))
}

/// The backends with a time that may represent a contender, the first of A before the others.
fn backends(report: &Report) -> Vec<&str> {
    let versus = Versus::of(report);
    let timed = || report.rows.iter().filter(|row| row.is_headline() && row.execute.is_some());
    let of_a = timed().find(|row| versus.has(Contender::A, row));
    distinct(of_a.into_iter().chain(timed()).map(|row| row.backend.as_str()))
}

fn best<'a>(rows: &[&'a Row], backend: &str) -> Option<(&'a Row, f64)> {
    let rows = rows.iter().copied().filter(|row| row.backend == backend && row.is_headline());
    let timed = rows.filter_map(|row| Some((row, cost::estimate(row, Kind::Resident)?.value)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    fn report() -> Report {
        let mut report = example::of(example::both_sides("matmul", 1000, 8e-3, 95e-6));
        report.rows.push(example::measured("matmul", 1000, "cupy", "matmul", 195e-6));
        report.rows.push(example::measured("matmul", 1000, "cupy", "slow", 1.0));
        report
    }

    #[test]
    fn each_backend_has_its_best_resident_time_over_that_of_the_first() {
        let mut report = report();
        let table = by_backend(&report).unwrap().fields_text();
        let expected = "| op | N | cpu | cuda | cupy |\n\
                        | matmul f32, cold | 1000 | faer 8.00 ms | cublas 100 µs (80.0x) | matmul 200 µs (40.0x) |\n";
        assert_eq!(table, expected);
        Versus::choose(&mut report, "cuda:cupy").unwrap();
        let table = by_backend(&report).unwrap().fields_text();
        assert!(
            table.contains("| cublas 100 µs | faer 8.00 ms (0.0125x) | matmul 200 µs (0.500x) |"),
            "{table}"
        );
    }

    #[test]
    fn one_backend_per_side_needs_no_such_table() {
        assert!(by_backend(&example::full()).is_none());
    }
}
