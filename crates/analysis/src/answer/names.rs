//! The names of the rows of a report.

use gpubench_report::Side;
use gpubench_report::report::{Report, Row};

/// Names rows by variant where a side has one backend, otherwise by backend and variant.
pub struct Names {
    several: [bool; 2],
}

impl Names {
    /// The names for the rows of a report.
    pub fn of(report: &Report) -> Names {
        let several = [Side::Cpu, Side::Gpu].map(|side| {
            let mut backends = report.rows.iter().filter(|row| row.side == side).map(|row| &row.backend);
            let first = backends.next();
            backends.any(|backend| Some(backend) != first)
        });
        Names { several }
    }

    /// The name of a row's variant.
    pub fn name(&self, row: &Row) -> String {
        self.of_side(row, row.variant_text())
    }

    /// The name of a row's variant without its choice: `auto` for `auto (cublas)`.
    pub fn variant(&self, row: &Row) -> String {
        self.of_side(row, row.variant.clone())
    }

    /// The name of a row's variant in a column whose heading names the backend, or does not.
    pub fn below(&self, heading: &str, row: &Row) -> String {
        if row.backend == heading { row.variant_text() } else { self.name(row) }
    }

    /// The name of the variant that did the work: `cublas` for `auto (cublas)`.
    pub fn doer(&self, row: &Row) -> String {
        self.of_side(row, row.doer().to_owned())
    }

    fn of_side(&self, row: &Row, variant: String) -> String {
        if self.several[row.side as usize] { format!("{}/{variant}", row.backend) } else { variant }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn names_carry_the_backend_only_where_a_side_has_several() {
        let mut report = example::of([
            example::measured("fft", 10, "cpu", "realfft", 1e-3),
            example::measured("fft", 10, "cuda", "r2c", 1e-3),
            example::measured("fft", 10, "cupy", "fft2", 1e-3),
        ]);
        report.rows[1].picked = Some("c2c".into());
        let names = Names::of(&report);
        let found: Vec<String> = report.rows.iter().map(|row| names.name(row)).collect();
        assert_eq!(found, ["realfft", "cuda/r2c (c2c)", "cupy/fft2"]);
        assert_eq!(names.variant(&report.rows[1]), "cuda/r2c");
    }
}
