//! `gpubench plot` draws the charts of reports again, and `gpubench report` makes one HTML page from reports.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use super::args::{PlotArgs, ReportArgs};
use super::folder::check_file;
use super::newest::named_or_newest;
use super::{parsed, stream};
use crate::answer::Versus;
use crate::fleet::{self, Fleet, Member};
use crate::report::{Report, file};
use crate::settings::names;
use crate::settings::options::Contenders;
use crate::write::chart::{self, Drawing};
use crate::write::{html, newest};

/// Draws the charts of the reports that `args` name.
pub(crate) fn plot(args: &PlotArgs) -> Result<()> {
    let (formats, theme) = (names::chart_formats(&args.format).context("--format")?, args.theme.0);
    let selection = parsed("--charts", args.charts.as_deref(), names::charts)?.unwrap_or_default();
    let reports = named_or_newest(&args.reports)?;
    let fleets = load(&reports, args.versus.as_ref())?;
    let labelled = fleet::labelled(&chart::names(&reports), &fleets);
    let all: Vec<(&str, &Report)> = labelled.iter().map(|(name, report)| (name.as_str(), *report)).collect();
    let named: Vec<(&str, &Report)> = newest(&all).into_iter().map(|index| all[index]).collect();
    if named.len() < all.len() {
        stream::note(&format!(
            "gpubench: the charts show the newest {} of {} reports; 'gpubench trend' follows the times of all",
            named.len(),
            all.len()
        ));
    }
    let drawing = Drawing { formats: &formats, theme, selection };
    for path in chart::plot(&named, &args.out, &drawing, args.force)? {
        stream::note(&path.display().to_string());
    }
    Ok(())
}

/// Makes the page that `args` ask for.
pub(crate) fn report(args: &ReportArgs) -> Result<()> {
    let out = Some(args.out.as_path()).filter(|out| *out != Path::new("-"));
    if let Some(out) = out {
        check_file(out, "report.html", args.force)?;
    }
    let reports = named_or_newest(&args.reports)?;
    let fleets = load(&reports, args.versus.as_ref())?;
    let labelled = fleet::labelled(&chart::names(&reports), &fleets);
    let members: Vec<(&str, &Report)> =
        labelled.iter().map(|(name, report)| (name.as_str(), *report)).collect();
    let page = html::page(&members);
    match out {
        Some(out) => file::write_atomic(out, page.as_bytes()),
        None => stream::print(&page),
    }
}

/// Reads reports and merged files, which compare the contenders `names` if the user gave any.
fn load(reports: &[PathBuf], names: Option<&Contenders>) -> Result<Vec<Fleet>> {
    let mut fleets = reports.iter().map(|path| fleet::file::load(path)).collect::<Result<Vec<Fleet>>>()?;
    choose_contenders(fleets.iter_mut().flat_map(|fleet| &mut fleet.members), names)?;
    Ok(fleets)
}

/// Makes reports that are shown together compare the same contenders: those that `names` has; otherwise their own, or CPU
/// and GPU where the reports have different ones. A report without times of a contender is an error.
pub(crate) fn choose_contenders<'m>(
    members: impl IntoIterator<Item = &'m mut Member>,
    names: Option<&Contenders>,
) -> Result<()> {
    let mut members: Vec<&mut Member> = members.into_iter().collect();
    let several = members.len() > 1;
    if let Some(Contenders(names)) = names {
        for Member { name, report } in members {
            let origin = if several { format!("{name}: ") } else { String::new() };
            Versus::choose(report, names).map_err(|problem| anyhow!("--versus: {origin}{problem}"))?;
        }
    } else if members.windows(2).any(|pair| Versus::of(&pair[0].report) != Versus::of(&pair[1].report)) {
        members.iter_mut().for_each(|member| Versus::clear(&mut member.report));
    }
    Ok(())
}
