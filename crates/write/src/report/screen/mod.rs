//! The first screen: the answer in few lines, what matters most first. Reads a report and returns text.

#[cfg(test)]
mod tests;

use crate::terminal::{MAX_PROSE, TERMINAL_WIDTH, TerminalTable, hanging_within, painted};
use gpubench_analysis::answer::Contender;
use gpubench_document::table::{Layout, Table, Tone};
use gpubench_report::report::Report;

use super::View;
use gpubench_document::report::problems::{first_lines, summary};
use gpubench_document::report::sweeps::columns::{VARIANT, has_column, left_out};
use gpubench_document::report::sweeps::{Sweeps, notes};

/// Lines of the screen; notes without room are left out.
const LINES: usize = 34;

/// A report of at most this many comparisons has one row per comparison, with times; of more, one row per sweep.
const MAX_COMPARISONS: usize = 8;

/// Rows of the table; the others are counted.
const MAX_ROWS: usize = 16;

/// A report of one side and at most this many cases has one row per case; of more, one row per sweep.
const MAX_CASES: usize = 12;

/// The first screen for a terminal as wide as the view says.
pub(crate) fn screen(report: &Report, view: &View) -> String {
    let width = view.width.unwrap_or(TERMINAL_WIDTH);
    let paragraph = |sentences: &[String]| paragraph(sentences, width.min(MAX_PROSE));
    let sweeps = Sweeps::of(report);
    let few = sweeps.comparisons() <= MAX_COMPARISONS;
    let (question, grid) = question(&sweeps, width);
    let grid = grid.map(|grid| grid.within(width));
    let (grid, removed) = grid.map_or((None, vec![]), |mut grid| {
        let removed = grid.leave_out();
        (Some(grid), removed)
    });
    let mut text = String::new();
    for line in first_lines(report, "--tables", view.folder.as_deref()) {
        text.extend(
            paragraph(&[line])
                .lines()
                .map(|line| (if view.color { painted(line, Tone::Wrong) } else { line.to_owned() }) + "\n"),
        );
    }
    let begin = if text.is_empty() { "" } else { "\n" };
    let title = [notes::title(report)].into_iter().chain(question);
    text.push_str(&format!("{begin}{}", paragraph(&title.collect::<Vec<_>>())));
    let names_variants = grid.as_ref().is_some_and(|grid| has_column(grid, VARIANT));
    let legend = sweeps.legend(grid.as_ref()).into_iter().chain(left_out(&removed));
    let legend = paragraph(&legend.collect::<Vec<_>>());
    if let Some(grid) = grid {
        text.push_str(&grid_text(grid, view.color));
    }
    // Problems are shown even where they leave no room for notes.
    let problems = summary(report).map(|summary| format!("{summary} (reasons: --tables)."));
    let larger = sweeps.larger_sizes().filter(|_| !few);
    let missing = notes::missing_libraries(report);
    let problems = larger.into_iter().chain(missing).chain(problems).chain(notes::first_run_warning(report));
    text.push_str(&paragraph(&problems.collect::<Vec<_>>()));
    let variants = || sweeps.variants().filter(|_| !names_variants);
    let several = sweeps.has_several_backends();
    let notes = [
        // Which backend is the best of its side is a part of the answer.
        Vec::from_iter(variants().filter(|_| several)),
        Vec::from_iter(sweeps.slower_backends()),
        Vec::from_iter(sweeps.memory_decides(few)),
        if few { sweeps.crossovers() } else { vec![] },
        sweeps.costs(),
        Vec::from_iter(notes::grades(report)),
        Vec::from_iter(sweeps.slower_variants()),
        Vec::from_iter(sweeps.first_use()),
        Vec::from_iter(variants().filter(|_| !several)),
    ];
    // Each group of lines begins with a blank line.
    let mut room = LINES.saturating_sub(text.lines().count() + legend.lines().count() + 2);
    let mut facts = String::new();
    for note in notes.iter().map(|note| paragraph(note)) {
        if note.lines().count() <= room {
            room -= note.lines().count();
            facts.push_str(&note);
        }
    }
    for group in [facts, legend].into_iter().filter(|group| !group.is_empty()) {
        let is_after_text = !text.ends_with("\n\n");
        text.push_str(&format!("{}{group}", if is_after_text { "\n" } else { "" }));
    }
    text
}

/// The table of the screen with the columns and intervals for which that had no room, in blocks that fit; `None` where the
/// screen has all.
pub(crate) fn whole_table(report: &Report, view: &View) -> Option<String> {
    let sweeps = Sweeps::of(report);
    let grid = match sweeps.comparisons() {
        0 => None,
        1..=MAX_COMPARISONS => sweeps.case_table(),
        _ => sweeps.sweep_table(true),
    };
    let grid = grid?.within(view.width.unwrap_or(TERMINAL_WIDTH));
    (!grid.fits()).then(|| grid.laid_out(Layout::Blocks { keys: 2 }).text_without_title(view.color))
}

/// What the table answers, and the table with every column, without intervals where there is no room for these.
fn question(sweeps: &Sweeps<'_>, width: usize) -> (Option<String>, Option<Table>) {
    match sweeps.comparisons() {
        0 => (None, sweeps.times_table(MAX_CASES)),
        1..=MAX_COMPARISONS => {
            let question = match sweeps.versus.is_named() {
                true => "The best time of each, the faster one, and how many times faster it is:",
                false => "The best time of each side, the faster side, and how many times faster it is:",
            };
            (Some(question.to_owned()), sweeps.case_table())
        }
        _ => {
            let faster = if sweeps.versus.is_named() { "The faster one" } else { "The faster side" };
            let b = sweeps.versus.noun(Contender::B);
            let question = format!("{faster} at the largest N, and the N from which {b} is faster:");
            let fits = |grid: &Table| grid.clone().within(width).fits();
            (Some(question), sweeps.sweep_table(true).filter(fits).or_else(|| sweeps.sweep_table(false)))
        }
    }
}

/// The table between blank lines; rows without room are counted.
fn grid_text(mut grid: Table, color: bool) -> String {
    let more = grid.rows.len().saturating_sub(MAX_ROWS);
    grid.rows.truncate(MAX_ROWS);
    let more = if more > 0 { format!("  and {more} more rows (see --tables)\n") } else { String::new() };
    format!("\n{}{more}\n", grid.text_without_title(color))
}

/// Joins sentences, each broken into lines; line feeds in names are kept.
fn paragraph(sentences: &[String], width: usize) -> String {
    let lines = sentences.iter().flat_map(|text| text.lines());
    lines.map(|line| hanging_within(width, line, 0) + "\n").collect()
}
