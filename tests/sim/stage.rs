//! Helpers: a script, the run it describes, and queries on its report.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gpubench::backend::{self, Options};
use gpubench::case::{Cache, Case, Cell, DType};
use gpubench::executor::{self, Finished, PeakSource, PlannedCell, RunSpec};
use gpubench::measure::sampling::Sampling;
use gpubench::observe::Silent;
use gpubench::op::OPS;
use gpubench::report::{Execute, Outcome, Report, Row, file};

/// A folder with a script, and the run it describes.
pub(crate) struct Stage {
    pub folder: tempfile::TempDir,
    pub run: RunSpec,
}

impl Stage {
    /// Every variant of `script` on `op` at each of `sizes`, float32.
    pub(crate) fn new(script: &str, op: &str, sizes: &[u64]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = plan(folder.path(), script, &[op], sizes, &[DType::F32]);
        Stage { folder, run }
    }

    /// The same, with the default sampling.
    pub(crate) fn adaptive(script: &str, op: &str, sizes: &[u64]) -> Self {
        let mut stage = Stage::new(script, op, sizes);
        stage.sample(|sampling| *sampling = Sampling::default());
        stage
    }

    /// Changes the sampling of each cell.
    pub(crate) fn sample(&mut self, change: impl Fn(&mut Sampling)) {
        self.run.cells.iter_mut().for_each(|planned| change(&mut planned.sampling));
    }

    /// Replaces each worker by this shell script.
    pub(crate) fn work_by(&mut self, script: &str) {
        let program = self.folder.path().join("worker.sh");
        std::fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.run.program = Some(program);
    }

    /// Adds a cell of variant `name`, otherwise equal to the one at `place`.
    pub(crate) fn add_variant(&mut self, place: usize, name: &str) {
        let mut added = self.run.cells[place].clone();
        added.cell.variant = name.into();
        self.run.cells.push(added);
    }

    /// Reads the report from disk.
    pub(crate) fn saved(&self) -> Report {
        file::load(&self.report_file()).unwrap_or_else(|error| panic!("{error:#}"))
    }

    pub(crate) fn report_file(&self) -> PathBuf {
        self.folder.path().join("out/report.json")
    }

    pub(crate) fn finish(&self) -> Report {
        let Finished { report, interrupted, unsaved } = executor::run(&self.run, &mut Silent).unwrap();
        assert!(!interrupted && unsaved.is_none(), "{unsaved:?}");
        report
    }
}

pub(crate) fn plan(folder: &Path, script: &str, ops: &[&str], sizes: &[u64], dtypes: &[DType]) -> RunSpec {
    let path = folder.join("script.toml");
    std::fs::write(&path, script).unwrap();
    let options = Options { sim: Some(path), ..Options::default() };
    let variants = (backend::BACKENDS.find("sim").unwrap().variants)(&options).unwrap();
    let sampling = Sampling { samples: Some(10), ..Sampling::default() };
    let mut cells = vec![];
    for op in OPS.iter().filter(|op| ops.contains(&op.name())) {
        for (&dtype, &n) in dtypes.iter().flat_map(|dtype| sizes.iter().map(move |n| (dtype, n))) {
            let case = Case { density: op.default_density(), ..Case::square(op.name(), n, dtype, 42) };
            for variant in variants.iter().filter(|variant| variant.op == op.name()) {
                let (backend, name) = ("sim".into(), variant.name.to_string());
                let cell = Cell { case: case.clone(), backend, variant: name, cache: Cache::Cold };
                cells.push(PlannedCell { cell, variant: variant.clone(), sampling, may_be_screened: false });
            }
        }
    }
    RunSpec {
        registry: backend::BACKENDS,
        externals: vec![],
        cells,
        options,
        seed: 42,
        next_sizes: None,
        peaks: PeakSource::Unwanted,
        cell_timeout: Duration::from_secs(60),
        program: Some(crate::cli::GPUBENCH.into()),
        require: vec![],
        out: Some(folder.join("out")),
        argv: vec!["gpubench".into()],
        earlier: None,
        settings: serde_json::json!({}),
    }
}

pub(crate) fn reason(row: &Row) -> &str {
    row.reason.as_deref().unwrap()
}

pub(crate) fn outcomes(report: &Report) -> Vec<Outcome> {
    report.rows.iter().map(|row| row.outcome).collect()
}

pub(crate) fn samples(report: &Report) -> Vec<Vec<f64>> {
    report.rows.iter().map(|row| row.execute.as_ref().unwrap().samples_s.clone()).collect()
}

/// Returns the timed phase of a row, which must have one.
pub(crate) fn execute(row: &Row) -> &Execute {
    assert_eq!(row.outcome, Outcome::Measured, "{}: {:?}", row.cell(), row.reason);
    row.execute.as_ref().unwrap()
}
