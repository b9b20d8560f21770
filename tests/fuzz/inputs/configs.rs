//! Sweep files, up to the settings of a run.

use gpubench::settings::options::SweepOptions;
use gpubench::settings::{OutputSettings, Settings, config};

use super::{Formats, accepted};

/// Reads a sweep file and resolves its settings. No file that it names is opened, and no program that it names is started.
pub fn read(bytes: &[u8], _: Formats) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(mut file) = accepted(config::parse("sweep.toml", text)) else { return };
    // Settings are refused if the script cannot be opened.
    file.defaults.sim = None;
    let (options, output) = (SweepOptions::default(), OutputSettings::default());
    if let Some(settings) = accepted(Settings::resolve(options, output, Some(file))) {
        serde_json::to_string(&settings).expect("settings can be written into a report");
    }
}
