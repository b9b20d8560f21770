//! Reads the runs of each side from the paths on the command line: reports, folders of runs and baselines.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use gpubench_report::report::file::{self, FLEET_FILE_NAME};

use crate::compare::baseline::{self, Baseline};
use crate::compare::environment::{Difference, Severity, differences};
use crate::compare::{Policy, Run, Runs};

/// Reads the runs at `paths`. Each path is a `report.json`, the folder of a run, a folder of such folders, or the path
/// or name of a baseline.
///
/// # Errors
/// Fails with one line if a file is unreadable or not a report, a folder contains none, or a run is named twice.
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

/// Reads the runs at `paths` as the history of a comparison: earlier, unchanged runs of the same machine.
///
/// # Errors
/// Fails as [`runs`] does, if a run is also in OLD or NEW, or if its machine's times are not comparable.
pub fn history(paths: &[PathBuf], old: &Runs, new: &Runs, policy: &Policy) -> Result<Runs> {
    let history = runs(paths)?;
    let on_side = |run: &&Run| old.runs.iter().chain(&new.runs).any(|other| other.report == run.report);
    if let Some(run) = history.runs.iter().find(on_side) {
        bail!("--history: {} is also a run of OLD or NEW: name it once", run.name);
    }
    let differences = differences(&history, old, &policy.severities);
    if let Some(difference) = differences.iter().find(|difference| difference.severity == Severity::Block) {
        let Difference { fact, old: past, new: present, .. } = difference;
        bail!(
            "--history: {fact} is {past} in the history and {present} in OLD: name runs of the same machine"
        );
    }
    Ok(history)
}

/// Returns the paths of the reports that [`runs`] would read: files, and folders that contain one.
///
/// # Errors
/// Fails with one line if a folder is unreadable or contains no report, or a baseline is damaged.
pub fn reports(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let reports: Vec<Vec<PathBuf>> =
        paths.iter().map(|path| Ok(reports_at(path)?.0)).collect::<Result<_>>()?;
    Ok(reports.concat())
}

/// Reads both sides of a comparison.
///
/// # Errors
/// Fails as [`runs`] does, or if one of several runs is in both OLD and NEW.
pub fn sides(old: &[PathBuf], new: &[PathBuf]) -> Result<(Runs, Runs)> {
    let (old, new) = (runs(old)?, runs(new)?);
    let shared = old.runs.iter().find(|run| new.runs.iter().any(|other| other.report == run.report));
    if let Some(run) = shared.filter(|_| !old.is_same_run(&new)) {
        bail!("{} is in both OLD and NEW: name it on one side only", run.name);
    }
    Ok((old, new))
}

/// Returns the paths of the reports at `path`, and the baseline if it is one.
fn reports_at(path: &Path) -> Result<(Vec<PathBuf>, Option<Baseline>)> {
    // A name is that of a baseline if there is no such path.
    let named = Path::new(baseline::FOLDER).join(path);
    let is_name = path.components().count() == 1 && !path.exists() && named.is_dir();
    let path = if is_name { &named } else { path };
    match baseline::open(path)? {
        Some(baseline) => Ok((baseline.reports(path), Some(baseline))),
        None => Ok((runs_in(path)?, None)),
    }
}

fn runs_in(path: &Path) -> Result<Vec<PathBuf>> {
    ensure!(
        path.exists(),
        "cannot read {}: there is no such file, folder or baseline; 'gpubench baseline list' lists the baselines",
        path.display()
    );
    if !path.is_dir() || file::is_in(path) {
        return Ok(vec![path.to_owned()]);
    }
    let shown = path.display();
    // Runs of different devices are not repetitions of one run.
    ensure!(
        !path.join(FLEET_FILE_NAME).is_file(),
        "{shown} contains runs of several devices: name those of one device, such as {}",
        path.join("gpu0").display()
    );
    if let Some(message) = file::stopped_run(path) {
        bail!(message);
    }
    let inner = baseline::visible(path)?;
    let runs: Vec<PathBuf> = inner.into_iter().filter(|inner| file::is_in(inner)).collect();
    ensure!(
        !runs.is_empty(),
        "{shown} contains no {}: give the folder of a run, a folder of such folders, a report's file, or a baseline such as \
         {}/main",
        file::FILE_NAME,
        baseline::FOLDER
    );
    Ok(runs)
}
