//! The tables of the first screen: one row per sweep with its crossovers, or one row per case with its times.

use crate::table::{Column, Field, Layout, Table};
use gpubench_analysis::answer::{Comparison, Contender, Kind, Names, Pair};
use gpubench_ops as op;
use gpubench_report::report::Row;

use super::columns::KindColumns;
use super::crossovers::short;
use super::{Sweep, Sweeps};
use crate::report::{NONE, has_peaks, peak_share_text, time_text};

impl<'a> Sweeps<'a> {
    /// One row per sweep: speed-ups at its largest size, and crossovers with or without their `intervals`; `None` where no
    /// case has both contenders.
    pub fn sweep_table(&self, intervals: bool) -> Option<Table> {
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend(self.sweep_columns());
        columns.extend(self.peak_columns());
        let row = |sweep: &Sweep<'_>| {
            let largest = sweep.compared().last()?;
            let mut fields = vec![Field::from(sweep.name.as_str()), largest.n.to_string().into()];
            for KindColumns { kind, from } in self.shown_kinds() {
                fields.push(speed_up(largest.pair(kind).as_ref()));
                fields.extend(from.map(|_| {
                    let found = sweep.crossover(kind);
                    Field::from(found.map_or(NONE.into(), |found| short(found, intervals)))
                }));
                fields.extend(self.tuned_field(kind, largest));
            }
            fields.extend(self.peak_fields(largest));
            Some(fields)
        };
        titleless(columns, self.all.iter().filter_map(row).collect())
    }

    /// One row per case with its variants and times; `None` where no case has both contenders.
    pub fn case_table(&self) -> Option<Table> {
        let variants = Names::of(self.report);
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend(self.case_columns());
        columns.extend(self.peak_columns());
        let mut rows = vec![];
        for sweep in &self.all {
            for case in sweep.compared() {
                let mut fields = vec![Field::from(sweep.name.as_str()), case.n.to_string().into()];
                let bests = Contender::BOTH.into_iter().zip(case.bests());
                fields.extend(bests.flat_map(|(one, row)| {
                    timed(row, case.kind, |row| variants.below(self.versus.name(one), row))
                }));
                for shown in self.shown_kinds() {
                    fields.push(speed_up(case.pair(shown.kind).as_ref()));
                    fields.extend(self.tuned_field(shown.kind, case));
                }
                fields.extend(self.peak_fields(case));
                rows.push(fields);
            }
        }
        titleless(columns, rows)
    }

    /// The field of gpubench's tuned code after the fields of a kind.
    fn tuned_field(&self, kind: Kind, case: &Comparison<'_>) -> Option<Field> {
        let is_shown = kind == Kind::Resident && self.shows_tuned;
        is_shown.then(|| speed_up(case.tuned_pair(kind).as_ref()))
    }

    fn peak_fields(&self, case: &Comparison<'_>) -> Vec<Field> {
        let reached = |row| peak_share_text(self.report, row).into();
        if has_peaks(self.report) { case.bests().map(reached).to_vec() } else { vec![] }
    }

    /// The best times of the one contender that was measured: one row per case, or one row per sweep at its largest size where
    /// there are more than `max_cases`; `None` without times.
    pub fn times_table(&self, max_cases: usize) -> Option<Table> {
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

fn titleless(columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table::untitled(columns, rows).laid_out(Layout::NarrowHeadings))
}

fn timed(row: Option<&Row>, kind: Kind, name: impl Fn(&Row) -> String) -> [Field; 2] {
    let found = row.and_then(|row| Some((row, row.execute.as_ref()?)));
    let Some((row, execute)) = found else { return [NONE, NONE].map(Field::from) };
    [name(row).into(), time_text(execute, kind).into()]
}

fn speed_up(pair: Option<&Pair<'_>>) -> Field {
    pair.map_or(NONE.into(), crate::report::speed_up)
}
