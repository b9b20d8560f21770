//! Files that a person writes, except reports: sweeps, policies, scripts of the simulated device, matrices.

use gpubench::backend::sim;
use gpubench::compare::{self, policy};
use gpubench::data::{Operand, fingerprint, mtx};
use gpubench::settings::options::SweepOptions;
use gpubench::settings::{OutputSettings, Settings, config};

use super::{Formats, NEW, OLD, accepted, write_comparison};

/// Memory that a matrix may take.
const FREE: u128 = 1 << 28;

/// Reads a sweep file and resolves its settings. No file that it names is opened, and no program that it names is started.
pub fn sweep(bytes: &[u8], _: Formats) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(mut file) = accepted(config::parse("sweep.toml", text)) else { return };
    // Settings are refused if the script cannot be opened.
    file.defaults.sim = None;
    let (options, output) = (SweepOptions::default(), OutputSettings::default());
    if let Some(settings) = accepted(Settings::resolve(options, output, Some(file))) {
        serde_json::to_string(&settings).expect("settings can be written into a report");
    }
}

/// Reads a policy and compares two reports by it.
pub fn policy(bytes: &[u8], formats: Formats) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(policy) = accepted(policy::parse("policy.toml", text)) {
        write_comparison(&compare::compare(&OLD, &NEW, &policy), formats);
    }
}

/// Reads a script and lists its variants.
pub fn script(bytes: &[u8], _: Formats) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        accepted(sim::parse(text));
    }
}

/// Reads a matrix in the Matrix Market format, and its fingerprint.
pub fn matrix(bytes: &[u8], _: Formats) {
    let parsed = mtx::parse("matrix.mtx", bytes, Some(FREE)).map_err(anyhow::Error::msg);
    if let Some(matrix) = accepted(parsed) {
        assert!(matrix.indptr.len() == matrix.rows + 1 && matrix.values.are_finite());
        fingerprint(&[Operand::Csr(matrix)]);
    }
}
