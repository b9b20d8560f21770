//! Reads the runs of a side from the paths that a user names. Knows files, not verdicts.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use gpubench_model::report::file;
use gpubench_model::report::file::FLEET_FILE_NAME;

use super::{Difference, Policy, Run, Runs, Severity, environment};
use crate::baseline::{self, Baseline};

/// The runs at `paths`: a `report.json`, a folder that holds one, a folder of such folders, or a baseline, which may be
/// named by its name alone.
///
/// # Errors
/// A file cannot be read or is no report, a folder holds none, or a run is named twice; one line.
pub fn runs(paths: &[PathBuf]) -> Result<Runs> {
    let mut all = Runs::default();
    for path in paths {
        let (reports, baseline) = reports_at(path)?;
        all.baseline_variation.extend(baseline.iter().flat_map(Baseline::variations));
        for path in reports {
            all.runs.push(Run { name: path.display().to_string(), report: file::load(&path)? });
        }
    }
    for (index, run) in all.runs.iter().enumerate() {
        if let Some(twin) = all.runs[..index].iter().find(|other| other.report == run.report) {
            bail!("{} and {} are the same run: name each run once", twin.name, run.name);
        }
    }
    Ok(all)
}

/// The runs at `paths` as the history of a comparison of these sides: earlier runs of the same machine in which nothing
/// changed.
///
/// # Errors
/// As [`runs`]; a run is on a side too, or is of a machine whose times are not comparable.
pub fn history(paths: &[PathBuf], old: &Runs, new: &Runs, policy: &Policy) -> Result<Runs> {
    let history = runs(paths)?;
    let on_side = |run: &&Run| old.runs.iter().chain(&new.runs).any(|other| other.report == run.report);
    if let Some(run) = history.runs.iter().find(on_side) {
        bail!("--history: {} is also a run of OLD or NEW: name it once", run.name);
    }
    let differences = environment::differences(&history, old, &policy.severities);
    if let Some(difference) = differences.iter().find(|difference| difference.severity == Severity::Block) {
        let Difference { fact, old: past, new: present, .. } = difference;
        bail!(
            "--history: {fact} is {past} in the history and {present} in OLD: name runs of the same machine"
        );
    }
    Ok(history)
}

/// The reports that `paths` stand for as [`runs`] takes them, unread: files, and folders that hold one.
///
/// # Errors
/// A folder cannot be read or holds no report, or a baseline is damaged; one line.
pub fn reports(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = vec![];
    for path in paths {
        all.extend(reports_at(path)?.0);
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
        bail!("{} is in both OLD and NEW: name it on one side only", run.name);
    }
    Ok((old, new))
}

/// The reports that `path` stands for, and the baseline, where it is one.
fn reports_at(path: &Path) -> Result<(Vec<PathBuf>, Option<Baseline>)> {
    let path = &resolve_name(path);
    match baseline::open(path)? {
        Some(baseline) => Ok((baseline.reports(path), Some(baseline))),
        None => Ok((runs_in(path)?, None)),
    }
}

/// `path`, or the baseline of that name where there is no such path.
fn resolve_name(path: &Path) -> PathBuf {
    let named = Path::new(baseline::FOLDER).join(path);
    let is_name = path.components().count() == 1;
    if is_name && !path.exists() && named.is_dir() { named } else { path.to_owned() }
}

/// `path` itself, or the folders in it that hold a report where it is a folder without.
fn runs_in(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() || path.join(file::FILE_NAME).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let shown = path.display();
    // Its runs are of different devices, so they are no repetitions.
    ensure!(
        !path.join(FLEET_FILE_NAME).is_file(),
        "{shown} contains runs of several devices: name those of one device, such as {}",
        path.join("gpu0").display()
    );
    let inner = baseline::visible(path)?;
    let runs: Vec<PathBuf> =
        inner.iter().filter(|inner| inner.join(file::FILE_NAME).is_file()).cloned().collect();
    ensure!(!runs.is_empty(), "{shown} contains no {}: {}", file::FILE_NAME, suggestion(path, &inner));
    Ok(runs)
}

/// What was probably meant by a folder without a report that holds `inner`.
fn suggestion(path: &Path, inner: &[PathBuf]) -> String {
    let is_baseline = |path: &PathBuf| path.join(baseline::FILE_NAME).is_file();
    let hidden = path.strip_prefix(".").unwrap_or(path);
    let hidden = Path::new(baseline::FOLDER).join(hidden);
    if is_baseline(&hidden) {
        return format!("to use the baseline of that name, give {}", hidden.display());
    }
    if let Some(one) = inner.iter().find(|inner| is_baseline(inner)) {
        return format!("it contains baselines: name one, such as {}", one.display());
    }
    let is_json =
        |path: &&PathBuf| path.is_file() && path.extension().is_some_and(|extension| extension == "json");
    let json: Vec<String> = inner.iter().filter(is_json).map(|path| path.display().to_string()).collect();
    match json.as_slice() {
        [] => "give the folder of a run, a folder of such folders, or a report's file".into(),
        [one] => format!("if the file in it is a report, name that file: {one}"),
        [first, second, ..] => format!(
            "if the files in it are reports, name them: {first} {second}{}",
            if json.len() > 2 { " and so on" } else { "" }
        ),
    }
}
