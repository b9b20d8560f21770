//! What counts as a change: thresholds, and what to make of missing cells and differing machines.
//!
//! A [`Policy`] comes from a file ([`read`]), from the command line, or is the default; `docs/compare-policy.md` tells
//! the file's keys.

mod file;

use std::collections::BTreeMap;

use gpubench_model::case::Cell;
use gpubench_text::glob::glob;
use gpubench_text::size_filter::SizeFilter;
use gpubench_text::words;

use crate::environment::Severity;

pub use file::read;

/// What a comparison is judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Chance, over the whole comparison, of a false regression when nothing changed: half of it is for cells, half for
    /// geometric means.
    pub alpha: f64,
    /// Missing cells do not keep the gate from passing.
    pub accept_missing: bool,
    /// Unsure cells do not keep the gate from passing.
    pub accept_inconclusive: bool,
    /// Machines may differ: ratios are told, and nothing is concluded from them.
    pub cross_machine: bool,
    /// Limits of cells for which no table gives its own.
    pub defaults: Limits,
    /// Tables about some of the cells, in the order of the file; a later one goes before an earlier one, key by key.
    pub cells: Vec<CellTable>,
    /// How much differences of the environment matter, by the name of the fact, where not as much as by default.
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

/// What the policy says of one cell; what it leaves open has a default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The change that counts, relative: 0.05 is 5 %.
    pub threshold: Option<f64>,
    /// The change of a geometric mean that counts, relative.
    pub mean_threshold: Option<f64>,
    /// Standard deviation from run to run, relative, that is assumed where it was not measured.
    pub run_spread: Option<f64>,
    /// How many times larger an error may become.
    pub error_growth: Option<f64>,
    /// The cell is left out.
    pub ignored: bool,
}

impl Limits {
    /// These limits; those of `others` where these are open.
    fn or(self, others: Limits) -> Limits {
        Limits {
            threshold: self.threshold.or(others.threshold),
            mean_threshold: self.mean_threshold.or(others.mean_threshold),
            run_spread: self.run_spread.or(others.run_spread),
            error_growth: self.error_growth.or(others.error_growth),
            ignored: self.ignored || others.ignored,
        }
    }
}

/// A table about the cells that match all of its globs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellTable {
    /// Key and glob of each property of a cell that it names: `op`, `dtype`, `backend`, `variant`, `cache`.
    pub(crate) globs: Vec<(&'static str, String)>,
    pub(crate) sizes: SizeFilter,
    pub(crate) limits: Limits,
    /// Whether it leaves the cells out, which goes before `limits`; `None` where it does not say.
    pub(crate) ignored: Option<bool>,
    /// File and line it comes from: `policy.toml:12`.
    pub(crate) origin: String,
}

/// The property of a cell that stands under `key`.
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
        let tables = self.cells.iter().filter(|table| table.is_about(cell));
        tables.fold(self.defaults, |limits, table| Limits {
            ignored: table.ignored.unwrap_or(limits.ignored),
            ..table.limits.or(limits)
        })
    }

    /// Takes values of the command line in place of the file's defaults, key by key. Tables about some of the cells
    /// keep theirs: they say that those cells are special.
    pub fn set_defaults(&mut self, given: Limits) {
        self.defaults = given.or(self.defaults);
    }

    /// One line for each table that is about none of `cells`, with the glob that is to blame; it may be misspelt.
    pub(crate) fn idle(&self, cells: &[Cell]) -> Vec<String> {
        let idle = self.cells.iter().filter(|table| !cells.iter().any(|cell| table.is_about(cell)));
        idle.map(|table| {
            format!(
                "{}: this [[cell]] table matches no cell of OLD or NEW: {}",
                table.origin,
                table.blame(cells)
            )
        })
        .collect()
    }
}

impl CellTable {
    fn is_about(&self, cell: &Cell) -> bool {
        self.sizes.contains(cell.case.n)
            && self.globs.iter().all(|(key, pattern)| glob(pattern, property(cell, key)))
    }

    /// Why it matches none of `cells`.
    fn blame(&self, cells: &[Cell]) -> String {
        for (key, pattern) in &self.globs {
            let valid = cells.iter().map(|cell| property(cell, key));
            if let Err(error) = words::matches_some(key, &format!("{key} of these cells"), pattern, valid) {
                return error.to_string();
            }
        }
        match cells.iter().any(|cell| self.sizes.contains(cell.case.n)) {
            true => "each key matches some cell, but no cell matches all keys".into(),
            false => "no cell has such an n".into(),
        }
    }
}

#[cfg(test)]
mod tests;
