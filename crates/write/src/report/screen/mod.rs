//! Writes the first screen of a report for a terminal.

use gpubench_document::report::screen::first_screen;
use gpubench_document::table::Tone;
use gpubench_report::report::Report;

use super::View;
use crate::terminal::{MAX_PROSE, TERMINAL_WIDTH, TerminalTable, hanging_within, painted};

/// The first screen for a terminal as wide as the view says.
pub(crate) fn screen(report: &Report, view: &View) -> String {
    let width = view.width.unwrap_or(TERMINAL_WIDTH);
    let lines = |texts: &[String]| -> String {
        let lines = texts.iter().flat_map(|text| text.lines());
        lines.map(|line| hanging_within(width.min(MAX_PROSE), line, 0) + "\n").collect()
    };
    let found = first_screen(report, view.folder.as_deref(), view.shown.as_deref());
    let alert = |line: &str| if view.color { painted(line, Tone::Wrong) } else { line.to_owned() } + "\n";
    let alerts: String = lines(&found.alerts).lines().map(alert).collect();
    let blank = if alerts.is_empty() { "" } else { "\n" };
    let mut text = alerts + blank + &lines(&found.title);
    let mut notes = vec![];
    if let Some(table) = found.table {
        let mut table = table.within(width);
        let removed = table.leave_out();
        text += &format!("{}\n", table.text_without_title(view.color));
        notes.extend((!removed.is_empty()).then(|| {
            format!("No room here for {} (widen the terminal, or see --tables).", removed.join("; "))
        }));
    }
    notes.extend(found.notes);
    text + &lines(&notes)
}

#[cfg(test)]
mod tests;
