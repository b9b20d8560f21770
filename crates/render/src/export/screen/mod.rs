//! The first screen: the answer in few lines, what matters most first. Reads a report and returns text.

mod notes;
mod sweeps;
#[cfg(test)]
mod tests;

use gpubench_model::report::Report;
use gpubench_text::table::{TERMINAL_WIDTH, Table, hanging_within};

use super::problems::{ended_early, summary};
pub(crate) use sweeps::Sweeps;

/// Lines of the screen; notes without room are left out.
const LINES: usize = 34;

/// A report of at most this many comparisons has one row per comparison, with times; of more, one row per sweep.
const MAX_COMPARISONS: usize = 8;

/// Rows of the table; the others are counted.
const MAX_ROWS: usize = 16;

/// A report of one side and at most this many cases has one row per case; of more, one row per sweep.
const MAX_CASES: usize = 12;

pub(crate) fn screen(report: &Report, color: bool) -> String {
    let sweeps = Sweeps::of(report);
    let few = sweeps.comparisons() <= MAX_COMPARISONS;
    let (question, grid) = match sweeps.comparisons() {
        0 => (None, sweeps.times_table(MAX_CASES)),
        _ if few => {
            let question = "The best time of each side, which side is faster, and how many times:";
            (Some(question), sweeps.case_table(true).filter(fits).or_else(|| sweeps.case_table(false)))
        }
        _ => {
            let question = "Which side is faster at the largest N, and from which N the GPU is faster:";
            (Some(question), sweeps.sweep_table(true).filter(fits).or_else(|| sweeps.sweep_table(false)))
        }
    };
    let names_variants =
        grid.as_ref().is_some_and(|grid| grid.columns.iter().any(|c| c.heading == "best CPU"));
    // Shares of the peaks are the first to go where lines would be too long.
    let grid = grid.map(|grid| grid.within(TERMINAL_WIDTH).fitting(&["CPU", "GPU"]));
    let legend = sweeps.legend(grid.as_ref());
    let mut text = paragraph([notes::title(report)].into_iter().chain(question.map(str::to_owned)));
    if let Some(mut grid) = grid {
        let more = grid.rows.len().saturating_sub(MAX_ROWS);
        grid.rows.truncate(MAX_ROWS);
        text.push_str(&format!("\n{}", grid.text_without_title(color)));
        if more > 0 {
            text.push_str(&format!("  and {more} more rows (see --tables)\n"));
        }
        text.push('\n');
    }
    let problems = match (ended_early(report), summary(report)) {
        (None, None) => None,
        (Some(early), None) => Some(format!("{early}; run the sweep again to measure the rest.")),
        (early, Some(summary)) => {
            let early = early.map(|early| early + "; ").unwrap_or_default();
            Some(format!("{early}{summary} (reasons: --tables)."))
        }
    };
    // Problems are shown even where they leave no room for notes.
    text.push_str(&paragraph([problems, notes::run_warnings(report)].into_iter().flatten()));
    let notes = [
        Vec::from_iter(sweeps.memory_decides(few)),
        if few { sweeps.crossovers() } else { vec![] },
        sweeps.costs(),
        Vec::from_iter(notes::grades(report)),
        Vec::from_iter(sweeps.slower_variants()),
        Vec::from_iter(sweeps.first_use()),
        Vec::from_iter(sweeps.variants().filter(|_| !names_variants)),
    ];
    let legend = paragraph(legend);
    // Each group of lines begins with a blank line.
    let mut room = LINES.saturating_sub(text.lines().count() + legend.lines().count() + 2);
    let mut facts = String::new();
    for note in notes.map(paragraph) {
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

/// Returns whether the lines of a table are no longer than those of the screen.
fn fits(grid: &Table) -> bool {
    grid.clone().within(TERMINAL_WIDTH).fits()
}

/// Joins sentences, each broken into lines; line feeds in names are kept.
fn paragraph(sentences: impl IntoIterator<Item = String>) -> String {
    let wrapped = |text: String| {
        text.lines().map(|line| hanging_within(TERMINAL_WIDTH, line, 0) + "\n").collect::<String>()
    };
    sentences.into_iter().map(wrapped).collect()
}
