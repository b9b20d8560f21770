//! Prepares the sweep options that several commands share: libraries, the sweep file, and flag values.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::backend::cpu;
use crate::settings::config::{self, SweepFile};
use crate::settings::options::SweepOptions;

/// Returns the options with absolute paths of their libraries.
///
/// # Errors
/// A library in the options is not usable.
pub(crate) fn with_libraries(options: &SweepOptions) -> Result<SweepOptions> {
    let blas = libraries(options.blas.as_deref().unwrap_or_default())?;
    Ok(SweepOptions { blas, ..options.clone() })
}

/// Returns the libraries in `--blas` as absolute paths; `None` if there are none.
///
/// # Errors
/// A file does not exist or is not a BLAS library.
pub(crate) fn libraries(files: &[PathBuf]) -> Result<Option<Vec<PathBuf>>> {
    let checked = files.iter().map(|file| {
        cpu::check_library(file).context("--blas")?;
        file.canonicalize().with_context(|| format!("--blas: '{}'", file.display()))
    });
    let checked: Vec<PathBuf> = checked.collect::<Result<_>>()?;
    Ok(Some(checked).filter(|files| !files.is_empty()))
}

/// The sweep that runs if the command line names neither ops nor a sweep.
const DEFAULT_SWEEP: &str = "quick";

/// Returns whether the options name neither ops nor a sweep.
pub(crate) fn names_nothing(options: &SweepOptions) -> bool {
    options.config.is_none() && options.ops.is_none()
}

/// Reads the sweep file in the options, or the default sweep if they name nothing.
pub(crate) fn sweep_file(options: &SweepOptions) -> Result<Option<SweepFile>> {
    let name = options.config.as_deref().or(names_nothing(options).then_some(DEFAULT_SWEEP));
    name.map(config::read).transpose()
}

/// Parses the value of a flag; an error names the flag.
pub(crate) fn parsed<T>(
    flag: &'static str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T>,
) -> Result<Option<T>> {
    text.map(parse).transpose().context(flag)
}
