//! Asks the external backends of a run which variants they have.

use anyhow::{Result, anyhow};

use crate::backend::external::{Adapter, NamedCommand, interpreter};
use crate::backend::{External, Program};
use crate::settings::Settings;
use crate::worker::describe::{self, Asked};

/// Returns the external backends of a run, in its order.
///
/// # Errors
/// A backend's program cannot be started or does not describe itself, or there is no Python for an adapter.
pub fn describe(settings: &Settings) -> Result<Vec<External>> {
    let named = settings.asked.external.as_deref().unwrap_or_default();
    let mut python = None;
    let mut asked: Vec<(String, Program, Asked)> = vec![];
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
        asked.push((name.clone(), program.clone(), describe::ask(name, &program)));
    }
    let described = |(name, program, asked): (String, Program, Asked)| {
        let described = asked.described().map_err(|reason| {
            anyhow!("backend {name} cannot be used: {reason}; 'gpubench protocol-check' tests a program")
        })?;
        Ok(External { name, program, described })
    };
    asked.into_iter().map(described).collect()
}
