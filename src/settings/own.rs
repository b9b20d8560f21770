//! Loads the Python files among the ops, which define operations of the user's own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use super::config::SweepFile;
use super::option_types::{Ops, Sizes};
use super::options::SweepOptions;
use crate::backend::external::{interpreter, program_of_ops};
use crate::op::own;
use crate::worker::describe;

/// Loads the files that the ops of a command line or of a sweep file name, puts the names of their operations in place, and
/// returns the absolute paths of the files.
///
/// # Errors
/// There is no Python, or a file does not exist or defines no operation; in one line.
pub fn load(cli: &mut SweepOptions, file: &mut SweepFile) -> Result<Vec<PathBuf>> {
    let python = cli.python.clone().or_else(|| file.defaults.python.clone());
    let layers = || std::iter::once(&*cli).chain(&file.tables).chain([&file.defaults]);
    let given = layers().filter_map(|layer| layer.sizes.clone());
    let sizes: Vec<u64> = BTreeSet::from_iter(given.flat_map(|Sizes(sizes)| sizes)).into_iter().collect();
    let named: Vec<String> = layers().flat_map(SweepOptions::files).collect();
    let mut files: Vec<(String, PathBuf)> = vec![];
    for item in named {
        if files.iter().all(|(known, _)| *known != item) {
            let advice = "name a Python file that defines operations";
            let path =
                Path::new(&item).canonicalize().with_context(|| format!("--ops: {advice}, not '{item}'"))?;
            files.push((item, path));
        }
    }
    if files.is_empty() {
        return Ok(vec![]);
    }
    let paths: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
    let python = interpreter(python.as_deref())
        .map_err(|error| anyhow!("--ops {} needs Python: {error:#}", files[0].0))?;
    let (process, ops) = describe::described_ops(&program_of_ops(&python), &paths, &sizes)
        .map_err(|reason| anyhow!("--ops: {reason}"))?;
    process.finish();
    own::register(ops.clone()).map_err(|reason| anyhow!("--ops: {reason}"))?;
    let in_place = |layer: &mut SweepOptions| {
        let Some(Ops(names)) = &mut layer.ops else { return };
        let of_item = |item: &String| match files.iter().find(|(known, _)| known == item) {
            Some((_, path)) => ops.iter().filter(|op| op.file == *path).map(|op| op.name.clone()).collect(),
            None => vec![item.clone()],
        };
        *names = names.iter().flat_map(of_item).collect();
    };
    std::iter::once(cli).chain(&mut file.tables).chain([&mut file.defaults]).for_each(in_place);
    Ok(paths)
}
