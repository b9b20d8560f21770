//! Cells that share a verdict and a next step, so that a reason is told once. Knows no layout.

use crate::compare::{Change, Comparison, Doubt, Verdict};

/// Cells that share verdict, doubt and next step.
pub struct Group<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// Why they are unsure.
    pub doubt: Option<Doubt>,
    /// The next step.
    pub next: Option<&'a str>,
    /// The cells, the worst first.
    pub cells: Vec<&'a Change>,
}

impl Group<'_> {
    /// What they have in common: `slower`, `unsure (clock)`.
    pub fn name(&self) -> String {
        let doubt = self.doubt.map(|doubt| format!(" ({})", doubt.name())).unwrap_or_default();
        format!("{}{doubt}", self.verdict.name())
    }

    /// The reason: of all, or of the worst where they differ.
    pub fn reason(&self) -> String {
        let reason = self.cells.first().map_or("", |cell| &cell.reason);
        let is_shared = self.cells.iter().all(|cell| cell.reason == reason);
        if is_shared { reason.into() } else { format!("{reason}, the worst of them") }
    }
}

/// The groups of the cells that someone has to look at, regressions and unsure or missing ones, the gravest first.
pub fn groups(comparison: &Comparison) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for cell in comparison.cells.iter().filter(|cell| cell.verdict.is_regression() || cell.is_open()) {
        let (verdict, doubt, next) = (cell.verdict, cell.doubt, cell.next.as_deref());
        match groups
            .iter_mut()
            .find(|group| (group.verdict, group.doubt, group.next) == (verdict, doubt, next))
        {
            Some(group) => group.cells.push(cell),
            None => groups.push(Group { verdict, doubt, next, cells: vec![cell] }),
        }
    }
    groups.sort_by_key(|group| group.verdict);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::example;

    #[test]
    fn cells_of_one_verdict_and_next_step_are_one_group() {
        let mut comparison = example::full();
        let mut other = comparison.cells[2].clone();
        other.reason = "1.10x as long".into();
        comparison.cells.push(other);
        let found: Vec<(String, usize)> =
            groups(&comparison).iter().map(|group| (group.name(), group.cells.len())).collect();
        let expected = [
            ("newly-incorrect", 1),
            ("newly-failed", 1),
            ("slower", 2),
            ("less-accurate", 1),
            ("missing", 1),
            ("unsure (maybe-slower)", 1),
            ("unsure (clock)", 1),
            ("unsure (different)", 1),
        ];
        assert_eq!(found, expected.map(|(name, cells)| (name.to_owned(), cells)));
        assert_eq!(groups(&comparison)[2].reason(), "1.31x as long (1.28 to 1.34), the worst of them");
    }
}
