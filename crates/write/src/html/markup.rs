//! Builds HTML that is well formed by construction: every text is escaped and every opened tag is closed.

use std::fmt::Write;

use gpubench_text::escape;

/// Elements that have no content and no end tag.
const VOID: [&str; 4] = ["meta", "input", "br", "path"];

/// A piece of markup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Creates markup that shows the text literally.
    pub(crate) fn text(text: &str) -> Html {
        Html::trusted(escape::html(text))
    }

    /// Wraps existing markup: assets of the program and its drawings, never a text of a report.
    pub(crate) fn trusted(markup: impl Into<String>) -> Html {
        Html(markup.into())
    }

    /// Appends more markup.
    pub(crate) fn and(mut self, more: impl Into<Html>) -> Html {
        self.0.push_str(&more.into().0);
        self
    }

    /// Returns whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the markup.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl<T: Into<Html>> FromIterator<T> for Html {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Html {
        parts.into_iter().fold(Html::default(), Html::and)
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
    Element { name, attributes: String::new(), content: Html::default() }
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
        match VOID.contains(&name) {
            true => Html(format!("<{name}{attributes}/>")),
            false => Html(format!("<{name}{attributes}>{}</{name}>", content.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_close_and_nest() {
        let list = classed("ul", "a b").holding_all([element("li").holding("1"), element("li").holding("2")]);
        assert_eq!(Html::from(list).into_string(), "<ul class=\"a b\"><li>1</li><li>2</li></ul>");
        let void = element("meta").with("charset", "utf-8");
        assert_eq!(Html::from(void).into_string(), "<meta charset=\"utf-8\"/>");
    }
}
