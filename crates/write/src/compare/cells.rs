//! Builds the tables of cells and means that the text and Markdown formats share, and selects the cells to list.

use std::collections::HashMap;

use gpubench_document::table::{Column, Field, Table, Tone};
use gpubench_report::case::density_text;

use gpubench_analysis::compare::Verdict;
use gpubench_analysis::compare::phrases::{self, NONE};
use gpubench_analysis::compare::result::{Change, Comparison, Conclusion, Mean, MeanChange};

/// Splits the cells into those with a line of their own, most severe first, and those that are only counted.
///
/// Cells that decide the gate and gains have lines; inconclusive ones are sorted by the upper end of their interval.
pub(crate) fn split(comparison: &Comparison, all_cells: bool) -> (Vec<&Change>, Vec<&Change>) {
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

/// Returns the colour of a verdict.
fn tone(verdict: Verdict) -> Tone {
    match verdict {
        verdict if verdict.is_regression() => Tone::Worse,
        Verdict::Missing | Verdict::Inconclusive => Tone::Inconclusive,
        Verdict::Faster => Tone::Better,
        _ => Tone::Plain,
    }
}

type Show = fn(&Change) -> Field;

/// Returns the columns: heading, whether they contain numbers, and their fields. `with_p` adds the p-values.
fn columns(cells: &[&Change], with_p: bool) -> Vec<(&'static str, bool, Show)> {
    let columns: [(bool, &'static str, bool, Show); 14] = [
        (true, "verdict", false, |cell| Field { text: phrases::verdict(cell), tone: tone(cell.verdict) }),
        (true, "op", false, |cell| cell.case.op.clone().into()),
        (true, "N", true, |cell| cell.case.n.to_string().into()),
        (has_densities(cells), "density", true, |cell| {
            cell.case.density.map_or(NONE.into(), density_text).into()
        }),
        (differ(cells, |cell| cell.case.dtype), "type", false, |cell| cell.case.dtype.name().into()),
        (true, "variant", false, |cell| format!("{}/{}", cell.backend, cell.variant).into()),
        (differ(cells, |cell| cell.cache), "cache", false, |cell| cell.cache.name().into()),
        (true, "old", true, |cell| phrases::time(cell.old.as_ref(), cell.variation_between_runs).into()),
        (true, "new", true, |cell| phrases::time(cell.new.as_ref(), cell.variation_between_runs).into()),
        (true, "change", false, |cell| Field {
            text: cell.ratio.map_or(NONE.into(), |ratio| phrases::change(ratio, cell.interval).factor),
            tone: tone(cell.verdict),
        }),
        (true, "interval", false, |cell| {
            cell.ratio.map_or(NONE.into(), |ratio| phrases::change(ratio, cell.interval).interval()).into()
        }),
        (with_p, "p", true, |cell| cell.p_corrected.map_or(NONE.into(), phrases::p_value).into()),
        (true, "smallest detectable", true, |cell| {
            cell.smallest_detectable_change.map_or(NONE.into(), phrases::percent).into()
        }),
        (differ(cells, |cell| cell.threshold), "threshold", true, |cell| {
            phrases::percent(cell.threshold).into()
        }),
    ];
    let shown = columns.into_iter().filter(|(is_shown, ..)| *is_shown);
    shown.map(|(_, heading, figures, show)| (heading, figures, show)).collect()
}

/// Returns true if `value` differs between cells.
fn differ<T: PartialEq>(cells: &[&Change], value: fn(&Change) -> T) -> bool {
    cells.windows(2).any(|pair| value(pair[0]) != value(pair[1]))
}

/// Returns the properties that all cells share and that have no column: `f32, cold cache, threshold 5%`; empty without
/// cells.
pub(crate) fn common(cells: &[&Change]) -> String {
    let Some(first) = cells.first() else { return String::new() };
    let parts = [
        (differ(cells, |cell| cell.case.dtype), first.case.dtype.name().to_owned()),
        (differ(cells, |cell| cell.cache), format!("{} cache", first.cache)),
        (differ(cells, |cell| cell.threshold), format!("threshold {}", phrases::percent(first.threshold))),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(differ, _)| !differ).map(|(_, part)| part).collect();
    parts.join(", ")
}

/// Returns true if an op has cells of several densities.
fn has_densities(cells: &[&Change]) -> bool {
    let mut first = HashMap::new();
    cells.iter().any(|cell| *first.entry(&cell.case.op).or_insert(cell.case.density) != cell.case.density)
}

/// Builds the table with one line per cell, for at least one cell. Properties in [`common`] have no column.
pub(crate) fn grid(title: String, cells: &[&Change], with_p: bool) -> Table {
    let columns = columns(cells, with_p);
    let rows = cells.iter().map(|cell| columns.iter().map(|(_, _, show)| show(cell)).collect()).collect();
    let columns = columns.iter().map(|(heading, figures, _)| Column::new(*heading, *figures)).collect();
    Table::new(title, columns, rows)
}

/// Builds the table of the means that changed, or of all tested means; `None` without any.
pub(crate) fn mean_changes(comparison: &Comparison, all: bool) -> Option<Table> {
    let shown = |mean: &&MeanChange| all || matches!(mean.verdict, Verdict::Slower | Verdict::Faster);
    let headings = ["verdict", "group", "change", "interval", "p", "smallest detectable", "threshold"];
    let row = |mean: &MeanChange| -> Vec<Field> {
        let change = phrases::mean_change(mean.ratio, mean.interval);
        let share = |share: Option<f64>| share.map_or(NONE.into(), phrases::percent);
        let tone = tone(mean.verdict);
        vec![
            Field { text: phrases::of_kind(mean.verdict, mean.inconclusive_reason), tone },
            mean.name().into(),
            Field { text: change.factor.clone(), tone },
            change.interval().into(),
            mean.p_corrected.map_or(NONE.into(), phrases::p_value).into(),
            share(mean.smallest_detectable_change).into(),
            share(Some(mean.threshold)).into(),
        ]
    };
    let rows: Vec<Vec<Field>> = comparison.mean_changes.iter().filter(shown).map(row).collect();
    let (words, figures) = headings.split_at(4);
    let words = words.iter().copied().map(Column::words);
    let columns = words.chain(figures.iter().copied().map(Column::figures)).collect();
    (!rows.is_empty()).then(|| Table::new("Geometric means", columns, rows))
}

/// Builds the table of geometric means per op, backend, element type and cache state; `None` without any.
pub(crate) fn means(comparison: &Comparison) -> Option<Table> {
    let means = &comparison.means;
    let first = means.first()?;
    let has_caches = means.iter().any(|mean| mean.cache != first.cache);
    let mut columns = vec![("op", false), ("backend", false), ("type", false)];
    columns.extend(has_caches.then_some(("cache", false)));
    columns.extend([("cells", true), ("change", false)]);
    let row = |mean: &Mean| {
        let mut fields: Vec<Field> =
            vec![mean.op.clone().into(), mean.backend.clone().into(), mean.dtype.name().into()];
        fields.extend(has_caches.then(|| mean.cache.name().into()));
        fields.extend([mean.cells.to_string().into(), phrases::change(mean.ratio, None).factor.into()]);
        fields
    };
    let columns = columns.into_iter().map(|(heading, figures)| Column::new(heading, figures)).collect();
    Some(Table::new("Geometric means of the ratios", columns, means.iter().map(row).collect()))
}
