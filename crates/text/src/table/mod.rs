//! A table of texts, which is written as aligned text, Markdown, CSV or HTML. Knows nothing of reports.

mod csv;
mod html;
mod markdown;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;

use crate::palette::terminal;

pub use text::{WIDTH, hanging};

/// Meaning of a text, shown as a colour where colours are enabled.
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
    /// Text, on one line.
    pub text: String,
    /// Tone of the text.
    pub tone: Tone,
}

impl<T: Into<String>> From<T> for Field {
    fn from(text: T) -> Self {
        Field { text: text.into(), tone: Tone::Plain }
    }
}

/// A column: its heading, and whether its fields are figures, which are aligned to the right.
#[derive(Clone, Debug)]
pub struct Column {
    /// The heading.
    pub heading: Cow<'static, str>,
    /// True if it holds figures.
    pub figures: bool,
}

impl Column {
    /// Returns a column of figures, or of words.
    pub fn new(heading: impl Into<Cow<'static, str>>, figures: bool) -> Column {
        Column { heading: heading.into(), figures }
    }

    /// Returns a column of words.
    pub fn words(heading: impl Into<Cow<'static, str>>) -> Column {
        Column::new(heading, false)
    }

    /// Returns a column of figures.
    pub fn figures(heading: impl Into<Cow<'static, str>>) -> Column {
        Column::new(heading, true)
    }
}

/// Layout of a table as aligned text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Indented, columns two blanks apart, or one where lines would be longer than [`WIDTH`].
    Fitting,
    /// The same; headings of two words take two lines.
    TwoLineHeadings,
    /// Indented, columns two blanks apart; headings take as many lines as make them no wider than their figures. Columns for
    /// which a line has no room follow in further blocks, each of which begins with the first `keys` columns.
    Blocks {
        /// Number of columns that identify a row.
        keys: usize,
    },
    /// Not indented, columns two blanks apart, however long lines become.
    Listing,
}

/// A titled table. Every row has as many fields as there are columns.
#[derive(Clone, Debug)]
pub struct Table {
    /// Title; may be empty.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<Field>>,
    /// Layout as aligned text.
    pub layout: Layout,
}

impl Table {
    /// Returns a table with the usual layout.
    pub fn new(title: impl Into<String>, columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Table {
        Table { title: title.into(), columns, rows, layout: Layout::Fitting }
    }

    /// Returns a table without a title.
    pub fn untitled(columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Table {
        Table::new("", columns, rows)
    }

    /// Returns an empty list for people, to which rows are added.
    pub fn listing(headings: &[&'static str]) -> Table {
        let columns = headings.iter().map(|heading| Column::words(*heading)).collect();
        Table::untitled(columns, vec![]).laid_out(Layout::Listing)
    }

    /// Adds a row of as many fields as there are columns.
    pub fn row<T: Into<Field>>(&mut self, fields: impl IntoIterator<Item = T>) {
        self.rows.push(fields.into_iter().map(Into::into).collect());
    }

    /// Returns the same in another layout.
    pub fn laid_out(self, layout: Layout) -> Table {
        Table { layout, ..self }
    }

    /// Without the columns of these headings, the first first, as far as lines are longer than [`WIDTH`] with them.
    pub fn fitting(mut self, less_needed: &[&str]) -> Table {
        for heading in less_needed {
            if self.least_width() <= WIDTH {
                break;
            }
            while let Some(place) = self.columns.iter().position(|column| column.heading == *heading) {
                self.columns.remove(place);
                self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
            }
        }
        self
    }
}
