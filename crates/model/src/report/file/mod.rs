//! Files of a report: reads reports with one-line errors, writes files whole or not at all. Knows no chart or table.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use gpubench_text::file::Partial;
use gpubench_text::{control, cut};
use serde::{Deserialize, Serialize};

use super::json::Layout;
use super::tame::{may_drive, tame};
use super::{Report, SCHEMA_VERSION, sound};

/// Name of the report in the folder of a run.
pub const FILE_NAME: &str = "report.json";

/// Name of the file of several reports, in the folder of a run on several devices.
pub const FLEET_FILE_NAME: &str = "fleet.json";

/// Layouts that can be read. What layout 1 lacks has defaults; all its times are of hot caches. Layout 2 has other names for
/// some fields.
const READABLE: std::ops::RangeInclusive<u64> = 1..=SCHEMA_VERSION as u64;

/// Largest file that is read as a report, in bytes; the largest sweeps make a hundredth of it.
pub const LARGEST: u64 = 1 << 30;

/// What is said of a larger one.
pub const TOO_LARGE: &str =
    "is larger than 1 GiB, the most that is read as a report; give a report.json written by gpubench run";

/// What is said of a fleet where one report is wanted.
const FLEET: &str = "a fleet of reports, made by gpubench merge: give one of the reports it was made of, or take one \
                     out with 'gpubench show FLEET --member NAME --format json'";

/// Reads a report. A folder stands for the `report.json` in it; unknown keys are ignored.
///
/// # Errors
/// The file is unreadable, larger than 1 GiB, is no JSON, has a layout that is not known here, or contradicts itself;
/// one line that says where and what to do.
pub fn load(path: &Path) -> anyhow::Result<Report> {
    let path = locate(path);
    let shown = path.display();
    let bytes = read(&path, LARGEST)
        .with_context(|| format!("cannot read {shown}; give a report.json or the folder that holds one"))
        .map_err(one_line)?;
    let Some(bytes) = bytes else {
        return Err(one_line(anyhow!("{shown} {TOO_LARGE}")));
    };
    parse(&bytes).with_context(|| shown.to_string()).map_err(one_line)
}

/// The bytes of a file; `None` when there are more than `most`, which a device or pipe may not tell beforehand.
pub fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = fs::File::open(path)?;
    if file.metadata()?.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
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

/// A report, or what was made of reports, as indented JSON, arrays of numbers on one line, with a newline at the end.
pub fn to_json(value: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Layout::default());
    value.serialize(&mut serializer).context("cannot write it as JSON")?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The text of [`to_json`].
pub fn to_json_text(value: &impl Serialize) -> anyhow::Result<String> {
    String::from_utf8(to_json(value)?).context("cannot write it as JSON")
}

/// Writes a file whole or not at all, so that a reader sees the old content or the new, never a part.
///
/// # Errors
/// The folder is missing or not writable, or the disk is full; one line that names the file.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    finish(path, partial(path, bytes)?)
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
    let partials = paths.iter().zip(files).map(|(path, file)| partial(path, &file.bytes));
    let partials: Vec<Partial> = partials.collect::<anyhow::Result<_>>()?;
    paths.iter().zip(partials).try_for_each(|(path, partial)| finish(path, partial))?;
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

fn partial(path: &Path, bytes: &[u8]) -> anyhow::Result<Partial> {
    ensure!(path.file_name().is_some(), "{} names no file", path.display());
    Partial::write(path, bytes).map_err(|error| unwritten(path, &error))
}

fn finish(path: &Path, partial: Partial) -> anyhow::Result<()> {
    partial.finish().map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("cannot write {}: {error}; choose another folder with --out", path.display())
}

/// What is read of a report before its layout is known.
#[derive(Deserialize)]
struct Header {
    schema_version: Option<serde_json::Value>,
    fleet_version: Option<serde_json::Value>,
}

/// A report from the text of its file. An error may have several lines' worth of text: see [`one_line`].
pub fn parse(bytes: &[u8]) -> anyhow::Result<Report> {
    check_layout(bytes)?;
    let report: Report = serde_json::from_slice(bytes).map_err(|error| {
        anyhow!("not a report of the layout it names: {}; compare it with `gpubench schema`", shown(&error))
    })?;
    vetted(report, may_drive(bytes))
}

/// A report as its readers may take it: sound, and unable to drive a terminal.
///
/// # Errors
/// It contradicts itself.
pub fn vetted(mut report: Report, may_drive: bool) -> anyhow::Result<Report> {
    sound::check(&report)?;
    // Layout 2 is layout 3 under other names, which the aliases of the fields have read.
    if report.schema_version == 2 {
        report.schema_version = SCHEMA_VERSION;
    }
    if may_drive { tame(&report).context("cannot be shown; run the sweep again") } else { Ok(report) }
}

/// Refuses what is no JSON object, and layouts that are not known here.
fn check_layout(bytes: &[u8]) -> anyhow::Result<()> {
    const NO_REPORT: &str = "not a gpubench report; give a report.json written by gpubench run";
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        bail!("no JSON object: {NO_REPORT}");
    }
    let header: Header = serde_json::from_slice(bytes).map_err(|error| match error.is_data() {
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

/// Refuses layouts that are not known here.
///
/// # Errors
/// One line that names the layout found and those that are known.
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

/// What a file says, cut to a length that can be read in a message.
pub fn shown(found: &dyn std::fmt::Display) -> String {
    const MOST: usize = 200;
    cut::shortened(&found.to_string(), MOST)
}

/// The whole chain of causes on one line; control characters, which a file may bring along, are escaped.
pub fn one_line(error: anyhow::Error) -> anyhow::Error {
    anyhow!("{}", control::spelled_out(&format!("{error:#}")))
}

#[cfg(test)]
mod tests;
