//! The tables of the first screen: one row per sweep with its crossovers, or one row per case with its times.

use gpubench_answer::crossover::crossover;
use gpubench_answer::{
    Comparison, Contender, Kind, Kinds, Names, Pair, Section, Versus, has_both_caches, sections,
};
use gpubench_model::case::{DType, density_text};
use gpubench_model::report::{Report, Row};
use gpubench_ops as op;
use gpubench_text::table::{Column, Field, Layout, Table};

use super::columns::KindColumns;
use super::crossovers::short;
use crate::export::tables::{NONE, has_peaks, peak_share_text, time_text};

/// The cases of one op, element type, cache state and density, smallest first.
pub(crate) struct Sweep<'a> {
    pub(crate) section: Section<'a>,
    /// Op, and element type, cache state and density where these differ in the report.
    pub name: String,
}

pub(crate) struct Sweeps<'a> {
    pub(super) report: &'a Report,
    pub(super) all: Vec<Sweep<'a>>,
    pub(super) kinds: Kinds,
}

impl<'a> Sweeps<'a> {
    /// The sweeps of `report`, in its order.
    pub(crate) fn of(report: &'a Report) -> Sweeps<'a> {
        let occurs = |dtype: &&DType| report.rows.iter().any(|row| row.case.dtype == **dtype);
        let several_dtypes = DType::ALL.iter().filter(occurs).count() > 1;
        let both_caches = has_both_caches(report);
        let mut all = vec![];
        for section in sections(report) {
            for cases in section.by_density() {
                let dtype = several_dtypes.then(|| section.dtype.to_string());
                let cache = both_caches.then(|| section.cache.to_string());
                let density = cases.common_density().filter(|_| section.has_densities()).map(density_text);
                let parts = [Some(section.op.to_owned()), dtype, cache, density];
                let name = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
                all.push(Sweep { section: cases, name });
            }
        }
        Sweeps { report, all, kinds: Kinds::of(&report.rows) }
    }

    /// The contenders.
    pub(crate) fn versus(&self) -> Versus<'a> {
        Versus::of(self.report)
    }

    pub(crate) fn comparisons(&self) -> usize {
        self.all.iter().map(|sweep| compared(sweep).count()).sum()
    }

    /// One row per sweep: speed-ups at its largest size, and crossovers with or without their `intervals`; `None` where no
    /// case has both contenders.
    pub(crate) fn sweep_table(&self, intervals: bool) -> Option<Table> {
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend(self.sweep_columns());
        columns.extend(self.peak_columns());
        let row = |sweep: &Sweep<'_>| {
            let largest = compared(sweep).last()?;
            let mut fields = vec![Field::from(sweep.name.as_str()), largest.n.to_string().into()];
            for KindColumns { kind, from } in self.shown_kinds() {
                fields.push(speed_up(largest.pair(kind).as_ref()));
                fields.extend(from.map(|_| {
                    let found = crossover(&sweep.section.comparisons, kind);
                    Field::from(found.map_or(NONE.into(), |found| short(&found, intervals)))
                }));
            }
            fields.extend(self.peak_fields(largest));
            Some(fields)
        };
        titleless(columns, self.all.iter().filter_map(row).collect())
    }

    /// One row per case with its variants and times; `None` where no case has both contenders.
    pub(crate) fn case_table(&self) -> Option<Table> {
        let variants = Names::of(self.report);
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend(self.case_columns());
        columns.extend(self.peak_columns());
        let mut rows = vec![];
        for sweep in &self.all {
            for case in compared(sweep) {
                let mut fields = vec![Field::from(sweep.name.as_str()), case.n.to_string().into()];
                let bests = Contender::BOTH.into_iter().zip(case.bests());
                fields.extend(bests.flat_map(|(one, row)| {
                    timed(row, case.kind, |row| variants.below(self.versus().name(one), row))
                }));
                fields.extend(
                    self.shown_kinds().into_iter().map(|shown| speed_up(case.pair(shown.kind).as_ref())),
                );
                fields.extend(self.peak_fields(case));
                rows.push(fields);
            }
        }
        titleless(columns, rows)
    }

    fn peak_fields(&self, case: &Comparison<'_>) -> Vec<Field> {
        let reached = |row| peak_share_text(self.report, row).into();
        if has_peaks(self.report) { case.bests().map(reached).to_vec() } else { vec![] }
    }

    /// The best times of the one contender that was measured: one row per case, or one row per sweep at its largest size where
    /// there are more than `max_cases`; `None` without times.
    pub(crate) fn times_table(&self, max_cases: usize) -> Option<Table> {
        let names = Names::of(self.report);
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend([Column::words("best"), Column::figures("time"), Column::words("grade")]);
        columns.extend(self.peak_column());
        let timed_cases = |sweep: &'_ Sweep<'a>| -> Vec<(u64, &'a Row)> {
            let asked = op::compares_sides(sweep.section.op);
            let cases = sweep.section.comparisons.iter().filter(|_| asked);
            cases.filter_map(|case| Some((case.n, case.a.or(case.b)?))).collect()
        };
        let few = self.all.iter().map(|sweep| timed_cases(sweep).len()).sum::<usize>() <= max_cases;
        let mut rows = vec![];
        for sweep in &self.all {
            let cases = timed_cases(sweep);
            let first = if few { 0 } else { cases.len().saturating_sub(1) };
            for (n, row) in &cases[first..] {
                let mut fields = vec![Field::from(sweep.name.as_str()), n.to_string().into()];
                fields.extend(timed(Some(row), Kind::Kernel, |row| names.name(row)));
                let grade = row.execute.as_ref().and_then(|execute| execute.grade);
                fields.push(grade.map_or(NONE.into(), |grade| grade.to_string()).into());
                fields.extend(has_peaks(self.report).then(|| peak_share_text(self.report, Some(row)).into()));
                rows.push(fields);
            }
        }
        titleless(columns, rows)
    }
}

/// The cases of a sweep that have both contenders.
pub(crate) fn compared<'s, 'a>(sweep: &'s Sweep<'a>) -> impl Iterator<Item = &'s Comparison<'a>> {
    sweep.section.comparisons.iter().filter(|case| case.pair(Kind::Resident).is_some())
}

fn titleless(columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table::untitled(columns, rows).laid_out(Layout::NarrowHeadings))
}

fn timed(row: Option<&Row>, kind: Kind, name: impl Fn(&Row) -> String) -> [Field; 2] {
    let found = row.and_then(|row| Some((row, row.execute.as_ref()?)));
    let Some((row, execute)) = found else { return [NONE, NONE].map(Field::from) };
    [name(row).into(), time_text(execute, kind).into()]
}

fn speed_up(pair: Option<&Pair<'_>>) -> Field {
    pair.map_or(NONE.into(), super::super::speed_up)
}
