//! The answer sweep by sweep: crossovers, and the speed-ups at the largest size; or case by case. Knows no terminal.

use gpubench_answer::crossover::crossover;
use gpubench_answer::crossover_text::size_text;
use gpubench_answer::{Comparison, Crossover, Kind, Names, Pair, Place, Section, has_both_caches, sections};
use gpubench_model::case::{DType, density_text};
use gpubench_model::measure::grade::Grade;
use gpubench_model::report::quantity::time_within;
use gpubench_model::report::{Report, Row};
use gpubench_ops as op;
use gpubench_text::table::{Column, Field, Table};

use crate::export::tables::{NONE, has_limits, limit_text};

/// The cases of one op, element type, cache state and density, smallest first.
pub(crate) struct Sweep<'a> {
    pub(crate) section: Section<'a>,
    /// What the line about it begins with.
    pub name: String,
}

pub(crate) struct Sweeps<'a> {
    pub(super) report: &'a Report,
    pub(super) all: Vec<Sweep<'a>>,
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
        Sweeps { report, all }
    }

    pub(crate) fn comparisons(&self) -> usize {
        self.all.iter().map(|sweep| compared(sweep).count()).sum()
    }

    /// One line per sweep, at its largest size, crossovers with their `intervals` or without; `None` where no case has both
    /// sides.
    pub(crate) fn grid(&self, intervals: bool) -> Option<Table> {
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend(Kind::ALL.map(|kind| Column::words(kind.name())));
        columns.extend([Column::words("GPU faster from N"), Column::words("incl. copies")]);
        columns.extend(self.limit_columns());
        let row = |sweep: &Sweep<'_>| {
            let largest = compared(sweep).last()?;
            let mut fields = vec![Field::from(sweep.name.as_str()), largest.n.to_string().into()];
            fields.extend(Kind::ALL.map(|kind| speed_up(largest.pair(kind).as_ref())));
            fields.extend([Kind::Resident, Kind::EndToEnd].map(|kind| {
                let found = crossover(&sweep.section.comparisons, kind);
                Field::from(found.map_or(NONE.into(), |found| short(&found, intervals)))
            }));
            fields.extend(self.limit_fields(largest));
            Some(fields)
        };
        titleless(columns, self.all.iter().filter_map(row).collect())
    }

    /// One line a case, with the times; `None` where no case has both sides.
    pub(crate) fn grid_of_cases(&self) -> Option<Table> {
        let names = Names::of(self.report);
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend([Column::words("best CPU"), Column::figures("time")]);
        columns.extend([Column::words("best GPU"), Column::figures("time")]);
        columns.extend(Kind::ALL.map(|kind| Column::words(kind.name())));
        columns.extend(self.limit_columns());
        let mut rows = vec![];
        for sweep in &self.all {
            for case in compared(sweep) {
                let mut fields = vec![Field::from(sweep.name.as_str()), case.n.to_string().into()];
                fields.extend([case.cpu, case.gpu].into_iter().flat_map(|row| timed(row, &names)));
                fields.extend(Kind::ALL.map(|kind| speed_up(case.pair(kind).as_ref())));
                fields.extend(self.limit_fields(case));
                rows.push(fields);
            }
        }
        titleless(columns, rows)
    }

    fn limit_columns(&self) -> Vec<Column> {
        let columns = vec![Column::figures("CPU's %"), Column::figures("GPU's %")];
        if has_limits(self.report) { columns } else { vec![] }
    }

    fn limit_fields(&self, case: &Comparison<'_>) -> Vec<Field> {
        let reached = |row| limit_text(self.report, row).into();
        if has_limits(self.report) { [case.cpu, case.gpu].map(reached).to_vec() } else { vec![] }
    }

    /// The best times of the one side that was measured: one line a case, or where those are more than `most` a line a
    /// sweep, at its largest size; `None` where nothing was.
    pub(crate) fn grid_of_times(&self, most: usize) -> Option<Table> {
        let names = Names::of(self.report);
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend([Column::words("best"), Column::figures("time"), Column::words("grade")]);
        columns.extend(has_limits(self.report).then(|| Column::figures("of limit")));
        let timed_cases = |sweep: &'_ Sweep<'a>| -> Vec<(u64, &'a Row)> {
            let asked = op::compares_sides(sweep.section.op);
            let cases = sweep.section.comparisons.iter().filter(|_| asked);
            cases.filter_map(|case| Some((case.n, case.cpu.or(case.gpu)?))).collect()
        };
        let few = self.all.iter().map(|sweep| timed_cases(sweep).len()).sum::<usize>() <= most;
        let mut rows = vec![];
        for sweep in &self.all {
            let cases = timed_cases(sweep);
            let first = if few { 0 } else { cases.len().saturating_sub(1) };
            for (n, row) in &cases[first..] {
                let mut fields = vec![Field::from(sweep.name.as_str()), n.to_string().into()];
                fields.extend(timed(Some(row), &names));
                let grade = row.execute.as_ref().and_then(|execute| execute.grade);
                fields.push(grade.map_or(NONE.into(), |grade| grade.to_string()).into());
                fields.extend(has_limits(self.report).then(|| limit_text(self.report, Some(row)).into()));
                rows.push(fields);
            }
        }
        titleless(columns, rows)
    }
}

/// The cases that have both sides.
pub(crate) fn compared<'s, 'a>(sweep: &'s Sweep<'a>) -> impl Iterator<Item = &'s Comparison<'a>> {
    sweep.section.comparisons.iter().filter(|case| case.pair(Kind::Kernel).is_some())
}

fn titleless(columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table::untitled(columns, rows))
}

fn timed(row: Option<&Row>, names: &Names) -> [Field; 2] {
    let found = row.and_then(|row| Some((row, row.execute.as_ref()?)));
    let Some((row, execute)) = found else { return [NONE, NONE].map(Field::from) };
    let half_width = (execute.ci95_s[1] - execute.ci95_s[0]) / 2.0;
    [names.name(row).into(), time_within(execute.median_s, Some(half_width)).into()]
}

/// `GPU 34x`, with a question mark where no side is measurably faster or a time is not to be relied on.
fn speed_up(pair: Option<&Pair<'_>>) -> Field {
    let Some(pair) = pair else { return NONE.into() };
    let unreliable = |row: &Row| row.execute.as_ref().is_some_and(|execute| execute.grade == Some(Grade::D));
    let winner = pair.speed_up.winner();
    let doubt = winner.is_some() && (unreliable(pair.cpu) || unreliable(pair.gpu));
    Field {
        text: format!("{}{}", pair.speed_up, if doubt { "?" } else { "" }),
        tone: super::super::tone(winner),
    }
}

/// `312 (290–335)`, `≤100`, `>2048`; with a `+` where the GPU also wins at smaller sizes. Where no crossing can be
/// named, what is known of it: `≤187`, `≥120`, `?`.
fn short(found: &Crossover, with_interval: bool) -> String {
    let size = |size| size_text(size, found.interval);
    let place = match (found.from, found.interval) {
        (Some(Place::Below), _) => format!("≤{}", found.smallest),
        (Some(Place::At(at)), _) => size(at),
        (Some(Place::Beyond), _) => format!(">{}", found.largest),
        (None, [_, Place::At(most)]) => format!("≤{}", size(most)),
        (None, [Place::At(least), _]) => format!("≥{}", size(least)),
        (None, _) => "?".into(),
    };
    let place = place + if found.is_mixed() { "+" } else { "" };
    match (found.from, found.interval) {
        (Some(Place::At(_)), [Place::At(low), Place::At(high)])
            if with_interval && size(low) != size(high) =>
        {
            format!("{place} ({}–{})", size(low), size(high))
        }
        _ => place,
    }
}
