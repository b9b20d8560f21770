//! A wide table of texts whose headings are names: text in blocks that fit a line, or Markdown. Knows no fleet.

use std::fmt::Write;

use gpubench_text::grid::{Field, WIDTH, escape};

/// A table. Every row has as many fields as there are headings.
pub struct Sheet {
    /// What it shows.
    pub title: String,
    /// The headings: those that name a row, then those of figures.
    pub headings: Vec<String>,
    /// How many columns name a row; they stand to the left and are repeated in each block.
    pub keys: usize,
    /// The rows.
    pub rows: Vec<Vec<Field>>,
}

/// Blanks between columns.
const GUTTER: usize = 2;

impl Sheet {
    /// Title, headings on several lines where they are longer than their figures, and rows; in as many blocks of columns
    /// as it takes for lines to fit.
    pub fn text(&self, color: bool) -> String {
        let headings: Vec<Vec<String>> =
            (0..self.headings.len()).map(|column| self.heading(column)).collect();
        let widths: Vec<usize> =
            headings.iter().enumerate().map(|(column, lines)| self.width(column, lines)).collect();
        let keys: Vec<usize> = (0..self.keys).collect();
        let mut text = format!("{}\n", self.title);
        for (index, block) in self.blocks(&widths).into_iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let columns: Vec<usize> = keys.iter().copied().chain(block).collect();
            let height = columns.iter().map(|&column| headings[column].len()).max().unwrap_or(0);
            for line in 0..height {
                // Headings end on the same line, above their figures.
                let part = |column: usize| {
                    let lines = &headings[column];
                    let at = (line + lines.len()).checked_sub(height);
                    Field::from(at.map_or("", |at| lines[at].as_str()))
                };
                self.line(&mut text, &columns, &widths, part, false);
            }
            for row in &self.rows {
                self.line(&mut text, &columns, &widths, |column| row[column].clone(), color);
            }
        }
        text
    }

    /// A heading of level two and a Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", escape(&self.title));
        let headings: Vec<String> = self.headings.iter().map(|heading| escape(heading)).collect();
        let rules =
            (0..self.headings.len()).map(|column| if self.is_figure(column) { "---:" } else { "---" });
        let _ = writeln!(text, "| {} |\n|{}|", headings.join(" | "), rules.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            let fields: Vec<String> = row.iter().map(|field| escape(field.text.trim_end())).collect();
            let _ = writeln!(text, "| {} |", fields.join(" | "));
        }
        text
    }

    fn line(
        &self,
        text: &mut String,
        columns: &[usize],
        widths: &[usize],
        field: impl Fn(usize) -> Field,
        color: bool,
    ) {
        let mut line = String::new();
        for &column in columns {
            let field = field(column);
            let padding = " ".repeat(widths[column].saturating_sub(field.text.chars().count()));
            let shown = if color { field.tone.paint(&field.text) } else { field.text };
            line.push_str(&" ".repeat(GUTTER));
            line.push_str(&if self.is_figure(column) { padding + &shown } else { shown + &padding });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }

    /// Whether fields stand to the right: those of figures, and sizes among the names.
    fn is_figure(&self, column: usize) -> bool {
        let is_number = |row: &Vec<Field>| row[column].text.starts_with(|c: char| c.is_ascii_digit());
        column >= self.keys || self.rows.iter().any(is_number)
    }

    /// The heading broken at blanks, so that it is hardly wider than the figures under it.
    fn heading(&self, column: usize) -> Vec<String> {
        let heading = &self.headings[column];
        let room = self.rows.iter().map(|row| row[column].text.chars().count()).max().unwrap_or(0);
        let longest = heading.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        let room = room.max(longest);
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

    fn width(&self, column: usize, heading: &[String]) -> usize {
        let fields = self.rows.iter().map(|row| row[column].text.chars().count());
        fields.chain(heading.iter().map(|line| line.chars().count())).max().unwrap_or(0)
    }

    /// The columns of figures, in blocks that fit on a line beside the names of rows; at least one a block.
    fn blocks(&self, widths: &[usize]) -> Vec<Vec<usize>> {
        let names: usize = widths[..self.keys].iter().map(|width| width + GUTTER).sum();
        let mut blocks: Vec<Vec<usize>> = vec![vec![]];
        let mut taken = names;
        for (column, width) in widths.iter().enumerate().skip(self.keys) {
            let Some(block) = blocks.last_mut() else { break };
            if taken + GUTTER + width > WIDTH && !block.is_empty() {
                taken = names + GUTTER + width;
                blocks.push(vec![column]);
            } else {
                taken += GUTTER + width;
                block.push(column);
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(columns: usize) -> Sheet {
        let mut headings = vec!["op".to_owned(), "N".to_owned()];
        headings.extend((0..columns).map(|column| format!("node{column} GPU 0")));
        let row = |op: &str, n: u64| {
            let mut fields: Vec<Field> = vec![op.into(), n.to_string().into()];
            fields.extend((0..columns).map(|column| Field::from(format!("{column}.00 µs"))));
            fields
        };
        Sheet { title: "t".into(), headings, keys: 2, rows: vec![row("matmul", 1000), row("fft", 20)] }
    }

    #[test]
    fn headings_are_broken_and_stand_above_their_figures() {
        let expected = "t
                  node0    node1
  op         N    GPU 0    GPU 0
  matmul  1000  0.00 µs  1.00 µs
  fft       20  0.00 µs  1.00 µs
";
        assert_eq!(sheet(2).text(false), expected);
    }

    #[test]
    fn many_columns_come_in_blocks_that_fit_and_none_is_lost() {
        let text = sheet(30).text(false);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.lines().all(|line| line.trim_end() == line));
        assert_eq!(text.lines().filter(|line| line.starts_with("  matmul")).count(), 4);
        assert!((0..30).all(|column| text.contains(&format!("node{column}"))), "{text}");
    }

    #[test]
    fn markdown_has_every_column_and_escapes_names() {
        let mut sheet = sheet(3);
        sheet.headings[2] = "a|b".into();
        let text = sheet.markdown();
        assert!(
            text.contains("| op | N | a\\|b | node1 GPU 0 | node2 GPU 0 |\n|---|---:|---:|---:|---:|\n"),
            "{text}"
        );
    }
}
