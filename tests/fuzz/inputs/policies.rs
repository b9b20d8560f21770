//! Policies of comparisons.

use std::sync::LazyLock;

use gpubench::compare::{self, Runs, policy};
use gpubench::report::example;

use super::{Formats, accepted, side, write_comparison};

static OLD: LazyLock<Runs> = LazyLock::new(|| side("old", example::full()));
static NEW: LazyLock<Runs> = LazyLock::new(|| {
    let mut report = example::full();
    report.environment.started = "2026-11-22T10:00:00Z".into();
    side("new", report)
});

/// Reads a policy and compares two reports by it.
pub fn read(bytes: &[u8], formats: Formats) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(policy) = accepted(policy::parse("policy.toml", text)) {
        write_comparison(&compare::compare(&OLD, &NEW, &policy), formats);
    }
}
