//! `gpubench plot`: draws the charts of reports again, and prints the paths of the files to stderr.

use anyhow::Result;

use super::args::PlotArgs;
use super::stream;
use super::sweep::parsed;
use super::versus;
use crate::chart::{self, Drawing};
use crate::fleet::{self, Fleet};
use crate::newest;
use crate::report::Report;
use crate::settings::words;

/// Draws the charts of the reports that `args` name.
pub(crate) fn run(args: &PlotArgs) -> Result<()> {
    let (formats, theme) = (args.formats()?, args.theme.0);
    let selection = parsed("--charts", args.charts.as_deref(), words::charts)?.unwrap_or_default();
    let mut fleets =
        args.reports.iter().map(|path| fleet::file::load(path)).collect::<Result<Vec<Fleet>>>()?;
    versus::choose(fleets.iter_mut().flat_map(|fleet| &mut fleet.members), args.versus.as_ref())?;
    let labelled = fleet::labelled(&chart::names(&args.reports), &fleets);
    let all: Vec<(&str, &Report)> = labelled.iter().map(|(name, report)| (name.as_str(), *report)).collect();
    let named: Vec<(&str, &Report)> = newest(&all).into_iter().map(|index| all[index]).collect();
    if named.len() < all.len() {
        stream::note(&format!(
            "gpubench: the charts show the newest {} of {} reports; 'gpubench trend' follows the times of all",
            named.len(),
            all.len()
        ));
    }
    if let Some(most) = chart::crowded(&named, selection) {
        stream::note(&format!(
            "gpubench: a chart of these reports has {most} lines, too many to distinguish: name fewer reports, \
             or print a table with 'gpubench show'"
        ));
    }
    let drawing = Drawing { formats: &formats, theme, selection };
    for path in chart::plot(&named, &args.out, &drawing, args.force)? {
        stream::note(&path.display().to_string());
    }
    Ok(())
}
