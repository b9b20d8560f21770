//! Defines the formats in which reports, comparisons, fleets and trends are written.
//!
//! A format is one [`Format`] in its own file and one line in the [`Formats`] of its kind of document. The command line
//! uses only these to parse, explain and run `--format`.

use std::fmt;

use anyhow::{Result, bail};
use gpubench_text::words::{choose, one_of};
use serde::{Serialize, Serializer};

use crate::report::file::File;

/// A format of documents of type `D`, with options of type `V`.
pub struct Format<D: 'static, V: 'static> {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary for the help text, in one line.
    pub summary: &'static str,
    /// True if a folder of results gets it by default.
    pub by_default: bool,
    /// Function that writes it.
    pub makes: Makes<D, V>,
}

/// Kind of output of a format.
pub enum Makes<D: 'static, V: 'static> {
    /// A text for the terminal. It is printed to stdout even when the other formats go to a folder.
    Screen(fn(&D, &V) -> Result<String>),
    /// A text, in a file of this name or on stdout.
    Text(&'static str, fn(&D, &V) -> Result<String>),
    /// Files, such as one per chart, which stdout cannot carry.
    Files {
        /// Returns whether a file of that name is one of them.
        has: fn(&str) -> bool,
        /// Makes the files; the list may be empty.
        render: fn(&D, &V) -> Result<Vec<File>>,
    },
}

impl<D, V> Format<D, V> {
    /// Returns whether the format is a single text, which stdout can take.
    pub fn is_text(&self) -> bool {
        !matches!(self.makes, Makes::Files { .. })
    }

    /// Returns whether a file of that name in a folder of results is of this format.
    pub fn is_made_as(&self, name: &str) -> bool {
        match self.makes {
            Makes::Screen(_) => false,
            Makes::Text(file, _) => file == name,
            Makes::Files { has, .. } => has(name),
        }
    }

    /// Returns its files for a folder: none for a text that is for the terminal alone.
    pub fn files(&self, document: &D, view: &V) -> Result<Vec<File>> {
        match &self.makes {
            Makes::Screen(_) => Ok(vec![]),
            Makes::Text(name, render) => {
                Ok(vec![File { name: (*name).into(), bytes: render(document, view)?.into_bytes() }])
            }
            Makes::Files { render, .. } => render(document, view),
        }
    }

    /// Returns its text.
    ///
    /// # Errors
    /// The document cannot be written in this format, or the format makes files, see [`for_stdout`].
    pub fn text(&self, document: &D, view: &V) -> Result<String> {
        match &self.makes {
            Makes::Screen(render) | Makes::Text(_, render) => render(document, view),
            Makes::Files { .. } => {
                bail!("{} makes files, which stdout cannot take: name a folder", self.name)
            }
        }
    }

    /// Returns the text that is printed although the other formats go to a folder; empty except for [`Makes::Screen`].
    pub fn screen(&self, document: &D, view: &V) -> Result<String> {
        match &self.makes {
            Makes::Screen(render) => render(document, view),
            Makes::Text(..) | Makes::Files { .. } => Ok(String::new()),
        }
    }
}

/// Formats are equal if their names are.
impl<D, V> PartialEq for Format<D, V> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<D, V> Eq for Format<D, V> {}

impl<D, V> fmt::Debug for Format<D, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<D, V> Serialize for Format<D, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Every format of one kind of document.
pub struct Formats<D: 'static, V: 'static> {
    /// The formats, in the order in which they are written; the first is the one for people at a terminal.
    pub all: &'static [&'static Format<D, V>],
    /// Formats of other documents that are refused here, with what to do instead.
    pub refused: &'static [(&'static str, &'static str)],
}

impl<D, V> Formats<D, V> {
    /// Returns the names, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.all.iter().map(|format| format.name).collect()
    }

    /// Returns the format of that name.
    pub fn find(&self, name: &str) -> Option<&'static Format<D, V>> {
        self.all.iter().copied().find(|format| format.name == name)
    }

    /// Returns the formats that a comma-separated list names, or `all`: in order, each once.
    ///
    /// # Errors
    /// The list is empty, or a name is unknown; the message has the nearest and all valid names.
    pub fn parse(&self, list: &str) -> Result<Vec<&'static Format<D, V>>> {
        let is_named = |name: &str| list.split(',').any(|word| word.trim() == name);
        if let Some((_, why)) = self.refused.iter().find(|(name, _)| is_named(name)) {
            bail!("{why}");
        }
        Ok(choose("format", list, &self.names())?.into_iter().map(|place| self.all[place]).collect())
    }

    /// Returns the formats that a folder gets when none is named.
    pub fn defaults(&self) -> Vec<&'static Format<D, V>> {
        self.all.iter().copied().filter(|format| format.by_default).collect()
    }

    /// `table (stdout), json, csv, png`: all of them, for the help of `--format`.
    pub fn listed(&self) -> String {
        let word = |format: &&Format<D, V>| match format.makes {
            Makes::Screen(_) => format!("{} (stdout)", format.name),
            Makes::Text(..) | Makes::Files { .. } => format.name.to_owned(),
        };
        self.all.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// `table,json,csv,png`: the formats of [`Formats::defaults`] as `--format` takes them.
    pub fn listed_defaults(&self) -> String {
        self.defaults().iter().map(|format| format.name).collect::<Vec<_>>().join(",")
    }

    /// `table, json or csv`: those that stdout can carry.
    pub fn printable(&self) -> String {
        let texts = self.all.iter().filter(|format| format.is_text());
        one_of(&texts.map(|format| format.name).collect::<Vec<_>>())
    }
}

/// Returns the one format of `chosen`, if stdout can carry it.
///
/// # Errors
/// Not exactly one format was chosen, or it makes files. `otherwise` is a step for such formats, such as `draw them with 'gpubench plot'`.
pub fn for_stdout<D, V>(chosen: &[&'static Format<D, V>], otherwise: &str) -> Result<&'static Format<D, V>> {
    match chosen {
        [format] if format.is_text() => Ok(format),
        [format] => bail!("--format: {} makes files: {otherwise}", format.name),
        several => {
            bail!("--format: stdout takes one format, not {}: name one, or {otherwise}", several.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn format(name: &'static str, by_default: bool, makes: Makes<u32, ()>) -> Format<u32, ()> {
        Format { name, summary: "", by_default, makes }
    }

    static SCREEN: Format<u32, ()> = format("table", true, Makes::Screen(|number, _| Ok(number.to_string())));
    static TEXT: Format<u32, ()> =
        format("csv", true, Makes::Text("n.csv", |number, _| Ok(format!("{number}\r\n"))));
    static CHARTS: Format<u32, ()> =
        format("png", false, Makes::Files { has: |name| name.ends_with(".png"), render: |_, _| Ok(vec![]) });
    static FORMATS: Formats<u32, ()> =
        Formats { all: &[&SCREEN, &TEXT, &CHARTS], refused: &[("html", "a number makes no page")] };

    #[test]
    fn lists_are_parsed_in_order_each_format_once() {
        assert_eq!(FORMATS.parse("csv, table,csv").unwrap(), [&SCREEN, &TEXT]);
        assert_eq!(FORMATS.parse("all").unwrap(), FORMATS.all);
        let refused = |list: &str| FORMATS.parse(list).unwrap_err().to_string();
        assert_eq!(refused("cvs"), "unknown format 'cvs': did you mean 'csv'? (valid: table, csv, png)");
        assert_eq!(refused("table,html"), "a number makes no page");
        assert!(refused(" , ").starts_with("name at least one format"));
    }

    #[test]
    fn the_help_follows_from_the_list() {
        assert_eq!(FORMATS.listed(), "table (stdout), csv, png");
        assert_eq!(FORMATS.listed_defaults(), "table,csv");
        assert_eq!(FORMATS.printable(), "table or csv");
    }

    #[test]
    fn stdout_takes_one_text() {
        let of = |chosen: &[&'static _]| for_stdout(chosen, "use --out").map_err(|error| error.to_string());
        assert_eq!(of(&[&TEXT]), Ok(&TEXT));
        assert_eq!(of(&[&CHARTS]), Err("--format: png makes files: use --out".to_owned()));
        assert!(of(&[&SCREEN, &TEXT]).is_err_and(|error| error.contains("stdout takes one format, not 2")));
        assert!(CHARTS.text(&7, &()).is_err_and(|error| error.to_string().contains("name a folder")));
    }

    #[test]
    fn a_text_for_the_terminal_makes_no_file() {
        assert_eq!((SCREEN.files(&7, &()).unwrap(), SCREEN.screen(&7, &()).unwrap()), (vec![], "7".into()));
        let files = TEXT.files(&7, &()).unwrap();
        assert_eq!((files[0].name.as_str(), files[0].bytes.as_slice()), ("n.csv", b"7\r\n".as_slice()));
        assert!(TEXT.is_made_as("n.csv") && !SCREEN.is_made_as("n.csv") && CHARTS.is_made_as("a.png"));
    }
}
