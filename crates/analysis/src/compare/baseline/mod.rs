//! Baselines: folders of unchanged runs of one sweep, with the variation between these runs for each cell.

mod staging;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use gpubench_report::case::Cell;
use gpubench_report::report::file::{self, shown};
use gpubench_report::report::now;
use gpubench_text::{control, limited};
use serde::{Deserialize, Serialize};

use crate::compare::planning::Calibrated;
use crate::compare::result::FlatCell;
pub use staging::StagedBaseline;

/// Default folder of baselines.
pub const FOLDER: &str = "results/baselines";

/// Name of the file that makes a folder a baseline.
pub const FILE_NAME: &str = "baseline.json";

/// Version of the layout that [`Baseline::write`] writes.
const BASELINE_VERSION: u64 = 2;

/// The oldest layout that [`open`] reads. Layout 1 has other names for the values of a cell.
const OLDEST_VERSION: u64 = 1;

/// Upper bound of the values of a cell: passes on a busy machine differ by a factor of a hundred, not of a million.
const MAX_VARIATION: f64 = 1e6;

/// Next step at the end of every refusal.
const FIX: &str = "save the baseline again";

/// A baseline, without its reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub(crate) baseline_version: u64,
    /// Name of the baseline.
    pub name: String,
    /// When it was saved, RFC 3339, UTC.
    pub saved: String,
    pub(crate) gpubench_version: String,
    /// Folders of its passes, inside its own.
    pub passes: Vec<String>,
    /// The variation of each cell.
    pub cells: Vec<CellVariation>,
}

/// The variation of one cell between passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellVariation {
    /// The cell.
    #[serde(flatten, with = "FlatCell")]
    pub cell: Cell,
    /// Relative standard deviation between passes.
    #[serde(alias = "run_spread")]
    pub variation_between_runs: f64,
    /// Relative difference between the slowest and the fastest pass.
    #[serde(alias = "apart")]
    pub pass_range: f64,
}

impl Baseline {
    /// Creates a baseline from the folders of its passes and the variation of each cell.
    pub fn new(name: &str, passes: Vec<String>, cells: &[Calibrated]) -> Baseline {
        let variation = |calibrated: &Calibrated| {
            let Calibrated { cell, variation_between_runs, pass_range, .. } = calibrated.clone();
            CellVariation { cell, variation_between_runs, pass_range }
        };
        Baseline {
            baseline_version: BASELINE_VERSION,
            name: name.into(),
            saved: now().to_string(),
            gpubench_version: env!("CARGO_PKG_VERSION").into(),
            passes,
            cells: cells.iter().map(variation).collect(),
        }
    }

    /// Returns the name of each cell and its relative standard deviation between passes.
    pub fn variations(&self) -> impl Iterator<Item = (String, f64)> {
        self.cells.iter().map(|cell| (cell.cell.to_string(), cell.variation_between_runs))
    }

    /// Returns the folders of its passes, given its own folder.
    pub fn reports(&self, folder: &Path) -> Vec<PathBuf> {
        self.passes.iter().map(|pass| folder.join(pass)).collect()
    }

    /// Rejects values that `save` never writes, and passes outside the baseline's own folder.
    fn check(&self) -> Result<()> {
        let inside = |pass: &String| {
            !pass.chars().any(control::is_invisible)
                && Path::new(pass).components().all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        ensure!(
            !self.passes.is_empty() && self.passes.iter().all(inside),
            "passes must be folders next to it; {FIX}"
        );
        for cell in &self.cells {
            let figures =
                [("variation_between_runs", cell.variation_between_runs), ("pass_range", cell.pass_range)];
            if let Some((key, figure)) =
                figures.iter().find(|(_, figure)| !(0.0..MAX_VARIATION).contains(figure))
            {
                let cell = cell.cell.to_string();
                bail!(
                    "{key} of {} is {figure:e}, but must be at least 0 and below {MAX_VARIATION}; {FIX}",
                    cell.escape_debug()
                );
            }
        }
        Ok(())
    }

    fn sanitized(mut self) -> Baseline {
        let mut texts = vec![&mut self.name, &mut self.saved, &mut self.gpubench_version];
        for cell in &mut self.cells {
            texts.extend([&mut cell.cell.case.op, &mut cell.cell.backend, &mut cell.cell.variant]);
        }
        for text in texts.into_iter().filter(|text| text.chars().any(control::is_invisible)) {
            *text = control::spelled_out(text);
        }
        self
    }

    /// Rejects a baseline that lacks a report in `folder`.
    fn check_passes(&self, folder: &Path) -> Result<()> {
        for (pass, report) in self.passes.iter().zip(self.reports(folder)) {
            ensure!(report.join(file::FILE_NAME).is_file(), "{pass} contains no {}; {FIX}", file::FILE_NAME);
        }
        Ok(())
    }

    /// Writes the file that makes `folder` a baseline.
    ///
    /// # Errors
    /// Fails if the folder cannot be written to, or if [`open`] would refuse the file.
    pub fn write(&self, folder: &Path) -> Result<()> {
        file::save_readable(self, &folder.join(FILE_NAME), |written| {
            parse(&limited::bytes(written, limited::BASELINE)?)?.check_passes(folder)
        })
    }
}

/// Reads the baseline in `folder`; `None` if the folder is not a baseline.
///
/// # Errors
/// Fails with one line if its file is damaged or of a newer layout, or a pass is missing.
pub fn open(folder: &Path) -> Result<Option<Baseline>> {
    let path = folder.join(FILE_NAME);
    if !path.is_file() {
        return Ok(None);
    }
    let name = path.display().to_string();
    let text = limited::bytes(&path, limited::BASELINE)
        .map_err(|error| anyhow!("cannot read {name}: {error}; {FIX}"))?;
    let baseline = parse(&text).and_then(|baseline| baseline.check_passes(folder).map(|()| baseline));
    baseline.with_context(|| name).map(Some)
}

/// Parses the bytes of a baseline's file, without looking for its reports.
///
/// # Errors
/// It is damaged or of another layout.
pub fn parse(bytes: &[u8]) -> Result<Baseline> {
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| anyhow!("not JSON: {error}; {FIX}"))?;
    match value.get("baseline_version").and_then(serde_json::Value::as_u64) {
        Some(OLDEST_VERSION..=BASELINE_VERSION) => {}
        Some(version) => bail!(
            "baseline_version {version}, but this gpubench reads {OLDEST_VERSION} to {BASELINE_VERSION}; use the version that saved it"
        ),
        None => bail!("no baseline_version: not a baseline; {FIX}"),
    }
    let baseline: Baseline = serde_json::from_value(value)
        .map_err(|error| anyhow!("{}; {FIX}", control::spelled_out(&shown(&error))))?;
    baseline.check()?;
    Ok(baseline.sanitized())
}

/// Lists the baselines in `folder` by name, each with its own folder; damaged ones as errors. Skips hidden folders.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn list(folder: &Path) -> Result<Vec<(PathBuf, Result<Baseline>)>> {
    if !folder.exists() {
        return Ok(vec![]);
    }
    let paths = visible(folder)?.into_iter();
    Ok(paths.filter_map(|path| open(&path).transpose().map(|baseline| (path, baseline))).collect())
}

/// Lists the entries of `folder` that are not hidden, sorted.
pub(crate) fn visible(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")));
    paths.sort();
    Ok(paths)
}

/// Checks that `name` is a valid folder name.
///
/// # Errors
/// Fails if it is empty, hidden, or contains characters other than letters, digits, `.`, `_` and `-`.
pub fn check_name(name: &str) -> Result<()> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(legal) {
        bail!(
            "'{name}' is not a valid baseline name: use letters, digits, '.', '_' and '-', such as main or v1.2"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
