//! Resolving: command line over sweep table over the file's defaults over the program's, then everything checked
//! that can be checked without a device.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use gpubench_model::format::{Unprintable, for_stdout};

use crate::backend::{BACKENDS, Options};
use crate::case::{Cache, DType};
use crate::export::FORMATS;
use crate::measure::sampling::Sampling;
use crate::op::{self, MAIN_OPS, OPS};
use crate::settings::config::{SweepFile, is_built_in};
use crate::settings::layer::{Layer, RunWide};
use crate::settings::{Destination, Format, Output, Settings, Sweep, words};

/// Seconds after which a cell is given up when nothing is asked for.
const DEFAULT_CELL_TIMEOUT_S: f64 = 300.0;

/// Seed of the operands when nothing is asked for.
pub const DEFAULT_SEED: u64 = 42;

/// What the command line asks for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What to measure.
    pub layer: Layer,
    /// Values for the whole run.
    pub run: RunWide,
    /// Folder of results, or `-` for stdout.
    pub out: Option<String>,
    /// Formats to write.
    pub formats: Option<Vec<Format>>,
    /// Whether each backend gets a worker process.
    pub isolate: bool,
    /// Whether tables follow the answer.
    pub tables: bool,
    /// Whether tables show every variant.
    pub all_variants: bool,
    /// Whether stdout takes colours.
    pub color: bool,
    /// Whether progress is kept silent.
    pub quiet: bool,
    /// Whether existing results may be replaced.
    pub force: bool,
}

impl Settings {
    /// The settings that `request` and `file` together make.
    pub fn resolve(request: Request, file: Option<SweepFile>) -> Result<Settings> {
        let config = file.as_ref().map(|file| file.name.clone());
        if let Some(file) = &file {
            check_ops(&request.layer, file)?;
        }
        let file = file.unwrap_or_default();
        let sweeps = resolve_sweeps(&request.layer, &file);
        // Whoever names sizes, or wrote the sweep, wants these and no others.
        let refines = request.layer.sizes.is_none() && is_built_in(&file.name);
        let run = request.run.over(&file.run);
        let cell_timeout_s = run.cell_timeout_s.unwrap_or(DEFAULT_CELL_TIMEOUT_S);
        let longest = sweeps.iter().map(|sweep| sweep.sampling.max_time_s).fold(0.0, f64::max);
        ensure!(
            longest < cell_timeout_s,
            "--max-time {longest} s does not fit into --cell-timeout {cell_timeout_s} s: lower the first or raise the second"
        );
        let backends: Vec<String> = BACKENDS
            .iter()
            .map(|backend| backend.name.to_owned())
            .filter(|name| sweeps.iter().any(|sweep| sweep.backends.contains(name)))
            .collect();
        let require = run.require.unwrap_or_default();
        check_required(&require, &backends)?;
        let sim_is_chosen = backends.iter().any(|name| name == "sim");
        ensure!(
            sim_is_chosen || request.run.sim.is_none(),
            "--sim has no use without the simulated device: add --backends sim"
        );
        check_script(run.sim.as_deref(), sim_is_chosen)?;
        let ops = OPS.iter().map(|op| op.name().to_owned());
        let ops = ops.filter(|name| sweeps.iter().any(|sweep| sweep.op == *name)).collect();
        let dtypes = DType::ALL.iter().copied();
        let dtypes = dtypes.filter(|dtype| sweeps.iter().any(|sweep| sweep.dtypes.contains(dtype))).collect();
        let pin = run.pin.unwrap_or(false);
        ensure!(
            !pin || cfg!(target_os = "linux"),
            "--pin: this system lets no thread be bound to a processor; leave it out"
        );
        let threads = run.threads.unwrap_or_default();
        Ok(Settings {
            config,
            sweeps,
            seed: run.seed.unwrap_or(DEFAULT_SEED),
            options: Options {
                threads: threads.most,
                pin,
                library: None,
                blas: run.blas.unwrap_or_default(),
                device: run.device.unwrap_or(0),
                transfer: run.transfer.unwrap_or_default(),
                sim: run.sim.filter(|_| sim_is_chosen),
                ops,
                dtypes,
            },
            fewer_threads: threads.fewer,
            backends,
            require,
            cell_timeout_s,
            budget_s: run.budget_s,
            refine: run.refine.unwrap_or(refines),
            peaks: run.peaks.unwrap_or(true),
            isolate: request.isolate,
            output: Output {
                destination: destination(request.out.as_deref(), request.formats.as_deref())?,
                formats: request.formats.unwrap_or_else(|| FORMATS.defaults()),
                tables: request.tables,
                all_variants: request.all_variants,
                color: request.color,
                quiet: request.quiet,
                force: request.force,
                theme: run.theme.unwrap_or_default(),
            },
        })
    }
}

/// One sweep an op of a table. Ops named on the command line choose among the file's tables, which keep their
/// values; an op that no table has is measured by the file's defaults, and a table without ops is about all.
fn resolve_sweeps(cli: &Layer, file: &SweepFile) -> Vec<Sweep> {
    let main_ops = || MAIN_OPS.map(str::to_owned).to_vec();
    let whole = [Layer::default()];
    let tables = if file.tables.is_empty() { &whole[..] } else { &file.tables[..] };
    let mut sweeps = Vec::new();
    let mut left: Vec<String> = cli.ops.clone().unwrap_or_default();
    for table in tables {
        let below = table.over(&file.defaults);
        let ops = below.ops.clone().or_else(|| cli.ops.clone()).unwrap_or_else(main_ops);
        let wanted = ops.iter().filter(|op| cli.ops.as_ref().is_none_or(|named| named.contains(op)));
        sweeps.extend(wanted.map(|op| resolve_sweep(op, &cli.over(&below))));
        left.retain(|op| !ops.contains(op));
    }
    sweeps.extend(left.iter().map(|op| resolve_sweep(op, &cli.over(&file.defaults))));
    sweeps
}

/// Every table needs ops from somewhere, and an op that the file does not name needs sizes: its default ones are not
/// those of the file, and may take hours.
fn check_ops(cli: &Layer, file: &SweepFile) -> Result<()> {
    let name = &file.name;
    let whole = [Layer::default()];
    let tables = if file.tables.is_empty() { &whole[..] } else { &file.tables[..] };
    let ops = tables.iter().map(|table| table.ops.as_ref().or(file.defaults.ops.as_ref()));
    let Some(ops) = ops.collect::<Option<Vec<_>>>() else {
        ensure!(cli.ops.is_some(), "{name} names no ops: write ops = [\"matmul\"] in it, or add --ops");
        return Ok(());
    };
    if cli.sizes.is_some() || file.defaults.sizes.is_some() {
        return Ok(());
    }
    let has = |op: &str| ops.iter().any(|ops| ops.iter().any(|named| named == op));
    if let Some(op) = cli.ops.iter().flatten().find(|op| !has(op)) {
        let held: Vec<&str> = OPS.iter().map(|op| op.name()).filter(|name| has(name)).collect();
        anyhow::bail!(
            "--ops {op}: {name} has only {}: name one of these, or choose sizes with --sizes",
            held.join(", ")
        );
    }
    Ok(())
}

fn resolve_sweep(name: &str, layer: &Layer) -> Sweep {
    let op = op::find(name);
    let default = Sampling::default();
    let default_backends = || words::DEFAULT_BACKENDS.split(',').map(str::to_owned).collect();
    let default_sizes = || op.map(|op| op.about().sizes.to_vec()).unwrap_or_default();
    Sweep {
        op: name.to_owned(),
        sizes: layer.sizes.clone().unwrap_or_else(default_sizes),
        dtypes: layer.dtypes.clone().unwrap_or_else(|| vec![DType::F32]),
        density: op.and_then(|op| op.default_density()).map(|density| layer.density.unwrap_or(density)),
        backends: layer.backends.clone().unwrap_or_else(default_backends),
        variants: layer.variants.clone(),
        caches: layer.caches.clone().unwrap_or_else(|| vec![Cache::Cold]),
        sampling: Sampling {
            warmup: layer.warmup.unwrap_or(default.warmup),
            samples: layer.samples,
            precision: layer.precision,
            max_time_s: layer.max_time_s.unwrap_or(default.max_time_s),
            rounds: layer.rounds.unwrap_or(default.rounds),
        },
    }
}

fn check_required(require: &[String], backends: &[String]) -> Result<()> {
    for name in require {
        let chosen = backends.join(",");
        ensure!(
            backends.contains(name),
            "--require {name} but the run is on {chosen} only: add {name} to --backends"
        );
    }
    Ok(())
}

fn check_script(script: Option<&Path>, sim_is_chosen: bool) -> Result<()> {
    if !sim_is_chosen {
        return Ok(());
    }
    let script = script.context("backend sim needs a script of what it simulates: add --sim FILE")?;
    let shown = || format!("cannot read the script of the simulated device '{}'", script.display());
    let metadata = std::fs::File::open(script).and_then(|file| file.metadata()).with_context(shown)?;
    ensure!(metadata.is_file(), "{}: it is not a file", shown());
    Ok(())
}

/// The place results go to, which must suit the formats that were asked for.
fn destination(out: Option<&str>, formats: Option<&[Format]>) -> Result<Destination> {
    match out {
        Some("-") => {
            for_stdout(formats.unwrap_or_default()).map_err(|why| match why {
                Unprintable::Count(_) => {
                    anyhow!("--out - writes exactly one format to stdout: name it, such as --format json")
                }
                Unprintable::Files(name) => {
                    anyhow!("--out - cannot carry {name}, which is several files: give --out a folder")
                }
            })?;
            Ok(Destination::Stdout)
        }
        Some("") => {
            anyhow::bail!("--out names no folder: give it one, or leave it out for a new one under results/")
        }
        Some(folder) => Ok(Destination::Folder(PathBuf::from(folder))),
        None => Ok(Destination::Folder(new_folder(Path::new("results")))),
    }
}

/// A folder under `parent` that does not exist yet, named by the present UTC time to the second.
fn new_folder(parent: &Path) -> PathBuf {
    let stamp = jiff::Timestamp::now().strftime("%Y-%m-%dT%H%M%SZ").to_string();
    let names = std::iter::once(stamp.clone()).chain((2u32..).map(|count| format!("{stamp}-{count}")));
    let mut free = names.map(|name| parent.join(name)).filter(|path| !path.exists());
    free.next().unwrap_or_else(|| parent.join(stamp))
}

#[cfg(test)]
mod tests;
