//! `gpubench report`: makes one HTML page from reports, in a file or on stdout.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::args::ReportArgs;
use super::{stream, versus};
use crate::chart;
use crate::fleet::{self, Fleet};
use crate::html;
use crate::report::{Report, file};

/// Makes the page that `args` ask for.
pub(crate) fn run(args: &ReportArgs) -> Result<()> {
    let out = Some(args.out.as_path()).filter(|out| *out != Path::new("-"));
    if let Some(out) = out {
        check(out, args.force)?;
    }
    let mut fleets =
        args.reports.iter().map(|path| fleet::file::load(path)).collect::<Result<Vec<Fleet>>>()?;
    versus::choose(fleets.iter_mut().flat_map(|fleet| &mut fleet.members), args.versus.as_ref())?;
    let labelled = fleet::labelled(&chart::names(&args.reports), &fleets);
    let members: Vec<(&str, &Report)> =
        labelled.iter().map(|(name, report)| (name.as_str(), *report)).collect();
    let page = html::page(&members).context("cannot draw the page")?;
    match out {
        Some(out) => file::write_atomic(out, page.as_bytes()),
        None => stream::print(&page),
    }
}

/// Refuses an output path that cannot take the page, before any work.
fn check(out: &Path, force: bool) -> Result<()> {
    let shown = out.display();
    ensure!(!out.as_os_str().is_empty(), "--out is empty: name a file, or - for stdout");
    ensure!(!out.is_dir(), "--out {shown} is a folder: name a file in it, such as {shown}/report.html");
    ensure!(
        force || !out.exists(),
        "{shown} exists: name another file with --out, or replace it with --force"
    );
    Ok(())
}
