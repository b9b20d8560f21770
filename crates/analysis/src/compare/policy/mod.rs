//! The policy of a comparison: thresholds, and the treatment of missing cells, inconclusive cells and different machines.
//!
//! A [`Policy`] comes from a file ([`read`]), from the command line, or from the defaults; `docs/compare-policy.md`
//! documents the keys of the file.

mod file;

use std::collections::BTreeMap;

use gpubench_report::case::Cell;
use gpubench_report::earlier_name;
use gpubench_text::glob::glob;
use gpubench_text::size_filter::SizeFilter;

use crate::compare::environment::Severity;

pub use file::{parse, read};

/// The rules by which a comparison is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Probability of a false regression if nothing changed: half of it is for cells, half for geometric means.
    pub alpha: f64,
    /// Pass even if cells are missing.
    pub accept_missing: bool,
    /// Pass even if cells are inconclusive.
    pub accept_inconclusive: bool,
    /// Machines may differ: ratios are shown without verdicts.
    pub cross_machine: bool,
    /// Limits of cells for which no table sets any.
    pub defaults: Limits,
    /// Tables for some of the cells, in the order of the file; a later one overrides an earlier one, key by key.
    pub cells: Vec<CellTable>,
    /// Severities that differ from the defaults, by the name of the fact.
    pub severities: BTreeMap<String, Severity>,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            alpha: 0.01,
            accept_missing: false,
            accept_inconclusive: false,
            cross_machine: false,
            defaults: Limits::default(),
            cells: vec![],
            severities: BTreeMap::new(),
        }
    }
}

/// The limits of one cell; `None` means the default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Smallest change that counts, relative: 0.05 is 5 %.
    pub threshold: Option<f64>,
    /// Smallest change of a geometric mean that counts, relative.
    pub mean_threshold: Option<f64>,
    /// Relative standard deviation between runs that is assumed if it was not measured.
    pub variation_between_runs: Option<f64>,
    /// Largest allowed factor by which an error may grow.
    pub error_growth: Option<f64>,
    /// Whether the cell is ignored.
    pub ignored: Option<bool>,
}

impl Limits {
    pub(crate) fn is_ignored(&self) -> bool {
        self.ignored == Some(true)
    }

    /// Returns these limits, with `None` replaced by the limits of `others`.
    fn or(self, others: Limits) -> Limits {
        Limits {
            threshold: self.threshold.or(others.threshold),
            mean_threshold: self.mean_threshold.or(others.mean_threshold),
            variation_between_runs: self.variation_between_runs.or(others.variation_between_runs),
            error_growth: self.error_growth.or(others.error_growth),
            ignored: self.ignored.or(others.ignored),
        }
    }
}

/// A table for the cells that match all of its globs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellTable {
    /// Key and glob for each property that it names: `op`, `dtype`, `backend`, `variant`, `cache`.
    pub(crate) globs: Vec<(&'static str, String)>,
    pub(crate) sizes: SizeFilter,
    pub(crate) limits: Limits,
    /// File and line it comes from: `policy.toml:12`.
    pub(crate) origin: String,
}

fn property<'a>(cell: &'a Cell, key: &str) -> &'a str {
    match key {
        "op" => &cell.case.op,
        "dtype" => cell.case.dtype.name(),
        "backend" => &cell.backend,
        "cache" => cell.cache.name(),
        _ => &cell.variant,
    }
}

impl Policy {
    pub(crate) fn limits(&self, cell: &Cell) -> Limits {
        let tables = self.cells.iter().filter(|table| table.matches(cell));
        tables.fold(self.defaults, |limits, table| table.limits.or(limits))
    }

    /// Replaces the file's defaults by values of the command line. Tables describe exceptions, and keep their values.
    pub fn set_defaults(&mut self, given: Limits) {
        self.defaults = given.or(self.defaults);
    }

    /// Returns one line per table that matches none of `cells`, which may be misspelt.
    pub(crate) fn unused<'a>(&self, cells: impl Iterator<Item = &'a Cell> + Clone) -> Vec<String> {
        let unused = self.cells.iter().filter(|table| !cells.clone().any(|cell| table.matches(cell)));
        unused
            .map(|table| format!("{}: this [[cell]] table matches no cell of OLD or NEW", table.origin))
            .collect()
    }
}

impl CellTable {
    fn matches(&self, cell: &Cell) -> bool {
        self.sizes.contains(cell.case.n)
            && self.globs.iter().all(|(key, pattern)| {
                let earlier = earlier_name(&cell.backend, &cell.variant).filter(|_| *key == "variant");
                std::iter::once(property(cell, key)).chain(earlier).any(|name| glob(pattern, name))
            })
    }
}

#[cfg(test)]
mod tests;
