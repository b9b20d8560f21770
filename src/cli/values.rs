//! Parsers for flags that sweeps do not have; each refuses meaningless values in one line.

use anyhow::Context;
use gpubench_text::percent;

use crate::settings::value::{self, Count, Refusal};

/// Parses `--precision`.
pub(crate) fn precision(text: &str) -> Result<f64, String> {
    percent::parse(text).map_err(|error| error.to_string())
}

/// Parses `--threshold`.
pub(crate) fn threshold(text: &str) -> Result<f64, String> {
    percent::parse_from_zero(text).map_err(|error| error.to_string())
}

/// Minimum passes of a baseline: with two, a run in which nothing changed could hardly ever pass.
pub(crate) const MIN_PASSES: u32 = 3;
const MAX_PASSES: u32 = 50;

/// Parses `--passes`.
pub(crate) fn passes(text: &str) -> Result<u32, Refusal> {
    value::from_text::<Count<{ MIN_PASSES as u64 }, { MAX_PASSES as u64 }>, _>(text, |passes| {
        let passes = u32::try_from(passes).ok().filter(|passes| (MIN_PASSES..=MAX_PASSES).contains(passes));
        passes.with_context(|| {
            format!(
                "a baseline has {MIN_PASSES} to {MAX_PASSES} passes: with fewer, a run in which nothing changed could never \
                 pass; 5 are usual"
            )
        })
    })
}
