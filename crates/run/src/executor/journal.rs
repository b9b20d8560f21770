//! The journal of a run: a line per finished cell, on disk when the cell ends, so that a run that is killed loses none. The
//! report takes its place when the run ends.
//!
//! The first line is the run's environment, each further line a row of the report, or the environment again where a backend
//! has described itself or loaded a library since.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use gpubench_backend::host::regular;
use gpubench_report::report::{BackendState, Environment, Report, Row, SCHEMA_VERSION, check_row, file};
use gpubench_text::limited;

pub use gpubench_report::report::file::JOURNAL_FILE_NAME as FILE_NAME;

/// Next step at the end of a refusal.
const FIX: &str = "remove the file to go on with report.json, or start the run again without --resume";

pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// The backends of the last environment written.
    backends: Vec<BackendState>,
}

impl Journal {
    /// Starts the journal of a run in `folder` with the rows that it has already; an older journal stays until then.
    pub(crate) fn start(folder: &Path, report: &Report) -> anyhow::Result<Journal> {
        let path = folder.join(FILE_NAME);
        let file = file::write_atomic_open(&path, |file| {
            file.write_all(&line(&report.environment)?)?;
            report.rows.iter().try_for_each(|row| file.write_all(&line(row)?))
        })?;
        let backends = report.environment.backends.clone();
        Ok(Journal { path, file, backends })
    }

    /// Appends a row, after the environment if its backends have changed, and waits until they are on disk.
    pub(crate) fn append(&mut self, environment: &Environment, row: &Row) -> anyhow::Result<()> {
        let unwritten = || format!("cannot append to {}", self.path.display());
        let is_same = self.backends == environment.backends;
        let mut lines = if is_same { vec![] } else { line(environment)? };
        lines.extend(line(row)?);
        // One write, so that a full disk leaves at most one line that ends early.
        self.file.write_all(&lines).with_context(unwritten)?;
        self.backends.clone_from(&environment.backends);
        self.file.sync_data().with_context(unwritten)
    }

    /// Returns whether its file is still in a folder, so that what is appended can be read again.
    pub(crate) fn is_there(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
    }
}

/// Removes the journal in `folder`, if there is one, when its rows are in the report.
pub(crate) fn remove(folder: &Path) {
    // What cannot be removed is read again by a later `--resume`, which finds the same rows in it.
    let _ = fs::remove_file(folder.join(FILE_NAME));
}

fn line(value: &impl serde::Serialize) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Returns what the journal in `folder` amounts to, as [`parse`] does; `None` where there is no journal.
///
/// # Errors
/// As for [`parse`].
pub fn read(folder: &Path) -> anyhow::Result<Option<(Report, usize)>> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        return Ok(None);
    }
    let shown = || format!("cannot read {}", path.display());
    // Not a pipe, which would wait for a writer.
    let file = BufReader::new(regular::open(&path).with_context(shown)?);
    parse(file).with_context(shown).map_err(file::one_line)
}

/// Returns what a journal amounts to: the last environment with the last row of each cell, and the number of lines that are left
/// out, because they end early or contradict themselves. `None` if its first line ends early. One line at a time is in memory.
///
/// # Errors
/// It cannot be read, or is not a journal.
pub fn parse(mut journal: impl BufRead) -> anyhow::Result<Option<(Report, usize)>> {
    let mut line = vec![];
    if !read_line(&mut journal, &mut line).context(FIX)? {
        return Ok(None);
    }
    let mut environment: Environment = serde_json::from_slice(&line).map_err(|error| {
        anyhow!("its first line is not the environment of a run: {}; {FIX}", file::shown(&error))
    })?;
    let (mut rows, mut unreadable) = (vec![], 0);
    while read_line(&mut journal, &mut line).context(FIX)? {
        match serde_json::from_slice::<Row>(&line) {
            Ok(row) if check_row(&row).is_ok() => rows.push(row),
            // A disk that was full for a while may have left a line that ends early among the others.
            row => match serde_json::from_slice(&line) {
                Ok(later) if row.is_err() => environment = later,
                _ => unreadable += 1,
            },
        }
    }
    let report = Report { schema_version: SCHEMA_VERSION, environment, rows };
    let report = file::validated(latest_rows(report))?;
    Ok(Some((report, unreadable)))
}

/// Reads the next line that is not empty into `line`. Returns whether there is one; a last line that ends early is none.
fn read_line(journal: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        limited::line(journal, line, limited::JOURNAL_LINE)?;
        if line != b"\n" {
            return Ok(line.ends_with(b"\n"));
        }
    }
}

/// Keeps the last row of each cell: a run that was resumed while its disk was full may have two.
fn latest_rows(mut report: Report) -> Report {
    let mut known = HashSet::new();
    report.rows.reverse();
    report.rows.retain(|row| known.insert(row.cell().key()));
    report.rows.reverse();
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    fn row(n: u64, median_s: f64) -> Row {
        example::measured("fft", n, "cpu", "realfft", median_s)
    }

    #[test]
    fn what_was_appended_is_read_again_except_for_rows_that_make_no_sense() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap().is_none());
        let begun = example::of([row(4, 1e-3)]);
        let mut journal = Journal::start(folder.path(), &begun).unwrap();
        journal.append(&begun.environment, &row(8, 2e-3)).unwrap();
        let mut later = begun.environment.clone();
        later.backends[0]
            .libraries
            .push(gpubench_report::Finding { name: "BLAS".into(), ..Default::default() });
        journal.append(&later, &row(8, 3e-3)).unwrap();
        let mut implausible = row(32, 1e-3);
        implausible.execute.as_mut().unwrap().samples_s[0] = -1.0;
        journal.append(&later, &implausible).unwrap();
        let path = folder.path().join(FILE_NAME);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(&line(&row(16, 4e-3)).unwrap()[..40]);
        fs::write(&path, bytes).unwrap();
        let (found, unreadable) = read(folder.path()).unwrap().unwrap();
        assert_eq!((found.environment, unreadable), (later, 1));
        let times: Vec<_> = found.rows.iter().map(|row| (row.case.n, row.median_s())).collect();
        assert_eq!(times, [(4, Some(1e-3)), (8, Some(3e-3))], "the later row of a cell counts");
        assert!(journal.is_there());
        fs::remove_file(&path).unwrap();
        assert!(!journal.is_there());
        remove(folder.path());
        assert!(read(folder.path()).unwrap().is_none());
    }

    #[test]
    fn a_file_that_is_no_journal_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let long = " ".repeat(1 + limited::JOURNAL_LINE as usize);
        for text in ["[1]\n", "{}\n", "nonsense\n", &long] {
            fs::write(folder.path().join(FILE_NAME), text).unwrap();
            assert!(format!("{:#}", read(folder.path()).unwrap_err()).contains(FILE_NAME), "{text:.20}");
        }
        fs::write(folder.path().join(FILE_NAME), "{\"gpubench").unwrap();
        assert!(read(folder.path()).unwrap().is_none(), "killed while it wrote its first line");
    }
}
