//! Gets the peaks of every backend before the first cell: from the files that an earlier run kept, or by measuring them in its worker.
//!
//! A failure here costs only the peaks; the run goes on.

mod kept;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gpubench_backend::WorkerId;
use gpubench_backend::host::other_programs::OtherPrograms;
use gpubench_backend::protocol::{Reply, Request};
use gpubench_backend::{self as backend, Peaks};
use gpubench_report::report::{RunWarning, now};

use super::report_writer::ReportWriter;
use super::workers::{Interrupted, NO_ANSWER, Workers, format_duration};
use super::{RunSpec, advice};
use crate::observe::Observer;
use crate::worker::client::WaitError;
use kept::Key;

/// Source of the backends' peaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeakSource {
    /// The run does not report peaks.
    Unwanted,
    /// The run measures them and does not keep them.
    Measured,
    /// This folder keeps them; the run measures what it lacks.
    Kept(PathBuf),
}

/// Time limit for the peaks of one backend, even where a cell may take longer.
const LONGEST: Duration = Duration::from_secs(60);

/// Records the peaks of every backend that could start, one after the other, while no worker is starting.
///
/// Peaks measured while `others` used the CPUs are too low, and are not kept for later runs.
///
/// A worker that has measured peaks is replaced. It has loaded libraries and used memory, and cells must find the same
/// state whether the peaks were kept or measured.
pub(crate) fn gather(
    run: &RunSpec,
    workers: &mut Workers,
    others: Option<&OtherPrograms>,
    writer: &mut ReportWriter,
    observer: &mut dyn Observer,
) -> Result<(), Interrupted> {
    if run.peaks == PeakSource::Unwanted {
        return Ok(());
    }
    // Peaks need all threads, so only the workers on all threads measure them.
    // External workers run on hardware whose peaks the backends of gpubench measure.
    let mut ready = vec![];
    for id in workers.describing().into_iter().filter(|id| run.registry.find(&id.backend).is_some()) {
        // The cells of a backend that cannot start report the reason.
        if workers.ready(&id, observer)?.is_ok() {
            ready.push(id);
        }
    }
    for id in ready {
        let key = workers.slot(&id).peaks_depend_on.as_ref();
        let key = key.map(|state| Key::new(&id.backend, &writer.report.environment, state));
        let cached = match &run.peaks {
            PeakSource::Kept(folder) => key.as_ref().map(|key| (folder, key)),
            PeakSource::Unwanted | PeakSource::Measured => None,
        };
        if let Some(known) = cached.and_then(|(folder, key)| key.read(folder)) {
            workers.slot(&id).report.peaks = Some(known);
            continue;
        }
        let device = device_text(&id.backend);
        let once = if cached.is_some() { " (once per machine)" } else { "" };
        observer.measuring(&format!("measuring peak bandwidth and FLOP rate of {device}{once}"));
        let (measured, warnings) = measure_all(run, &id.backend, workers, observer)?;
        if let Some(peaks) = measured {
            let is_whole = warnings.is_empty();
            let others = || others.and_then(|others| others.share(&workers.processes()));
            let is_idle = || others().is_none_or(|share| share <= advice::BUSY);
            // Other programs do not affect simulated rates.
            let is_quiet = run.simulates(&id.backend) || is_idle();
            if let Some((folder, key)) = cached.filter(|_| is_whole && is_quiet) {
                key.write(folder, &peaks);
            }
            workers.slot(&id).report.peaks = Some(peaks);
        }
        writer.advise(warnings);
    }
    workers.start_absent();
    Ok(())
}

fn device_text(backend: &str) -> &str {
    match backend {
        "cpu" => "the CPU",
        "cuda" => "the GPU",
        other => other,
    }
}

/// Measures peaks with one worker per vendor of libraries of the backend, and one without a library, one after the
/// other. Returns the highest rates, and warnings about failures.
fn measure_all(
    run: &RunSpec,
    backend: &str,
    workers: &mut Workers,
    observer: &mut dyn Observer,
) -> Result<(Option<Peaks>, Vec<RunWarning>), Interrupted> {
    let (mut all, mut warnings) = (None::<Peaks>, vec![]);
    let libraries = run.registry.find(backend).map(|found| backend::preferred_libraries(found, &run.options));
    for library in std::iter::once(None).chain(libraries.unwrap_or_default().into_iter().map(Some)) {
        let id = WorkerId { library, ..WorkerId::of_backend(backend) };
        match measure(&id, run.cell_timeout, workers, observer)? {
            Ok(peaks) => all = peaks.into_iter().chain(all).reduce(Peaks::highest),
            Err(warning) => warnings.push(warning),
        }
    }
    Ok((all, warnings))
}

/// Measures peaks in that worker, which is then ended unless it loads no library and has no peaks.
fn measure(
    id: &WorkerId,
    cell_timeout: Duration,
    workers: &mut Workers,
    observer: &mut dyn Observer,
) -> Result<Result<Option<Peaks>, RunWarning>, Interrupted> {
    let stop = workers.stop();
    let limit = cell_timeout.min(LONGEST);
    if workers.ready(id, observer)?.is_ok() {
        workers.give_turn(id, observer)?;
    }
    // The cells of a worker that cannot start, if there are any, report the reason.
    let Ok(client) = workers.ready(id, observer)? else { return Ok(Ok(None)) };
    client.send(&Request::Peaks);
    let reply = client.wait(Instant::now() + limit, &|| stop.is_asked(), &mut |_| {});
    match reply {
        Ok(Reply::Peaks { peaks: None }) if id.library.is_none() => return Ok(Ok(None)),
        Ok(Reply::Peaks { .. } | Reply::Failed { device_lost: false, .. }) => workers.retire(id),
        // The worker is lost or still measuring.
        _ => workers.discard(id),
    }
    let (reason, next) = match reply {
        Ok(Reply::Peaks { peaks }) => {
            let measured = now().to_string();
            let dated = peaks.map(|found| Peaks { measured, cached: false, ..found });
            return Ok(Ok(dated.and_then(Peaks::plausible)));
        }
        Ok(Reply::Failed { reason, .. }) | Err(WaitError::Gone(reason)) => (reason, "run again"),
        Ok(_) => (NO_ANSWER.into(), "run again"),
        Err(WaitError::Interrupted) => return Err(Interrupted),
        Err(WaitError::TimedOut) => {
            let next = if limit < LONGEST { "raise --cell-timeout" } else { "run on an idle machine" };
            (format!("measuring them took more than {}", format_duration(limit)), next)
        }
    };
    Ok(Err(RunWarning {
        text: format!("the peaks of {id} could not be measured: {reason}"),
        next: format!("{next}, or skip the peaks with --no-peaks"),
    }))
}
