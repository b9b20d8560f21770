//! Resolves settings: the command line overrides sweep tables, these the defaults of the file, and these the defaults
//! of the program. Then checks everything that needs no device.

mod conflicts;
mod matrices;
pub mod shapes;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use gpubench_report::format::for_stdout;
use gpubench_text::grouped::distinct;

use crate::backend::{CUDA, Options};
use crate::case::DType;
use crate::op::{self, MAIN_OPS, OPS};
use crate::settings::backends::BackendNames;
use crate::settings::config::{SweepFile, is_built_in};
use crate::settings::options::{Backends, DTypes, Ops, SweepOptions};
use crate::settings::{Destination, OpSweep, OutputSettings, Settings, own};

impl Settings {
    /// Combines the `options` of the command line and a sweep file into settings.
    pub fn resolve(
        mut options: SweepOptions,
        output: OutputSettings,
        file: Option<SweepFile>,
    ) -> Result<Settings> {
        let config = file.as_ref().map(|file| file.name.clone());
        match &file {
            Some(file) => check_ops(&options, file)?,
            None => ensure!(
                options.ops.is_some() || !shapes::is_asked(&options),
                "--shape, --batch and --layout need the op whose shape it is: add --ops with one of {}",
                shapes::ops().collect::<Vec<_>>().join(", ")
            ),
        }
        let names = BackendNames::with(options.external.as_deref().unwrap_or_default())?;
        let mut file = file.unwrap_or_default();
        let files = own::load(&mut options, &mut file)?;
        names.check(&mut options, None)?;
        let layers = file.tables.iter_mut().chain([&mut file.defaults]);
        layers.into_iter().try_for_each(|layer| names.check(layer, Some(&file.name)))?;
        let matrices = matrices::load(&options, &file)?;
        let mut sweeps = resolve_sweeps(&options, &file)?;
        names.add_unnamed(&mut sweeps);
        conflicts::check(&options, &file, &sweeps)?;
        let mut asked = options.over(&file.defaults);
        // A user who names sizes, or wrote the sweep, wants exactly these sizes.
        asked.refine.get_or_insert(options.sizes.is_none() && is_built_in(&file.name));
        check_times(&sweeps, &asked)?;
        let backends = names.used(&sweeps);
        check_required(&asked, &backends)?;
        let sim_is_chosen = backends.iter().any(|name| name == "sim");
        ensure!(
            sim_is_chosen || options.sim.is_none(),
            "--sim needs the simulated device: add --backends sim"
        );
        check_script(asked.sim.as_deref(), sim_is_chosen)?;
        let threads = asked.threads.clone().unwrap_or_default().0;
        if backends.iter().any(|name| name == "cpu") {
            threads.check_available()?;
        }
        let names_backends = options_by_op(&options, &file).iter().any(|(_, asked)| asked.backends.is_some());
        let names_gpu = asked.device.is_some()
            || asked.versus.is_some()
            || asked.required().iter().any(|name| name == CUDA.name);
        Ok(Settings {
            config,
            asks_for_gpu: names_backends || names_gpu,
            options: Options {
                threads: threads.largest,
                sim: asked.sim.clone().filter(|_| sim_is_chosen),
                files,
                matrices,
                ..worker_options(&sweeps, &asked)?
            },
            sweeps,
            fewer_threads: threads.fewer,
            backends,
            output: OutputSettings { theme: asked.theme.unwrap_or_default().0, ..checked(output)? },
            asked,
        })
    }
}

/// Returns the options that workers get when they start.
fn worker_options(sweeps: &[OpSweep], asked: &SweepOptions) -> Result<Options> {
    let ops = OPS.iter().map(|op| op.name().to_owned());
    let dtypes = DType::ALL.iter().copied();
    let pin = asked.pin.unwrap_or(false);
    ensure!(!pin || cfg!(target_os = "linux"), "--pin: this system cannot bind threads to cores: omit --pin");
    Ok(Options {
        pin,
        blas: asked.blas.clone().unwrap_or_default(),
        // A run on several devices sets the device of each run later.
        device: asked.device.as_ref().and_then(|device| device.0.single()).unwrap_or(0),
        transfer: asked.transfer.unwrap_or_default().0,
        ops: ops.filter(|name| sweeps.iter().any(|sweep| sweep.op == *name)).collect(),
        sizes: sizes_by_op(sweeps),
        dtypes: dtypes.filter(|dtype| sweeps.iter().any(|sweep| sweep.dtypes.contains(dtype))).collect(),
        // Set later, for the run or for each worker.
        threads: None,
        library: None,
        sim: None,
        files: vec![],
        matrices: BTreeMap::new(),
    })
}

fn sizes_by_op(sweeps: &[OpSweep]) -> BTreeMap<String, Vec<u64>> {
    let mut found = BTreeMap::<String, Vec<u64>>::new();
    for OpSweep { op, sizes, .. } in sweeps {
        found.entry(op.clone()).or_default().extend(sizes);
    }
    found
}

/// Returns one sweep per op of each table. Ops on the command line select among the tables of the file, which keep
/// their values. An op that no table has uses the defaults of the file, and a table without ops applies to all ops.
fn resolve_sweeps(cli: &SweepOptions, file: &SweepFile) -> Result<Vec<OpSweep>> {
    let options = options_by_op(cli, file);
    let sweeps: Vec<OpSweep> = options
        .iter()
        .filter_map(|(op, asked)| resolve_sweep(op, asked).transpose())
        .collect::<Result<_>>()?;
    // An op of a sweep file or of the default ones is left out; one that the command line names is not.
    let has_types = |op: &str| sweeps.iter().any(|sweep| sweep.op == op && !sweep.dtypes.is_empty());
    let is_named = |op: &String| cli.ops.iter().flat_map(|ops| &ops.0).any(|named| named == op);
    let all_are_empty = sweeps.iter().all(|sweep| sweep.dtypes.is_empty());
    let lacks_type = |op: &String| sweeps.iter().any(|sweep| sweep.op == *op) && !has_types(op);
    let refused = options.iter().find(|(op, _)| lacks_type(op) && (all_are_empty || is_named(op)));
    if let Some((op, asked)) = refused {
        let dtypes = asked.dtypes.as_ref().map_or(&[][..], |dtypes| &dtypes.0);
        anyhow::bail!(
            "--dtypes {}: {op} has problems of {}; choose one of these, or another op ('gpubench list' has the types of all)",
            names_of(dtypes),
            names_of(element_types(op, asked))
        );
    }
    Ok(sweeps.into_iter().filter(|sweep| !sweep.dtypes.is_empty()).collect())
}

/// Returns the element types that problems of an op can have; those on the matrix of a file are real.
pub(super) fn element_types(op: &str, asked: &SweepOptions) -> &'static [DType] {
    let of_op = op::find(op).map_or(DType::ALL, |op| op.about().dtypes);
    if asked.matrix.is_some() && of_op.contains(&DType::C64) { DType::REAL } else { of_op }
}

pub(super) fn names_of(dtypes: &[DType]) -> String {
    dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ")
}

/// Returns the op of each sweep with the options that apply to it.
fn options_by_op(cli: &SweepOptions, file: &SweepFile) -> Vec<(String, SweepOptions)> {
    let mut found = Vec::new();
    let named: Option<Vec<String>> = cli.ops.clone().map(|ops| ops.0);
    let mut left = named.clone().unwrap_or_default();
    // The element type of a problem in a list is part of the problem.
    let with_types = |merged: SweepOptions, below: &SweepOptions| match (&cli.problems, &below.dtypes) {
        (Some(_), Some(dtypes)) => SweepOptions { dtypes: Some(dtypes.clone()), ..merged },
        _ => merged,
    };
    for below in file.sweeps() {
        let main_ops = || default_ops(&cli.over(&below));
        let ops = below.ops.clone().map(|ops| ops.0).or_else(|| named.clone()).unwrap_or_else(main_ops);
        let wanted = ops.iter().filter(|op| named.as_ref().is_none_or(|named| named.contains(op)));
        found.extend(wanted.map(|op| (op.clone(), with_types(cli.over(&below), &below))));
        left.retain(|op| !ops.contains(op));
    }
    found.extend(left.into_iter().map(|op| (op, cli.over(&file.defaults))));
    found
}

/// Returns the ops of a sweep that names none.
fn default_ops(asked: &SweepOptions) -> Vec<String> {
    let ops = if asked.matrix.is_some() { &op::matrix::OPS[..] } else { &MAIN_OPS };
    ops.iter().map(|op| (*op).to_owned()).collect()
}

/// Checks that every table has ops, and that an op that the file does not name has sizes: the default sizes of the op
/// are not those of the file, and may take hours.
fn check_ops(cli: &SweepOptions, file: &SweepFile) -> Result<()> {
    let name = &file.name;
    let ops = file
        .sweeps()
        .into_iter()
        .map(|table| table.ops.clone().or_else(|| table.matrix.as_ref().map(|_| Ops(default_ops(&table)))));
    let Some(ops) = ops.collect::<Option<Vec<_>>>() else {
        ensure!(cli.ops.is_some(), "{name} names no ops: write ops = [\"matmul\"] in it, or add --ops");
        return Ok(());
    };
    if cli.sizes.is_some() || cli.matrix.is_some() || file.defaults.sizes.is_some() {
        return Ok(());
    }
    let has = |op: &str| ops.iter().any(|ops| ops.0.iter().any(|named| named == op));
    if let Some(op) = cli.ops.iter().flat_map(|ops| &ops.0).find(|op| !has(op)) {
        let held: Vec<&str> = OPS.iter().map(|op| op.name()).filter(|name| has(name)).collect();
        anyhow::bail!(
            "--ops {op}: {name} contains only {}: choose one of these, or give sizes with --sizes",
            held.join(", ")
        );
    }
    Ok(())
}

/// Returns the sweep of an op; `None` if no matrix suits it.
fn resolve_sweep(name: &str, asked: &SweepOptions) -> Result<Option<OpSweep>> {
    let op = op::find(name);
    let default_sizes = || op.map(|op| op.about().sizes.to_vec()).unwrap_or_default();
    // Of an operation of the user's own: the first type that its inputs can have, and the backends of its variants.
    let of_file = op::own::find(name);
    let default_dtypes = || of_file.map_or_else(|| DTypes::default().0, |op| op.dtypes[..1].to_vec());
    let default_backends = || match of_file {
        Some(op) => distinct(op.variants.iter().map(|variant| variant.backend.clone())),
        None => Backends::default().0,
    };
    let given = asked.density.map(|density| density.0);
    let matrices = matrices::of(name, asked);
    let sizes = match asked.matrix {
        Some(_) => distinct(matrices.iter().map(|matrix| matrix.n())),
        None => asked.sizes.clone().map_or_else(default_sizes, |sizes| sizes.0),
    };
    let default_density = op.and_then(|op| op.default_density()).filter(|_| asked.matrix.is_none());
    let shapes = op.map_or(Ok(vec![]), |op| shapes::of(op, asked))?;
    let sizes = match &shapes[..] {
        [] => sizes,
        shapes => distinct(shapes.iter().flat_map(|one| one.sizes.clone())),
    };
    let has_type = |dtype: &DType| element_types(name, asked).contains(dtype);
    let dtypes = asked.dtypes.clone().map_or_else(default_dtypes, |dtypes| dtypes.0);
    Ok((!sizes.is_empty()).then(|| OpSweep {
        op: name.to_owned(),
        sizes,
        dtypes: dtypes.into_iter().filter(has_type).collect(),
        density: default_density.map(|density| given.unwrap_or(density)),
        matrices: matrices.iter().map(|matrix| matrix.identity.clone()).collect(),
        backends: asked.backends.clone().map_or_else(default_backends, |backends| backends.0),
        variants: asked.variants.clone().map(|variants| variants.0),
        caches: asked.cache.clone().unwrap_or_default().0,
        sampling: asked.sampling(),
        shapes,
    }))
}

/// Checks that the time limit of a cell allows its sampling.
fn check_times(sweeps: &[OpSweep], asked: &SweepOptions) -> Result<()> {
    let cell_timeout_s = asked.cell_timeout.unwrap_or_default().0;
    let longest = sweeps.iter().map(|sweep| sweep.sampling.max_time_s).fold(0.0, f64::max);
    ensure!(
        longest < cell_timeout_s,
        "--max-time {longest} s must be less than --cell-timeout {cell_timeout_s} s: lower the first or raise the second"
    );
    Ok(())
}

fn check_required(asked: &SweepOptions, backends: &[String]) -> Result<()> {
    for name in asked.required() {
        let chosen = backends.join(",");
        ensure!(
            backends.contains(name),
            "--require {name}, but this run uses only {chosen}: add {name} to --backends"
        );
    }
    Ok(())
}

fn check_script(script: Option<&Path>, sim_is_chosen: bool) -> Result<()> {
    if !sim_is_chosen {
        return Ok(());
    }
    let script = script.context("backend sim needs a script: add --sim FILE")?;
    let shown = || format!("cannot read the script of the simulated device '{}'", script.display());
    let metadata = std::fs::File::open(script).and_then(|file| file.metadata()).with_context(shown)?;
    ensure!(metadata.is_file(), "{}: it is not a file", shown());
    Ok(())
}

/// Checks that the destination suits the formats.
fn checked(output: OutputSettings) -> Result<OutputSettings> {
    match &output.destination {
        Destination::Stdout => {
            for_stdout(&output.formats, "give --out a folder")?;
        }
        Destination::Folder(folder) => ensure!(
            !folder.as_os_str().is_empty(),
            "--out is empty: name a folder, or omit --out for a new one in results/"
        ),
    }
    Ok(output)
}

#[cfg(test)]
mod tests;
