//! Builds the tables of cells and means, and selects the cells to list.

use gpubench_report::case::Family;
use std::collections::HashMap;

use gpubench_analysis::compare::Verdict;
use gpubench_analysis::compare::result::{
    Change, Comparison, Conclusion, JudgedSubject, Judgement, Mean, MeanChange,
};

use super::phrases::{self, NONE};
use crate::table::{Column, Field, Layout, Table, Tone};

/// Splits the cells into those that decide the gate or are gains, which have a line, and those that are only counted.
pub(super) fn split(comparison: &Comparison, all_cells: bool) -> (Vec<&Change>, Vec<&Change>) {
    let has_line = |cell: &&Change| match cell.verdict {
        _ if all_cells => true,
        // Across machines no cell is judged, and the user asked for the ratios.
        Verdict::NotJudged => comparison.gate.conclusion == Conclusion::RatiosOnly && cell.ratio.is_some(),
        Verdict::Faster => true,
        verdict if verdict.is_regression() => true,
        _ => cell.is_open() && !cell.is_accepted(&comparison.gate.accepted),
    };
    let (mut lines, folded): (Vec<&Change>, Vec<&Change>) = comparison.cells.iter().partition(has_line);
    let upper = |cell: &Change| cell.interval.map_or(f64::INFINITY, |[_, high]| high);
    lines.sort_by(|a, b| match (a.verdict, b.verdict) {
        (Verdict::Inconclusive, Verdict::Inconclusive) => {
            b.is_open().cmp(&a.is_open()).then(upper(b).total_cmp(&upper(a)))
        }
        (a, b) => a.cmp(&b),
    });
    (lines, folded)
}

pub(super) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        verdict if verdict.is_regression() => Tone::Worse,
        Verdict::Missing | Verdict::Inconclusive => Tone::Inconclusive,
        Verdict::Faster => Tone::Better,
        _ => Tone::Plain,
    }
}

/// A column: whether it is shown, its heading, whether it holds figures, and its fields.
type CellColumn<T> = (bool, &'static str, bool, fn(&T) -> Field);

fn table<T>(title: &str, columns: &[CellColumn<T>], items: &[&T]) -> Table {
    let shown = || columns.iter().filter(|(is_shown, ..)| *is_shown);
    let rows = items.iter().map(|item| shown().map(|(.., field)| field(item)).collect());
    Table::new(title, shown().map(|column| Column::new(column.1, column.2)).collect(), rows.collect())
}

/// Builds the table with one line per cell, without the properties in [`common`]; `with_p` adds p-values.
pub(super) fn grid(title: &str, cells: &[&Change], with_p: bool) -> Table {
    let family = Family::column(cells.iter().map(|cell| cell.cell().case.family()));
    let columns: [CellColumn<Change>; 9] = [
        (true, "verdict", false, |cell| Field { text: phrases::verdict(cell), tone: tone(cell.verdict) }),
        (true, "op", false, |cell| cell.cell().case.op.clone().into()),
        (true, "N", true, |cell| cell.cell().case.family().size_text(cell.cell().case.n).into()),
        (has_families(cells), family, family == "density", |cell| {
            cell.cell().case.family().text().unwrap_or_else(|| NONE.into()).into()
        }),
        (differ(cells, |cell| cell.cell().case.dtype), "type", false, |cell| {
            cell.cell().case.dtype.name().into()
        }),
        (true, "variant", false, |cell| format!("{}/{}", cell.cell().backend, cell.cell().variant).into()),
        (differ(cells, |cell| cell.cell().cache), "cache", false, |cell| cell.cell().cache.name().into()),
        (true, "old", true, |cell| phrases::time(cell.old.as_ref(), cell.variation_between_runs).into()),
        (true, "new", true, |cell| phrases::time(cell.new.as_ref(), cell.variation_between_runs).into()),
    ];
    let figures = figures(with_p, differ(cells, |cell| cell.threshold));
    let mut table = table(title, &[&columns[..], &figures].concat(), cells).laid_out(Layout::NarrowHeadings);
    // Lines that are too long lose the threshold, which the description of the method has too.
    table.columns.iter_mut().for_each(|column| column.rank = u8::from(column.heading == "threshold"));
    table
}

/// Returns the columns with the figures of cells or means, from the change on.
fn figures<T: JudgedSubject>(has_p: bool, has_threshold: bool) -> [CellColumn<Judgement<T>>; 5] {
    [
        (true, "change", false, |one| Field {
            text: one.change().map_or(NONE.into(), |change| change.factor),
            tone: tone(one.verdict),
        }),
        (true, "interval", false, |one| one.change().map_or(NONE.into(), |change| change.interval()).into()),
        (has_p, "p", true, |one| one.p_corrected.map_or(NONE.into(), phrases::p_value).into()),
        (true, "smallest detectable", true, |one| {
            one.smallest_detectable_change.map_or(NONE.into(), phrases::percent).into()
        }),
        (has_threshold, "threshold", true, |one| phrases::percent(one.threshold).into()),
    ]
}

/// Returns true if `value` differs between cells.
fn differ<T: PartialEq>(cells: &[&Change], value: fn(&Change) -> T) -> bool {
    cells.windows(2).any(|pair| value(pair[0]) != value(pair[1]))
}

/// Returns the properties that all cells share and that have no column: `f32, cold cache, threshold 5%`.
pub(super) fn common(cells: &[&Change]) -> Option<String> {
    let first = cells.first()?;
    let parts = [
        (differ(cells, |cell| cell.cell().case.dtype), first.cell().case.dtype.name().to_owned()),
        (differ(cells, |cell| cell.cell().cache), format!("{} cache", first.cell().cache)),
        (differ(cells, |cell| cell.threshold), format!("threshold {}", phrases::percent(first.threshold))),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(differ, _)| !differ).map(|(_, part)| part).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns whether the families of an op differ, or a shape must be named.
fn has_families(cells: &[&Change]) -> bool {
    let mut first = HashMap::new();
    cells
        .iter()
        .map(|cell| &cell.cell().case)
        .any(|case| case.shape.is_some() || *first.entry(&case.op).or_insert(case.family()) != case.family())
}

/// Builds the table of the means that changed, or of all tested means; `None` without any.
pub(super) fn mean_changes(comparison: &Comparison, all: bool) -> Option<Table> {
    let columns: [CellColumn<MeanChange>; 2] = [
        (true, "verdict", false, |mean| Field { text: phrases::verdict(mean), tone: tone(mean.verdict) }),
        (true, "group", false, |mean| mean.name().into()),
    ];
    let columns = [&columns[..], &figures(true, true)].concat();
    let is_shown = |mean: &&MeanChange| all || matches!(mean.verdict, Verdict::Slower | Verdict::Faster);
    let shown: Vec<&MeanChange> = comparison.mean_changes.iter().filter(is_shown).collect();
    let table = || table("Geometric means", &columns, &shown).laid_out(Layout::NarrowHeadings);
    (!shown.is_empty()).then(table)
}

/// Builds the table of geometric means per op, backend, element type and cache state; `None` without any.
pub(super) fn means(comparison: &Comparison) -> Option<Table> {
    let means: Vec<&Mean> = comparison.means.iter().collect();
    let first = means.first()?;
    let columns: [CellColumn<Mean>; 6] = [
        (true, "op", false, |mean| mean.op.clone().into()),
        (true, "backend", false, |mean| mean.backend.clone().into()),
        (true, "type", false, |mean| mean.dtype.name().into()),
        (means.iter().any(|mean| mean.cache != first.cache), "cache", false, |mean| mean.cache.name().into()),
        (true, "cells", true, |mean| mean.cells.to_string().into()),
        (true, "change", false, |mean| phrases::change(mean.ratio, None, 3).factor.into()),
    ];
    Some(table("Geometric means of the ratios", &columns, &means))
}
