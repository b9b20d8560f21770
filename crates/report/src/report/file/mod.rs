//! Reads report files with one-line errors, and writes files atomically.

mod content;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use content::Content;

use anyhow::{Context, anyhow, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use gpubench_text::escape::shell_word;
use gpubench_text::file::{Partial, sync_folder_of};
use gpubench_text::{control, cut};
use serde::{Deserialize, Serialize};

use super::json::ReportFormatter;
use super::sanitize::sanitize;
use super::{Report, SCHEMA_VERSION, validate};
use crate::variant::present_name;

/// Name of the report in the folder of a run.
pub const FILE_NAME: &str = "report.json";

/// Name of the report in such a folder where gzip has compressed it.
pub const COMPRESSED_NAME: &str = "report.json.gz";

/// Name of the file of several reports, in the folder of a run on several devices.
pub const FLEET_FILE_NAME: &str = "fleet.json";

/// Name of the file of finished cells, in the folder of a run that has not ended.
pub const JOURNAL_FILE_NAME: &str = "journal.jsonl";

/// Returns what to do with a folder that has the journal of a run and no report, because the run was killed; `None` for other paths.
pub fn stopped_run(path: &Path) -> Option<String> {
    let is_stopped = path.join(JOURNAL_FILE_NAME).is_file() && !is_in(path);
    is_stopped.then(|| {
        format!(
            "{} has only the {JOURNAL_FILE_NAME} of a run that was stopped: go on with gpubench run --resume {}",
            path.display(),
            shell_word(path)
        )
    })
}

/// Layouts that can be read. Fields that layout 1 lacks have defaults, and all its times are of hot caches. Layout 2 has
/// other names for some fields.
const READABLE: std::ops::RangeInclusive<u64> = 1..=SCHEMA_VERSION as u64;

/// Largest report file that is read, in bytes; the largest sweeps make files of a hundredth of it.
pub const LARGEST: u64 = 1 << 30;

/// Error for a file above [`LARGEST`], to follow its path.
pub const TOO_LARGE: &str =
    "is larger than 1 GiB, the limit for a report; give a report.json written by gpubench run";

/// Error for a fleet where one report is needed.
const FLEET: &str = "a fleet of reports, made by gpubench merge: give one of its reports, or extract one \
                     with 'gpubench show FLEET --member NAME --format json'";

/// Reads a report, which gzip may have compressed. For a folder, reads the `report.json` in it, or the `report.json.gz` of a folder that
/// has no other. Unknown keys are ignored.
///
/// # Errors
/// The file is unreadable, larger than 1 GiB or not JSON, or its layout is unknown, or it contradicts itself. The
/// message is one line that names the place and the next step.
pub fn load(path: &Path) -> anyhow::Result<Report> {
    let (named, path) = (path, locate(path));
    let shown = path.display();
    let open = if named == path { Content::open } else { Content::open_found };
    let content = open(&path, LARGEST)
        .with_context(|| format!("cannot read {shown}; give a report.json or the folder that holds one"))
        .map_err(one_line)?;
    let Some(content) = content else {
        return Err(one_line(anyhow!("{shown} {TOO_LARGE}")));
    };
    parse(&content).with_context(|| shown.to_string()).map_err(one_line)
}

/// Returns `path` itself, or the report in it if it is a folder.
pub fn locate(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let [plain, compressed] = [FILE_NAME, COMPRESSED_NAME].map(|name| path.join(name));
    if !plain.exists() && compressed.exists() { compressed } else { plain }
}

/// Returns whether there is a report in that folder.
pub fn is_in(folder: &Path) -> bool {
    folder.is_dir() && locate(folder).exists()
}

/// Writes a report as JSON atomically.
///
/// # Errors
/// The folder is missing or not writable, the disk is full or fails, or [`load`] would refuse the report.
pub fn save(report: &Report, path: &Path) -> anyhow::Result<()> {
    save_readable(report, path, |written| {
        let content = Content::open(written, LARGEST)?.context(TOO_LARGE)?;
        parse(&content).map(|_| ())
    })
}

/// Writes a report as [`save`] does without waiting for the disk or reading it again, since a journal has the rows too.
///
/// # Errors
/// The folder is missing or not writable, or the disk is full.
pub fn save_unsynced(report: &Report, path: &Path) -> anyhow::Result<()> {
    let partial = Partial::write_unsynced(path, |file| Ok(write_json(report, file)?));
    finish(path, partial.map_err(|error| unwritten(path, &error))?)
}

/// Writes a report or a document made of reports as [`to_json`] does, atomically and without a copy in memory. `read` gets
/// the path of the written file; if it fails, an older file stays.
///
/// # Errors
/// `read` fails, or the file cannot be written.
pub fn save_readable(
    value: &impl Serialize,
    path: &Path,
    read: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    ensure!(path.file_name().is_some(), "{} is not a file name", path.display());
    let partial = Partial::write_with(path, |file| Ok(write_json(value, file)?));
    let (partial, _) = partial.map_err(|error| unwritten(path, &error))?;
    read(partial.temporary_path())
        .with_context(|| format!("cannot write {}: it could not be read again", path.display()))
        .map_err(one_line)?;
    finish(path, partial)
}

fn write_json(value: &impl Serialize, mut to: impl io::Write) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut to, ReportFormatter::default()))?;
    to.write_all(b"\n").map_err(serde_json::Error::io)
}

/// Returns a report or a document made of reports as indented JSON with arrays of numbers on one line.
pub fn to_json(value: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_json(value, &mut bytes).context("cannot write the report as JSON")?;
    Ok(bytes)
}

/// Returns what [`to_json`] returns, compressed by gzip.
pub fn to_json_gz(value: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    Ok(gzip(&to_json(value)?)?)
}

/// Returns bytes compressed by gzip, without a time and a name, so that equal contents make equal files.
pub fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns the text of [`to_json`].
pub fn to_json_text(value: &impl Serialize) -> anyhow::Result<String> {
    String::from_utf8(to_json(value)?).context("cannot write the report as JSON")
}

/// Writes a file atomically, so that a reader sees the old content or the new, never a part.
///
/// # Errors
/// The folder is missing or not writable, or the disk is full; one line that names the file.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    finish(path, partial(path, bytes)?)
}

/// Writes a file as [`write_atomic`] does, piece by piece, and returns it to append to it.
///
/// # Errors
/// `content` fails, or the file cannot be written, as in [`write_atomic`].
pub fn write_atomic_open(
    path: &Path,
    content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> anyhow::Result<fs::File> {
    let (partial, file) = Partial::write_with(path, content).map_err(|error| unwritten(path, &error))?;
    finish(path, partial).map(|()| file)
}

/// A file made from a report, not yet on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name without a folder.
    pub name: String,
    /// Content of the file.
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
    let partials = paths.iter().zip(files).map(|(path, file)| partial(path, &file.bytes));
    let partials: Vec<Partial> = partials.collect::<anyhow::Result<_>>()?;
    paths.iter().zip(partials).try_for_each(|(path, partial)| finish(path, partial))?;
    Ok(paths)
}

/// Writes files as [`save_all`] does, into a folder that is made where it is missing.
///
/// # Errors
/// The folder cannot be made, or [`save_all`] fails; no folder is then left behind.
pub fn save_all_in_new(folder: &Path, files: &[File], force: bool) -> anyhow::Result<Vec<PathBuf>> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(folder)
        .and_then(|()| missing.iter().try_for_each(|folder| sync_folder_of(folder)))
        .with_context(|| format!("cannot create the folder {}; choose another with --out", folder.display()))
        .and_then(|()| save_all(folder, files, force))
        .inspect_err(|_| {
            for folder in missing {
                // The folder may not exist; the error to report is the one of writing the files.
                let _ = fs::remove_dir(folder);
            }
        })
}

fn partial(path: &Path, bytes: &[u8]) -> anyhow::Result<Partial> {
    ensure!(path.file_name().is_some(), "{} is not a file name", path.display());
    Partial::write(path, bytes).map_err(|error| unwritten(path, &error))
}

fn finish(path: &Path, partial: Partial) -> anyhow::Result<()> {
    partial.finish().map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("cannot write {}: {error}; choose another folder with --out", path.display())
}

/// The fields of a report that are read before its layout is known.
#[derive(Deserialize)]
struct Header {
    schema_version: Option<serde_json::Value>,
    fleet_version: Option<serde_json::Value>,
}

/// Parses a report from the content of its file. An error may have several lines: see [`one_line`].
pub fn parse(content: &Content) -> anyhow::Result<Report> {
    check_layout(content)?;
    let report = content.parse::<Report>().map_err(|error| {
        anyhow!(
            "the content does not match its schema_version: {}; compare it with `gpubench schema`",
            shown(&error)
        )
    })?;
    validated(report)
}

/// Validates a report and removes control characters that could drive a terminal.
///
/// # Errors
/// It contradicts itself.
pub fn validated(mut report: Report) -> anyhow::Result<Report> {
    validate::check(&report)?;
    // Layout 3 is layout 4 without shapes, and layout 2 is layout 3 under other names. Aliases of the fields have read those of fields.
    for row in &mut report.rows {
        // Earlier reports can be compared with new ones.
        for name in std::iter::once(&mut row.variant).chain(&mut row.picked) {
            *name = present_name(&row.backend, name).map_or(std::mem::take(name), str::to_owned);
        }
    }
    if [2, 3].contains(&report.schema_version) {
        report.schema_version = SCHEMA_VERSION;
    }
    sanitize(&mut report).context("the report contains text that cannot be shown; run the sweep again")?;
    Ok(report)
}

/// Refuses content that is not a JSON object, and unknown layouts.
fn check_layout(content: &Content) -> anyhow::Result<()> {
    const NO_REPORT: &str = "not a gpubench report; give a report.json written by gpubench run";
    if !content.begins_object() {
        bail!("not a JSON object: {NO_REPORT}");
    }
    let header = content.parse::<Header>().map_err(|error| match error.is_data() {
        true => anyhow!("{}: {NO_REPORT}", shown(&error)),
        false => {
            anyhow!("not JSON: {}; the file is damaged or incomplete, run the sweep again", shown(&error))
        }
    })?;
    if header.schema_version.is_none() && header.fleet_version.is_some() {
        bail!("{FLEET}");
    }
    check_version(header.schema_version.as_ref().with_context(|| format!("no schema_version: {NO_REPORT}"))?)
}

/// Refuses unknown layouts.
///
/// # Errors
/// The layout is unknown; the message names it and the known ones.
pub fn check_version(found: &serde_json::Value) -> anyhow::Result<()> {
    ensure!(
        found.as_u64().is_some_and(|found| READABLE.contains(&found)),
        "schema_version {}, but this gpubench reads {} to {}; use the version that wrote it, or run the sweep again",
        shown(found),
        READABLE.start(),
        READABLE.end()
    );
    Ok(())
}

/// Returns the text of a value, shortened for a message.
pub fn shown(found: &dyn std::fmt::Display) -> String {
    const MOST: usize = 200;
    cut::shortened(&found.to_string(), MOST)
}

/// Joins the chain of causes on one line, escapes control characters, and shortens it: its texts may come from a file.
pub fn one_line(error: anyhow::Error) -> anyhow::Error {
    const MOST: usize = 2000;
    anyhow!("{}", cut::fitted(&control::spelled_out(&format!("{error:#}")), MOST))
}

#[cfg(test)]
mod tests;
