//! Groups cells that share a verdict and a next step, so that each reason is shown once.

use gpubench_analysis::compare::result::{Change, Comparison, InconclusiveReason};
use gpubench_text::count::counted;
use gpubench_text::grouped::grouped;

use super::{ComparisonDetail, cells, phrases};
use crate::blocks::{Block, Remark};

const FOLDED_GROUPS: usize = 20;

const GROUPS: usize = 8;

/// Returns the reasons of worse or open cells that their numbers do not show, with the next steps.
pub(super) fn reasons(comparison: &Comparison, detail: ComparisonDetail) -> Vec<Block> {
    let mut remarks = remarks(comparison, detail);
    let more = remarks.len().saturating_sub(if detail.folds { FOLDED_GROUPS } else { GROUPS });
    remarks.truncate(remarks.len() - more);
    let more = (more > 0).then(|| {
        Block::paragraph(format!("{} not shown; --format csv lists them.", counted(more, "more reason")))
    });
    Block::remarks(remarks).into_iter().chain(more).collect()
}

/// Returns the groups that have a reason or a next step besides that of the gate, most severe first.
fn remarks(comparison: &Comparison, detail: ComparisonDetail) -> Vec<Remark> {
    let of_gate = comparison.gate.next.as_deref().unwrap_or_default();
    let is_of_gate =
        |next: &str| of_gate.strip_prefix(next).is_some_and(|more| more.is_empty() || more.starts_with("; "));
    let cells = comparison.cells.iter().filter(|cell| needs_reason(comparison, cell)).map(|cell| {
        let next = cell.next.as_deref().filter(|next| !is_of_gate(next));
        ((cell.verdict, cell.inconclusive_reason, next), cell)
    });
    let cells = cells.filter(|((.., next), cell)| next.is_some() || !reason_besides_change(cell).is_empty());
    let mut groups = grouped(cells);
    groups.sort_by_key(|((verdict, ..), _)| *verdict);
    let remark = |((verdict, inconclusive_reason, next), cells): ((_, _, Option<&str>), Vec<&Change>)| {
        let reason = reason(inconclusive_reason, &cells);
        Remark {
            kind: phrases::of_kind(verdict, inconclusive_reason),
            tone: cells::tone(verdict),
            count: cells.len(),
            text: if reason.is_empty() { phrases::NONE.into() } else { detail.fitted(&reason) },
            next: next.map(|next| detail.fitted(next)),
            ..Remark::default()
        }
    };
    groups.into_iter().map(remark).collect()
}

/// Returns the reason besides the ratios of cells, that of the first cell if reasons differ; empty without one.
fn reason(inconclusive_reason: Option<InconclusiveReason>, cells: &[&Change]) -> String {
    let reason = cells.first().map_or("", |cell| reason_besides_change(cell));
    let is_shared = cells.iter().all(|cell| reason_besides_change(cell) == reason);
    let reason = if is_shared { reason.into() } else { format!("{reason} (first cell)") };
    match inconclusive_reason {
        Some(InconclusiveReason::MaybeSlower) => format!("beyond the threshold, {reason}"),
        _ => reason,
    }
}

/// Returns the reason without the change with which it may begin, which tables have in columns.
fn reason_besides_change(cell: &Change) -> &str {
    phrases::reason_after_change(cell).unwrap_or(&cell.reason)
}

/// Returns true unless the numbers of a cell are the reason why it may be slower.
fn needs_reason(comparison: &Comparison, cell: &Change) -> bool {
    let is_beyond = cell.interval.is_some_and(|[low, _]| low > 1.0 + cell.threshold);
    let has_figures = cell.inconclusive_reason == Some(InconclusiveReason::MaybeSlower) && !is_beyond;
    cell.verdict.is_regression()
        || (cell.is_open() && !cell.is_accepted(&comparison.gate.accepted) && !has_figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::compare::example;

    fn found(comparison: &Comparison) -> Vec<Remark> {
        remarks(comparison, ComparisonDetail::default())
    }

    #[test]
    fn cells_of_one_verdict_and_next_step_are_one_group() {
        let mut comparison = example::full();
        comparison.cells.push(comparison.cells[3].clone());
        let groups = found(&comparison);
        let counts: Vec<(&str, usize)> =
            groups.iter().map(|group| (group.kind.as_str(), group.count)).collect();
        let expected = [
            ("newly incorrect", 1),
            ("newly failed", 1),
            ("less accurate", 2),
            ("missing", 1),
            ("lower clock", 1),
            ("not comparable", 1),
        ];
        assert_eq!(counts, expected);
        assert_eq!(groups[2].text, "the error is 40 times as large");
        comparison.cells.last_mut().unwrap().reason = "the error is 30 times as large".into();
        assert_eq!(found(&comparison)[2].text, "the error is 40 times as large (first cell)");
    }

    #[test]
    fn the_next_step_of_the_gate_is_not_repeated() {
        let mut comparison = example::full();
        assert_eq!(found(&comparison)[2].next, None);
        comparison.gate.next = None;
        assert_eq!(found(&comparison)[2].kind, "slower");
    }

    #[test]
    fn an_inconclusive_cell_beyond_the_threshold_has_a_reason() {
        let mut comparison = example::full();
        let cell = &mut comparison.cells[5];
        cell.interval = Some([1.06, 1.2]);
        (cell.ratio, cell.reason) = (Some(1.13), "1.13x slower (1.06 to 1.20), which chance could do".into());
        let groups = found(&comparison);
        let group = groups.iter().find(|group| group.kind == "inconclusive").unwrap();
        assert_eq!(group.text, "beyond the threshold, which chance could do");
    }
}
