//! Refuses options that would have no effect next to the others of the run.

use anyhow::{Result, bail, ensure};

use super::options_by_op;
use crate::backend::external::Adapter;
use crate::op::OPS;
use crate::settings::OpSweep;
use crate::settings::config::SweepFile;
use crate::settings::options::SweepOptions;

/// Checks the options of the command line and of the sweep file, which resolve to `sweeps`.
pub(super) fn check(cli: &SweepOptions, file: &SweepFile, sweeps: &[OpSweep]) -> Result<()> {
    check_precision(cli, "--precision has no effect with --samples")?;
    for layer in file.tables.iter().chain([&file.defaults]) {
        check_precision(layer, &format!("{}: precision has no effect with samples", file.name))?;
    }
    check_rounds(cli, file)?;
    check_density(cli, sweeps)?;
    check_device(cli, sweeps)?;
    check_python(cli, sweeps)
}

fn check_precision(layer: &SweepOptions, problem: &str) -> Result<()> {
    ensure!(
        layer.samples.is_none() || layer.precision.is_none(),
        "{problem}, which is an exact number: omit one of them"
    );
    Ok(())
}

/// A round takes at least one sample. The default number of rounds is no request, so it may exceed the samples.
fn check_rounds(cli: &SweepOptions, file: &SweepFile) -> Result<()> {
    for (_, asked) in options_by_op(cli, file) {
        if let (Some(samples), Some(rounds)) = (asked.samples, asked.rounds)
            && rounds.0 > samples.0
        {
            bail!(
                "--rounds {} is more than --samples {}, and a round takes at least one sample: lower --rounds or raise \
                 --samples",
                rounds.0,
                samples.0
            );
        }
    }
    Ok(())
}

fn check_density(cli: &SweepOptions, sweeps: &[OpSweep]) -> Result<()> {
    let has_effect = cli.density.is_none() || sweeps.iter().any(|sweep| sweep.density.is_some());
    let sparse = OPS.iter().filter(|op| op.default_density().is_some()).map(|op| op.name());
    ensure!(
        has_effect,
        "--density has no effect, because no op of this run is sparse: add one to --ops ({}), or omit --density",
        sparse.collect::<Vec<_>>().join(", ")
    );
    Ok(())
}

fn check_device(cli: &SweepOptions, sweeps: &[OpSweep]) -> Result<()> {
    let Some(device) = &cli.device else { return Ok(()) };
    let uses_devices = sweeps.iter().any(|sweep| sweep.backends.iter().any(|name| name != "cpu"));
    ensure!(
        uses_devices,
        "--device {}: no backend of this run uses a GPU: add cuda to --backends, or omit --device",
        device.0
    );
    Ok(())
}

fn check_python(cli: &SweepOptions, sweeps: &[OpSweep]) -> Result<()> {
    let uses_python =
        sweeps.iter().any(|sweep| sweep.backends.iter().any(|name| Adapter::find(name).is_some()));
    ensure!(
        cli.python.is_none() || uses_python,
        "--python has no effect, because no backend of this run is a Python library: add one to --backends, such as \
         numpy, or omit --python"
    );
    Ok(())
}
