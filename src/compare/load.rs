//! Reads the runs of a side from the paths that a user names. Knows files, not verdicts.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{Run, Runs};
use crate::baseline;
use crate::report::file;

/// The runs at `paths`: a `report.json`, a folder that holds one, a folder of such folders, or a baseline, which may be
/// named by its name alone.
///
/// # Errors
/// A file cannot be read or is no report, a folder holds none, or a run is named twice; one line.
pub fn runs(paths: &[PathBuf]) -> Result<Runs> {
    let mut all = Runs::default();
    for path in paths {
        let path = &existing(path);
        if let Some(baseline) = baseline::open(path)? {
            all.null_spread.extend(baseline.spreads());
            add(&mut all, &baseline.reports(path))?;
        } else {
            add(&mut all, &reports(path))?;
        }
    }
    for (index, run) in all.runs.iter().enumerate() {
        if let Some(twin) = all.runs[..index].iter().find(|other| other.report == run.report) {
            bail!(
                "{} and {} are the same run: runs of a side are repetitions, so name each once",
                twin.name,
                run.name
            );
        }
    }
    Ok(all)
}

/// Both sides of a comparison.
///
/// # Errors
/// As [`runs`], or a run stands on both sides among others.
pub fn sides(old: &[PathBuf], new: &[PathBuf]) -> Result<(Runs, Runs)> {
    let (old, new) = (runs(old)?, runs(new)?);
    let shared = old.runs.iter().find(|run| new.runs.iter().any(|other| other.report == run.report));
    if let Some(run) = shared.filter(|_| !old.is_same_run(&new)) {
        bail!("{} stands on both sides: name it on one", run.name);
    }
    Ok((old, new))
}

/// `path`, or the baseline of that name where there is no such path.
fn existing(path: &Path) -> PathBuf {
    let named = Path::new(baseline::FOLDER).join(path);
    let is_name = path.components().count() == 1;
    if is_name && !path.exists() && named.is_dir() { named } else { path.to_owned() }
}

/// The reports that `path` stands for; itself where it holds none, so that reading it tells what is wrong.
fn reports(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() || path.join(file::FILE_NAME).exists() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut held: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|inner| inner.join(file::FILE_NAME).is_file()).collect();
    held.sort();
    if held.is_empty() { vec![path.to_owned()] } else { held }
}

fn add(runs: &mut Runs, paths: &[PathBuf]) -> Result<()> {
    for path in paths {
        let report = file::load(path)?;
        runs.runs.push(Run { name: path.display().to_string(), report });
    }
    Ok(())
}
