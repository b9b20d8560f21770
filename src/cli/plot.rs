//! `gpubench plot`: draws the charts of reports again, and prints the paths of the files to stderr.

use anyhow::Result;

use super::args::PlotArgs;
use super::stream;
use crate::chart;
use crate::fleet::{self, Fleet};
use crate::report::Report;

/// Draws the charts of the reports that `args` name.
pub(crate) fn run(args: &PlotArgs) -> Result<()> {
    let (formats, theme) = (args.formats()?, args.theme.0);
    let fleets = args.reports.iter().map(|path| fleet::file::load(path)).collect::<Result<Vec<Fleet>>>()?;
    let labelled = fleet::labelled(&chart::names(&args.reports), &fleets);
    let named: Vec<(&str, &Report)> =
        labelled.iter().map(|(name, report)| (name.as_str(), *report)).collect();
    if let Some(most) = chart::crowded(&named) {
        stream::note(&format!(
            "gpubench: a chart of these reports has {most} lines, too many to distinguish: name fewer reports, \
             or print a table with 'gpubench show'"
        ));
    }
    for path in chart::plot(&named, &args.out, &formats, theme, args.force)? {
        stream::note(&path.display().to_string());
    }
    Ok(())
}
