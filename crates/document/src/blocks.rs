//! Defines documents: headings, paragraphs, lists, tables and remarks, which every medium writes in its own way.

use crate::table::{Field, Table, Tone};

/// A part of a line: ordinary text, or text in the typeface of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Ordinary text.
    Plain(String),
    /// Something that the reader types or that a program wrote: a command, a path, a variable.
    Code(String),
}

/// A text of one paragraph. Line feeds in it are blanks, except in media that show each sentence on a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RichText(pub Vec<Inline>);

impl RichText {
    /// Returns a text in the typeface of code.
    pub fn code(text: impl Into<String>) -> RichText {
        RichText(vec![Inline::Code(text.into())])
    }

    /// Appends another text.
    pub fn then(mut self, more: impl Into<RichText>) -> RichText {
        self.0.extend(more.into().0);
        self
    }

    /// Returns the text without typefaces.
    pub fn plain(&self) -> String {
        self.0
            .iter()
            .map(|part| match part {
                Inline::Plain(text) | Inline::Code(text) => text.as_str(),
            })
            .collect()
    }
}

impl<T: Into<String>> From<T> for RichText {
    fn from(text: T) -> RichText {
        RichText(vec![Inline::Plain(text.into())])
    }
}

/// A warning, a reason or a weakness together with the advice that belongs to it.
#[derive(Clone, Debug, Default)]
pub struct Remark {
    /// Kind in a word or two, such as `spread` or `skipped`; empty for remarks about the whole.
    pub kind: String,
    /// Tone of the kind: [`Tone::Wrong`] for wrong answers and failures.
    pub tone: Tone,
    /// Number of cells concerned, such as 3; 0 for remarks about the whole.
    pub count: usize,
    /// What is the matter, in one sentence without a full stop.
    pub text: String,
    /// The next step, without a full stop; `None` where there is none.
    pub next: Option<String>,
    /// The cells concerned, in words; empty for remarks about the whole.
    pub cells: String,
    /// Identifiers of rows that media with links refer to, each with its name.
    pub links: Vec<(String, String)>,
}

/// A piece of a document.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Paragraph(RichText),
    /// A line that matters more than the others, such as that a run was ended early; without a full stop.
    Alert(Field),
    /// A list of sentences, each on its own.
    Items(Vec<RichText>),
    /// Facts with their names.
    Facts(Vec<(String, RichText)>),
    /// Text as a program wrote it, with its line feeds.
    Verbatim(String),
    /// A table.
    Table(Table),
    /// Warnings or reasons with their advice. Media without room show the first and count the others.
    Remarks(Vec<Remark>),
    /// A part under a heading of its own.
    Section(DocumentSection),
}

impl Block {
    /// Returns a paragraph.
    pub fn paragraph(text: impl Into<RichText>) -> Block {
        Block::Paragraph(text.into())
    }

    /// Returns a list; `None` without items.
    pub fn items<T: Into<RichText>>(items: impl IntoIterator<Item = T>) -> Option<Block> {
        let items: Vec<RichText> = items.into_iter().map(Into::into).collect();
        (!items.is_empty()).then_some(Block::Items(items))
    }

    /// Returns remarks; `None` without any.
    pub fn remarks(remarks: impl IntoIterator<Item = Remark>) -> Option<Block> {
        let remarks: Vec<Remark> = remarks.into_iter().collect();
        (!remarks.is_empty()).then_some(Block::Remarks(remarks))
    }

    /// Returns a section; `None` if it is empty.
    pub fn section(title: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Option<Block> {
        Block::titled(title.into(), false, blocks.into_iter().collect())
    }

    /// Returns a section that media which can fold show folded; `None` if it is empty.
    pub fn folded(title: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Option<Block> {
        Block::titled(title.into(), true, blocks.into_iter().collect())
    }

    fn titled(title: String, is_folded: bool, blocks: Vec<Block>) -> Option<Block> {
        (!blocks.is_empty()).then_some(Block::Section(DocumentSection { title, is_folded, blocks }))
    }

    /// Returns an alert.
    pub fn alert(text: impl Into<String>, tone: Tone) -> Block {
        Block::Alert(Field { text: text.into(), tone })
    }
}

/// A part of a document under a heading.
#[derive(Clone, Debug)]
pub struct DocumentSection {
    /// The heading.
    pub title: String,
    /// True where media that can fold show it folded.
    pub is_folded: bool,
    /// The contents.
    pub blocks: Vec<Block>,
}

/// A document with its title.
#[derive(Clone, Debug)]
pub struct Document {
    /// The title.
    pub title: String,
    /// The contents.
    pub blocks: Vec<Block>,
}
