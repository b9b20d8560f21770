//! Files of a report: reads reports with one-line errors, writes files whole or not at all. Knows no chart or table.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::Serialize;

use super::json::Layout;
use super::{Report, Row, SCHEMA_VERSION};

/// Name of the report in the folder of a run.
pub const FILE_NAME: &str = "report.json";

/// Layouts that can be read. What layout 1 lacks has defaults; all its times are of hot caches.
const READABLE: std::ops::RangeInclusive<u64> = 1..=SCHEMA_VERSION as u64;

/// Reads a report. A folder stands for the `report.json` in it; unknown keys are ignored.
///
/// # Errors
/// The file is unreadable, is no JSON, or has a layout that is not known here; one line that says where and what to do.
pub fn load(path: &Path) -> anyhow::Result<Report> {
    let path = locate(path);
    let shown = path.display();
    let bytes = fs::read(&path)
        .with_context(|| format!("cannot read {shown}; give a report.json or the folder that holds one"))
        .map_err(one_line)?;
    parse(&bytes).with_context(|| shown.to_string()).map_err(one_line)
}

/// The file that `path` stands for: itself, or the report in the folder it names.
pub fn locate(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() }
}

/// Writes a report as JSON, whole or not at all.
///
/// # Errors
/// The folder is missing or not writable, or the disk is full.
pub fn save(report: &Report, path: &Path) -> anyhow::Result<()> {
    write_atomic(path, &to_json(report)?)
}

/// A report as indented JSON, arrays of numbers on one line, with a newline at the end.
///
/// # Errors
/// None in practice: every field of a report has a JSON form.
pub fn to_json(report: &Report) -> anyhow::Result<Vec<u8>> {
    json_of(report).context("cannot write the report as JSON")
}

/// Anything as JSON with the look of a report's.
///
/// # Errors
/// A value has no JSON form.
pub fn json_of(value: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Layout::default()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a file beside `path` and renames it, so that a reader sees the old content or the new, never a part.
///
/// # Errors
/// The folder is missing or not writable, or the disk is full; one line that names the file.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let partial = partial_path(path)?;
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        discard(&[partial]);
        unwritten(path, &error)
    })
}

/// A file made from a report, not yet on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without folder.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Writes files into `folder`, which must exist; an existing file is replaced only with `force`.
///
/// No file is written when any of them cannot be.
///
/// # Errors
/// A file exists and `force` is false, or the folder cannot be written.
pub fn save_all(folder: &Path, files: &[File], force: bool) -> anyhow::Result<Vec<PathBuf>> {
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.name)).collect();
    if let Some(taken) = paths.iter().find(|path| !force && path.exists()) {
        bail!("{} exists; choose another folder with --out, or replace it with --force", taken.display());
    }
    if let Some(taken) = paths.iter().find(|path| path.is_dir()) {
        bail!("cannot write {}: it is a folder; choose another folder with --out", taken.display());
    }
    // All content is on disk under other names before any file appears.
    let mut partials: Vec<PathBuf> = vec![];
    let saved = paths
        .iter()
        .zip(files)
        .try_for_each(|(path, file)| {
            let partial = partial_path(path)?;
            partials.push(partial.clone());
            fs::write(&partial, &file.bytes).map_err(|error| unwritten(path, &error))
        })
        .and_then(|()| {
            let mut pairs = partials.iter().zip(&paths);
            pairs.try_for_each(|(partial, path)| {
                fs::rename(partial, path).map_err(|error| unwritten(path, &error))
            })
        });
    saved.inspect_err(|_| discard(&partials))?;
    Ok(paths)
}

/// Writes files as [`save_all`] does, into a folder that is made where it is missing.
///
/// # Errors
/// Those of [`save_all`], or the folder cannot be made; no folder is then left behind.
pub fn save_all_in_new(folder: &Path, files: &[File], force: bool) -> anyhow::Result<Vec<PathBuf>> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}; name another with --out", folder.display()))
        .and_then(|()| save_all(folder, files, force))
        .inspect_err(|_| {
            for folder in missing {
                // It may not have been made; what is told is why the files were not written.
                let _ = fs::remove_dir(folder);
            }
        })
}

/// Removes what is left of a failed attempt; the error that made it fail is the one to tell.
fn discard(partials: &[PathBuf]) {
    for partial in partials {
        let _ = fs::remove_file(partial);
    }
}

/// The hidden file beside `path` that takes its content until it is whole.
fn partial_path(path: &Path) -> anyhow::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| anyhow!("{} names no file", path.display()))?;
    let mut partial = std::ffi::OsString::from(".");
    partial.push(name);
    partial.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(partial))
}

fn unwritten(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("cannot write {}: {error}; choose another folder with --out", path.display())
}

fn parse(bytes: &[u8]) -> anyhow::Result<Report> {
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| {
        anyhow!("not JSON: {error}; the file is damaged or incomplete, run the sweep again")
    })?;
    match value.get("schema_version") {
        None => bail!("no schema_version: not a gpubench report; give a report.json written by gpubench run"),
        Some(found) if !found.as_u64().is_some_and(|found| READABLE.contains(&found)) => bail!(
            "schema_version {found}, but this gpubench reads {} to {}; use the version that wrote it, or run the sweep again",
            READABLE.start(),
            READABLE.end()
        ),
        Some(_) => {}
    }
    // From the text again, not from the value: errors then say the line.
    let report: Report = serde_json::from_slice(bytes).map_err(|error| {
        anyhow!("not a report of the layout it names: {error}; compare it with `gpubench schema`")
    })?;
    report.rows.iter().enumerate().try_for_each(|(index, row)| check_names(index, row))?;
    Ok(report)
}

/// Refuses names that could not be part of a file's name (ops) or would spoil a line of text (backends, variants).
fn check_names(index: usize, row: &Row) -> anyhow::Result<()> {
    let strict =
        |name: &str| name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
    let plain = |name: &str| !name.chars().any(|c| c == '/' || c.is_control());
    let names = [
        ("op", &row.case.op, strict(&row.case.op), "a-z, 0-9, '.', '_' and '-'"),
        ("backend", &row.backend, plain(&row.backend), "text without '/' and control characters"),
        ("variant", &row.variant, plain(&row.variant), "text without '/' and control characters"),
    ];
    for (key, name, is_legal, legal) in names {
        if name.is_empty() || !is_legal {
            bail!(
                "row {index}: {key} {name:?} is no name, which is {legal}; correct it or run the sweep again"
            );
        }
    }
    Ok(())
}

/// The whole chain of causes on one line.
fn one_line(error: anyhow::Error) -> anyhow::Error {
    anyhow!("{error:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        fs::write(&path, text).unwrap();
        let message = load(&path).unwrap_err().to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        message
    }

    #[test]
    fn what_was_saved_loads_equal_and_leaves_nothing_else_behind() {
        let folder = tempfile::tempdir().unwrap();
        let report = crate::report::example::full();
        save(&report, &folder.path().join(FILE_NAME)).unwrap();
        assert_eq!(load(folder.path()).unwrap(), report);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_report_of_layout_1_loads_with_hot_caches_and_without_what_it_does_not_know() {
        let report = parse(include_bytes!("testdata/layout-1.json")).unwrap();
        assert_eq!(report.schema_version, 1);
        assert_eq!(report.rows.len(), 6);
        assert!(report.rows.iter().all(|row| row.cache == crate::case::Cache::Hot));
        let timed: Vec<&super::super::Execute> =
            report.rows.iter().filter_map(|row| row.execute.as_ref()).collect();
        assert_eq!(timed.len(), 5);
        assert!(timed.iter().all(|execute| execute.grade.is_none() && execute.steady));
        assert!(report.environment.warnings.is_empty() && report.environment.host.smt.is_none());
        // Written again it keeps its layout, and reads as the same report.
        assert_eq!(parse(&to_json(&report).unwrap()).unwrap(), report);
    }

    #[test]
    fn unknown_keys_are_ignored() {
        let mut value = serde_json::to_value(crate::report::example::full()).unwrap();
        value["later"] = 1.into();
        value["rows"][0]["later"] = 1.into();
        parse(value.to_string().as_bytes()).unwrap();
    }

    #[test]
    fn broken_files_are_refused_in_one_line_that_says_where() {
        assert!(refusal("{\n\"schema_version\": 1,\n!").contains("line 3 column 1"));
        assert!(refusal("[1, 2]").contains("not a gpubench report"));
        assert!(refusal("{}").contains("no schema_version"));
        assert!(
            refusal("{\"schema_version\": 7}").contains("schema_version 7, but this gpubench reads 1 to 2")
        );
        assert!(refusal("{\"schema_version\": 0}").contains("reads 1 to 2; use the version that wrote it"));
        assert!(refusal("{\"schema_version\": 1}").contains("missing field `environment`"));
        let missing = load(Path::new("/nonexistent/report.json")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read /nonexistent/report.json"), "{missing}");
    }

    #[test]
    fn names_that_are_no_names_are_refused_in_one_line() {
        let with = |key: &str, name: &str| {
            let mut value = serde_json::to_value(crate::report::example::full()).unwrap();
            value["rows"][1][key] = name.into();
            value.to_string()
        };
        for op in ["evil/../../x", "", "MatMul", "a b", "a\nb", "é"] {
            let message = refusal(&with("op", op));
            assert!(message.contains("row 1: op ") && message.contains("correct it"), "{message}");
        }
        for key in ["backend", "variant"] {
            for name in ["a/b", "", "a\u{1b}[31m", "a\nb"] {
                assert!(refusal(&with(key, name)).contains(&format!("row 1: {key} ")), "{name:?}");
            }
            parse(with(key, "Ein Gerät, v2 (b)").as_bytes()).unwrap();
        }
        parse(with("op", "conv_2-d.nchw").as_bytes()).unwrap();
    }

    #[test]
    fn no_file_is_written_when_one_of_them_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| File { name: name.into(), bytes: "new".into() };
        let long = "n".repeat(300);
        assert!(save_all(folder.path(), &[file("a"), file(&long)], true).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::create_dir(folder.path().join("b")).unwrap();
        let message = save_all(folder.path(), &[file("a"), file("b")], true).unwrap_err().to_string();
        assert!(message.contains("it is a folder"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_that_exist_are_replaced_only_by_force_and_nothing_is_written_in_part() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| File { name: name.into(), bytes: text.into() };
        save_all(folder.path(), &[file("b", "old")], false).unwrap();
        let files = [file("a", "new"), file("b", "new")];
        assert!(save_all(folder.path(), &files, false).unwrap_err().to_string().contains("--force"));
        assert!(!folder.path().join("a").exists());
        save_all(folder.path(), &files, true).unwrap();
        assert_eq!(fs::read(folder.path().join("b")).unwrap(), b"new");
    }

    #[test]
    fn a_failed_save_names_the_file() {
        let message = save(&crate::report::example::full(), Path::new("/nonexistent/r.json")).unwrap_err();
        assert!(message.to_string().contains("/nonexistent/r.json"));
    }
}
