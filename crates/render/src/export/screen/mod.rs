//! The first screen: the answer in at most 24 lines, what matters most first. Knows rows and words, no terminal.

mod notes;
mod sweeps;
#[cfg(test)]
mod tests;

use gpubench_model::report::Report;
use gpubench_text::table::{Table, WIDTH, hanging};

use super::problems::{ended_early, summary};
pub(crate) use sweeps::Sweeps;

/// Lines of a terminal that nobody has made larger, less one for what follows.
pub(crate) const LINES: usize = 23;

/// Comparisons up to which each has a line with its times; beyond, each sweep has one, at its largest size.
const FEW: usize = 8;

/// Lines of the table; the rest is counted.
const ROWS: usize = 16;

/// Cases of one side alone up to which each has a line.
const CASES: usize = 12;

pub(crate) fn screen(report: &Report, color: bool) -> String {
    let sweeps = Sweeps::of(report);
    let few = sweeps.comparisons() <= FEW;
    let grid = match sweeps.comparisons() {
        0 => sweeps.grid_of_times(CASES),
        _ if few => sweeps.grid_of_cases(),
        _ => sweeps.grid(true).filter(fits).or_else(|| sweeps.grid(false)),
    };
    let mut text = paragraph([notes::title(report)]);
    if let Some(mut grid) = grid {
        let more = grid.rows.len().saturating_sub(ROWS);
        grid.rows.truncate(ROWS);
        text.push_str(&format!("\n{}", grid.text_without_title(color)));
        if more > 0 {
            text.push_str(&format!("  and {more} more lines: --tables\n"));
        }
        text.push('\n');
    }
    let problems = match (ended_early(report), summary(report)) {
        (None, None) => None,
        (Some(early), None) => Some(format!("{early}: run the sweep again to have all.")),
        (early, Some(summary)) => {
            let early = early.map(|early| early + "; ").unwrap_or_default();
            Some(format!("{early}{summary}: --tables tells why."))
        }
    };
    // What went wrong is told whatever else there is room for.
    text.push_str(&paragraph([problems, notes::run_warnings(report)].into_iter().flatten()));
    let notes = [
        if few { sweeps.crossovers() } else { vec![] },
        // Before what is less needed: the table cannot be read without it.
        Vec::from_iter(sweeps.legend()),
        sweeps.lessons(),
        Vec::from_iter(sweeps.variants().filter(|_| !few)),
        Vec::from_iter(sweeps.first_use()),
        Vec::from_iter(notes::grades(report).map(|grades| grades + " More: --tables.")),
    ];
    for note in notes.map(paragraph) {
        if text.lines().count() + note.lines().count() <= LINES {
            text.push_str(&note);
        }
    }
    text
}

/// Whether a table's lines are no longer than those of the terminal.
fn fits(grid: &Table) -> bool {
    grid.text_without_title(false).lines().all(|line| line.chars().count() <= WIDTH)
}

/// Sentences, each broken into lines, also where a report has a line feed in a name.
fn paragraph(sentences: impl IntoIterator<Item = String>) -> String {
    let broken = |text: String| text.lines().map(|line| hanging(line, 0) + "\n").collect::<String>();
    sentences.into_iter().map(broken).collect()
}
