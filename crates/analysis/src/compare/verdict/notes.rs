//! Notes on a comparison as a whole: weaknesses of its data, each with the next step.

use gpubench_text::count::{agree, counted};

use super::{COMMAND, HISTORY, MIN_RUNS};
use crate::compare::result::{Change, Measured, Note};
use crate::compare::variance::JoinedSides;
use crate::compare::{Policy, Run, Runs};

pub(crate) fn notes(sweep: &JoinedSides, cells: &[Change], policy: &Policy) -> Vec<Note> {
    let (old, new) = (sweep.old, sweep.new);
    let mut notes = Vec::new();
    let mut note = |text: String, next: &str| notes.push(Note { text, next: next.to_owned() });
    if old.is_same_run(new) {
        let text = "OLD and NEW are the same run, so they cannot differ".to_owned();
        note(text, "name the report of another run");
    } else if [old, new, sweep.history].iter().all(|side| side.runs.len() < 2)
        && cells.iter().any(|cell| cell.ratio.is_some())
    {
        let text = "one run per side detects only large changes of few cells";
        note(text.to_owned(), &format!("give {MIN_RUNS} runs per side ({COMMAND}), or {HISTORY}"));
    }
    if is_later(old, new) {
        let text = "every run of OLD started after every run of NEW, so the sides may be swapped";
        note(text.to_owned(), "if they are, name the runs before the change first");
    }
    let is_repeated = [old, new].iter().all(|side| side.runs.len() > 1);
    if is_repeated && (is_later(new, old) || is_later(old, new)) {
        let text = "the runs of OLD and NEW do not alternate, so a change of the machine between them looks like a change of \
                    the code";
        note(text.to_owned(), "measure both sides alternating: OLD, NEW, OLD, NEW (docs/ci.md)");
    }
    for (word, runs) in [("OLD", old), ("NEW", new)] {
        for run in runs.runs.iter().filter(|run| run.ended_early()) {
            let text =
                format!("{word} {} ended early: it contains only {} cells", run.name, run.report.rows.len());
            note(text, "run it again and let it finish");
        }
    }
    let partly_measured = [
        ("OLD", partly_measured(cells, old, |cell| cell.old.as_ref())),
        ("NEW", partly_measured(cells, new, |cell| cell.new.as_ref())),
    ];
    for (word, text) in partly_measured.into_iter().filter_map(|(word, text)| Some((word, text?))) {
        let next = "run the same sweep each time, or find out why these cells have no time";
        note(format!("{word}: {text}"), next);
    }
    for table in policy.unused(cells.iter().map(Change::cell)) {
        note(table, "correct the table or remove it");
    }
    notes
}

/// Returns true if every run of `side` started after every run of `other`.
fn is_later(side: &Runs, other: &Runs) -> bool {
    // Times of one form, RFC 3339 in UTC, are ordered as texts; their fractions of a second do not matter here.
    let second = |run: &Run| run.report.environment.started.get(..19).map(str::to_owned);
    let [side, other] = [side, other].map(|runs| runs.runs.iter().map(second).collect::<Option<Vec<_>>>());
    let (Some(side), Some(other)) = (side, other) else { return false };
    side.iter().min().zip(other.iter().max()).is_some_and(|(first, last)| first > last)
}

/// Reports cells that have a time in only some runs of a side.
fn partly_measured(
    cells: &[Change],
    side: &Runs,
    measured: impl Fn(&Change) -> Option<&Measured>,
) -> Option<String> {
    let all = side.runs.len();
    let partly_measured = cells.iter().filter_map(|cell| Some((cell, measured(cell)?.runs)));
    let partly_measured: Vec<(&Change, usize)> = partly_measured.filter(|(_, runs)| *runs < all).collect();
    let (first, runs) = partly_measured.first()?;
    let count = partly_measured.len();
    let (cells, have) = (counted(count, "cell"), agree(count, "has", "have"));
    Some(format!("{cells} {have} a time in only some runs; first: {}, in {runs} of {all} runs", first.cell()))
}
