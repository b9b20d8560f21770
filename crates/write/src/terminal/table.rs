//! Writes tables as aligned text for terminals.

use std::borrow::Cow;

use gpubench_document::table::{Column, Field, Layout, Table, Tone};

/// Fills the line of a heading above several columns.
const RULE: &str = "─";

/// Blanks between columns, where there is room.
const GUTTER: usize = 2;

/// Writes the title, if there is one, headings and rows with aligned columns; no line ends in a blank.
pub fn table_text(table: &Table, color: bool) -> String {
    let lines = Lines::of(table, color);
    let blocks: Vec<String> = lines.blocks().iter().map(|columns| lines.block(columns)).collect();
    // No-break spaces keep headings together; whoever searches the text types ordinary ones.
    let text = blocks.join("\n").replace('\u{a0}', " ");
    if table.title.is_empty() { text } else { format!("{}\n{text}", table.title) }
}

/// Returns whether lines have room for every column.
pub(super) fn fits(table: &Table) -> bool {
    let margin = usize::from(table.layout != Layout::NarrowHeadings);
    let columns: usize = Lines::of(table, false).widths.iter().map(|width| width + 1).sum();
    columns + margin - 1 <= table.width
}

/// Leaves out columns of several tables alike, those of the highest rank first, while a line is too long. Returns the headings
/// of these.
pub(crate) fn leave_out(tables: &mut [Table]) -> Vec<Cow<'static, str>> {
    let mut removed = vec![];
    while !tables.iter().all(fits) {
        let ranks = tables.iter().flat_map(|table| &table.columns).map(|column| column.rank);
        match ranks.max() {
            None | Some(0) => break,
            Some(rank) => removed.extend(tables.iter_mut().flat_map(|table| table.without_rank(rank))),
        }
    }
    removed
}

/// Returns `text` between the ANSI codes of a tone (SGR, ECMA-48): green, red or yellow, of which the terminal chooses the shades.
pub fn painted(text: &str, tone: Tone) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Gpu | Tone::Better => 32,
        Tone::Wrong | Tone::Worse => 31,
        Tone::Cpu | Tone::Inconclusive => 33,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// A table that is being written.
struct Lines<'a> {
    table: &'a Table,
    /// Each heading on one line or several.
    headings: Vec<Vec<String>>,
    widths: Vec<usize>,
    /// Blanks before the first column.
    margin: usize,
    /// Blanks before every other.
    gutter: usize,
    color: bool,
}

impl<'a> Lines<'a> {
    fn of(table: &'a Table, color: bool) -> Lines<'a> {
        let longest =
            |column: usize| table.rows.iter().map(move |row| row[column].text.chars().count()).max();
        let heading = |column: usize| {
            let heading = &table.columns[column].heading;
            match table.layout {
                Layout::Fitting | Layout::Listing => vec![heading.to_string()],
                Layout::NarrowHeadings | Layout::Blocks { .. } => {
                    broken(heading, longest(column).unwrap_or(0))
                }
            }
        };
        let headings: Vec<Vec<String>> = (0..table.columns.len()).map(heading).collect();
        let width = |(column, lines): (usize, &Vec<String>)| {
            lines.iter().map(|line| line.chars().count()).chain(longest(column)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = headings.iter().enumerate().map(width).collect();
        widen_for_groups(&table.columns, &mut widths);
        let length = widths.iter().map(|width| width + GUTTER).sum::<usize>();
        let fits = length <= table.width;
        let (margin, gutter) = match table.layout {
            Layout::Listing => (0, GUTTER),
            Layout::Fitting if !fits => (1, 1),
            Layout::NarrowHeadings if !fits && length - GUTTER <= table.width => (0, GUTTER),
            Layout::NarrowHeadings if !fits => (0, 1),
            _ => (GUTTER, GUTTER),
        };
        Lines { table, headings, widths, margin, gutter, color }
    }

    /// Returns the columns of each block: all in one, except for [`Layout::Blocks`].
    fn blocks(&self) -> Vec<Vec<usize>> {
        let all = 0..self.widths.len();
        let Layout::Blocks { keys } = self.table.layout else { return vec![all.collect()] };
        let length =
            |columns: &[usize]| columns.iter().map(|&column| self.widths[column] + GUTTER).sum::<usize>();
        let names: Vec<usize> = all.clone().take(keys).collect();
        let (mut blocks, mut block) = (vec![], names.clone());
        for column in all.skip(keys) {
            if block.len() > keys && length(&block) + GUTTER + self.widths[column] > self.table.width {
                blocks.push(std::mem::replace(&mut block, names.clone()));
            }
            block.push(column);
        }
        blocks.push(block);
        blocks
    }

    /// Writes headings and rows of these columns. Headings end on the same line, above their figures.
    fn block(&self, columns: &[usize]) -> String {
        let mut text = self.groups(columns);
        let height = columns.iter().map(|&column| self.headings[column].len()).max().unwrap_or(0);
        for line in 0..height {
            let part = |column: usize| {
                let lines = &self.headings[column];
                let at = (line + lines.len()).checked_sub(height);
                Field::from(at.map_or("", |at| lines[at].as_str()))
            };
            self.line(&mut text, columns, part);
        }
        for row in &self.table.rows {
            self.line(&mut text, columns, |column| row[column].clone());
        }
        text
    }

    /// Writes the headings that several columns share on a line; empty where there are none.
    fn groups(&self, columns: &[usize]) -> String {
        let group = |column: usize| self.table.columns[column].group.as_ref();
        let mut line = " ".repeat(self.margin);
        for run in columns.chunk_by(|&a, &b| group(a) == group(b)) {
            let width: usize = run.iter().map(|&column| self.widths[column] + self.gutter).sum();
            let heading = group(run[0]);
            let length = heading.chars().count();
            // A rule shows which columns belong together.
            let rule = (width - self.gutter).saturating_sub(length + 1);
            let rule = if run.len() > 1 && length > 0 { RULE.repeat(rule) } else { String::new() };
            line.push_str(&format!("{:width$}", format!("{heading} {rule}")));
        }
        if line.trim().is_empty() { String::new() } else { format!("{}\n", line.trim_end()) }
    }

    fn line(&self, text: &mut String, columns: &[usize], field: impl Fn(usize) -> Field) {
        let mut line = String::new();
        for (place, &column) in columns.iter().enumerate() {
            let field = field(column);
            let padding = " ".repeat(self.widths[column] - field.text.chars().count());
            let shown = if self.color { painted(&field.text, field.tone) } else { field.text };
            line.push_str(&" ".repeat(if place == 0 { self.margin } else { self.gutter }));
            line.push_str(&if self.table.columns[column].figures {
                padding + &shown
            } else {
                shown + &padding
            });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Makes the last column of each group wide enough for the heading that its columns share, one blank apart.
fn widen_for_groups(columns: &[Column], widths: &mut [usize]) {
    let mut first = 0;
    for run in columns.chunk_by(|a, b| a.group == b.group) {
        let last = first + run.len() - 1;
        let width = widths[first..=last].iter().sum::<usize>() + run.len() - 1;
        widths[last] += run[0].group.chars().count().saturating_sub(width);
        first = last + 1;
    }
}

/// Breaks a heading into lines of at most `room` characters, or of its longest word's length if that is more; lines of
/// very narrow columns would otherwise hold one short word each.
fn broken(heading: &str, room: usize) -> Vec<String> {
    const MIN_ROOM: usize = 6;
    let longest = heading.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    let room = room.max(longest).max(MIN_ROOM);
    let mut lines: Vec<String> = vec![];
    for word in heading.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
