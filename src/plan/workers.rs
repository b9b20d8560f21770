//! Asks workers before a run: external programs for their variants, and the backend CUDA whether there is a GPU.

use std::path::Path;

use anyhow::{Result, anyhow};
use gpubench_report::error::Unavailable;

use crate::backend::external::{Adapter, NamedCommand, interpreter};
use crate::backend::{CUDA, External};
use crate::executor::{self, Watch};
use crate::op;
use crate::report::BackendState;
use crate::settings::Settings;
use crate::worker::Launcher;
use crate::worker::describe;

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
            anyhow!("backend {name} cannot be used: {reason}; see docs/worker-protocol.md")
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
    let launcher = Launcher::new(None, externals)?;
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
