//! Policies of comparisons.

use gpubench::compare::{self, policy};

use super::{Formats, NEW, OLD, accepted, write_comparison};

/// Reads a policy and compares two reports by it.
pub fn read(bytes: &[u8], formats: Formats) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(policy) = accepted(policy::parse("policy.toml", text)) {
        write_comparison(&compare::compare(&OLD, &NEW, &policy), formats);
    }
}
