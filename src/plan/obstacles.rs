//! Finds what prevents cells of a plan from running, before they are measured: too little memory, and libraries and devices that
//! are missing. A run skips the same cells for the same reasons.

use std::collections::BTreeMap;

use anyhow::Result;
use gpubench_host::memory;

use super::Plan;
use crate::backend::{BACKENDS, External};
use crate::doctor;
use crate::op;
use crate::settings::Settings;
use crate::worker::launcher::Launcher;
use crate::worker::operands::check_host;

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
    let reason = |planned: &super::PlannedCell| {
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
