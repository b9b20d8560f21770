//! Scripts of the simulated device.

use gpubench::backend::sim;

use super::{Formats, accepted};

/// Reads a script and lists its variants.
pub fn read(bytes: &[u8], _: Formats) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        accepted(sim::parse(text));
    }
}
