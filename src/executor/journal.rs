//! The report of a run while it grows: one row at a time, on disk after each.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;

use super::Run;
use crate::report::{BackendState, Report, Row, SCHEMA_VERSION, environment};

/// The rows so far, and what the report says around them.
pub struct Journal {
    start: Instant,
    report: Report,
    lines: Vec<String>,
    file: Option<PathBuf>,
}

impl Journal {
    /// Starts an empty report, of a run that began at `start`, and looks at the machine: nothing of that is left
    /// to disturb a cell.
    pub fn begin(run: &Run, start: Instant) -> Self {
        let environment = environment::collect(run.argv.clone(), run.settings.clone());
        Journal {
            start,
            report: Report { schema_version: SCHEMA_VERSION, environment, rows: vec![] },
            lines: vec![],
            file: run.out.as_ref().map(|folder| folder.join("report.json")),
        }
    }

    /// Adds a row and brings the file up to date.
    pub fn record(&mut self, row: Row, backends: Vec<BackendState>) -> anyhow::Result<()> {
        self.lines.push(serde_json::to_string(&row)?);
        self.report.rows.push(row);
        self.save(backends)
    }

    /// The row added last.
    pub fn last(&self) -> Option<&Row> {
        self.report.rows.last()
    }

    /// Brings the file up to date for the last time and hands the report over.
    pub fn finish(mut self, backends: Vec<BackendState>) -> anyhow::Result<Report> {
        self.save(backends)?;
        Ok(self.report)
    }

    fn save(&mut self, backends: Vec<BackendState>) -> anyhow::Result<()> {
        self.report.environment.backends = backends;
        self.report.environment.elapsed_s = self.start.elapsed().as_secs_f64();
        let Some(file) = &self.file else { return Ok(()) };
        let environment = serde_json::to_string_pretty(&self.report.environment)?;
        let text = format!(
            "{{\n\"schema_version\": {},\n\"environment\": {environment},\n\"rows\": [\n{}\n]\n}}\n",
            self.report.schema_version,
            self.lines.join(",\n"),
        );
        replace(file, &text)
            .with_context(|| format!("cannot write {} (choose another folder with --out)", file.display()))
    }
}

/// Replaces `file` as a whole: a reader, or a kill at any moment, finds the old text or the new one.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".report-{}.tmp", std::process::id()));
    let mut handle = fs::File::create(&temporary)?;
    handle.write_all(text.as_bytes())?;
    drop(handle);
    fs::rename(&temporary, file)
}
