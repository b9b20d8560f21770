//! The formats of a fleet. [`FORMATS`] lists them.

use crate::html::page_with;
use crate::terminal::{Screen, blocks};
use gpubench_document::fleet::FleetOverview;
use gpubench_document::table::{Column, Field, Table};
use gpubench_report::format::{self, Formats, Makes};
use gpubench_report::report::file::to_json_text;
use gpubench_report::shape::Shape;
use gpubench_text::csv::number;

use gpubench_analysis::fleet::Fleet;
use gpubench_analysis::fleet::best::LineKey;

/// A format of a fleet.
type FleetFormat = format::Format<Fleet, Screen>;

/// Every format of a fleet; the first is for people at a terminal.
pub static FORMATS: Formats<Fleet, Screen> = Formats {
    all: &[
        &FleetFormat {
            name: "table",
            summary: "times of the members side by side, and outliers",
            by_default: true,
            makes: Makes::Screen(|fleet, screen| {
                Ok(blocks(&FleetOverview::of(fleet).document().blocks, *screen))
            }),
        },
        &FleetFormat {
            name: "json",
            summary: "tables and findings, for programs",
            by_default: false,
            makes: Makes::Text("fleet-table.json", |fleet, _| to_json_text(&FleetOverview::of(fleet))),
        },
        &FleetFormat {
            name: "csv",
            summary: "a line per case, a column per GPU and host, medians in seconds",
            by_default: false,
            makes: Makes::Text("fleet.csv", |fleet, _| Ok(csv(&FleetOverview::of(fleet)))),
        },
        &FleetFormat {
            name: "md",
            summary: "the same as Markdown",
            by_default: false,
            makes: Makes::Text("fleet.md", |fleet, _| {
                Ok(crate::markdown::document(&FleetOverview::of(fleet).document()))
            }),
        },
        &FleetFormat {
            name: "html",
            summary: "one page: the same, the answer and every row of each member",
            by_default: false,
            makes: Makes::Text("fleet.html", |fleet, _| {
                let document = FleetOverview::of(fleet).document();
                Ok(page_with(&fleet.named().collect::<Vec<_>>(), &document.blocks))
            }),
        },
    ],
    refused: &[
        ("png", "png charts are files: use 'gpubench plot' to draw them"),
        ("svg", "svg charts are files: use 'gpubench plot' to draw them"),
    ],
};

/// Writes the cases of all sides as CSV (RFC 4180), each with the times of its GPUs and then of its hosts.
fn csv(shown: &FleetOverview<'_>) -> String {
    let mut keys: Vec<&LineKey> =
        shown.tables.iter().flat_map(|table| &table.lines).map(|line| &line.key).collect();
    keys.sort_by(|a, b| a.order(b));
    keys.dedup();
    let mut columns = ["op", "dtype", "cache", "n", "shape", "density", "matrix", "seed", "variant"]
        .map(Column::words)
        .to_vec();
    for table in &shown.tables {
        let side = table.side.label();
        columns
            .extend(table.columns.iter().map(|column| Column::words(format!("{side} s: {}", column.name))));
        columns.extend(["fastest", "max/min"].map(|heading| Column::words(format!("{side} {heading}"))));
    }
    let row = |key: &LineKey| -> Vec<Field> {
        let mut fields = vec![
            key.case.op.clone(),
            key.case.dtype.to_string(),
            key.cache.to_string(),
            key.case.n.to_string(),
            key.case.shape.as_ref().map(Shape::to_string).unwrap_or_default(),
            number(key.case.density),
            key.case.matrix.clone().unwrap_or_default(),
            key.case.seed.to_string(),
            key.variant.clone().unwrap_or_default(),
        ];
        for table in &shown.tables {
            let line = table.lines.iter().find(|line| line.key == *key);
            let time = |column: usize| number(line.and_then(|line| Some(line.timing(column)?.median_s)));
            fields.extend((0..table.columns.len()).map(time));
            let fastest = line.and_then(|line| Some(table.columns[line.fastest?].name.clone()));
            fields.extend([fastest.unwrap_or_default(), number(line.and_then(|line| line.max_over_min))]);
        }
        fields.into_iter().map(Field::from).collect()
    };
    crate::csv::table(&Table::untitled(columns, keys.into_iter().map(row).collect()))
}

#[cfg(test)]
mod tests;
