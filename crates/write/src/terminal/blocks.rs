//! Writes the blocks of documents for a terminal.

use std::fmt::Write;

use gpubench_document::blocks::{Block, DocumentSection, Remark, RichText};
use gpubench_document::table::Table;
use gpubench_text::count::counted;

use super::{MAX_PROSE, TERMINAL_WIDTH, hanging_within, leave_out, painted, table_text};

/// Remarks about cells that are listed; the others are counted.
const MAX_REMARKS: usize = 20;

/// Widest column with the kinds of remarks.
const MAX_KIND: usize = 20;

/// A terminal, as far as it matters for what is written.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Number of columns. Sentences are broken at 120 at most, because longer lines are hard to read.
    pub width: usize,
    /// True where colours are shown.
    pub color: bool,
}

impl Default for Screen {
    fn default() -> Screen {
        Screen { width: TERMINAL_WIDTH, color: false }
    }
}

/// Writes blocks, an empty line between them. Tables of one section leave out the same columns where lines are too long.
pub fn blocks(blocks: &[Block], screen: Screen) -> String {
    let tables = blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table.clone()),
        _ => None,
    });
    let mut tables: Vec<Table> = tables.collect();
    leave_out(&mut tables);
    let mut tables = tables.into_iter();
    let texts = blocks.iter().map(|block| match block {
        Block::Table(_) => tables.next().map(|table| table_text(&table, screen.color)).unwrap_or_default(),
        _ => written(block, screen),
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn written(block: &Block, screen: Screen) -> String {
    let wrapped = |text: &str, indent| hanging_within(screen.width.min(MAX_PROSE), text, indent);
    match block {
        Block::Paragraph(text) => format!("{}\n", wrapped(&text.plain(), 0)),
        Block::Alert(alert) => {
            let text = wrapped(&alert.text, 0);
            format!("{}\n", if screen.color { painted(&text, alert.tone) } else { text })
        }
        Block::Items(items) => items.iter().map(|item| format!("{}\n", wrapped(&item.plain(), 0))).collect(),
        Block::Facts(facts) => {
            let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let fact = |(name, value): &(String, RichText)| {
                format!("  {name:width$}  {}\n", wrapped(&value.plain(), width + 4))
            };
            facts.iter().map(fact).collect()
        }
        Block::Verbatim(text) => format!("{text}\n"),
        Block::Table(table) => table_text(table, screen.color),
        Block::Remarks(remarks) => self::remarks(remarks, screen),
        Block::Section(section) => self::section(section, screen),
    }
}

fn section(section: &DocumentSection, screen: Screen) -> String {
    let content = blocks(&section.blocks, screen);
    // A list belongs to its heading; a table or a section has one of its own.
    let gap = match section.blocks.first() {
        Some(Block::Remarks(_) | Block::Facts(_)) => "",
        _ => "\n",
    };
    format!("{}:\n{gap}{content}", section.title)
}

/// Writes each remark with its kind, its number of cells and, below it, the next step and the cells.
fn remarks(remarks: &[Remark], screen: Screen) -> String {
    let length = |text: &str| text.chars().count();
    let kinds = remarks.iter().map(|remark| length(&remark.kind)).max().unwrap_or(0).min(MAX_KIND);
    let count =
        |remark: &Remark| if remark.count > 0 { counted(remark.count, "cell") } else { String::new() };
    let counts = remarks.iter().map(|remark| length(&count(remark))).max().unwrap_or(0);
    let indent =
        2 + [kinds, counts].into_iter().filter(|width| *width > 0).map(|width| width + 2).sum::<usize>();
    let wrapped = |text: &str| hanging_within(screen.width.min(MAX_PROSE), text, indent);
    let mut text = String::new();
    for remark in remarks.iter().take(MAX_REMARKS) {
        let kind = format!("{:kinds$}", remark.kind);
        let kind = if screen.color { painted(&kind, remark.tone) } else { kind };
        let columns = [(kind, kinds), (format!("{:>counts$}", count(remark)), counts)];
        let columns = columns.into_iter().filter(|(_, width)| *width > 0);
        let begin: String = columns.map(|(text, _)| text + "  ").collect();
        let _ = writeln!(text, "  {begin}{}", wrapped(&remark.text));
        let below = remark.next.iter().map(|next| format!("next: {next}"));
        let below = below.chain((!remark.cells.is_empty()).then(|| remark.cells.clone()));
        // Without a column of kinds the next step would look like another remark.
        let indent = indent.max(4);
        for line in below {
            let line = hanging_within(screen.width.min(MAX_PROSE), &line, indent);
            let _ = writeln!(text, "{:indent$}{line}", "");
        }
    }
    if let Some(more) = remarks.len().checked_sub(MAX_REMARKS).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more (--format json lists all)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::table::Column;

    #[test]
    fn remarks_have_their_next_step_and_cells_below_them() {
        let remark = Remark {
            kind: "skipped".into(),
            count: 2,
            text: "mkl: not found".into(),
            next: Some("pip install mkl".into()),
            cells: "matmul cpu/mkl (2)".into(),
            ..Remark::default()
        };
        let section = Block::section("2 of 9 cells skipped", Block::remarks([remark])).unwrap();
        let expected = "\
2 of 9 cells skipped:
  skipped  2 cells  mkl: not found
                    next: pip install mkl
                    matmul cpu/mkl (2)
";
        assert_eq!(blocks(&[section], Screen::default()), expected);
    }

    #[test]
    fn of_many_remarks_the_first_are_listed_and_the_others_counted() {
        let remark = |index| Remark { text: format!("remark {index}"), ..Remark::default() };
        let text = |count| blocks(&[Block::Remarks((1..=count).map(remark).collect())], Screen::default());
        assert!(text(MAX_REMARKS).ends_with("  remark 20\n"));
        assert!(text(MAX_REMARKS + 2).ends_with("  remark 20\n  and 2 more (--format json lists all)\n"));
    }

    #[test]
    fn tables_of_one_section_leave_out_the_same_columns() {
        let table = |text: &str| {
            let columns = vec![Column::words("a"), Column::words("b").ranked(1)];
            Block::Table(Table::untitled(columns, vec![vec![text.into(), "x".into()]]).within(20))
        };
        let text = blocks(&[table("short"), table("a field that is too long")], Screen::default());
        assert_eq!(text, "  a\n  short\n\n a\n a field that is too long\n");
    }
}
