//! Refines crossovers to within 5 %: adds a few cells at sizes near the crossovers that the planned cells showed. The
//! time for this is bounded.

use gpubench_analysis::answer::refinement::{NEAR, next_size};
use gpubench_analysis::answer::{Comparison, Contender, Kind, sections};
use gpubench_backend::{Side, fewer_threads};
use gpubench_ops as op;
use gpubench_report::report::{Report, Row};

use super::rounds::Rounds;
use super::{PlannedCell, RunSpec};

/// Maximum number of further sizes per crossover; each at least halves the interval.
const PASSES: usize = 2;

/// Without a budget: the share of the planned cells' time that refinement may take, and the seconds it may always take.
const TIME_SHARE: f64 = 0.25;
const LEAST_S: f64 = 10.0;

/// A variant runs at a new size if its time at a neighbouring size was at most this multiple of the best of its side.
const RIVAL: f64 = 1.2;

/// Returns the kinds of crossover that are refined: those of the times for which a caller waits, not of kernel times.
fn kinds(op: &str) -> &'static [Kind] {
    match op::copies_itself(op) {
        true => &[Kind::Resident],
        false => &[Kind::Resident, Kind::EndToEnd],
    }
}

/// Returns the maximum number of cells that refinement may add to a plan.
pub fn max_added_cells(planned: &[PlannedCell]) -> usize {
    let takes_part = |planned: &&PlannedCell| {
        let compares = op::compares_sides(&planned.cell.case.op);
        let is_headline = planned.variant.accuracy.is_headline();
        compares && is_headline && fewer_threads(&planned.cell.variant).is_none()
    };
    let mut counted: Vec<&PlannedCell> = vec![];
    for one in planned.iter().filter(takes_part) {
        let is_same = |other: &&PlannedCell| is_at(other, one, other.cell.case.n) && is_variant(other, one);
        let group = || planned.iter().filter(|other| is_at(other, one, other.cell.case.n));
        let has = |side: Side| group().filter(takes_part).any(|other| other.variant.side == side);
        let has_sizes = group().any(|other| other.cell.case.n != one.cell.case.n);
        if has_sizes && has(Side::Cpu) && has(Side::Gpu) && !counted.iter().any(is_same) {
            counted.push(one);
        }
    }
    counted.iter().map(|one| PASSES * kinds(&one.cell.case.op).len()).sum()
}

/// Returns whether `one` is a cell of the sweep of `other`, at the size `n`.
fn is_at(one: &PlannedCell, other: &PlannedCell, n: u64) -> bool {
    let (a, b) = (&one.cell.case, &other.cell.case);
    (&a.op, a.dtype, a.density, one.cell.cache, a.n) == (&b.op, b.dtype, b.density, other.cell.cache, n)
}

fn is_variant(one: &PlannedCell, other: &PlannedCell) -> bool {
    one.cell.backend == other.cell.backend && one.cell.variant == other.cell.variant
}

/// Adds cells near the crossovers and runs them. Returns whether the user ended the run meanwhile.
pub(crate) fn refine(run: &RunSpec, rounds: &mut Rounds<'_>) -> bool {
    let mut cells = run.cells.clone();
    let begin_s = rounds.spent_s();
    let end_s = run.budget_s.unwrap_or(begin_s + LEAST_S.max(TIME_SHARE * begin_s));
    for pass in 0..PASSES {
        let left_s = end_s - rounds.spent_s();
        let added = wanted(rounds.report(), &cells, left_s, |row| rounds.cost_s(row));
        if added.is_empty() {
            break;
        }
        let first = cells.len();
        rounds.extend(added.len(), first + added.len(), PASSES - pass);
        if rounds.run(&added, first) {
            return true;
        }
        cells.extend(added);
    }
    false
}

/// A size that would narrow a crossover.
struct Wanted {
    cells: Vec<PlannedCell>,
    cost_s: f64,
    /// Width of the interval, as the ratio of its ends.
    times: f64,
}

/// Returns the cells that would narrow the crossovers of `report`, widest first, as `left_s` seconds allow.
fn wanted(
    report: &Report,
    cells: &[PlannedCell],
    mut left_s: f64,
    cost_s: impl Fn(&Row) -> f64,
) -> Vec<PlannedCell> {
    let mut wanted: Vec<Wanted> = vec![];
    for section in sections(report) {
        for part in section.comparisons.chunk_by(|a, b| a.density == b.density) {
            let mut sizes: Vec<u64> = vec![];
            for next in kinds(section.op).iter().filter_map(|kind| next_size(part, *kind)) {
                // A size near one already chosen would add little.
                if sizes.iter().all(|n| times(*n, next.n) > NEAR) {
                    sizes.push(next.n);
                    let rows = rivals(part, next.n, kinds(section.op));
                    let of_row = |row: &&Row| Some((cell_at(row, next.n, cells)?, cost_s(row)));
                    let (cells, costs): (Vec<PlannedCell>, Vec<f64>) = rows.iter().filter_map(of_row).unzip();
                    wanted.push(Wanted { cells, cost_s: costs.iter().sum(), times: next.times });
                }
            }
        }
    }
    wanted.sort_by(|a, b| b.times.total_cmp(&a.times));
    let mut added = vec![];
    for one in wanted {
        if one.cost_s <= left_s {
            left_s -= one.cost_s;
            added.extend(one.cells);
        }
    }
    added
}

/// Returns the larger of two sizes over the smaller.
fn times(a: u64, b: u64) -> f64 {
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

fn cell_at(row: &Row, n: u64, cells: &[PlannedCell]) -> Option<PlannedCell> {
    let cell = row.cell();
    let mut added = cells.iter().find(|one| one.cell == cell)?.clone();
    added.cell.case.n = n;
    Some(added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cell_run::tests::planned;
    use gpubench_report::case::{Cache, DType};
    use gpubench_report::report::example;

    fn plan_of(report: &Report) -> Vec<PlannedCell> {
        let plan = |row: &Row| {
            let mut one = planned(row.case.n, &row.variant);
            (one.cell, one.variant.side) = (row.cell(), row.side);
            one
        };
        report.rows.iter().map(plan).collect()
    }

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

    fn names(cells: &[PlannedCell]) -> Vec<(u64, &str)> {
        cells.iter().map(|one| (one.cell.case.n, one.cell.variant.as_str())).collect()
    }

    #[test]
    fn the_variants_that_may_win_are_measured_at_the_size_a_crossover_wants() {
        let report = report();
        let found = wanted(&report, &plan_of(&report), f64::INFINITY, |_| 1.0);
        let n = found[0].cell.case.n;
        assert!((300..1000).contains(&n), "{n}");
        assert_eq!(names(&found[..3]), [(n, "mkl"), (n, "cublas"), (n, "cublaslt")]);
        assert!(found.len() == 3 || found.len() == 6, "resident and end to end may want two sizes");
    }

    #[test]
    fn cells_that_take_too_long_are_left_out() {
        let report = report();
        let all = wanted(&report, &plan_of(&report), f64::INFINITY, |_| 1.0).len();
        assert!(wanted(&report, &plan_of(&report), 2.9, |_| 1.0).is_empty());
        assert_eq!(wanted(&report, &plan_of(&report), all as f64, |_| 1.0).len(), all);
    }

    #[test]
    fn the_most_that_may_be_added_counts_variants_sizes_and_kinds() {
        let mut plan = plan_of(&report());
        assert_eq!(max_added_cells(&plan), 5 * 2 * 2);
        for one in plan.clone() {
            let mut hot = one;
            hot.cell.cache = Cache::Hot;
            plan.push(hot);
        }
        assert_eq!(max_added_cells(&plan), 2 * 5 * 2 * 2);
        plan.retain(|one| one.cell.case.n == 100);
        assert_eq!(max_added_cells(&plan), 0, "one size has no crossover");
        let mut one_side = plan_of(&report());
        one_side.retain(|one| one.variant.side == Side::Cpu);
        assert_eq!(max_added_cells(&one_side), 0);
        assert!(one_side.iter().all(|one| one.cell.case.dtype == DType::F32));
    }
}
