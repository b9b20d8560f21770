//! Tables of the page: each scrolls inside its own frame, and every cell has a value to sort by.

use super::markup::{Element, Html, classed, element};

/// The text of an empty field.
pub(crate) const NONE: &str = "–";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading<'a> {
    pub text: &'a str,
    /// Set for a column of figures.
    pub figures: bool,
    /// An explanation; empty where the word alone is enough.
    pub help: &'static str,
}

pub(crate) const fn words(text: &str) -> Heading<'_> {
    Heading { text, figures: false, help: "" }
}

pub(crate) const fn figures<'a>(text: &'a str, help: &'static str) -> Heading<'a> {
    Heading { text, figures: true, help }
}

impl Heading<'_> {
    pub(crate) fn cell(&self) -> Element {
        let cell = element("th").with("scope", "col");
        let cell = if self.help.is_empty() { cell } else { cell.with("title", self.help) };
        if self.figures { cell.holding(self.text).with("class", "figure") } else { cell.holding(self.text) }
    }
}

pub(crate) fn cell(content: impl Into<Html>) -> Element {
    element("td").holding(content)
}

/// A cell with a figure, to the right.
pub(crate) fn figure(text: impl Into<Html>) -> Element {
    classed("td", "figure").holding(text)
}

/// A cell with a figure and its sort key; without a value there is a dash, which sorts last.
pub(crate) fn sortable(value: Option<f64>, text: impl FnOnce(f64) -> String) -> Element {
    match value.filter(|value| value.is_finite()) {
        Some(value) => figure(text(value)).with("data-v", &format!("{value:e}")),
        None => figure(NONE),
    }
}

/// The smaller second line of a cell.
pub(crate) fn below(text: impl Into<Html>) -> Element {
    element("small").holding(text)
}

/// A table in a frame that scrolls where the page is narrower, also by the keyboard. Screen readers announce `name`.
pub(crate) fn framed(name: &str, table: Element) -> Element {
    let frame = classed("div", "frame").with("tabindex", "0").with("role", "region");
    frame.with("aria-label", name).holding(table)
}

/// A list of names and facts.
pub(crate) fn facts<N: Into<Html>, V: Into<Html>>(facts: impl IntoIterator<Item = (N, V)>) -> Element {
    let pair = |(name, fact): (N, V)| {
        element("div").holding(element("dt").holding(name)).holding(element("dd").holding(fact))
    };
    classed("dl", "facts").holding_all(facts.into_iter().map(pair))
}

/// The step that a note advises, as a sentence.
pub(crate) fn next_step(next: &str) -> Element {
    let word = |word: &str| match word.starts_with("--") {
        true => Html::from(classed("span", "option").holding(word)).and(" "),
        false => Html::text(&format!("{word} ")),
    };
    let text = format!("Next: {next}.");
    classed("span", "next").holding(text.split(' ').map(word).collect::<Html>())
}
