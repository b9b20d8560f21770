//! What the commands that run a sweep make of its options.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::backend::cpu;
use crate::settings::config::{self, SweepFile};
use crate::settings::options::SweepOptions;

/// The options with the absolute paths of their libraries.
///
/// # Errors
/// A library that is named cannot be used.
pub(crate) fn with_libraries(options: &SweepOptions) -> Result<SweepOptions> {
    let blas = libraries(options.blas.as_deref().unwrap_or_default())?;
    Ok(SweepOptions { blas, ..options.clone() })
}

/// The libraries of `--blas`, by absolute paths; `None` if none is named.
///
/// # Errors
/// One does not exist or is no BLAS library.
pub(crate) fn libraries(files: &[PathBuf]) -> Result<Option<Vec<PathBuf>>> {
    let checked = files.iter().map(|file| {
        cpu::check_library(file).context("--blas")?;
        file.canonicalize().with_context(|| format!("--blas: '{}'", file.display()))
    });
    let checked: Vec<PathBuf> = checked.collect::<Result<_>>()?;
    Ok(Some(checked).filter(|files| !files.is_empty()))
}

/// The sweep of a command line that names neither ops nor a sweep.
const DEFAULT_SWEEP: &str = "quick";

/// Whether neither ops nor a sweep are named.
pub(crate) fn names_nothing(options: &SweepOptions) -> bool {
    options.config.is_none() && options.ops.is_none()
}

/// The sweep file that is asked for; the default one where nothing is.
pub(crate) fn sweep_file(options: &SweepOptions) -> Result<Option<SweepFile>> {
    let name = options.config.as_deref().or(names_nothing(options).then_some(DEFAULT_SWEEP));
    name.map(config::read).transpose()
}

/// The value of a flag, or an error that names the flag.
pub(crate) fn parsed<T>(
    flag: &'static str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T>,
) -> Result<Option<T>> {
    text.map(parse).transpose().context(flag)
}
