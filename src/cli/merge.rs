//! `gpubench merge`: merges reports of several machines and devices into one file.

use std::path::Path;

use anyhow::{Result, ensure};
use gpubench_text::count::counted;

use super::args::MergeArgs;
use super::stream;
use crate::fleet;

/// Merges the reports that `args` name.
pub(crate) fn run(args: &MergeArgs) -> Result<()> {
    let out = args.out.as_path();
    let to_stdout = out == Path::new("-");
    let shown = out.display();
    ensure!(!out.as_os_str().is_empty(), "--out names no file: name one, such as --out fleet.json");
    ensure!(
        !out.is_dir(),
        "{shown} is a folder: name a file in it, such as --out {}",
        out.join("fleet.json").display()
    );
    ensure!(
        to_stdout || args.force || !out.exists(),
        "{shown} exists: choose another file with --out, or replace it with --force"
    );
    let names: Option<Vec<String>> =
        args.names.as_ref().map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
    let merged = fleet::merge(fleet::sources(&args.reports)?, names.as_deref())?;
    if to_stdout {
        return stream::print_bytes(&fleet::file::to_json(&merged)?);
    }
    fleet::file::save(&merged, out)?;
    let reports = counted(merged.members.len(), "report");
    stream::note(&format!(
        "gpubench: {shown} contains {reports}; 'gpubench show {shown}' shows them side by side"
    ));
    Ok(())
}
