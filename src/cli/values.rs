//! The values of flags, each refused in one line when it can mean nothing.

use gpubench_text::{duration, percent};

use crate::settings::devices::{self, Devices};
use crate::settings::layer::limits;
use crate::settings::threads::{self, Threads};

/// A whole number that fits, or a message with the limits; what lies just outside of them is left to `limits`.
fn whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("it must be a whole number from {least} to {most}"))
}

/// The value of the flag of that name.
pub fn samples(text: &str) -> Result<u32, String> {
    limits::samples(whole(text, 1, limits::MOST_REPETITIONS)?).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn warmup(text: &str) -> Result<u32, String> {
    limits::warmup(whole(text, 0, limits::MOST_REPETITIONS)?).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn threads(text: &str) -> Result<Threads, String> {
    threads::parse(text).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0, u64::MAX)
}

/// The value of the flag of that name.
pub fn device(text: &str) -> Result<Devices, String> {
    devices::parse(text).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn density(text: &str) -> Result<f64, String> {
    let share = text.trim().parse().map_err(|_| "it must be a number above 0 and at most 1".to_owned())?;
    limits::density(share).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn precision(text: &str) -> Result<f64, String> {
    percent::parse(text).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn max_time(text: &str) -> Result<f64, String> {
    duration::parse(text).and_then(limits::max_time).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn budget(text: &str) -> Result<f64, String> {
    duration::parse(text).and_then(limits::budget).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn rounds(text: &str) -> Result<u32, String> {
    limits::rounds(whole(text, 1, 100)?).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn cell_timeout(text: &str) -> Result<f64, String> {
    duration::parse(text).and_then(limits::cell_timeout).map_err(|error| error.to_string())
}

/// The value of the flag of that name.
pub fn threshold(text: &str) -> Result<f64, String> {
    percent::parse_from_zero(text).map_err(|error| error.to_string())
}

/// Passes of a baseline. With two, one run in which nothing changed could hardly ever pass.
pub const LEAST_PASSES: u32 = 3;
const MOST_PASSES: u32 = 50;

/// The value of the flag of that name.
pub fn passes(text: &str) -> Result<u32, String> {
    let passes = whole(text, LEAST_PASSES.into(), MOST_PASSES.into())?;
    match u32::try_from(passes) {
        Ok(passes) if (LEAST_PASSES..=MOST_PASSES).contains(&passes) => Ok(passes),
        _ => Err(format!(
            "a baseline has {LEAST_PASSES} to {MOST_PASSES} passes: with fewer, a run in which nothing changed could never \
             pass; 5 are usual"
        )),
    }
}
