//! Groups the rows of a report into comparisons: per case the best correct variant of each contender.
//!
//! A section has one state of the caches, so that comparisons never mix them. Variants of reduced precision are not
//! compared, unless `--versus` names them.

use std::cmp::Ordering;

use gpubench_ops::{self as op, Checked, OPS};
use gpubench_report::Side;
use gpubench_report::case::{Cache, DType, Family};
use gpubench_report::report::{Report, Row};
use gpubench_text::grouped::{distinct, grouped};

use super::cost::{Kind, estimate};
use super::versus::KEY;
use super::winner::of_winner;
use super::{Contender, Estimate, SpeedUp, Versus};

/// The cases of one op in one element type and one state of the caches.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Name of the op.
    pub op: &'a str,
    /// Element type.
    pub dtype: DType,
    /// State of the caches before each execution.
    pub cache: Cache,
    /// The contenders of every comparison.
    pub versus: Versus<'a>,
    /// One entry per size and family, in ascending order of density, then matrix, then size.
    pub comparisons: Vec<Comparison<'a>>,
}

impl<'a> Section<'a> {
    /// Returns whether the cases differ in family, so that it must be shown next to the size.
    pub fn has_families(&self) -> bool {
        self.comparisons.windows(2).any(|pair| pair[0].family != pair[1].family)
    }

    /// The cases of each family, as sections of their own.
    pub fn by_family(&self) -> impl Iterator<Item = Section<'a>> {
        let parts = self.comparisons.chunk_by(|a, b| a.family == b.family);
        parts.map(|part| Section { comparisons: part.to_vec(), ..*self })
    }

    /// The family that all cases share; empty if they differ.
    pub fn common_family(&self) -> Family<'a> {
        let first = self.comparisons.first().filter(|_| !self.has_families());
        first.map(|comparison| comparison.family).unwrap_or_default()
    }
}

/// The best of both contenders for one case.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// Size N of the case.
    pub n: u64,
    /// Family of the operands.
    pub family: Family<'a>,
    /// Every row of the case, in the order of the report.
    pub rows: Vec<&'a Row>,
    /// The contenders.
    pub versus: Versus<'a>,
    /// The kind by which `a` and `b` are the fastest: kernel, or resident where only the host's clock times both.
    pub kind: Kind,
    /// A's fastest correct row.
    pub a: Option<&'a Row>,
    /// B's fastest correct row.
    pub b: Option<&'a Row>,
}

impl<'a> Comparison<'a> {
    /// The fastest of both contenders by that kind; `None` without both, for ops without sides, and for kinds that mean nothing on a CPU.
    pub fn pair(&self, kind: Kind) -> Option<Pair<'a>> {
        op::compares_sides(&self.rows.first()?.case.op).then_some(())?;
        let [(a, a_s), (b, b_s)] = [self.fastest(Contender::A, kind)?, self.fastest(Contender::B, kind)?];
        let speed_up = SpeedUp(a_s.over(b_s)?);
        let pair = Pair { kind, versus: self.versus, a, b, a_s, b_s, speed_up };
        (kind == Kind::Resident || !pair.is_on_cpu()).then_some(pair)
    }

    /// The pair of `a` and `b`.
    pub fn best_pair(&self) -> Option<Pair<'a>> {
        self.pair(self.kind)
    }

    /// The fastest variants of both sides with gpubench's tuned code, where the sides leave that out and it was measured on the GPU.
    pub fn tuned_pair(&self, kind: Kind) -> Option<Pair<'a>> {
        (self.versus == Versus::SIDES).then_some(())?;
        let is_left_out =
            |row: &&Row| Versus::TUNED.has(Contender::B, row) && !Versus::SIDES.has(Contender::B, row);
        let has_times = |row: &&Row| row.execute.is_some() && is_left_out(row);
        self.rows.iter().any(has_times).then_some(())?;
        Comparison { versus: Versus::TUNED, ..self.clone() }.pair(kind)
    }

    /// The rows that may represent a contender, measured and hence correct, each with its time.
    pub fn candidates(&self, contender: Contender, kind: Kind) -> impl Iterator<Item = (&'a Row, Estimate)> {
        let rows = self.rows.iter().copied().filter(move |row| self.versus.has(contender, row));
        rows.filter_map(move |row| Some((row, estimate(row, kind)?)))
    }

    /// The fastest row of a contender, and its time with an interval that allows for the choice. Screened rows are no candidates.
    pub fn fastest(&self, contender: Contender, kind: Kind) -> Option<(&'a Row, Estimate)> {
        let mut found: Vec<(&Row, Estimate)> = self.candidates(contender, kind).collect();
        if found.iter().any(|(row, _)| !row.screened) {
            found.retain(|(row, _)| !row.screened);
        }
        found.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
        let &(row, time) = found.first()?;
        let second = found.get(1).map_or(f64::INFINITY, |(_, second)| second.value);
        Some((row, of_winner(time, second, found.len())))
    }

    /// The rows, the fastest first; those without a time keep the order of the report, after the others.
    pub fn fastest_first(&self) -> Vec<&'a Row> {
        let time = |row: &Row| row.median_s().unwrap_or(f64::INFINITY);
        let mut rows = self.rows.clone();
        rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        rows
    }

    fn with_bests(self) -> Comparison<'a> {
        let is_by_host = self.pair(Kind::Kernel).is_none() && self.pair(Kind::Resident).is_some();
        let kind = if is_by_host { Kind::Resident } else { Kind::Kernel };
        let fastest = |contender, kind| Some(self.fastest(contender, kind)?.0);
        // Without a rival, a GPU that only the host's clock timed is shown all the same.
        let best = |contender| fastest(contender, kind).or_else(|| fastest(contender, Kind::Resident));
        let [a, b] = Contender::BOTH.map(best);
        Comparison { kind, a, b, ..self }
    }

    /// The best rows of A and B, where there are any.
    pub fn bests(&self) -> [Option<&'a Row>; 2] {
        [self.a, self.b]
    }

    /// The larger of the two contenders' errors, relative to their bounds.
    pub fn error(&self) -> Option<Checked> {
        let errors = self.bests().into_iter().flatten().filter_map(|row| row.error);
        errors.reduce(Checked::worse)
    }
}

/// The fastest correct row of each contender for one kind of speed-up.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The phases that the times include.
    pub kind: Kind,
    /// The contenders.
    pub versus: Versus<'a>,
    /// A's row.
    pub a: &'a Row,
    /// B's row.
    pub b: &'a Row,
    /// Seconds of a call of A; the interval allows for having chosen the fastest.
    pub a_s: Estimate,
    /// Seconds of a call of B, likewise.
    pub b_s: Estimate,
    /// The first over the second.
    pub speed_up: SpeedUp,
}

impl Pair<'_> {
    /// Returns `GPU 34x`; with `?` where the interval includes 1, and with `!` where a time is not reliable.
    pub fn speed_up_text(&self) -> String {
        format!("{}{}", self.speed_up.text(self.versus), if self.is_unreliable() { "!" } else { "" })
    }

    /// Returns whether one of the times has grade D, or is a device time that its clock limits.
    pub fn is_unreliable(&self) -> bool {
        let is_marked = |row: &Row| {
            row.execute.as_ref().is_some_and(|execute| {
                execute.is_unreliable() || (self.kind == Kind::Kernel && execute.is_clock_limited())
            })
        };
        is_marked(self.a) || is_marked(self.b)
    }

    /// Returns whether both variants run on the CPU, so that no data is on a device.
    pub fn is_on_cpu(&self) -> bool {
        self.a.side == Side::Cpu && self.b.side == Side::Cpu
    }
}

/// The sections with the report's own contenders, in the order of [`OPS`], [`DType::ALL`] and [`Cache::ALL`].
pub fn sections(report: &Report) -> Vec<Section<'_>> {
    sections_of(report, Versus::of(report))
}

/// The sections of a report with these contenders, in the order of [`sections`].
pub fn sections_of<'a>(report: &'a Report, versus: Versus<'a>) -> Vec<Section<'a>> {
    let of_rows = report.rows.iter().map(|row| row.case.op.as_str());
    let ops = distinct(OPS.iter().map(|op| op.name()).chain(of_rows));
    let keyed = report.rows.iter().map(|row| ((row.case.op.as_str(), row.case.dtype, row.cache), row));
    let mut groups = grouped(keyed);
    let place = |op| ops.iter().position(|known| *known == op);
    groups.sort_by_key(|((op, dtype, cache), _)| (place(*op), *dtype, *cache));
    let section = |((op, dtype, cache), rows)| Section {
        op,
        dtype,
        cache,
        versus,
        comparisons: comparisons(rows, versus),
    };
    groups.into_iter().map(section).collect()
}

impl Versus<'_> {
    /// Makes `text` the contenders of a report.
    ///
    /// # Errors
    /// A name is unknown, or no case has a correct time of both; in one line that says what to do. The report is then
    /// as it was.
    pub fn choose(report: &mut Report, text: &str) -> Result<(), String> {
        let versus = Versus::parse(text)?;
        if versus == Versus::SIDES {
            Versus::clear(report);
            return Ok(());
        }
        versus.check(report.rows.iter().map(|row| (row.backend.as_str(), row.variant.as_str())))?;
        let sections = sections_of(report, versus);
        let mut cases = sections.iter().flat_map(|section| &section.comparisons);
        if !cases.any(|case| Kind::ALL.into_iter().any(|kind| case.pair(kind).is_some())) {
            let [a, b] = Contender::BOTH.map(|one| versus.name(one));
            return Err(format!(
                "no case has a correct time of both {a} and {b}: 'gpubench show --tables --all-variants' lists every row"
            ));
        }
        if !report.environment.settings.is_object() {
            report.environment.settings = serde_json::json!({});
        }
        report.environment.settings[KEY] = text.into();
        Ok(())
    }

    /// Makes the CPU's side and the GPU's the contenders of a report.
    pub fn clear(report: &mut Report) {
        if let Some(settings) = report.environment.settings.as_object_mut() {
            settings.remove(KEY);
        }
    }
}

/// Returns whether rows of both cache states occur, so that the state must be shown with each.
pub fn has_both_caches(report: &Report) -> bool {
    Cache::ALL.iter().all(|cache| report.rows.iter().any(|row| row.cache == *cache))
}

fn comparisons<'a>(rows: Vec<&'a Row>, versus: Versus<'a>) -> Vec<Comparison<'a>> {
    let by_case = grouped(rows.into_iter().map(|row| ((row.case.n, row.case.family()), row)));
    let of_case = |((n, family), rows)| {
        Comparison { n, family, rows, versus, kind: Kind::Kernel, a: None, b: None }.with_bests()
    };
    let mut found: Vec<Comparison<'a>> = by_case.into_iter().map(of_case).collect();
    let key = |comparison: &Comparison<'a>| (comparison.family, comparison.n);
    found.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::Accuracy;
    use gpubench_report::report::{Outcome, example};

    #[test]
    fn a_variant_with_fewer_threads_never_represents_the_cpu() {
        let report = example::of([
            example::measured("fft", 10, "cpu", "realfft", 4e-3),
            example::measured("fft", 10, "cpu", "realfft@1", 1e-3),
            example::measured("fft", 10, "cuda", "r2c", 1e-3),
        ]);
        let sections = sections(&report);
        let comparison = &sections[0].comparisons[0];
        assert_eq!(comparison.a.unwrap().variant, "realfft");
        assert_eq!(comparison.pair(Kind::Kernel).map(|pair| pair.speed_up.0.value), Some(4.0));
        assert_eq!(comparison.rows.len(), 3, "the row is there all the same");
    }

    #[test]
    fn a_comparison_never_mixes_states_of_the_caches() {
        let mut report = example::of(example::both_sides("fft", 10, 4e-3, 1e-3));
        report.rows.push(example::measured("fft", 10, "cpu", "faer", 2e-3));
        assert!(!has_both_caches(&report));
        report.rows[2].cache = Cache::Hot;
        assert!(has_both_caches(&report));
        let ratio = |section: &Section<'_>| Some(section.comparisons[0].pair(Kind::Kernel)?.speed_up.0.value);
        let found: Vec<(Cache, Option<f64>)> =
            sections(&report).iter().map(|section| (section.cache, ratio(section))).collect();
        assert_eq!(found, [(Cache::Cold, Some(4.0)), (Cache::Hot, None)]);
    }

    #[test]
    fn the_headline_takes_the_fastest_correct_variant_in_full_precision() {
        let mut report = example::of([
            example::measured("matmul", 1000, "cpu", "mkl", 0.72e-3),
            example::measured("matmul", 1000, "cpu", "openblas", 1.16e-3),
            example::measured("matmul", 1000, "cuda", "cublas", 58.1e-6),
            example::measured("matmul", 1000, "cuda", "cublas-tf32", 23.5e-6),
            example::without_time("matmul", 1000, "cuda", "tiled", Outcome::Incorrect, "wrong", None),
        ]);
        report.rows[3].accuracy = Accuracy::Tf32;
        let sections = sections(&report);
        let comparison = &sections[0].comparisons[0];
        let best = comparison.bests().map(|row| row.unwrap().variant.as_str());
        assert_eq!(best, ["mkl", "cublas"]);
        assert_eq!(comparison.pair(Kind::Kernel).unwrap().speed_up_text(), "GPU 12.4x");
    }

    #[test]
    fn a_screened_variant_is_the_best_only_where_no_other_has_a_time() {
        let mut report = example::of([
            example::measured("matmul", 300, "cpu", "faer", 0.71e-3),
            example::measured("matmul", 300, "cpu", "blis", 0.72e-3),
        ]);
        report.rows[0].screened = true;
        let best = |report: &Report| sections(report)[0].comparisons[0].a.unwrap().variant.clone();
        assert_eq!(best(&report), "blis", "though the brief samples of the other were faster");
        report.rows.pop();
        assert_eq!(best(&report), "faer");
    }

    #[test]
    fn tuned_code_has_a_pair_of_its_own_and_represents_no_side() {
        let mut report = example::of([
            example::measured("svd", 100, "cpu", "mkl", 4e-3),
            example::measured("svd", 100, "cuda", "gesvdj", 5e-3),
            example::measured("svd", 100, "cuda", "auto", 1e-3),
        ]);
        report.rows[2].picked = Some("gram".into());
        let ratio = |pair: Option<Pair<'_>>| pair.map(|pair| pair.speed_up.0.value);
        let of = |versus| sections_of(&report, versus)[0].comparisons[0].clone();
        let sides = of(Versus::SIDES);
        assert_eq!(ratio(sides.pair(Kind::Kernel)), Some(0.8));
        assert_eq!(ratio(sides.tuned_pair(Kind::Kernel)), Some(4.0));
        assert_eq!(sides.a.unwrap().variant, "mkl");
        let tuned = of(Versus::TUNED);
        assert_eq!(
            (ratio(tuned.pair(Kind::Kernel)), ratio(tuned.tuned_pair(Kind::Kernel))),
            (Some(4.0), None)
        );
        report.rows[2].picked = Some("gesvdp".into());
        let picked = sections(&report)[0].comparisons[0].b.unwrap().variant.clone();
        assert_eq!(picked, "auto", "what it picked is a library");
    }

    #[test]
    fn sections_follow_the_order_of_the_ops_and_unknown_ops_come_last() {
        let names = ["stencil", "svd", "matmul"];
        let report = example::of(names.map(|op| example::measured(op, 10, "cpu", "v", 1e-3)));
        let found: Vec<&str> = sections(&report).iter().map(|section| section.op).collect();
        assert_eq!(found, ["matmul", "svd", "stencil"]);
    }
}
