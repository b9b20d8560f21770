//! A fleet as CSV (RFC 4180): one line per case, one column per GPU and per host, medians in seconds.

use gpubench_model::format::Makes;
use gpubench_text::csv::number;
use gpubench_text::table::{Column, Field, Table as Texts};

use super::contents::{Contents, Format};
use crate::best::Key;
use crate::finding_texts;
use crate::{Line, Table};

pub(crate) static CSV: Format = Format {
    name: "csv",
    summary: "a line per case, a column per GPU and host, medians in seconds",
    by_default: false,
    makes: Makes::Text("fleet.csv", |fleet, _| Ok(csv(&Contents::of(fleet)))),
};

/// The cases of all sides, each with the times of its GPUs and then of its hosts.
fn csv(shown: &Contents<'_>) -> String {
    let mut keys: Vec<&Key> =
        shown.tables.iter().flat_map(|table| &table.lines).map(|line| &line.key).collect();
    keys.sort_by(|a, b| a.order(b));
    keys.dedup();
    let names = ["op", "dtype", "cache", "n", "density", "seed", "variant"].map(Column::words);
    let times = shown.tables.iter().flat_map(headings).map(Column::words);
    let row = |key: &Key| {
        let name = [
            key.op.clone(),
            key.dtype.to_string(),
            key.cache.to_string(),
            key.n.to_string(),
            number(key.density),
            key.seed.to_string(),
            key.variant.clone().unwrap_or_default(),
        ];
        let figures = shown.tables.iter().flat_map(|table| fields(table, key));
        name.into_iter().chain(figures).map(Field::from).collect()
    };
    let columns = names.into_iter().chain(times).collect();
    Texts::untitled(columns, keys.into_iter().map(row).collect()).csv()
}

fn headings(table: &Table) -> Vec<String> {
    let side = finding_texts::side(table.side);
    let columns = table.columns.iter().map(|column| format!("{side} s: {}", column.name));
    columns.chain([format!("{side} fastest"), format!("{side} max/min")]).collect()
}

fn fields(table: &Table, key: &Key) -> Vec<String> {
    let found: Option<&Line> = table.lines.iter().find(|line| line.key == *key);
    let time = |column: usize| number(found.and_then(|line| Some(line.timing(column)?.median_s)));
    let fastest = found.and_then(|line| Some(table.columns[line.fastest?].name.clone()));
    let max_over_min = number(found.and_then(|line| line.max_over_min));
    (0..table.columns.len()).map(time).chain([fastest.unwrap_or_default(), max_over_min]).collect()
}
