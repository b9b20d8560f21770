//! Chooses the sizes that narrow crossovers to within 5 %, and the variants that are measured at them.

use crate::answer::refinement::{NEAR, next_size};
use crate::answer::{Comparison, Contender, Kind, sections};
use crate::executor::NextSize;
use crate::op;
use crate::report::{Report, Row};

/// A variant runs at a new size if its time at a neighbouring size was at most this multiple of the best of its side.
const RIVAL: f64 = 1.2;

/// Returns the kinds of crossover that are refined: those of the times for which a caller waits, not of kernel times.
fn kinds(op: &str) -> &'static [Kind] {
    match op::copies_itself(op) {
        true => &[Kind::Resident],
        false => &[Kind::Resident, Kind::EndToEnd],
    }
}

/// Returns the sizes that would narrow the crossovers of `report`, the widest first, with the variants that may be the best
/// there.
pub fn next_sizes(report: &Report) -> Vec<NextSize<'_>> {
    let mut sizes: Vec<(f64, NextSize<'_>)> = vec![];
    for section in sections(report) {
        let kinds = kinds(section.op);
        for part in section.comparisons.chunk_by(|a, b| a.family == b.family) {
            let mut chosen: Vec<u64> = vec![];
            for next in kinds.iter().filter_map(|kind| next_size(part, *kind)) {
                // A size near one already chosen would add little.
                if chosen.iter().all(|n| ratio(*n, next.n) > NEAR) {
                    chosen.push(next.n);
                    sizes.push((next.times, NextSize { n: next.n, rows: rivals(part, next.n, kinds) }));
                }
            }
        }
    }
    sizes.sort_by(|a, b| b.0.total_cmp(&a.0));
    sizes.into_iter().map(|(_, next)| next).collect()
}

/// Returns the larger of two sizes over the smaller.
fn ratio(a: u64, b: u64) -> f64 {
    a.max(b) as f64 / a.min(b) as f64
}

/// Returns the rows of the variants that may be the best of their contender at the size `n`: those near the best at the next
/// smaller or larger size. Each variant is given by its row at the larger size, if it has one.
fn rivals<'a>(part: &[Comparison<'a>], n: u64, kinds: &[Kind]) -> Vec<&'a Row> {
    let compared = || part.iter().filter(|one| kinds.iter().any(|kind| one.pair(*kind).is_some()));
    let larger = compared().find(|one| one.n > n);
    let smaller = compared().rev().find(|one| one.n < n);
    let mut found: Vec<&Row> = vec![];
    for comparison in [larger, smaller].into_iter().flatten() {
        for (contender, kind) in
            Contender::BOTH.into_iter().flat_map(|one| kinds.iter().map(move |k| (one, *k)))
        {
            let times = || comparison.candidates(contender, kind);
            let best = times().map(|(_, time)| time.value).fold(f64::INFINITY, f64::min);
            for (row, _) in times().filter(|(_, time)| time.value <= RIVAL * best) {
                let is_known =
                    |known: &&Row| (&known.backend, &known.variant) == (&row.backend, &row.variant);
                if !found.iter().any(is_known) {
                    found.push(row);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    /// Two variants of the CPU and three of the GPU, one of each far behind; they cross near N = 630.
    fn report() -> Report {
        let mut report = example::empty();
        for n in [100, 1000, 4000] {
            let size = n as f64;
            let cpu_s = 1e-6 + 1e-10 * size.powi(3);
            let gpu_s = 2e-2 + 2e-11 * size.powi(3);
            report.rows.push(example::measured("matmul", n, "cpu", "mkl", cpu_s));
            report.rows.push(example::measured("matmul", n, "cpu", "naive", 20.0 * cpu_s));
            report.rows.push(example::measured("matmul", n, "cuda", "cublas", gpu_s));
            report.rows.push(example::measured("matmul", n, "cuda", "cublaslt", 1.2 * gpu_s));
            report.rows.push(example::measured("matmul", n, "cuda", "slow", 9.0 * gpu_s));
        }
        report
    }

    #[test]
    fn the_variants_that_may_win_are_measured_at_the_size_a_crossover_wants() {
        let report = report();
        let sizes = next_sizes(&report);
        assert!(matches!(sizes.len(), 1 | 2), "resident and end to end may want two sizes");
        for next in sizes {
            assert!((300..1000).contains(&next.n), "{}", next.n);
            let names: Vec<&str> = next.rows.iter().map(|row| row.variant.as_str()).collect();
            assert_eq!(names, ["mkl", "cublas", "cublaslt"]);
        }
    }
}
