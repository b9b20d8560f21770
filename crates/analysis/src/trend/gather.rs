//! Finds and reads the reports in folders, in order of time. It keeps times and outcomes and drops raw samples.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use gpubench_report::Side;
use gpubench_report::report::file::{FLEET_FILE_NAME, load};
use gpubench_report::report::machine;
use gpubench_report::report::{Environment, Execute, Outcome, Row};
use gpubench_text::count::{agree, and_more, counted};
use jiff::Timestamp;
use rayon::iter::Either;
use rayon::prelude::*;

use super::{FILE_NAME, IgnoredFile};
use crate::compare::runs::ReportRef;

/// Valid times in seconds; the ratios of times outside would overflow.
const VALID_TIMES: std::ops::RangeInclusive<f64> = 1e-50..=1e50;

const NAMED: usize = 3;

pub(crate) fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Counts and names the files that are not readable reports, with the reasons; `None` without any.
pub fn left_out_text(files: &[IgnoredFile]) -> Option<String> {
    // The reason starts with the path and ends with a next step for that file alone.
    let short = |file: &IgnoredFile| file.reason.split(';').next().unwrap_or_default().to_owned();
    let named = files.iter().take(NAMED).map(short).collect::<Vec<_>>().join(", ");
    let more = and_more(files.len().saturating_sub(NAMED));
    let are = agree(files.len(), "is not a readable report", "are not readable reports");
    let count = counted(files.len(), "JSON file");
    (!files.is_empty()).then(|| format!("{count} {are} ({named}{more}): correct or remove them"))
}

pub(crate) struct FoundReports {
    pub reports: Vec<DatedReport>,
    pub(crate) left_out: Vec<IgnoredFile>,
}

/// A report with its date and environment, without its samples.
pub(crate) struct DatedReport {
    pub(crate) report_ref: ReportRef,
    pub started: Timestamp,
    pub schema_version: u32,
    pub environment: Environment,
    pub rows: Vec<DatedRow>,
}

pub(crate) struct DatedRow {
    /// The row without phases; of the execution only the clock is kept.
    pub row: Row,
    pub device: String,
    /// Median and its 95 % interval in seconds, all within [`VALID_TIMES`], if it was measured.
    pub time: Option<(f64, [f64; 2])>,
}

/// Reads every `*.json` in `folders` and their subfolders, each once; a file that is named directly must be a report.
///
/// Hidden files and folders, and the JSON of a trend or a baseline, are skipped.
pub(crate) fn gather(folders: &[PathBuf]) -> Result<FoundReports> {
    let (mut files, mut seen, mut left_out) = (vec![], BTreeSet::new(), vec![]);
    for folder in folders {
        if folder.is_file() {
            load(folder)?;
        }
        walk(folder, &mut seen, &mut files, &mut left_out).with_context(|| {
            format!("cannot read {}; name a folder that contains reports of 'gpubench run'", folder.display())
        })?;
    }
    files.sort();
    let (reports, refused): (Vec<DatedReport>, Vec<IgnoredFile>) =
        files.into_par_iter().partition_map(|path| match read(&path) {
            Ok(report) => Either::Left(report),
            Err(error) => {
                let name = path.display().to_string();
                Either::Right(IgnoredFile { name, reason: format!("{error:#}") })
            }
        });
    left_out.extend(refused);
    let mut found = FoundReports { reports, left_out };
    if found.reports.is_empty() {
        let others = left_out_text(&found.left_out).map(|line| format!("; {line}")).unwrap_or_default();
        bail!(
            "no report in or below {}: create one with 'gpubench run --out {}', or name a folder that contains \
             reports{others}",
            paths(folders),
            folders[0].join("first").display()
        );
    }
    // Stable, so that equal times keep the order of their paths.
    found.reports.sort_by_key(|report| report.started);
    ignore_duplicates(&mut found);
    Ok(found)
}

/// Removes copies: files with the same start, machine and settings are the same report.
fn ignore_duplicates(found: &mut FoundReports) {
    let mut kept: Vec<DatedReport> = vec![];
    for report in found.reports.drain(..) {
        let same =
            |other: &&DatedReport| other.started == report.started && other.environment == report.environment;
        match kept.iter().rev().take_while(|other| other.started == report.started).find(same) {
            Some(first) => {
                let reason = format!("{}: the same run as {}", report.report_ref.name, first.report_ref.name);
                found.left_out.push(IgnoredFile { name: report.report_ref.name, reason });
            }
            None => kept.push(report),
        }
    }
    found.reports = kept;
}

/// Adds the JSON files below `path` that are not in `seen`. Links may lead out of it, so they are not followed.
fn walk(
    path: &Path,
    seen: &mut BTreeSet<PathBuf>,
    files: &mut Vec<PathBuf>,
    left_out: &mut Vec<IgnoredFile>,
) -> std::io::Result<()> {
    if !seen.insert(fs::canonicalize(path)?) {
        return Ok(());
    }
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        let hidden = name.as_encoded_bytes().starts_with(b".");
        let own =
            [FILE_NAME, FLEET_FILE_NAME, crate::compare::baseline::FILE_NAME].iter().any(|own| name == *own);
        let name = path.to_string_lossy();
        // A run with the format json.gz leaves its report twice.
        let json =
            name.ends_with(".json") || (name.ends_with(".json.gz") && !path.with_extension("").exists());
        if hidden || !(kind.is_dir() || (json && kind.is_file() && !own)) {
            continue;
        }
        if let Err(error) = walk(&path, seen, files, left_out) {
            let name = path.display().to_string();
            left_out.push(IgnoredFile { reason: format!("{name}: cannot be read: {error}"), name });
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<DatedReport> {
    let report = load(path)?;
    let shown = path.display();
    let environment = &report.environment;
    let started = environment.started.parse::<Timestamp>().with_context(|| shown.to_string())?;
    ensure!(!report.rows.is_empty(), "{shown}: the report has no rows; remove it, or run the sweep again");
    let report_ref = ReportRef::of(shown.to_string(), environment);
    // Refinement adds different sizes to each run, and screening samples different variants to precision, so such cells
    // have no history.
    let planned = report.rows.into_iter().filter(|row| !row.added_by_refinement && !row.screened);
    let rows = planned.map(|row| dated_row(environment, row)).collect();
    let (schema_version, environment) = (report.schema_version, report.environment);
    Ok(DatedReport { report_ref, started, schema_version, environment, rows })
}

fn dated_row(environment: &Environment, mut row: Row) -> DatedRow {
    let execute = row.execute.take();
    let time = execute.as_ref().filter(|_| row.outcome == Outcome::Measured);
    let time = time.filter(|execute| VALID_TIMES.contains(&execute.median_s)).map(|execute| {
        let (median, [low, high]) = (execute.median_s, execute.ci95_s);
        let within = |end: f64| if VALID_TIMES.contains(&end) { end } else { median };
        (median, [within(low).min(median), within(high).max(median)])
    });
    row.execute = execute.map(|execute| Execute { clock: execute.clock, ..Execute::default() });
    row.phases = None;
    // The device as its backend names it, or the CPU of the host.
    let mut states = environment.backends.iter().filter(|backend| backend.name == row.backend);
    let device = states.find_map(machine::device_name).unwrap_or(match row.side {
        Side::Cpu => machine::cpu_model(&environment.host),
        Side::Gpu => "unknown GPU",
    });
    DatedRow { device: device.to_owned(), row, time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example::{both_sides, empty, full, measured, of};
    use gpubench_report::report::{Report, file};

    fn dated(started: &str) -> Report {
        let mut report = full();
        report.environment.started = started.into();
        report
    }

    fn names(found: &FoundReports) -> Vec<&str> {
        found.reports.iter().map(|report| report.report_ref.name.rsplit_once('/').unwrap().1).collect()
    }

    #[test]
    fn reports_are_in_order_of_time_then_of_path_and_others_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        let mut other_host = dated("2026-11-21T10:00:00Z");
        other_host.environment.host.name = "other".into();
        file::save(&other_host, &at("z.json")).unwrap();
        file::save(&dated("2026-11-21T12:30:00+03:00"), &at("a/earlier.json")).unwrap();
        file::save(&dated("2026-11-21T10:00:00Z"), &at("a/b/report.json")).unwrap();
        fs::write(at("undated.json"), file::to_json(&dated("yesterday")).unwrap()).unwrap();
        fs::write(at("a/package.json"), "{}").unwrap();
        fs::write(at("a/cut.json"), "{\"schema").unwrap();
        for passed_over in ["trend.json", "baseline.json", ".hidden.json", "notes.txt"] {
            fs::write(at(passed_over), "{}").unwrap();
        }
        let found = gather(&[folder.path().into(), at("a")]).unwrap();
        assert_eq!(names(&found), ["earlier.json", "report.json", "z.json"]);
        let left_out: Vec<&str> =
            found.left_out.iter().map(|file| file.reason.rsplit_once('/').unwrap().1).collect();
        assert!(left_out[0].starts_with("cut.json: not JSON"), "{left_out:?}");
        assert!(left_out[1].starts_with("package.json: no schema_version"), "{left_out:?}");
        assert!(left_out[2].starts_with("undated.json: environment: started \"yesterday\""), "{left_out:?}");
    }

    #[test]
    fn copies_of_a_report_count_once_and_sizes_of_refinement_not_at_all() {
        let (folder, mut report) = (tempfile::tempdir().unwrap(), full());
        let planned = report.rows.len();
        report.rows.push(measured("fft", 11, "cuda", "y", 1.0));
        report.rows[planned].added_by_refinement = true;
        for name in ["a.json", "b.json"] {
            file::save(&report, &folder.path().join(name)).unwrap();
        }
        let found = gather(&[folder.path().into()]).unwrap();
        assert_eq!((names(&found), found.left_out.len()), (vec!["a.json"], 1));
        assert!(found.left_out[0].reason.contains("b.json: the same run as "), "{:?}", found.left_out);
        assert_eq!(found.reports[0].rows.len(), planned);
    }

    #[test]
    fn links_out_of_a_named_folder_are_not_followed() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        file::save(&full(), &folder.path().join("report.json")).unwrap();
        let mut elsewhere = full();
        elsewhere.environment.host.name = "other".into();
        file::save(&elsewhere, &other.path().join("b.json")).unwrap();
        for (to, link) in
            [(folder.path(), "again"), (other.path(), "other"), (&other.path().join("b.json"), "b.json")]
        {
            std::os::unix::fs::symlink(to, folder.path().join(link)).unwrap();
        }
        assert_eq!(gather(&[folder.path().into()]).unwrap().reports.len(), 1);
        // A link that is named itself is meant.
        assert_eq!(gather(&[folder.path().join("other")]).unwrap().reports.len(), 1);
    }

    #[test]
    fn a_device_is_what_its_backend_calls_it_or_the_hosts_cpu() {
        let mut report = of(both_sides("fft", 8, 1.0, 1.0));
        let devices = |report: &Report| -> Vec<String> {
            report.rows.iter().map(|row| dated_row(&report.environment, row.clone()).device).collect()
        };
        assert_eq!(devices(&report), ["Intel(R) Xeon(R) Platinum 8480C", "NVIDIA H200"]);
        report.environment.backends.clear();
        report.environment.host.cpu.clear();
        assert_eq!(devices(&report), ["unknown CPU", "unknown GPU"]);
    }

    #[test]
    fn times_and_intervals_without_a_logarithm_are_ignored() {
        let mut row = measured("fft", 8, "cpu", "x", 2.0);
        let time = |row: &Row| dated_row(&empty().environment, row.clone()).time;
        row.execute.as_mut().unwrap().ci95_s = [-1.0, 1.0];
        assert_eq!(time(&row), Some((2.0, [2.0, 2.0])));
        row.execute.as_mut().unwrap().median_s = 0.0;
        assert_eq!(time(&row), None);
    }
}
