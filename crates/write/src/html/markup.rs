//! Builds HTML that is well formed by construction: every text is escaped and every opened tag is closed.

use std::fmt::Write;

use gpubench_text::escape;

/// Elements that have no content and no end tag.
const VOID: [&str; 4] = ["meta", "input", "br", "path"];

/// Bytes of a piece of markup beyond which it is no longer copied when an element encloses it: a page has many levels of
/// elements, and may have a hundred megabytes.
const PIECE: usize = 4096;

/// A piece of markup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Html {
    /// The pieces before the last one.
    done: Vec<String>,
    last: String,
}

impl Html {
    /// Creates empty markup.
    pub(crate) fn new() -> Html {
        Html::default()
    }

    /// Creates markup that shows the text literally.
    pub(crate) fn text(text: &str) -> Html {
        Html::trusted(escape::html(text))
    }

    /// Wraps existing markup: assets of the program and its drawings, never a text of a report.
    pub(crate) fn trusted(markup: impl Into<String>) -> Html {
        Html { done: vec![], last: markup.into() }
    }

    /// Appends more markup.
    pub(crate) fn and(mut self, more: impl Into<Html>) -> Html {
        let Html { done, last } = more.into();
        done.into_iter().chain([last]).for_each(|piece| self.push(piece));
        self
    }

    fn push(&mut self, piece: String) {
        if self.last.len() + piece.len() <= PIECE {
            self.last.push_str(&piece);
        } else {
            let full = std::mem::replace(&mut self.last, piece);
            self.done.extend(Some(full).filter(|full| !full.is_empty()));
        }
    }

    /// Returns whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.last.is_empty()
    }

    /// Returns the markup.
    pub(crate) fn into_string(self) -> String {
        let Html { mut done, last } = self;
        done.push(last);
        let mut text = String::with_capacity(done.iter().map(String::len).sum());
        // Each piece is freed once it is copied, so a large page is in memory once.
        done.into_iter().for_each(|piece| text.push_str(&piece));
        text
    }
}

impl<T: Into<Html>> FromIterator<T> for Html {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Html {
        parts.into_iter().fold(Html::new(), Html::and)
    }
}

impl From<&str> for Html {
    fn from(text: &str) -> Html {
        Html::text(text)
    }
}

impl From<String> for Html {
    fn from(text: String) -> Html {
        Html::text(&text)
    }
}

/// An element under construction.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    name: &'static str,
    attributes: String,
    content: Html,
}

/// Returns an element without attributes and content.
pub(crate) fn element(name: &'static str) -> Element {
    Element { name, attributes: String::new(), content: Html::new() }
}

/// Returns an element of a class.
pub(crate) fn classed(name: &'static str, class: &str) -> Element {
    element(name).with("class", class)
}

impl Element {
    /// Adds an attribute; the value is escaped.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Element {
        let _ = write!(self.attributes, " {name}=\"{}\"", escape::html(value));
        self
    }

    /// Adds an attribute where there is a value.
    pub(crate) fn with_some(self, name: &'static str, value: Option<impl AsRef<str>>) -> Element {
        match value {
            Some(value) => self.with(name, value.as_ref()),
            None => self,
        }
    }

    /// Adds content: text, markup or elements.
    pub(crate) fn holding(mut self, content: impl Into<Html>) -> Element {
        self.content = self.content.and(content);
        self
    }

    /// Adds several pieces of content.
    pub(crate) fn holding_all<T: Into<Html>>(self, parts: impl IntoIterator<Item = T>) -> Element {
        self.holding(parts.into_iter().collect::<Html>())
    }
}

impl From<Element> for Html {
    fn from(element: Element) -> Html {
        let Element { name, attributes, content } = element;
        if VOID.contains(&name) {
            return Html::trusted(format!("<{name}{attributes}/>"));
        }
        if content.done.is_empty() && content.last.len() <= PIECE {
            return Html::trusted(format!("<{name}{attributes}>{}</{name}>", content.last));
        }
        let start = Html::trusted(format!("<{name}{attributes}>"));
        start.and(content).and(Html::trusted(format!("</{name}>")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_close_and_nest() {
        let list = classed("ul", "a b").holding_all([element("li").holding("1"), element("li").holding("2")]);
        assert_eq!(Html::from(list).into_string(), "<ul class=\"a b\"><li>1</li><li>2</li></ul>");
        let void = element("meta").with("charset", "utf-8").with_some("name", None::<&str>);
        assert_eq!(Html::from(void).into_string(), "<meta charset=\"utf-8\"/>");
    }

    #[test]
    fn long_markup_is_the_same_text_and_is_moved_not_copied() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let text = "x".repeat(length);
            let parts = || ["a", text.as_str(), "b", text.as_str()];
            let nested = element("i").holding(element("b").holding_all(parts())).holding("c");
            let page = Html::new().and(nested);
            assert!(!page.is_empty());
            assert_eq!(page.into_string(), format!("<i><b>a{text}b{text}</b>c</i>"));
        }
        let long = "x".repeat(PIECE + 1);
        let address = long.as_ptr();
        let page = Html::from(element("p").holding(element("b").holding(Html::trusted(long))));
        assert!(page.done.iter().any(|piece| piece.as_ptr() == address));
    }
}
