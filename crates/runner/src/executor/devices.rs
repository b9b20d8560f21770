//! Counts the devices of a backend in a short-lived worker, since the parent process itself uses no device.

use std::time::{Duration, Instant};

use gpubench_backend::Options;
use gpubench_backend::WorkerId;
use gpubench_backend::protocol::{PROTOCOL_VERSION, Reply, Request};
use gpubench_model::error::Unavailable;

use super::Watch;
use super::workers::{SEE_DOCTOR, format_duration, start_limit};
use crate::worker::client::WaitError;
use crate::worker::launcher::Launcher;

/// Returns the number of devices of `backend`: `device_count` of its description, or 1. Devices are numbered from 0.
///
/// # Errors
/// The backend cannot start, its worker fails or takes longer than any start may, or the user has asked to stop.
pub fn device_count(
    backend: &str,
    launcher: &Launcher,
    options: &Options,
    watch: &Watch,
) -> Result<u32, Unavailable> {
    let broken = |reason: String| Unavailable::new(reason, SEE_DOCTOR);
    let mut client = launcher
        .start(&WorkerId::of_backend(backend))
        .map_err(|error| broken(format!("the worker could not be started: {error}")))?;
    // Without ops, the worker compiles nothing at its start.
    let options = Options { device: 0, ops: vec![], sizes: [].into(), ..options.clone() };
    client.send(&Request::Hello { protocol: PROTOCOL_VERSION, options });
    let limit = start_limit(Duration::ZERO);
    let reply = client.wait(Instant::now() + limit, &|| watch.is_interrupted(), &mut |_| {});
    let counted = match reply {
        Ok(Reply::Ready { description, .. }) => {
            let count = description.get("device_count").and_then(serde_json::Value::as_u64);
            Ok(count.and_then(|count| u32::try_from(count).ok()).unwrap_or(1))
        }
        Ok(Reply::Unavailable { reason, fix }) => Err(Unavailable { reason, fix }),
        Ok(Reply::Failed { reason, .. }) | Err(WaitError::Gone(reason)) => Err(broken(reason)),
        Ok(_) => Err(broken("the worker sent an unexpected reply to hello".into())),
        Err(WaitError::TimedOut) => {
            Err(broken(format!("the worker did not reply within {}", format_duration(limit))))
        }
        Err(WaitError::Interrupted) => return Err(broken("it was interrupted".into())),
    };
    client.finish();
    counted
}
