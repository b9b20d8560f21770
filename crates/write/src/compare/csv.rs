//! CSV as in RFC 4180: one line per cell. Times are in seconds.

use gpubench_document::table::{Column, Field, Table};
use gpubench_report::format::Makes;
use gpubench_text::csv::number;
use gpubench_text::words::json_word;

use super::ComparisonFormat;
use super::names::names;
use crate::csv::{CASE, case_fields};
use gpubench_analysis::compare::result::Measured;
use gpubench_analysis::compare::{Change, Comparison};

pub(crate) static CSV: ComparisonFormat = ComparisonFormat {
    name: "csv",
    summary: "a line per cell with every number, times in seconds",
    by_default: false,
    makes: Makes::Text("compare.csv", |comparison, _| Ok(cells(comparison))),
};

/// A heading, and the function for its fields.
type Shown<T> = (&'static str, fn(&T) -> String);

/// The columns after the cell's name and case, in order.
const COLUMNS: &[Shown<Change>] = &[
    ("backend", |cell| cell.cell().backend.clone()),
    ("variant", |cell| cell.cell().variant.clone()),
    ("cache", |cell| cell.cell().cache.name().into()),
    ("side", |cell| cell.subject.side.name().into()),
    ("verdict", |cell| json_word(&cell.verdict)),
    ("inconclusive_reason", |cell| cell.inconclusive_reason.as_ref().map(json_word).unwrap_or_default()),
    ("reason", |cell| cell.reason.to_string()),
    ("next", |cell| cell.next.clone().unwrap_or_default()),
    ("ratio", |cell| number(cell.ratio)),
    ("ratio_low", |cell| number(cell.interval.map(|[low, _]| low))),
    ("ratio_high", |cell| number(cell.interval.map(|[_, high]| high))),
    ("p", |cell| number(cell.p)),
    ("p_corrected", |cell| number(cell.p_corrected)),
    ("p_rounds", |cell| number(cell.p_rounds)),
    ("smallest_detectable_change", |cell| number(cell.smallest_detectable_change)),
    ("variation_between_runs", |cell| number(cell.variation_between_runs)),
    ("threshold", |cell| number(Some(cell.threshold))),
];

/// The columns of each side, after those; their headings begin with `old_` or `new_`.
const FIGURES: &[Shown<Measured>] = &[
    ("runs", |side| side.runs.to_string()),
    ("rounds", |side| side.rounds.to_string()),
    ("samples", |side| side.samples.to_string()),
    ("median_s", |side| number(Some(side.median_s))),
    ("sm_mhz", |side| number(side.sm_mhz)),
    ("grade", |side| side.grade.map(|grade| grade.to_string()).unwrap_or_default()),
    ("error", |side| number(side.error.map(|error| error.value))),
    ("error_bound", |side| number(side.error.map(|error| error.bound))),
];

fn cells(comparison: &Comparison) -> String {
    let sides = ["old", "new"].into_iter();
    let sides = sides.flat_map(|side| FIGURES.iter().map(move |(figure, _)| format!("{side}_{figure}")));
    let headings = COLUMNS.iter().map(|(heading, _)| (*heading).to_owned());
    let headings =
        ["cell"].iter().chain(&CASE).map(|heading| (*heading).to_owned()).chain(headings).chain(sides);
    let fields = |(change, name): (&Change, String)| {
        let fields = COLUMNS.iter().map(|(_, field)| field(change));
        let sides = [&change.old, &change.new]
            .into_iter()
            .flat_map(|side| FIGURES.iter().map(|(_, figure)| side.as_ref().map(figure).unwrap_or_default()));
        std::iter::once(name)
            .chain(case_fields(&change.cell().case))
            .chain(fields)
            .chain(sides)
            .map(Field::from)
            .collect()
    };
    let rows = comparison.cells.iter().zip(names(comparison)).map(fields).collect();
    crate::csv::table(&Table::untitled(headings.map(Column::words).collect(), rows))
}
