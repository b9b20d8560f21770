//! Asks workers before a run: external programs for their variants, and all backends for what prevents cells from running. A
//! run skips the same cells for the same reasons.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, anyhow};
use gpubench_backend::host::memory;
use gpubench_report::error::Unavailable;

use super::Plan;
use crate::backend::external::{Adapter, NamedCommand, interpreter};
use crate::backend::{BACKENDS, CUDA, External};
use crate::executor::{self, PlannedCell, Watch};
use crate::report::BackendState;
use crate::settings::Settings;
use crate::worker::Launcher;
use crate::worker::describe;
use crate::worker::operands::check_host;
use crate::{doctor, op};

/// Returns the external backends of a run, in its order.
///
/// # Errors
/// A backend's program cannot be started or does not describe itself, or there is no Python for an adapter.
pub fn describe(settings: &Settings) -> Result<Vec<External>> {
    let named = settings.asked.external.as_deref().unwrap_or_default();
    let mut python = None;
    let mut asked = vec![];
    for name in &settings.backends {
        let program = if let Some(command) = named.iter().find(|command| command.name == *name) {
            NamedCommand::program(command)
        } else if let Some(adapter) = Adapter::find(name) {
            if python.is_none() {
                let found = interpreter(settings.asked.python.as_deref());
                python = Some(found.map_err(|error| anyhow!("backend {name} needs Python: {error:#}"))?);
            }
            let Some(python) = &python else { continue };
            adapter.program(python)
        } else {
            continue;
        };
        let description = describe::ask(name, &program);
        asked.push((name.clone(), program, description));
    }
    let external = |(name, program, description): (String, _, _)| {
        let mut described = describe::described(description).map_err(|reason| {
            anyhow!("backend {name} cannot be used: {reason}; 'gpubench protocol-check' tests a program")
        })?;
        described.variants.extend(op::own::variants(&name).cloned());
        Ok(External { name, program, described })
    };
    asked.into_iter().map(external).collect()
}

/// Files of NVIDIA's driver, on Linux, on Jetson boards and in WSL. Where there is one, a GPU that cannot be used is a fault to report.
const DRIVER_FILES: [&str; 5] =
    ["/proc/driver/nvidia", "/dev/nvidiactl", "/dev/nvmap", "/dev/nvhost-gpu", "/dev/dxg"];

/// Returns the state of the backend CUDA if this machine has no NVIDIA GPU: there is no file of the driver, and the backend does not
/// start.
pub(super) fn absent_gpu(settings: &Settings, externals: &[External]) -> Result<Option<BackendState>> {
    if DRIVER_FILES.iter().any(|file| Path::new(file).exists()) {
        return Ok(None);
    }
    let launcher = Launcher::new(settings.asked.isolates(), None, BACKENDS, externals)?;
    let watch = Watch::begin()?;
    match executor::device_count(CUDA.name, &launcher, &settings.options, &watch) {
        // The run ends by the interrupt too.
        Err(_) if watch.is_interrupted() => Ok(None),
        Err(Unavailable { reason, fix }) => Ok(Some(BackendState {
            name: CUDA.name.into(),
            reason: Some(reason),
            fix,
            ..BackendState::default()
        })),
        Ok(_) => Ok(None),
    }
}

/// Returns the reason per cell of the plan that cannot run; `None` for a cell that can, as far as is known before a device is
/// opened. Starts the workers in which `doctor` searches, and measures nothing.
pub fn obstacles(plan: &Plan, settings: &Settings, externals: &[External]) -> Result<Vec<Option<String>>> {
    let is_real = |name: &str| BACKENDS.find(name).is_some_and(|backend| !backend.simulated);
    let is_planned = |name: &str| plan.cells.iter().any(|planned| planned.cell.backend == name);
    let launcher = Launcher::new(settings.asked.isolates(), None, BACKENDS, externals)?;
    let found = doctor::search(&launcher, &settings.options, &|name| is_real(name) && is_planned(name));
    let mut missing: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for backend in &found {
        for finding in &backend.findings {
            let Some(problem) = &finding.problem else { continue };
            for variant in &finding.serves {
                missing.entry((backend.name, variant)).or_insert(problem);
            }
        }
    }
    let free = memory::free_host_bytes();
    let reason = |planned: &PlannedCell| {
        let case = &planned.cell.case;
        let variant = format!("{}/{}", case.op, planned.variant.name);
        let of_memory =
            || check_host(op::find(&case.op)?, case, &|| free).err().map(|error| error.to_string());
        let is_empty = || Some(op::find(&case.op)?.nothing_to_compute(case)?.to_owned());
        let of_library = missing.get(&(planned.cell.backend.as_str(), variant.as_str()));
        of_library.map(|problem| (*problem).to_owned()).or_else(of_memory).or_else(is_empty)
    };
    Ok(plan.cells.iter().map(reason).collect())
}
