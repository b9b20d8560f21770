//! The first screen: what a reader wants to know first, in few lines, with the command that shows the rest.

use std::path::Path;

use gpubench_analysis::answer::first_use::{Repayment, copies_to_repay};
use gpubench_analysis::answer::libraries::MissingLibrary;
use gpubench_analysis::answer::{Comparison, Contender, Estimate, Kind, Names, SpeedUp, cost, libraries};
use gpubench_ops as op;
use gpubench_report::report::{Execute, Outcome, Report, Row};
use gpubench_report::{HostMemory, Side, fewer_threads};
use gpubench_text::count::counted;
use gpubench_text::escape::shell_word;
use gpubench_text::grouped::{distinct, grouped};
use gpubench_text::words::capitalised;

use super::cautions::shown;
use super::problems::{first_lines, summary};
use super::sweeps::{Sweep, Sweeps, notes};
use super::{NONE, crossover_text, speed_up, time_text};
use crate::blocks::{Block, RichText};
use crate::table::{Column, Field, Layout, Table};

/// A report of at most this many cases has one row per case; of more, one row per sweep at its largest size.
const MAX_CASES: usize = 8;

/// Rows of the table; the others are counted.
const MAX_ROWS: usize = 16;

/// Reports of at most this many rows have their times in a note.
const MAX_TIMED_ROWS: usize = 3;

/// Heading above the columns of calls that copy their operands and their answer.
const COPIED: &str = "copied each call";

/// Ranks of columns: where lines would be too long, those of the highest are left out first.
const CROSSOVER: u8 = 1;
const REPAYMENT: u8 = 2;
const TUNED: u8 = 3;

/// The first screen of a report.
pub struct FirstScreen {
    /// What a reader must know before any figure: incorrect answers, a run that ended early.
    pub alerts: Vec<String>,
    /// The machines, the conditions and the question, each a paragraph.
    pub title: Vec<String>,
    /// The answer.
    pub table: Option<Table>,
    /// The marks that occur, missing libraries, warnings; the last says where the rest is. Each is a paragraph.
    pub notes: Vec<String>,
}

/// Returns the first screen of a run in `folder`, with every row if `is_whole`. `gpubench show` needs `shown`, unless the report is the
/// newest run.
pub fn first_screen(
    report: &Report,
    folder: Option<&Path>,
    shown: Option<&Path>,
    is_whole: bool,
) -> FirstScreen {
    let sweeps = Sweeps::of(report);
    let shows_sides = sweeps.comparisons() > 0;
    let every_case = sweeps.rows_of(true).len() <= MAX_CASES;
    let missing = libraries::missing(report);
    let mut table = sweeps.table(every_case);
    let hidden = table.as_mut().filter(|_| !is_whole).map_or(0, |table| {
        let hidden = table.rows.len().saturating_sub(MAX_ROWS);
        table.rows.truncate(MAX_ROWS);
        hidden
    });
    let question = shows_sides.then(|| match every_case {
        true => "The faster side, and how many times faster it is:".to_owned(),
        false => "The faster side at the largest N measured, and how many times faster it is:".to_owned(),
    });
    let mut notes = vec![];
    notes.extend((hidden > 0).then(|| format!("and {hidden} more rows (--tables)")));
    notes.extend(table.as_ref().and_then(|table| marks(report, table)));
    notes.extend(if every_case { sweeps.times() } else { None });
    notes.extend(sweeps.costs());
    notes.extend(libraries_note(&sweeps, &missing));
    let problems = summary(report).filter(|_| has_other_problems(report, &missing));
    notes.extend(problems.map(|summary| format!("{summary}.")));
    notes.extend(notes::first_run_warning(report));
    notes.push(match (folder, shown) {
        (_, Some(path)) => format!("More: gpubench show {} --tables (or --legend)", shell_word(path)),
        (Some(folder), None) => {
            format!("Results: {}. More: gpubench show --tables (or --legend)", folder.display())
        }
        (None, None) => "Words: gpubench show --legend".into(),
    });
    FirstScreen {
        alerts: first_lines(report, "--tables", folder),
        title: [notes::title(report)].into_iter().chain(question).collect(),
        table,
        notes,
    }
}

/// Returns the meaning of the columns and marks of the first screen.
pub fn legend() -> Block {
    let facts = [
        ("GPU 12x", "the GPU takes a twelfth of the CPU's time; CPU 2x: the CPU takes half of the GPU's"),
        ("?", "either side may be faster: the 95 % interval of the ratio includes 1"),
        ("!", "not reliable: a time in it has grade D; --tables says why"),
        (
            "copied each call",
            "each call copies its operands to the GPU and its answer back; pageable: from ordinary memory; pinned: from \
             page-locked memory",
        ),
        (
            "data stays on the GPU",
            "operands and answer stay on the GPU; the time includes launching the work and waiting for it",
        ),
        (
            "library or plain",
            "each side's fastest library, or plain loop or kernel: what your program can call or write in a few lines",
        ),
        (
            "wins from N",
            "the GPU is faster from this N upward, interpolated between measured sizes, with copies from ordinary memory, or with \
             the data on the GPU; ≤ 100: at every N measured, the smallest being 100; none: at no N measured; some: at \
             smaller N only; 100–168: somewhere in it; 787–?: at or above 787, or never; +: also at some smaller N",
        ),
        (
            "own code",
            "the same with gpubench's own code allowed on both sides; it shows what is possible, and you cannot call it",
        ),
        (
            "calls repay copies",
            "the number of calls that repay copying the data to the GPU and the answer back once, in ordinary memory",
        ),
        (
            "next, slowest takes",
            "other libraries and plain loops of one side; 2x: twice the time of the fastest",
        ),
        (
            "op, N",
            "operands are N x N, or of the shape shown; elementwise: a b + sin a + cos b; solve: A x = b, A symmetric positive definite; fft: of two \
             dimensions; gpubench list describes each op, --tables has every N",
        ),
        ("cold caches", "operands are flushed from the caches before each sample; hot: they stay there"),
        ("fastest times", "the best right answer of each side at each N, as the median of its samples"),
        ("grades", "A: precise and undisturbed; B: comparable; C: an estimate; D: not reliable"),
    ];
    Block::Facts(facts.into_iter().map(|(name, text)| (name.to_owned(), RichText::from(text))).collect())
}

/// The meaning of the marks in a table; `None` without marks.
fn marks(report: &Report, table: &Table) -> Option<String> {
    let occurs = |mark: &str| table.rows.iter().flatten().any(|field| field.text.contains(mark));
    let tie = occurs("x?").then(|| "?: either may win.".to_owned());
    let unreliable = occurs("!").then(|| {
        let times = shown(report, false);
        match times.iter().filter(|row| is_unreliable(row)).count() {
            0 => "!: unreliable.".to_owned(),
            poor => format!("!: unreliable ({poor} of the {} fastest times of a side and N).", times.len()),
        }
    });
    let marks: Vec<String> = tie.into_iter().chain(unreliable).collect();
    (!marks.is_empty()).then(|| marks.join(" "))
}

/// Returns whether cells have no time for a reason that the screen does not give elsewhere: not for want of a library or a backend.
fn has_other_problems(report: &Report, missing: &[MissingLibrary<'_>]) -> bool {
    let is_known = |row: &Row| {
        let is_of_library = missing.iter().any(|one| row.reason.as_deref() == Some(one.reason));
        let backend = report.environment.backend(&row.backend);
        row.outcome == Outcome::Skipped
            && (is_of_library || backend.is_some_and(|backend| !backend.available))
    };
    report.rows.iter().any(|row| row.outcome != Outcome::Measured && !row.screened && !is_known(row))
}

/// The libraries that were not found, or those behind the CPU's times.
fn libraries_note(sweeps: &Sweeps<'_>, missing: &[MissingLibrary<'_>]) -> Option<String> {
    if !missing.is_empty() {
        let found = grouped(missing.iter().map(|one| (one.side.label(), one)));
        let sentence = |(side, of_side): &(&str, Vec<&MissingLibrary<'_>>)| {
            let what: Vec<String> =
                of_side.iter().map(|one| format!("{} ({})", one.reason, one.fix)).collect();
            let ops = distinct(of_side.iter().flat_map(|one| one.ops.iter().copied())).join(", ");
            capitalised(&format!("{}: the {side} could be faster ({ops}).", what.join("; ")))
        };
        return Some(found.iter().map(sentence).collect::<Vec<_>>().join(" "));
    }
    let loops = libraries::has_plain(sweeps.report, Side::Cpu).then_some("plain loops");
    let found = Vec::from_iter(libraries::measured(sweeps.report, Side::Cpu).into_iter().chain(loops));
    (sweeps.comparisons() > 0 && !sweeps.versus.is_named() && !found.is_empty()).then(|| {
        let own = "Own code: with routines of gpubench's own, on CPU and GPU, that no program can call.";
        let own = if sweeps.shows_tuned { format!(" {own}") } else { String::new() };
        format!("CPU: the fastest of {}.{own}", found.join(", "))
    })
}

type TimedRow<'a> = (&'a Row, Estimate);

/// The backends and numbers of threads by which a reader distinguishes the rows of one contender.
struct RivalGroups {
    has_backends: bool,
    names: Vec<String>,
}

impl RivalGroups {
    fn of(sweeps: &Sweeps<'_>, one: Contender) -> RivalGroups {
        let rows = || sweeps.report.rows.iter().filter(|row| row.execute.is_some());
        let backends = rows().filter(|row| sweeps.versus.has(one, row)).map(|row| row.backend.as_str());
        let mut groups = RivalGroups { has_backends: distinct(backends).len() > 1, names: vec![] };
        let rows = rows().filter(|row| sweeps.versus.has_on_any_threads(one, row));
        groups.names = distinct(rows.map(|row| groups.name(row)));
        groups
    }

    fn are_several(&self) -> bool {
        self.names.len() > 1
    }

    fn name(&self, row: &Row) -> String {
        let threads = fewer_threads(&row.variant).map(|threads| counted(threads, "thread"));
        match (self.has_backends, threads) {
            (true, Some(threads)) => format!("{} on {threads}", row.backend),
            (true, None) => row.backend.clone(),
            (false, Some(threads)) => threads,
            (false, None) => "all threads".into(),
        }
    }
}

/// The correct rows of a contender on any number of threads, the fastest first.
fn timed_rows<'a>(case: &Comparison<'a>, one: Contender) -> Vec<TimedRow<'a>> {
    let rows = case.rows.iter().filter(|row| case.versus.has_on_any_threads(one, row));
    let mut rows: Vec<TimedRow<'a>> =
        rows.filter_map(|row| Some((*row, cost::estimate(row, Kind::Resident)?))).collect();
    rows.sort_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    rows
}

impl<'a> Sweeps<'a> {
    /// The contender that has times where the other has none.
    fn only_contender(&self) -> Option<Contender> {
        (self.comparisons() == 0).then(|| {
            let has_times = |row: &Row| self.versus.has(Contender::A, row) && row.execute.is_some();
            if self.report.rows.iter().any(has_times) { Contender::A } else { Contender::B }
        })
    }

    /// Every case of every sweep, or its largest alone, with whether it is the largest.
    fn rows_of(&self, every_case: bool) -> Vec<(&Sweep<'a>, &Comparison<'a>, bool)> {
        let only = self.only_contender();
        let mut rows = vec![];
        for sweep in &self.all {
            // Those with both contenders, or with times of the only one.
            let has_times =
                |case: &&Comparison<'_>, one| case.candidates(one, Kind::Resident).next().is_some();
            let cases = sweep.section.comparisons.iter().filter(|_| op::compares_sides(sweep.section.op));
            let cases: Vec<&Comparison<'a>> = match only {
                Some(one) => cases.filter(|case| has_times(case, one)).collect(),
                None => sweep.compared().collect(),
            };
            let last = cases.len().saturating_sub(1);
            let shown = cases.into_iter().enumerate().skip(if every_case { 0 } else { last });
            rows.extend(shown.map(|(index, case)| (sweep, case, index == last)));
        }
        rows
    }

    /// The table of both contenders, or of the only one, with every case or the largest of each sweep. `None` without times.
    pub fn table(&self, every_case: bool) -> Option<Table> {
        self.sides_table(every_case).or_else(|| self.rivals_table(every_case))
    }

    /// Speed-ups with copies and without, the crossover, and the calls that repay copies, per case or sweep.
    fn sides_table(&self, every_case: bool) -> Option<Table> {
        let rows = if self.comparisons() > 0 { self.rows_of(every_case) } else { vec![] };
        let occurs = |kind| rows.iter().any(|(_, case, _)| case.pair(kind).is_some());
        let on_gpu =
            rows.iter().any(|(_, case, _)| case.pair(Kind::Resident).is_some_and(|pair| !pair.is_on_cpu()));
        let repaid = rows.iter().any(|(_, case, _)| repayment(case).is_some());
        let copied: Vec<Kind> =
            [Kind::EndToEnd, Kind::EndToEndPinned].into_iter().filter(|kind| occurs(*kind)).collect();
        let resident = if on_gpu { "data stays on the GPU" } else { "" };
        let best =
            if self.versus.is_named() || self.versus.is_tuned() { "faster" } else { "library or\u{a0}plain" };
        let mut columns = vec![Column::words("op"), Column::figures("N")];
        // Readers whose data is in ordinary memory look for a size first. The arrow says that it belongs to the column before.
        let from = |group: &'static str| {
            let heading = match self.versus.is_named() {
                true => format!("←\u{a0}{} wins from N", self.versus.label(Contender::B)),
                false => "←\u{a0}wins from N".into(),
            };
            Column::words(heading).in_group(group).ranked(CROSSOVER)
        };
        for kind in &copied {
            let memory = match kind {
                Kind::EndToEndPinned => HostMemory::Pinned.name().to_owned(),
                _ => self.memory(),
            };
            columns.push(Column::words(memory).in_group(COPIED));
            columns.extend((*kind == Kind::EndToEnd).then(|| from(COPIED)));
        }
        columns.push(Column::words(best).in_group(resident));
        columns.push(from(resident));
        columns.extend(self.shows_tuned.then(|| Column::words("own code").in_group(resident).ranked(TUNED)));
        columns.extend(repaid.then(|| Column::words("repay copies").in_group("calls").ranked(REPAYMENT)));
        let of_case = |(sweep, case, is_largest): &(&Sweep<'_>, &Comparison<'_>, bool)| {
            let of_kind = |kind| case.pair(kind).map_or(NONE.into(), |pair| speed_up(&pair));
            let mut fields = vec![Field::from(sweep.name.as_str()), case.family.size_text(case.n).into()];
            // A single problem has no N from which a side wins.
            let is_fixed = case.family.shape.is_some_and(|shape| !shape.varies());
            let from = |kind| match sweep.crossover(kind) {
                _ if !is_largest => Field::from(""),
                _ if is_fixed => NONE.into(),
                found => found.map_or(NONE.into(), crossover_text::short).into(),
            };
            for kind in &copied {
                fields.push(of_kind(*kind));
                fields.extend((*kind == Kind::EndToEnd).then(|| from(*kind)));
            }
            fields.push(of_kind(Kind::Resident));
            fields.push(from(Kind::Resident));
            fields.extend(
                self.shows_tuned
                    .then(|| case.tuned_pair(Kind::Resident).map_or(NONE.into(), |pair| speed_up(&pair))),
            );
            fields.extend(repaid.then(|| repayment(case).unwrap_or_else(|| NONE.into()).into()));
            fields
        };
        titleless(columns, rows.iter().map(of_case).collect())
    }

    /// The memory that end-to-end times copy from and to, as far as the report says.
    fn memory(&self) -> String {
        let cases = self.all.iter().flat_map(|sweep| &sweep.section.comparisons);
        match super::host_memories(cases.flat_map(|case| &case.rows).copied(), &[Kind::EndToEnd]).join(", ") {
            unknown if unknown.is_empty() => "copied".into(),
            names => names,
        }
    }

    /// The fastest of the only contender, and the next and the slowest over it, or the best per backend and threads.
    fn rivals_table(&self, every_case: bool) -> Option<Table> {
        let only = self.only_contender()?;
        let names = Names::of(self.report);
        let groups = RivalGroups::of(self, only);
        let mut columns = vec![Column::words("op"), Column::figures(if every_case { "N" } else { "max N" })];
        columns.extend([Column::words("fastest"), Column::figures("time")]);
        match groups.are_several() {
            true => columns.extend(groups.names.iter().cloned().map(Column::words)),
            false => columns.extend(["next\u{a0}takes", "slowest\u{a0}takes"].map(Column::words)),
        }
        let of_case = |(sweep, case, _): (&Sweep<'_>, &Comparison<'_>, bool)| {
            let rows = timed_rows(case, only);
            let (best, best_s) = rows.first()?;
            let over = |(row, time): &TimedRow<'_>| {
                let ratio = SpeedUp(time.over(*best_s)?);
                let mark = if is_unreliable(row) || is_unreliable(best) { "!" } else { "" };
                Some(format!("{} {}{mark}", names.variant(row), ratio.factor_text()).into())
            };
            let time =
                best.execute.as_ref().map(|execute| time_text(execute, Kind::Resident)).unwrap_or_default();
            let mark = if is_unreliable(best) { "!" } else { "" };
            let mut fields = vec![
                Field::from(sweep.name.as_str()),
                case.family.size_text(case.n).into(),
                names.variant(best).into(),
                format!("{time}{mark}").into(),
            ];
            let best_of = |name: &String| rows.iter().find(|(row, _)| groups.name(row) == *name);
            let others = match groups.are_several() {
                true => groups.names.iter().map(best_of).collect(),
                false => vec![rows.get(1), rows.get(2..).and_then(<[_]>::last)],
            };
            let others = others.into_iter().map(|one| one.and_then(over).unwrap_or_else(|| NONE.into()));
            let mut others: Vec<Field> = others.collect();
            if rows.len() == 1 && !groups.are_several() {
                others[0] = "(no other)".into();
            }
            fields.extend(others);
            Some(fields)
        };
        titleless(columns, self.rows_of(every_case).into_iter().filter_map(of_case).collect())
    }

    /// The times behind a table of few rows.
    fn times(&self) -> Option<String> {
        let names = Names::of(self.report);
        let rows = self.rows_of(true);
        if rows.len() > MAX_TIMED_ROWS || self.comparisons() == 0 {
            return None;
        }
        let of_case = |(sweep, case, _): (&Sweep<'_>, &Comparison<'_>, bool)| {
            let pair = case.pair(Kind::Resident)?;
            let time = |one, row: &Row| {
                let time = time_text(row.execute.as_ref()?, Kind::Resident);
                Some(format!("{} {time} ({})", self.versus.label(one), names.doer(row)))
            };
            let times = [time(Contender::A, pair.a)?, time(Contender::B, pair.b)?].join(", ");
            Some(format!("{} {}: {times}.", sweep.name, case.n))
        };
        let times: Vec<String> = rows.into_iter().filter_map(of_case).collect();
        (!times.is_empty()).then(|| format!("Times: {}", times.join(" ")))
    }
}

/// `3`: the calls after which the GPU is ahead with data that is copied once; `never`, or `?` where it is within noise.
fn repayment(case: &Comparison<'_>) -> Option<String> {
    let pair = case.pair(Kind::Resident)?;
    let text = match copies_to_repay(&pair)? {
        Repayment::After(calls) => calls.to_string(),
        Repayment::Never => "never".into(),
        Repayment::Open => "?".into(),
    };
    Some(format!("{text}{}", if pair.is_unreliable() { "!" } else { "" }))
}

fn is_unreliable(row: &Row) -> bool {
    row.execute.as_ref().is_some_and(Execute::is_unreliable)
}

fn titleless(columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table::untitled(columns, rows).laid_out(Layout::NarrowHeadings))
}
