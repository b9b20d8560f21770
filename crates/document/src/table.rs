//! Defines a table of texts. Every medium writes it in its own way.

use std::borrow::Cow;

/// Columns of the terminal that the lines of a table should fit in, where nobody says otherwise.
pub const WIDTH: usize = 100;

/// Meaning of a text, shown as a colour where colours are enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// No meaning.
    #[default]
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
    /// Inconclusive.
    Inconclusive,
}

/// A field of a table.
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

/// A column with its heading. Columns of figures are aligned to the right.
#[derive(Clone, Debug)]
pub struct Column {
    /// The heading.
    pub heading: Cow<'static, str>,
    /// The heading that it shares with its neighbours; empty if none.
    pub group: Cow<'static, str>,
    /// True if it holds figures.
    pub figures: bool,
    /// Where lines would be too long, columns of the highest rank are left out first; those of rank 0 always stay.
    pub rank: u8,
}

impl Column {
    /// Returns a column of figures, or of words.
    pub fn new(heading: impl Into<Cow<'static, str>>, figures: bool) -> Column {
        Column { heading: heading.into(), group: "".into(), figures, rank: 0 }
    }

    /// Puts the column under a heading that neighbours of the same group share.
    pub fn in_group(self, group: impl Into<Cow<'static, str>>) -> Column {
        Column { group: group.into(), ..self }
    }

    /// Sets the rank.
    pub fn ranked(self, rank: u8) -> Column {
        Column { rank, ..self }
    }

    /// Returns the heading for formats that cannot show one heading above several columns: `resident: from N`.
    pub fn full_heading(&self) -> Cow<'static, str> {
        match self.group.as_ref() {
            "" => self.heading.clone(),
            group => format!("{group}: {}", self.heading).into(),
        }
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
    /// Indented, columns two blanks apart, or one where lines would be longer than the table's width.
    Fitting,
    /// Like [`Layout::Fitting`], with headings no wider than their fields, at the margin where lines would be too long.
    NarrowHeadings,
    /// Indented, with narrow headings. Columns that do not fit follow in further blocks with the first `keys` columns.
    Blocks {
        /// Number of columns that identify a row.
        keys: usize,
    },
    /// Not indented, columns two blanks apart, with lines of any length.
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
    /// Columns of the terminal that its lines should fit in.
    pub width: usize,
}

impl Table {
    /// Creates a table with the default layout.
    pub fn new(title: impl Into<String>, columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Table {
        Table { title: title.into(), columns, rows, layout: Layout::Fitting, width: WIDTH }
    }

    /// Creates a table without a title.
    pub fn untitled(columns: Vec<Column>, rows: Vec<Vec<Field>>) -> Table {
        Table::new("", columns, rows)
    }

    /// Creates an empty listing, to which rows are added.
    pub fn listing(headings: &[&'static str]) -> Table {
        let columns = headings.iter().map(|heading| Column::words(*heading)).collect();
        Table::untitled(columns, vec![]).laid_out(Layout::Listing)
    }

    /// Adds a row of as many fields as there are columns.
    pub fn row<T: Into<Field>>(&mut self, fields: impl IntoIterator<Item = T>) {
        self.rows.push(fields.into_iter().map(Into::into).collect());
    }

    /// Sets the layout.
    pub fn laid_out(self, layout: Layout) -> Table {
        Table { layout, ..self }
    }

    /// Sets the columns of the terminal that lines should fit in.
    pub fn within(self, width: usize) -> Table {
        Table { width, ..self }
    }

    /// Removes the column at that position with its fields, and returns it.
    pub fn remove(&mut self, place: usize) -> Column {
        self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
        self.columns.remove(place)
    }

    /// Removes the columns of that rank, and returns their headings.
    pub fn without_rank(&mut self, rank: u8) -> Vec<Cow<'static, str>> {
        let mut removed = vec![];
        while let Some(position) = self.columns.iter().position(|column| column.rank == rank) {
            removed.push(self.remove(position).full_heading());
        }
        removed
    }

    /// Returns headings and rows in lines of fields between bars, for tests of what a table says.
    pub fn fields_text(&self) -> String {
        let line = |fields: Vec<Cow<'_, str>>| format!("| {} |\n", fields.join(" | "));
        let headings = line(self.columns.iter().map(Column::full_heading).collect());
        let rows =
            self.rows.iter().map(|row| line(row.iter().map(|field| field.text.trim_end().into()).collect()));
        headings + &rows.collect::<String>()
    }
}
