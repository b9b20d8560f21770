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
    ensure!(
        cli.problems.is_none()
            || cli.dtypes.is_none()
            || file.tables.iter().any(|table| table.dtypes.is_none()),
        "--dtypes has no effect: every line of '{}' has a dtype; omit --dtypes",
        file.name
    );
    check_effect(cli, sweeps)
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

/// Refuses options of the command line that no sweep of the run uses.
fn check_effect(cli: &SweepOptions, sweeps: &[OpSweep]) -> Result<()> {
    let uses = |is_such: fn(&str) -> bool| {
        sweeps.iter().flat_map(|sweep| &sweep.backends).any(|backend| is_such(backend))
    };
    let sparse = OPS.iter().filter(|op| op.default_density().is_some()).map(|op| op.name());
    let sparse = sparse.collect::<Vec<_>>().join(", ");
    let has_density = sweeps.iter().any(|sweep| sweep.density.is_some());
    let is_python = |name: &str| Adapter::find(name).is_some();
    for (option, is_given, has_effect, needed) in [
        ("--density", cli.density.is_some(), has_density, format!("a sparse op in --ops ({sparse})")),
        (
            "--device",
            cli.device.is_some(),
            uses(|name| name != "cpu"),
            "a GPU: add cuda to --backends".into(),
        ),
        (
            "--python",
            cli.python.is_some(),
            uses(is_python),
            "a Python library in --backends, such as numpy".into(),
        ),
    ] {
        ensure!(!is_given || has_effect, "{option} has no effect without {needed}; omit {option}");
    }
    Ok(())
}
