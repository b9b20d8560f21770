//! What a command line says of a sweep, checked word by word.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use gpubench_text::pattern;
use gpubench_text::pattern::Pattern;

use super::args::{SweepArgs, YesNo};
use crate::backend::cpu;
use crate::settings::config::{self, SweepFile};
use crate::settings::devices::Devices;
use crate::settings::layer::{Layer, RunWide};
use crate::settings::resolve::Request;
use crate::settings::{sizes, words};

/// The request for a sweep on one device, with nothing said of its results.
///
/// # Errors
/// A word or value is wrong, or several devices are named.
pub fn swept(args: &SweepArgs) -> Result<Request> {
    match &args.device {
        None => swept_on(args, None),
        Some(Devices::One(device)) => swept_on(args, Some(*device)),
        Some(several) => bail!("--device {several}: only 'gpubench run' takes several devices: name one"),
    }
}

/// The request for a sweep on `device` whatever the arguments say of that.
pub fn swept_on(args: &SweepArgs, device: Option<u32>) -> Result<Request> {
    let layer = Layer {
        ops: parsed("--ops", args.ops.as_deref(), words::ops)?,
        sizes: parsed("--sizes", args.sizes.as_deref(), sizes::parse)?,
        dtypes: parsed("--dtypes", args.dtypes.as_deref(), words::dtypes)?,
        backends: parsed("--backends", args.backends.as_deref(), words::backends)?,
        variants: parsed("--variants", args.variants.as_deref(), patterns)?,
        density: args.density,
        caches: parsed("--cache", args.cache.as_deref(), words::caches)?,
        samples: args.samples,
        warmup: args.warmup,
        precision: args.precision,
        max_time_s: args.max_time,
        rounds: args.rounds,
    };
    let run = RunWide {
        seed: args.seed,
        threads: args.threads.clone(),
        pin: args.pin.then_some(true),
        blas: libraries(&args.blas)?,
        device,
        sim: args.sim.clone(),
        cell_timeout_s: args.cell_timeout,
        budget_s: args.budget,
        transfer: parsed("--transfer", args.transfer.as_deref(), words::transfer)?,
        refine: None,
        peaks: args.no_peaks.then_some(false),
        require: parsed("--require", args.require.as_deref(), words::backends)?,
        theme: None,
    };
    Ok(Request { layer, run, isolate: args.isolate == YesNo::Yes, ..Request::default() })
}

/// The libraries of `--blas`, by absolute paths; `None` if none is named.
///
/// # Errors
/// One does not exist or is no BLAS library.
pub fn libraries(files: &[PathBuf]) -> Result<Option<Vec<PathBuf>>> {
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
pub fn names_nothing(args: &SweepArgs) -> bool {
    args.config.is_none() && args.ops.is_none()
}

/// The sweep file that is asked for; the default one where nothing is.
pub fn sweep_file(args: &SweepArgs) -> Result<Option<SweepFile>> {
    let name = args.config.as_deref().or(names_nothing(args).then_some(DEFAULT_SWEEP));
    name.map(config::read).transpose()
}

/// The value of a flag, or an error that names the flag.
pub fn parsed<T>(
    flag: &'static str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T>,
) -> Result<Option<T>> {
    text.map(parse).transpose().context(flag)
}

/// The patterns of `--variants`.
pub fn patterns(text: &str) -> Result<Vec<Pattern>> {
    let patterns = pattern::parse_list(text, "--variants");
    ensure!(!patterns.is_empty(), "no variant is named: name one, or '*' for all");
    Ok(patterns)
}
