//! Merges reports and the members of fleets into one fleet.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use gpubench_report::report::Report;
use gpubench_text::count::counted;

use super::identity::member_name;
use super::{FLEET_VERSION, Fleet, Member, file, names};

/// A report with its origin.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path on the command line, and the member if that is a fleet.
    pub origin: String,
    /// The name that the report has in a fleet already.
    pub name: Option<String>,
    /// The report, with its whole environment.
    pub report: Report,
}

/// Reads the reports at `paths`: report files, folders of runs, and fleets, of which every member is read.
///
/// # Errors
/// Fails with one line if a file is unreadable or neither a report nor a fleet.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources = vec![];
    for path in paths {
        let fleet = file::load(path)?;
        let several = fleet.members.len() > 1;
        sources.extend(fleet.members.into_iter().map(|Member { name, report }| {
            let path = path.display();
            let origin = if several { format!("'{name}' of {path}") } else { path.to_string() };
            let was_given = several || name != member_name(&report);
            Source { origin, name: was_given.then_some(name), report }
        }));
    }
    Ok(sources)
}

/// Merges `sources` under `names`, or under the names of their fleets, hosts and devices.
///
/// # Errors
/// Fails with one line if there is no source, two are the same report, or the names do not fit.
pub fn merge(sources: Vec<Source>, names: Option<&[String]>) -> Result<Fleet> {
    ensure!(!sources.is_empty(), "nothing to merge: name at least one report");
    for (index, source) in sources.iter().enumerate() {
        if let Some(twin) = sources[..index].iter().find(|earlier| earlier.report == source.report) {
            bail!("{} and {} are the same report: name it once", twin.origin, source.origin);
        }
    }
    let names = match names {
        Some(names) => {
            let (count, reports) = (counted(names.len(), "name"), sources.len());
            ensure!(
                names.len() == reports,
                "--names: {count} for {reports} reports: give one name per report, separated by commas"
            );
            names::check(names.iter().map(String::as_str)).context("--names")?;
            names.to_vec()
        }
        None => {
            let named = sources.iter().map(|source| (source.name.as_deref(), &source.report));
            names::names(&named.collect::<Vec<_>>())
        }
    };
    let members = names.into_iter().zip(sources);
    let members = members.map(|(name, source)| Member { name, report: source.report }).collect();
    Ok(Fleet { fleet_version: FLEET_VERSION, members })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::example;

    fn of(fleet: &Fleet) -> Vec<Source> {
        let source = |member: &Member| Source {
            origin: member.name.clone(),
            name: None,
            report: member.report.clone(),
        };
        fleet.members.iter().map(source).collect()
    }

    #[test]
    fn reports_keep_their_order_and_members_of_fleets_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let mut fleet = example::alike(3);
        assert_eq!(merge(of(&fleet), None).unwrap(), fleet);
        let third = fleet.members.pop().unwrap();
        fleet.members[0].name = "left".into();
        let (inner, single) = (folder.path().join("m.json"), folder.path().join("single.json"));
        file::save(&fleet, &inner).unwrap();
        gpubench_report::report::file::save(&third.report, &single).unwrap();
        let merged = merge(sources(&[single, inner]).unwrap(), None).unwrap();
        let names: Vec<&str> = merged.named().map(|(name, _)| name).collect();
        assert_eq!(names, ["node3 GPU 0", "left", "node2 GPU 0"]);
    }
}
