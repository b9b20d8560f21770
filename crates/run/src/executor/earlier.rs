//! The rows that an earlier start of the same run has left, which a resumed run keeps.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Result, bail, ensure};
use gpubench_backend::Peaks;
use gpubench_report::Finding;
use gpubench_report::case::Cell;
use gpubench_report::report::machine::plain;
use gpubench_report::report::{BackendState, Environment, Outcome, Row, file};
use gpubench_text::count::counted;

use super::{journal, peaks};

/// Facts of the host and of the program that a resumed run must not change, by their place in the environment.
const HOST_FACTS: [(&str, &str); 9] = [
    ("/host/cpu", "CPU"),
    ("/host/cpu_identity", "CPU generation"),
    ("/host/threads", "number of CPUs"),
    ("/host/os", "operating system"),
    ("/host/name", "host name"),
    ("/gpubench_version", "version of gpubench"),
    ("/gpubench_revision", "revision of gpubench"),
    ("/build_profile", "build profile of gpubench"),
    ("/program_hash", "hash of gpubench's program file"),
];

/// Facts of a backend's description that a resumed run must not change.
const FACTS: [&str; 4] = ["name", "driver_version", "versions", "script"];

/// What an earlier start of a run left in its folder.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The environment of that start.
    pub environment: Environment,
    /// All its rows. Those that are not finished are measured again, and replaced only then.
    rows: HashMap<String, Row>,
    /// True if the user accepts rows of another machine or program in one report.
    pub accepts_changes: bool,
    /// Problem with a file that was not needed, in one line.
    pub ignored: Option<String>,
}

impl Earlier {
    /// Reads the journal and the report in `folder`. The report may be damaged where there is a journal, which has all rows.
    ///
    /// # Errors
    /// There is neither, or one that is needed cannot be read.
    pub fn load(folder: &Path) -> Result<Earlier> {
        let saved = folder.join(file::FILE_NAME);
        let saved = if saved.exists() { Some(file::load(&saved)) } else { None };
        let (journal, unreadable) = journal::read(folder)?.unzip();
        let unreadable = unreadable.unwrap_or(0);
        let mut ignored = (unreadable > 0).then(|| {
            let (path, lines) = (folder.join(journal::FILE_NAME), counted(unreadable, "unreadable line"));
            format!("{}: {lines}, whose cells are measured again", path.display())
        });
        let saved = match saved {
            Some(Err(error)) if journal.is_some() => {
                ignored = Some(format!("{error:#}; the rows are those of {}", journal::FILE_NAME));
                None
            }
            saved => saved.transpose()?,
        };
        let (environment, rows) = match (journal, saved) {
            // Of two rows of a cell, that of the journal is newer.
            (Some(journal), Some(saved)) if saved.environment.started == journal.environment.started => {
                (journal.environment, [saved.rows, journal.rows].concat())
            }
            // A report of another start is older: its journal was removed when it was saved.
            (Some(report), _) | (None, Some(report)) => (report.environment, report.rows),
            (None, None) => bail!(
                "{} has neither a {} nor a {}: name the folder of an earlier run",
                folder.display(),
                file::FILE_NAME,
                journal::FILE_NAME
            ),
        };
        let rows = rows.into_iter().map(|row| (row.cell().key(), row)).collect();
        Ok(Earlier { environment, rows, accepts_changes: false, ignored })
    }

    /// Drops the rows that `stays` refuses.
    pub fn retain(&mut self, stays: impl Fn(&Row) -> bool) {
        self.rows.retain(|_, row| stays(row));
    }

    /// Returns the rows that have a time.
    pub fn measured(&self) -> impl Iterator<Item = &Row> {
        self.rows.values().filter(|row| row.execute.is_some())
    }

    /// Returns the row of a cell, finished or not.
    pub fn row(&self, cell: &Cell) -> Option<&Row> {
        self.rows.get(&cell.key())
    }

    /// Returns the row of a cell that need not be measured again.
    pub fn finished(&self, cell: &Cell) -> Option<&Row> {
        self.row(cell).filter(|row| is_finished(row))
    }

    /// Checks that the earlier start was on this machine and with this program, unless the user accepts changes. What one of the starts did
    /// not record is no change.
    pub(crate) fn check_host(&self, now: &Environment) -> Result<()> {
        let [before, after] = [serde_json::to_value(&self.environment)?, serde_json::to_value(now)?];
        for (pointer, what) in HOST_FACTS {
            if let Some((before, after)) = before.pointer(pointer).zip(after.pointer(pointer)) {
                self.check(what, &plain(before), &plain(after))?;
            }
        }
        let names: BTreeSet<&String> =
            self.environment.variables.keys().chain(now.variables.keys()).collect();
        for name in names {
            let of = |environment: &Environment| {
                environment.variables.get(name).map_or("not set".to_owned(), |value| format!("'{value}'"))
            };
            self.check(&format!("environment variable {name}"), &of(&self.environment), &of(now))?;
        }
        Ok(())
    }

    /// Checks that the backends have the device, driver and libraries that they had, unless the user accepts changes.
    pub(crate) fn check_backends(&self, now: &[BackendState]) -> Result<()> {
        for now in now.iter().filter(|state| state.available) {
            let Some(before) = self.environment.backend(&now.name).filter(|state| state.available) else {
                continue;
            };
            for (fact, was, is) in changed(before, now) {
                self.check(&format!("{fact} of {}", now.name), &was, &is)?;
            }
        }
        Ok(())
    }

    /// Returns the peaks with which rows of this backend were compared, so that their shares stay. `None` if there are
    /// no such rows, if the backend has changed, or if a part of the measurement failed.
    pub(crate) fn peaks(&self, now: &BackendState) -> Option<Peaks> {
        let before = self.environment.backend(&now.name)?;
        let is_whole = !self.environment.warnings.iter().any(peaks::is_of_peaks);
        let has_rows = self.rows.values().any(|row| row.backend == now.name && is_finished(row));
        // Another script makes no other device.
        let is_same = changed(before, now).all(|(fact, ..)| fact == "script");
        before.peaks.clone().filter(|_| is_whole && has_rows && is_same)
    }

    /// Checks that libraries which a backend has loaded have the versions that they had, unless the user accepts changes.
    pub(crate) fn check_libraries(&self, backend: &str, now: &[Finding]) -> Result<()> {
        let before = self.environment.backend(backend).map_or(&[][..], |state| &state.libraries);
        for now in now {
            let same_name = before.iter().find(|library| library.name == now.name);
            let was = same_name.and_then(Finding::version_without_threads);
            if let (Some(was), Some(is)) = (was, now.version_without_threads()) {
                self.check(&format!("version of {}", now.name), was, is)?;
            }
        }
        Ok(())
    }

    fn check(&self, what: &str, before: &str, now: &str) -> Result<()> {
        ensure!(
            before == now || self.accepts_changes,
            "--resume: the {what} was {before} and is {now} now: start a new run with --out, or accept both in one report with --force"
        );
        Ok(())
    }
}

/// The facts that differ between two descriptions of a backend, with both values.
fn changed(
    before: &BackendState,
    now: &BackendState,
) -> impl Iterator<Item = (&'static str, String, String)> {
    FACTS.into_iter().filter_map(move |fact| {
        let [was, is] = [before, now].map(|state| state.description.get(fact).map(ToString::to_string));
        was.zip(is).filter(|(was, is)| was != is).map(|(was, is)| (fact, was, is))
    })
}

/// Returns whether a row has all its samples or a verdict. Other skipped and failed cells may succeed now.
fn is_finished(row: &Row) -> bool {
    match row.outcome {
        Outcome::Measured => !row.was_cut_short() && !row.has_ended_early(),
        Outcome::Incorrect => true,
        Outcome::Skipped | Outcome::Failed => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::measure::stopping::Reason;
    use gpubench_report::report::example;

    fn earlier() -> Earlier {
        let environment = example::full().environment;
        Earlier { environment, rows: HashMap::new(), accepts_changes: false, ignored: None }
    }

    #[test]
    fn finished_rows_are_kept_and_others_are_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Earlier::load(folder.path()).unwrap_err().to_string().contains("neither"));
        let row = |n| example::measured("fft", n, "cpu", "realfft", 1e-3);
        let mut rows = [4, 8, 16, 32].map(row);
        rows[1].execute.as_mut().unwrap().stopped = Some(Reason::EndedEarly);
        (rows[2].outcome, rows[2].execute, rows[2].reason) =
            (Outcome::Failed, None, Some("it crashed".into()));
        file::save(&example::of(rows), &folder.path().join(file::FILE_NAME)).unwrap();
        let found = Earlier::load(folder.path()).unwrap();
        let is_finished = [4, 8, 16, 32].map(|n| found.finished(&row(n).cell()).is_some());
        assert_eq!(is_finished, [true, false, false, true]);
        assert_eq!(found.row(&row(8).cell()).unwrap().case.n, 8, "kept until it is measured again");
    }

    #[test]
    fn a_damaged_report_next_to_a_journal_is_reported_and_not_needed() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join(file::FILE_NAME);
        std::fs::write(&report, "{\"rows\": [").unwrap();
        assert!(Earlier::load(folder.path()).is_err());
        let row = example::measured("fft", 4, "cpu", "realfft", 1e-3);
        let lines = [
            serde_json::to_string(&example::full().environment).unwrap(),
            serde_json::to_string(&row).unwrap(),
        ];
        std::fs::write(folder.path().join(journal::FILE_NAME), lines.join("\n") + "\n").unwrap();
        let found = Earlier::load(folder.path()).unwrap();
        assert!(found.finished(&row.cell()).is_some());
        assert!(found.ignored.unwrap().contains(file::FILE_NAME));
    }

    #[test]
    fn another_machine_or_program_is_refused_unless_the_user_accepts_it() {
        type Change = fn(&mut Environment);
        let changes: [(&str, Change); 7] = [
            ("another CPU", |e| e.host.cpu = "another CPU".into()),
            ("number of CPUs", |e| e.host.threads += 1),
            ("another system", |e| e.host.os = "another system".into()),
            ("twin", |e| e.host.name = "twin".into()),
            ("99.0.0", |e| e.gpubench_version = "99.0.0".into()),
            ("release and is debug now", |e| e.build_profile = Some("debug".into())),
            ("variable OMP_NUM_THREADS was not set and is '3' now", |e| {
                e.variables.insert("OMP_NUM_THREADS".into(), "3".into());
            }),
        ];
        for (expected, change) in changes {
            let mut before = earlier();
            let mut now = before.environment.clone();
            assert!(before.check_host(&now).is_ok());
            change(&mut now);
            let refusal = before.check_host(&now).unwrap_err().to_string();
            assert!(refusal.contains(expected) && refusal.contains("--force"), "{refusal}");
            before.accepts_changes = true;
            assert!(before.check_host(&now).is_ok());
        }
    }

    #[test]
    fn another_version_of_a_library_is_refused_and_another_library_is_not() {
        let library = |name: &str, version: &str| Finding {
            name: name.into(),
            version: Some(version.into()),
            ..Finding::default()
        };
        let mut before = earlier();
        before.environment.backends[0].libraries = vec![library("OpenBLAS", "0.3.30, 2 threads")];
        let check =
            |before: &Earlier, now| before.check_libraries(&before.environment.backends[0].name, &[now]);
        assert!(check(&before, library("OpenBLAS", "0.3.30, 1 thread")).is_ok());
        assert!(check(&before, library("MKL", "2026.0")).is_ok());
        let refusal = check(&before, library("OpenBLAS", "0.3.31, 2 threads")).unwrap_err().to_string();
        assert!(refusal.contains("version of OpenBLAS was 0.3.30 and is 0.3.31 now"), "{refusal}");
        before.accepts_changes = true;
        assert!(check(&before, library("OpenBLAS", "0.3.31, 2 threads")).is_ok());
    }

    #[test]
    fn another_device_is_refused_and_a_backend_that_was_missing_is_not() {
        let before = earlier();
        let mut now = before.environment.backends.clone();
        assert!(before.check_backends(&now).is_ok());
        now[1].description["name"] = "NVIDIA H100".into();
        assert!(before.check_backends(&now).unwrap_err().to_string().contains("NVIDIA H100"));
        now[1].available = false;
        assert!(before.check_backends(&now).is_ok());
    }
}
