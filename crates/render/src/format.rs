//! The formats that reports are written in.

use serde::Serialize;

/// A form in which results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A table for people, on stdout.
    Table,
    /// `report.json`.
    Json,
    /// `report.csv`.
    Csv,
    /// `report.md`.
    Md,
    /// `report.html`.
    Html,
    /// Charts as PNG.
    Png,
    /// Charts as SVG.
    Svg,
}

impl Format {
    /// Every format, in the order in which they are written.
    pub const ALL: [Format; 7] =
        [Format::Table, Format::Json, Format::Csv, Format::Md, Format::Html, Format::Png, Format::Svg];

    /// What a run writes when nothing is asked for.
    pub const DEFAULT: [Format; 5] = [Format::Table, Format::Json, Format::Csv, Format::Md, Format::Png];

    /// The word used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Md => "md",
            Format::Html => "html",
            Format::Png => "png",
            Format::Svg => "svg",
        }
    }

    /// The file it makes in the folder of results; `None` for the table and for charts, which make several.
    pub fn file_name(self) -> Option<&'static str> {
        match self {
            Format::Json => Some("report.json"),
            Format::Csv => Some("report.csv"),
            Format::Md => Some("report.md"),
            Format::Html => Some("report.html"),
            Format::Table | Format::Png | Format::Svg => None,
        }
    }

    /// Whether a file of that name in a folder of results is of this format.
    pub fn is_made_as(self, name: &str) -> bool {
        let is_chart = |ending| name.strip_suffix(ending).is_some_and(crate::chart::is_name);
        match self {
            Format::Png => is_chart(".png"),
            Format::Svg => is_chart(".svg"),
            _ => self.file_name() == Some(name),
        }
    }
}
