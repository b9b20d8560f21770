//! Validates the values of a report beyond their types, so that its readers can compute with it.
//!
//! It refuses values that no run writes and that would mislead readers: invalid names and times, arrays of different
//! lengths, figures that do not match their samples, two rows about one cell, a time next to a wrong answer. It accepts
//! what readers can ignore: missing arrays, a measured cell without a time, other implausible figures.

use std::collections::HashMap;

use anyhow::{Context, bail, ensure};
use gpubench_text::cut::start;

use super::{Execute, Outcome, Phases, Report, Row};
use crate::Peaks;
use crate::measure::stats::Summary;

/// Maximum time in a report, in seconds: thirty years.
const LONGEST_S: f64 = 1e9;
/// Maximum clock in a report, in MHz: a terahertz.
const FASTEST_MHZ: f64 = 1e6;
/// Maximum number of operations or bytes of a case, so that rates are finite.
const MAX_WORK: f64 = 1e100;
/// Maximum number of rounds in a report.
const MAX_ROUNDS: u32 = 1_000_000;

/// Relative difference allowed between a figure and that of its samples, since other programs write fewer digits.
const ROUNDING: f64 = 1e-9;

/// Maximum number of characters of a text in a message.
const SHOWN: usize = 100;

/// Next step at the end of every refusal.
const FIX: &str = "correct it or run the sweep again";

/// Refuses reports that contradict themselves, in one line that names the first such row and key.
pub(crate) fn check(report: &Report) -> anyhow::Result<()> {
    let environment = &report.environment;
    ensure!(
        environment.started.parse::<jiff::Timestamp>().is_ok(),
        "environment: started {:?} is not a time such as 2026-11-21T10:00:00Z; {FIX}",
        start(&environment.started, SHOWN)
    );
    seconds("elapsed_s", &[environment.elapsed_s]).context("environment")?;
    for state in &environment.backends {
        ensure!(
            state.peaks.as_ref().is_none_or(Peaks::has_rates_alone),
            "environment: the peaks of {:?} include a rate outside 1e-100 to 1e100 per second; {FIX}",
            start(&state.name, SHOWN)
        );
    }
    for (index, row) in report.rows.iter().enumerate() {
        check_names(row).with_context(|| format!("row {index}"))?;
        check_row(row).with_context(|| format!("row {index}, {}", start(&row.cell().to_string(), SHOWN)))?;
    }
    let mut places = HashMap::new();
    for (index, row) in report.rows.iter().enumerate() {
        let case = &row.case;
        let of_family = (&case.shape, case.density.map(f64::to_bits), &case.matrix);
        let case = (&case.op, case.n, case.dtype, of_family, case.seed);
        if let Some(first) = places.insert((case, &row.backend, &row.variant, row.cache), index) {
            bail!(
                "rows {first} and {index} describe the same cell, {}; {FIX}",
                start(&row.cell().to_string(), SHOWN)
            );
        }
    }
    Ok(())
}

/// Refuses a row of a report or from a worker that contradicts itself.
///
/// # Errors
/// The row contradicts itself; the message is one line that names the key.
pub fn check_row(row: &Row) -> anyhow::Result<()> {
    check_names(row)?;
    ensure!(row.case.n >= 1, "n is 0, but must be at least 1; {FIX}");
    if let Some(shape) = row.case.shape.as_ref().filter(|shape| !shape.varies()) {
        let largest = shape.largest();
        ensure!(
            row.case.n == largest,
            "n is {}, but the largest dimension of the shape is {largest}; {FIX}",
            row.case.n
        );
    }
    if let Some(density) = row.case.density {
        ensure!(
            (density > 0.0 || density == 0.0 && row.case.matrix.is_some()) && density <= 1.0,
            "density is {density}, but must be above 0 and at most 1; {FIX}"
        );
    }
    ensure!(row.threads != Some(0), "threads is 0, but must be at least 1; {FIX}");
    let work = [row.work.flop, row.work.bytes];
    ensure!(work.iter().all(|figure| *figure >= 0.0), "work is negative; {FIX}");
    ensure!(work.iter().all(|figure| *figure <= MAX_WORK), "work is above {MAX_WORK:e}; {FIX}");
    if let Some(error) = row.error {
        let figures = [error.value, error.bound];
        ensure!(figures.iter().all(|figure| *figure >= 0.0), "error is negative; {FIX}");
    }
    row.phases.as_ref().map_or(Ok(()), check_phases).context("phases")?;
    let Some(execute) = &row.execute else { return Ok(()) };
    let outcome = row.outcome.name();
    ensure!(row.outcome == Outcome::Measured, "outcome is {outcome}, but execute holds a time; {FIX}");
    if let Some(error) = row.error.filter(|error| !error.is_right()) {
        bail!("outcome is measured, but the answer is wrong: {}; {FIX}", error.complaint());
    }
    check_execute(execute).context("execute")
}

/// Refuses names that could not be part of a file's name (ops) or would spoil a line of text (backends, variants).
fn check_names(row: &Row) -> anyhow::Result<()> {
    let strict =
        |name: &str| name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
    let plain = |name: &str| !name.chars().any(|c| c == '/' || c.is_control());
    let names = [("backend", row.backend.as_str()), ("variant", &row.variant), ("picked", row.doer())];
    let names = names.map(|(key, name)| (key, name, plain(name), "text without '/' and control characters"));
    let op = ("op", row.case.op.as_str(), strict(&row.case.op), "a-z, 0-9, '.', '_' and '-'");
    let matrix = row
        .case
        .matrix
        .as_deref()
        .map(|name| ("matrix", name, is_identity(name), "a name, '@' and 16 digits"));
    for (key, name, is_legal, legal) in [op].into_iter().chain(names).chain(matrix) {
        ensure!(
            !name.is_empty() && is_legal,
            "{key} {:?} is not a valid name (allowed: {legal}); {FIX}",
            start(name, SHOWN)
        );
    }
    Ok(())
}

/// Returns whether a text is the name of a matrix with its fingerprint.
fn is_identity(text: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c));
    let is_digit = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
    text.split_once('@').is_some_and(|(name, digits)| {
        is_name(name) && !name.is_empty() && digits.len() == 16 && digits.bytes().all(is_digit)
    })
}

fn check_execute(execute: &Execute) -> anyhow::Result<()> {
    let samples = &execute.samples_s;
    ensure!(!samples.is_empty(), "samples_s is empty; {FIX}");
    let lengths = [
        ("host_samples_s", execute.host_samples_s.len()),
        ("rounds", execute.rounds.len()),
        ("sm_mhz", execute.sm_mhz.len()),
        ("context_switches", execute.context_switches.len()),
    ];
    for (key, length) in lengths {
        ensure!(
            length == 0 || length == samples.len(),
            "{key} has {length} entries, samples_s has {}; {FIX}",
            samples.len()
        );
    }
    check_times(execute)?;
    ensure!(
        execute.rounds.iter().all(|round| *round < MAX_ROUNDS),
        "rounds contains a number above {MAX_ROUNDS}; {FIX}"
    );
    ensure!(
        execute.sm_mhz.iter().all(|mhz| (0.0..=FASTEST_MHZ).contains(mhz)),
        "sm_mhz contains a value that is not a clock rate in MHz; {FIX}"
    );
    let faults = execute.page_faults.map_or([0.0; 2], |faults| [faults.minor, faults.major]);
    ensure!(faults.iter().all(|count| *count >= 0.0), "page_faults contains a negative count; {FIX}");
    check_summary(execute)?;
    let median = execute.median_s;
    let [from, to] = execute.ci95_s;
    ensure!((from..=to).contains(&median), "median_s {median} lies outside ci95_s, {from} to {to}; {FIX}");
    Ok(())
}

/// Refuses invalid times of phases, and copies in 0 s.
fn check_phases(phases: &Phases) -> anyhow::Result<()> {
    for (key, time) in [
        ("inputs_s", phases.inputs_s),
        ("prepare_s", phases.prepare_s),
        ("plan_s", phases.plan_s.unwrap_or(0.0)),
        ("first_s", phases.first_s),
        ("download_s", phases.download_s),
        ("check_s", phases.check_s),
        ("threads_s", phases.threads_s),
        ("verify_s", phases.verify_s),
    ] {
        seconds(key, &[time])?;
    }
    let pinned = phases.pinned.as_ref();
    let copies = [
        ("upload", phases.upload.as_ref()),
        ("download", phases.download.as_ref()),
        ("pinned.upload", pinned.map(|pinned| &pinned.upload)),
        ("pinned.download", pinned.map(|pinned| &pinned.download)),
    ];
    for (key, copy) in copies {
        let Some(copy) = copy else { continue };
        seconds(key, &copy.host_s)?;
        ensure!(
            copy.bytes == 0 || copy.host_s.iter().all(|time| *time > 0.0),
            "{key} claims {} bytes copied in 0 s; {FIX}",
            copy.bytes
        );
    }
    Ok(())
}

/// Refuses figures that do not match the samples.
fn check_summary(execute: &Execute) -> anyhow::Result<()> {
    for (key, samples) in [("samples_s", &execute.samples_s), ("host_samples_s", &execute.host_samples_s)] {
        ensure!(samples.iter().all(|time| *time > 0.0), "{key} contains a time of 0; {FIX}");
    }
    if let Some(quantiles) = execute.quantiles_s {
        ensure!(quantiles.is_sorted(), "quantiles_s is not ascending; {FIX}");
    }
    if let Some(drift) = execute.drift {
        ensure!((0.0..=1.0).contains(&drift.p), "drift: p is {}, which is not a probability; {FIX}", drift.p);
    }
    let (own, host) = (Summary::of(&execute.samples_s), Summary::of(execute.host_samples()));
    let figures = [
        ("median_s", execute.median_s, own.map(|own| own.median)),
        ("min_s", execute.min_s, own.map(|own| own.min)),
        ("max_s", execute.max_s, own.map(|own| own.max)),
        ("mad_s", execute.mad_s, own.map(|own| own.mad)),
        ("host_median_s", execute.host_median_s, host.map(|host| host.median)),
    ];
    for (key, reported, found) in figures {
        let Some(found) = found else { continue };
        ensure!(
            (reported - found).abs() <= ROUNDING * found,
            "{key} is {reported:e}, but the samples give {found:e}; {FIX}"
        );
    }
    Ok(())
}

fn check_times(execute: &Execute) -> anyhow::Result<()> {
    [
        ("samples_s", execute.samples_s.as_slice()),
        ("host_samples_s", &execute.host_samples_s),
        ("ci95_s", &execute.ci95_s),
        ("host_ci95_s", execute.host_ci95_s.as_slice().as_flattened()),
        ("quantiles_s", execute.quantiles_s.as_slice().as_flattened()),
        ("median_s", &[execute.median_s]),
        ("min_s", &[execute.min_s]),
        ("max_s", &[execute.max_s]),
        ("mad_s", &[execute.mad_s]),
        ("host_median_s", &[execute.host_median_s]),
        ("enqueue_median_s", execute.enqueue_median_s.as_slice()),
        ("event_uncertainty_s", execute.event_uncertainty_s.as_slice()),
        ("spent_s", &[execute.spent_s]),
    ]
    .into_iter()
    .try_for_each(|(key, times)| seconds(key, times))
}

/// Refuses times that are negative or longer than [`LONGEST_S`].
fn seconds(key: &str, times: &[f64]) -> anyhow::Result<()> {
    match times.iter().find(|time| !(0.0..=LONGEST_S).contains(*time)) {
        Some(time) => bail!("{key} contains {time:e}, which is not a valid time in seconds; {FIX}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
