//! A reader of XML that accepts elements, attributes, texts and the five entities, and nothing that is not well-formed.

/// An element without its children.
#[derive(Debug)]
pub(crate) struct Element {
    pub name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub text: String,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

/// The elements of a document in the order in which they end.
pub(crate) fn read(text: &str) -> Vec<Element> {
    let (mut open, mut closed): (Vec<Element>, Vec<Element>) = (vec![], vec![]);
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a declaration");
    while let Some((before, after)) = rest.split_once('<') {
        match open.last_mut() {
            Some(element) => element.text.push_str(&unescape(before)),
            None => assert!(before.trim().is_empty(), "text outside: {before}"),
        }
        let (tag, after) = after.split_once('>').expect("the end of a tag");
        rest = after;
        match tag.strip_prefix('/') {
            Some(name) => {
                let element = open.pop().expect("an open element");
                assert_eq!(element.name, name);
                closed.push(element);
            }
            None => open.push(element(tag)),
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    closed
}

fn element(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{tag}");
    let mut attributes = vec![];
    while !rest.is_empty() {
        let (key, after) = rest.split_once("=\"").expect("a value");
        let (value, after) = after.split_once('"').expect("the end of a value");
        assert!(key.chars().all(|c| c.is_ascii_lowercase()), "{tag}");
        attributes.push((key.to_owned(), unescape(value)));
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    Element { name: name.into(), attributes, text: String::new() }
}

fn unescape(text: &str) -> String {
    const ENTITIES: [(&str, char); 5] =
        [("amp;", '&'), ("lt;", '<'), ("gt;", '>'), ("quot;", '"'), ("apos;", '\'')];
    assert!(!text.contains('>'), "{text}");
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, c) = ENTITIES.iter().find(|(entity, _)| part.starts_with(entity)).expect("an entity");
        plain.push(*c);
        plain.push_str(&part[entity.len()..]);
    }
    plain
}
