//! The tables of the first screen: one row per sweep with its crossovers, or one row per case with its times.

use gpubench_answer::crossover::crossover;
use gpubench_answer::crossover_text::size_text;
use gpubench_answer::{
    Comparison, Crossover, Kind, Kinds, Names, Pair, Place, Section, has_both_caches, sections,
};
use gpubench_model::case::{DType, density_text};
use gpubench_model::report::{Report, Row};
use gpubench_ops as op;
use gpubench_text::table::{Column, Field, Layout, Table};

use crate::export::tables::{NONE, PEAK_SHARE, has_peaks, peak_share_text};

/// The cases of one op, element type, cache state and density, smallest first.
pub(crate) struct Sweep<'a> {
    pub(crate) section: Section<'a>,
    /// Op, and element type, cache state and density where these differ in the report.
    pub name: String,
}

/// Heading above the columns of crossovers.
pub(super) const CROSSOVERS: &str = "GPU faster from N";

/// The kinds of speed-up that the tables show, where the report has them.
pub(super) const SPEED_UP_KINDS: &[Kind] = &[Kind::Kernel, Kind::Resident, Kind::EndToEnd];

/// The kinds of speed-up whose crossovers the table of sweeps shows.
pub(super) const CROSSOVER_KINDS: &[Kind] = &[Kind::Resident, Kind::EndToEnd];

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

    /// Those of `kinds` that the report has.
    pub(super) fn shown(&self, kinds: &'static [Kind]) -> impl Iterator<Item = Kind> {
        let occurs = |kind: &Kind| self.kinds.all().contains(kind);
        kinds.iter().copied().filter(occurs)
    }

    pub(crate) fn comparisons(&self) -> usize {
        self.all.iter().map(|sweep| compared(sweep).count()).sum()
    }

    /// One row per sweep: speed-ups at its largest size, and crossovers with or without their `intervals`; `None` where no
    /// case has both sides.
    pub(crate) fn sweep_table(&self, intervals: bool) -> Option<Table> {
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend(self.speed_up_columns());
        let crossover_column = |kind| Column::words(self.kinds.name(kind)).in_group(CROSSOVERS);
        columns.extend(self.shown(CROSSOVER_KINDS).map(crossover_column));
        columns.extend(self.peak_columns());
        let row = |sweep: &Sweep<'_>| {
            let largest = compared(sweep).last()?;
            let mut fields = vec![Field::from(sweep.name.as_str()), largest.n.to_string().into()];
            fields.extend(self.shown(SPEED_UP_KINDS).map(|kind| speed_up(largest.pair(kind).as_ref())));
            fields.extend(self.shown(CROSSOVER_KINDS).map(|kind| {
                let found = crossover(&sweep.section.comparisons, kind);
                Field::from(found.map_or(NONE.into(), |found| short(&found, intervals)))
            }));
            fields.extend(self.peak_fields(largest));
            Some(fields)
        };
        titleless(columns, self.all.iter().filter_map(row).collect())
    }

    /// One row per case with its times, and with the names of the variants where `names` is set; `None` where no case has
    /// both sides.
    pub(crate) fn case_table(&self, names: bool) -> Option<Table> {
        let variants = Names::of(self.report);
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        for (best, time) in [("best CPU", "CPU time"), ("best GPU", "GPU time")] {
            columns.extend(names.then(|| Column::words(best)));
            columns.push(Column::figures(time));
        }
        columns.extend(self.speed_up_columns());
        columns.extend(self.peak_columns());
        let mut rows = vec![];
        for sweep in &self.all {
            for case in compared(sweep) {
                let mut fields = vec![Field::from(sweep.name.as_str()), case.n.to_string().into()];
                for row in [case.cpu, case.gpu] {
                    let [variant, time] = timed(row, &variants);
                    fields.extend(names.then_some(variant));
                    fields.push(time);
                }
                fields.extend(self.shown(SPEED_UP_KINDS).map(|kind| speed_up(case.pair(kind).as_ref())));
                fields.extend(self.peak_fields(case));
                rows.push(fields);
            }
        }
        titleless(columns, rows)
    }

    /// One column per kind of speed-up.
    fn speed_up_columns(&self) -> impl Iterator<Item = Column> {
        self.shown(SPEED_UP_KINDS).map(|kind| Column::words(self.kinds.name(kind)).in_group("faster side"))
    }

    fn peak_columns(&self) -> Vec<Column> {
        let columns = ["CPU", "GPU"].map(|side| Column::figures(side).in_group(PEAK_SHARE)).to_vec();
        if has_peaks(self.report) { columns } else { vec![] }
    }

    fn peak_fields(&self, case: &Comparison<'_>) -> Vec<Field> {
        let reached = |row| peak_share_text(self.report, row).into();
        if has_peaks(self.report) { [case.cpu, case.gpu].map(reached).to_vec() } else { vec![] }
    }

    /// The best times of the one side that was measured: one row per case, or one row per sweep at its largest size where
    /// there are more than `max_cases`; `None` without times.
    pub(crate) fn times_table(&self, max_cases: usize) -> Option<Table> {
        let names = Names::of(self.report);
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        columns.extend([Column::words("best"), Column::figures("time"), Column::words("grade")]);
        columns.extend(has_peaks(self.report).then(|| Column::figures(PEAK_SHARE)));
        let timed_cases = |sweep: &'_ Sweep<'a>| -> Vec<(u64, &'a Row)> {
            let asked = op::compares_sides(sweep.section.op);
            let cases = sweep.section.comparisons.iter().filter(|_| asked);
            cases.filter_map(|case| Some((case.n, case.cpu.or(case.gpu)?))).collect()
        };
        let few = self.all.iter().map(|sweep| timed_cases(sweep).len()).sum::<usize>() <= max_cases;
        let mut rows = vec![];
        for sweep in &self.all {
            let cases = timed_cases(sweep);
            let first = if few { 0 } else { cases.len().saturating_sub(1) };
            for (n, row) in &cases[first..] {
                let mut fields = vec![Field::from(sweep.name.as_str()), n.to_string().into()];
                fields.extend(timed(Some(row), &names));
                let grade = row.execute.as_ref().and_then(|execute| execute.grade);
                fields.push(grade.map_or(NONE.into(), |grade| grade.to_string()).into());
                fields.extend(has_peaks(self.report).then(|| peak_share_text(self.report, Some(row)).into()));
                rows.push(fields);
            }
        }
        titleless(columns, rows)
    }
}

/// The cases of a sweep that have both sides.
pub(crate) fn compared<'s, 'a>(sweep: &'s Sweep<'a>) -> impl Iterator<Item = &'s Comparison<'a>> {
    sweep.section.comparisons.iter().filter(|case| case.pair(Kind::Kernel).is_some())
}

fn titleless(columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table::untitled(columns, rows).laid_out(Layout::NarrowHeadings))
}

fn timed(row: Option<&Row>, names: &Names) -> [Field; 2] {
    let found = row.and_then(|row| Some((row, row.execute.as_ref()?)));
    let Some((row, execute)) = found else { return [NONE, NONE].map(Field::from) };
    [names.name(row).into(), execute.median_text().into()]
}

fn speed_up(pair: Option<&Pair<'_>>) -> Field {
    pair.map_or(NONE.into(), super::super::speed_up)
}

/// What the table of sweeps says about a crossover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shown {
    /// The GPU is faster at every size.
    All,
    /// The GPU is faster at no size.
    None,
    /// The GPU is faster at some sizes, but not at the largest.
    Some,
    /// The GPU is faster from this size upward, to the largest.
    From(f64),
    /// The crossover is in this range, which has no upper end where it may be above the largest size.
    Within(f64, Option<f64>),
    /// The measurements do not say.
    Unknown,
}

impl Shown {
    pub(super) fn of(found: &Crossover) -> Shown {
        match (found.from, found.interval) {
            (Some(Place::Below), _) => Shown::All,
            (Some(Place::Beyond), _) if found.is_mixed() => Shown::Some,
            (Some(Place::Beyond), _) => Shown::None,
            (Some(Place::At(size)), _) => Shown::From(size),
            (None, [_, Place::At(max)]) => Shown::Within(found.smallest as f64, Some(max)),
            (None, [Place::At(min), _]) => Shown::Within(min, None),
            (None, _) => Shown::Unknown,
        }
    }

    /// Returns whether a `+` says that the GPU is also faster at some smaller sizes.
    pub(super) fn has_plus(self, found: &Crossover) -> bool {
        found.is_mixed() && !matches!(self, Shown::All | Shown::None | Shown::Some)
    }
}

/// `312 (290–335)`, `all`, `none`, `some`, the range that contains an unknown crossover (`100–187`, or `1330–?` if it may be
/// above the largest size), or `?`.
fn short(found: &Crossover, with_interval: bool) -> String {
    let size = |size| size_text(size, found.interval);
    let shown = Shown::of(found);
    let place = match shown {
        Shown::All => "all".into(),
        Shown::None => "none".into(),
        Shown::Some => "some".into(),
        Shown::From(at) => size(at),
        Shown::Within(min, Some(max)) => format!("{min}–{}", size(max)),
        Shown::Within(min, None) => format!("{}–?", size(min)),
        Shown::Unknown => "?".into(),
    };
    let place = place + if shown.has_plus(found) { "+" } else { "" };
    match (shown, found.interval) {
        (Shown::From(_), [Place::At(low), Place::At(high)]) if with_interval && size(low) != size(high) => {
            format!("{place} ({}–{})", size(low), size(high))
        }
        _ => place,
    }
}
