//! Loads the files of `--matrix`, and refuses ops and options that do not go with them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail, ensure};

use super::options_by_op;
use crate::backend::host::memory;
use crate::op::matrix::{self, FileMatrix};
use crate::settings::config::SweepFile;
use crate::settings::options::{Matrices, SweepOptions};

/// Loads the matrices of the command line and of the sweep file, and returns their files, as they are named there, by identity.
pub(super) fn load(cli: &SweepOptions, file: &SweepFile) -> Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for (op, asked) in options_by_op(cli, file) {
        let Some(Matrices(paths)) = &asked.matrix else { continue };
        check(&op, &asked)?;
        for path in paths {
            let loaded = matrix::load(path, memory::free_host_bytes());
            let matrix = loaded.map_err(|reason| anyhow!("--matrix: {reason}"))?;
            ensure!(
                matrix.is_symmetric || op != "solve" || asked.ops.is_none(),
                "--matrix: {} is not symmetric, as solve needs it: omit solve from --ops",
                path.display()
            );
            files.entry(matrix.identity.clone()).or_insert_with(|| path.clone());
        }
    }
    Ok(files)
}

fn check(op: &str, asked: &SweepOptions) -> Result<()> {
    ensure!(
        matrix::OPS.contains(&op),
        "--matrix: {op} takes no matrix from a file: choose --ops from {}",
        matrix::OPS.join(", ")
    );
    let others = ["--sizes", "--density", "--shape", "--batch", "--layout"];
    if let Some(option) = asked.first_given(&others) {
        bail!("--matrix takes sizes, densities and shapes from its files: omit {option}");
    }
    Ok(())
}

/// Returns the matrices that an op of a sweep is measured on: those of `asked`, and of these only symmetric ones for an op that takes
/// no others and that nobody named.
pub(super) fn of(op: &str, asked: &SweepOptions) -> Vec<&'static FileMatrix> {
    let files = asked.matrix.iter().flat_map(|matrices| &matrices.0);
    // `load` has read them.
    let all = files.filter_map(|path| matrix::load(path, None).ok());
    let mut found: Vec<&FileMatrix> = vec![];
    for matrix in all.filter(|matrix| op != "solve" || matrix.is_symmetric) {
        if found.iter().all(|known| known.identity != matrix.identity) {
            found.push(matrix);
        }
    }
    found.sort_by_key(|matrix| matrix.n());
    found
}
