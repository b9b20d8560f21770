//! Reads and writes fleet files, and reads a report as a fleet of one. Members pass the same checks as single reports.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use gpubench_report::report::Report;
use gpubench_report::report::file::{self, Content, one_line, shown};
use serde::Deserialize;
use serde_json::Value;

use super::{FLEET_VERSION, Fleet, Member, names};
use crate::compare::baseline::visible;

pub use gpubench_report::report::file::FLEET_FILE_NAME as FILE_NAME;

/// Maximum size of a fleet file in bytes: 4 GiB, about a hundred reports of the largest sweeps.
pub(crate) const LARGEST: u64 = 4 << 30;

const TOO_LARGE: &str = "the fleet would be larger than 4 GiB: merge fewer reports";

/// The path that means standard input.
pub const STDIN: &str = "-";

/// Reads a fleet or a single report: a file, `report.json` or `fleet.json` in a folder, or [`STDIN`].
///
/// # Errors
/// Fails with one line if it is unreadable, too large, neither, or contains a report that [`file::load`] would reject.
pub fn load(path: &Path) -> Result<Fleet> {
    if let Some(message) = file::stopped_run(path).or_else(|| folder_of_runs(path)) {
        bail!(message);
    }
    let (named, path) = (path, locate(path));
    let is_stdin = named == Path::new(STDIN);
    let shown = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let content = if is_stdin {
        Content::of_stdin(LARGEST)
    } else if named == path {
        Content::open(&path, LARGEST)
    } else {
        Content::open_found(&path, LARGEST)
    };
    let content = content
        .with_context(|| {
            format!("cannot read {shown}; name a report.json, a merged file, or the folder of a run")
        })
        .map_err(one_line)?;
    let Some(content) = content else {
        bail!("{shown} is larger than 4 GiB, the maximum size of a fleet; merge fewer reports");
    };
    parse(&content).with_context(|| shown.clone()).map_err(one_line)
}

/// Returns the message for a folder that contains no report, but folders of runs; `None` for other paths.
fn folder_of_runs(path: &Path) -> Option<String> {
    if !path.is_dir() || locate(path).exists() {
        return None;
    }
    // Hidden folders are attempts that were given up.
    let first = visible(path).ok()?.into_iter().find(|path| file::is_in(path))?;
    let (shown, first) = (path.display(), first.display());
    Some(format!(
        "{shown} contains no {} but folders of runs: name one, such as {first}; where several are allowed, {shown}/*/ \
         names all",
        file::FILE_NAME
    ))
}

/// Returns the file to read: `path` itself, or the report or fleet in that folder.
pub fn locate(path: &Path) -> PathBuf {
    let fleet = path.join(FILE_NAME);
    if !file::is_in(path) && fleet.is_file() { fleet } else { file::locate(path) }
}

/// Serializes a fleet.
///
/// # Errors
/// Fails if the file would be too large to be read again.
pub fn to_json(fleet: &Fleet) -> Result<Vec<u8>> {
    let bytes = file::to_json(fleet)?;
    ensure!(bytes.len() as u64 <= LARGEST, TOO_LARGE);
    Ok(bytes)
}

/// Writes a fleet atomically.
///
/// # Errors
/// Fails as [`to_json`] does, or if the file cannot be written, or if [`load`] would refuse it.
pub fn save(fleet: &Fleet, path: &Path) -> Result<()> {
    file::save_readable(fleet, path, |written| {
        let content = Content::open(written, LARGEST)?.context(TOO_LARGE)?;
        parse(&content).map(|_| ())
    })
}

#[derive(Deserialize)]
struct FleetHeader {
    fleet_version: Option<Value>,
}

fn parse(content: &Content) -> Result<Fleet> {
    let header = content.begins_object().then(|| content.parse::<FleetHeader>().ok()).flatten();
    match header.and_then(|header| header.fleet_version) {
        Some(version) => parse_fleet(content, &version),
        // The parser of reports has the messages for all other files.
        None => {
            ensure!(content.length()? <= file::LARGEST, "{}", file::TOO_LARGE);
            file::parse(content).map(of_one)
        }
    }
}

/// Returns a fleet of one report.
pub fn of_one(report: Report) -> Fleet {
    let name = names::names(&[(None, &report)]).concat();
    Fleet { fleet_version: FLEET_VERSION, members: vec![Member { name, report }] }
}

fn parse_fleet(content: &Content, version: &Value) -> Result<Fleet> {
    ensure!(
        version.as_u64() == Some(FLEET_VERSION.into()),
        "fleet_version {}, but this gpubench reads {FLEET_VERSION}; use the version that wrote it, or merge again",
        shown(version)
    );
    let wrong = |error: serde_json::Error| {
        anyhow!(
            "not a valid fleet of its version: {}; compare it with `gpubench schema fleet`",
            shown(&error)
        )
    };
    let fleet = content.parse::<Fleet>().map_err(wrong)?;
    ensure!(!fleet.members.is_empty(), "the fleet has no members; merge at least one report");
    names::check(fleet.members.iter().map(|member| member.name.as_str()))?;
    let vetted = |Member { name, report }: Member| -> Result<Member> {
        let report = file::check_version(&report.schema_version.into())
            .and_then(|()| file::validated(report))
            .with_context(|| format!("member '{name}'"))?;
        Ok(Member { name, report })
    };
    let members = fleet.members.into_iter().map(vetted).collect::<Result<Vec<Member>>>()?;
    Ok(Fleet { members, ..fleet })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::example;
    use gpubench_report::report::example::full;
    use serde_json::json;

    fn refusal(value: &Value) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.json");
        std::fs::write(&path, value.to_string()).unwrap();
        let message = load(&path).unwrap_err().to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        message
    }

    #[test]
    fn a_saved_fleet_and_a_report_load_equal_by_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = example::alike(3);
        save(&fleet, &folder.path().join(FILE_NAME)).unwrap();
        assert_eq!(load(folder.path()).unwrap(), fleet);
        // A report in the same folder comes first, as it does everywhere.
        file::save(&full(), &folder.path().join(file::FILE_NAME)).unwrap();
        let of_one = load(folder.path()).unwrap();
        assert_eq!((of_one.single(), of_one.members[0].name.as_str()), (Some(&full()), "node GPU 0"));
    }

    #[test]
    fn members_pass_the_checks_of_every_report() {
        let good = serde_json::to_value(example::alike(2)).unwrap();
        type Break = fn(&mut Value);
        let breaks: [(&str, Break); 8] = [
            ("fleet_version 2, but", |v| v["fleet_version"] = json!(2)),
            ("member 'node2 GPU 0': schema_version 99", |v| {
                v["members"][1]["report"]["schema_version"] = json!(99)
            }),
            ("member 'node2 GPU 0': row 0: op", |v| {
                v["members"][1]["report"]["rows"][0]["op"] = json!("../x")
            }),
            ("compare it with `gpubench schema fleet`", |v| v["members"][0]["name"] = json!(1)),
            ("the fleet has no members", |v| v["members"] = json!([])),
            ("two members are named", |v| v["members"][1]["name"] = v["members"][0]["name"].clone()),
            ("without line breaks", |v| v["members"][1]["name"] = json!("a\u{1b}[31m")),
            ("no schema_version: not a gpubench report", |v| *v = json!({ "members": [] })),
        ];
        for (expected, change) in breaks {
            let mut value = good.clone();
            change(&mut value);
            let message = refusal(&value);
            assert!(message.contains(expected), "{expected}: {message}");
        }
        assert!(refusal(&json!([1])).contains("not a JSON object"));
    }
}
