//! A table of texts, written with aligned columns or as Markdown. Knows nothing of reports.

use std::fmt::Write;

use super::palette::terminal;

/// Columns of the terminal that lines should fit in.
pub const WIDTH: usize = 100;

/// What a text says, shown as a colour where colours are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    Plain,
    /// The CPU wins.
    Cpu,
    /// The GPU wins.
    Gpu,
    /// A wrong answer or a failure.
    Wrong,
    /// Something became better.
    Better,
    /// Something became worse.
    Worse,
    /// It could not be told.
    Unsure,
}

impl Tone {
    /// `text` between the ANSI codes of the tone.
    pub fn paint(self, text: &str) -> String {
        let code = match self {
            Tone::Plain => return text.to_owned(),
            Tone::Cpu => terminal::CPU,
            Tone::Gpu => terminal::GPU,
            Tone::Wrong => terminal::WRONG,
            Tone::Better => terminal::BETTER,
            Tone::Worse => terminal::WORSE,
            Tone::Unsure => terminal::UNSURE,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// One field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its text, on one line.
    pub text: String,
    /// Its tone.
    pub tone: Tone,
}

impl<T: Into<String>> From<T> for Field {
    fn from(text: T) -> Self {
        Field { text: text.into(), tone: Tone::Plain }
    }
}

/// A column: its heading, and whether its fields are figures, which stand to the right.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The heading.
    pub heading: &'static str,
    /// Whether it holds figures.
    pub figures: bool,
}

/// A titled table. Every row has as many fields as there are columns.
#[derive(Clone, Debug)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<Field>>,
}

impl Grid {
    /// Title, headings and rows with aligned columns; no line ends in a blank.
    ///
    /// Columns stand two blanks apart, or one where the lines would be longer than [`WIDTH`].
    pub fn text(&self, color: bool) -> String {
        format!("{}\n{}", self.title, self.text_without_title(color))
    }

    /// Without the columns of these headings, the first first, as far as lines are longer than [`WIDTH`] with them.
    pub fn fitting(mut self, less_needed: &[&str]) -> Grid {
        for heading in less_needed {
            let length: usize = (0..self.columns.len()).map(|index| self.width(index) + 1).sum();
            if length <= WIDTH {
                break;
            }
            let kept: Vec<bool> = self.columns.iter().map(|column| column.heading != *heading).collect();
            for row in &mut self.rows {
                let mut kept = kept.iter();
                row.retain(|_| kept.next() == Some(&true));
            }
            self.columns.retain(|column| column.heading != *heading);
        }
        self
    }

    /// Headings and rows alone, as [`Grid::text`] writes them.
    pub fn text_without_title(&self, color: bool) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|index| self.width(index)).collect();
        let fits = widths.iter().map(|width| width + 2).sum::<usize>() <= WIDTH;
        let gutter = if fits { "  " } else { " " };
        let mut text = String::new();
        let headings = self.columns.iter().map(|column| Field::from(column.heading)).collect();
        for row in std::iter::once(&headings).chain(&self.rows) {
            let mut line = String::new();
            for ((column, &width), field) in self.columns.iter().zip(&widths).zip(row) {
                let padding = " ".repeat(width - field.text.chars().count());
                let shown = if color { field.tone.paint(&field.text) } else { field.text.clone() };
                let padded = if column.figures { padding + &shown } else { shown + &padding };
                line.push_str(gutter);
                line.push_str(&padded);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A heading of level three and a Markdown table.
    pub fn markdown(&self) -> String {
        format!("### {}\n\n{}", escape(&self.title), self.markdown_table())
    }

    /// The Markdown table alone.
    pub fn markdown_table(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            let _ = write!(text, "| {} ", column.heading);
        }
        text.push_str("|\n");
        for column in &self.columns {
            text.push_str(if column.figures { "|---:" } else { "|---" });
        }
        text.push_str("|\n");
        for row in &self.rows {
            for field in row {
                let _ = write!(text, "| {} ", escape(field.text.trim_end()));
            }
            text.push_str("|\n");
        }
        text
    }

    fn width(&self, index: usize) -> usize {
        let fields = self.rows.iter().map(|row| row[index].text.chars().count());
        fields.chain([self.columns[index].heading.chars().count()]).max().unwrap_or(0)
    }
}

/// `text` so that Markdown shows it as it is, on one line.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '|' | '*' | '_' | '`' | '~' | '<' | '[' | '\\' => escaped.extend(['\\', c]),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Breaks a text at blanks so that it fits on lines of [`WIDTH`] columns, all but the first indented.
pub fn hanging(text: &str, indent: usize) -> String {
    let (mut broken, mut column) = (String::new(), indent);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > WIDTH {
            let _ = write!(broken, "\n{:indent$}", "");
            column = indent;
        } else if column > indent {
            broken.push(' ');
            column += 1;
        }
        broken.push_str(word);
        column += length;
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let columns =
            vec![Column { heading: "name", figures: false }, Column { heading: "N", figures: true }];
        let wrong = Field { text: "b|c".into(), tone: Tone::Wrong };
        Grid {
            title: "t".into(),
            columns,
            rows: vec![vec!["a".into(), "1000".into()], vec![wrong, "5".into()]],
        }
    }

    #[test]
    fn columns_align_whether_coloured_or_not() {
        assert_eq!(grid().text(false), "t\n  name     N\n  a     1000\n  b|c      5\n");
        assert_eq!(grid().text(true), "t\n  name     N\n  a     1000\n  \x1b[31mb|c\x1b[0m      5\n");
    }

    #[test]
    fn columns_move_together_where_lines_would_be_too_long() {
        let mut grid = grid();
        grid.rows[0][0] = "a".repeat(WIDTH - 7).into();
        assert!(grid.text(false).lines().nth(1).unwrap().starts_with(" name"), "{}", grid.text(false));
        grid.rows[0][0] = "a".repeat(WIDTH - 8).into();
        assert!(grid.text(false).lines().nth(1).unwrap().starts_with("  name"), "{}", grid.text(false));
    }

    #[test]
    fn markdown_escapes_what_would_break_the_table() {
        let expected = "### t\n\n| name | N |\n|---|---:|\n| a | 1000 |\n| b\\|c | 5 |\n";
        assert_eq!(grid().markdown(), expected);
    }
}
