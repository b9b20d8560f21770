//! `gpubench baseline`: runs a sweep several times, keeps the runs when they agree, and shows what is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use super::args::{BaselineCommand, SaveArgs};
use super::compare::read_policy;
use super::listing::Listing;
use super::run::{DEFAULT_SWEEP, exit_code};
use super::sweep::swept;
use super::{stream, wiring};
use crate::baseline::{self, Baseline};
use crate::compare::calibration::{Calibrated, calibrate, unsound};
use crate::compare::{Policy, Run, Runs, compare, load};
use crate::plan::Plan;
use crate::report::file;
use crate::report::quantity::spread_text;
use crate::settings::resolve::Request;
use crate::settings::{Destination, Format, Settings, config};

/// Exit code of passes that disagree.
const DISAGREE: u8 = 1;

/// Cells of a kind of problem that are named; the rest is counted.
const SHOWN: usize = 8;

/// Saves, lists or shows.
pub fn run(command: BaselineCommand) -> Result<ExitCode> {
    match command {
        BaselineCommand::Save(args) => save(&args),
        BaselineCommand::List { dir } => stream::print(&list(&dir)?).map(|()| ExitCode::SUCCESS),
        BaselineCommand::Show { name, dir } => stream::print(&show(&name, &dir)?).map(|()| ExitCode::SUCCESS),
    }
}

fn save(args: &SaveArgs) -> Result<ExitCode> {
    baseline::check_name(&args.name)?;
    let policy = read_policy(args.policy.as_deref(), args.threshold)?;
    let folder = args.dir.join(&args.name);
    ensure!(
        args.force || !folder.exists(),
        "{} exists: choose another name, or replace it with --force",
        folder.display()
    );
    // The passes are made beside the baseline, so that one that exists stays until all have agreed.
    let attempt = args.dir.join(format!("{}.attempt", args.name));
    let settings = settings(args)?;
    let plan = Plan::of(&settings)?;
    if attempt.exists() {
        fs::remove_dir_all(&attempt).with_context(|| format!("cannot replace {}", attempt.display()))?;
    }
    let mut passes = Vec::new();
    for pass in 1..=args.passes {
        if !args.quiet {
            stream::note(&format!("gpubench: pass {pass} of {}", args.passes));
        }
        let name = format!("pass-{pass}");
        let code = measure(&settings, &plan, &attempt.join(&name))?;
        if code != 0 {
            stream::complain(&format!(
                "no baseline was saved: pass {pass} has cells that are incorrect or failed, or was interrupted; its report is in {}",
                attempt.join(&name).display()
            ));
            return Ok(ExitCode::from(code));
        }
        passes.push(name);
    }
    let runs = load::runs(&passes.iter().map(|pass| attempt.join(pass)).collect::<Vec<PathBuf>>())?;
    let cells = calibrate(&runs, &policy);
    if let Some(problem) = refusal(&runs, &cells, args.accept_noisy) {
        stream::complain(&format!(
            "no baseline was saved: {problem}; the passes are in {}",
            attempt.display()
        ));
        return Ok(ExitCode::from(DISAGREE));
    }
    Baseline::new(&args.name, passes, &cells).write(&attempt)?;
    replace(&attempt, &folder)?;
    stream::print(&show_in(&folder, &policy)?)?;
    stream::note(&format!("gpubench: saved {}; compare with it: gpubench compare {0} NEW", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// The sweep of each pass; where its results go is filled in pass by pass.
fn settings(args: &SaveArgs) -> Result<Settings> {
    let named = args.sweep.config.as_deref();
    let sweep = named.or_else(|| args.sweep.ops.is_none().then_some(DEFAULT_SWEEP));
    let request = Request { formats: Some(vec![Format::Json]), quiet: args.quiet, ..swept(&args.sweep)? };
    let request = Request { out: Some(args.dir.join(&args.name).display().to_string()), ..request };
    Settings::resolve(request, sweep.map(config::read).transpose()?)
}

/// Runs the sweep once, with its report in `folder`; the exit code that `run` would have had.
fn measure(settings: &Settings, plan: &Plan, folder: &Path) -> Result<u8> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {} (name another with --dir)", folder.display()))?;
    let mut settings = settings.clone();
    settings.output.destination = Destination::Folder(folder.to_owned());
    let finished = wiring::measure(&settings, plan.clone())?;
    file::save(&finished.report, &folder.join(file::FILE_NAME))?;
    Ok(exit_code(&finished.report, finished.interrupted))
}

/// Why the passes make no baseline, with the next step.
fn refusal(runs: &Runs, cells: &[Calibrated], accept_noisy: bool) -> Option<String> {
    if let Some((cell, reason)) = unsound(runs).first() {
        return Some(format!("{cell} was {reason}"));
    }
    if cells.is_empty() {
        return Some("no cell has a time; see the reasons in the reports".into());
    }
    let mut noisy: Vec<&Calibrated> = cells.iter().filter(|cell| cell.disagrees()).collect();
    if noisy.is_empty() || accept_noisy {
        return None;
    }
    noisy.sort_by(|a, b| b.apart.total_cmp(&a.apart));
    let named = noisy.iter().take(SHOWN).map(|cell| {
        format!("{} by {} (threshold {})", cell.cell, spread_text(cell.apart), spread_text(cell.threshold))
    });
    let mut named: Vec<String> = named.collect();
    if noisy.len() > SHOWN {
        named.push(format!("{} more", noisy.len() - SHOWN));
    }
    Some(format!(
        "the passes disagree although nothing changed: {}. Close other programs, sample longer (--max-time), leave those \
         cells out, or save all the same with --accept-noisy",
        named.join(", ")
    ))
}

/// Puts the folder `attempt` in the place of `folder`.
fn replace(attempt: &Path, folder: &Path) -> Result<()> {
    let aside = folder.with_extension("replaced");
    let had_one = folder.exists();
    let moved = match had_one {
        true => fs::rename(folder, &aside).and_then(|()| fs::rename(attempt, folder)),
        false => fs::rename(attempt, folder),
    };
    moved.with_context(|| format!("cannot move {} to {}", attempt.display(), folder.display()))?;
    if had_one {
        fs::remove_dir_all(&aside).with_context(|| format!("cannot remove the old {}", aside.display()))?;
    }
    Ok(())
}

fn list(folder: &Path) -> Result<String> {
    let found = baseline::list(folder)?;
    if found.is_empty() {
        return Ok(format!(
            "no baselines in {}: save one with 'gpubench baseline save NAME'\n",
            folder.display()
        ));
    }
    let mut listing = Listing::new(&["Name", "Saved", "Passes", "Cells", "Widest spread", "Machine"]);
    for (path, baseline) in found {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match baseline {
            Ok(baseline) => {
                let widest = baseline.cells.iter().map(|cell| cell.run_spread).fold(0.0, f64::max);
                let first = baseline.reports(&path).first().and_then(|report| file::load(report).ok());
                let machine =
                    first.map_or("its first pass cannot be read".to_owned(), |report| machine(&report));
                let (passes, cells) = (baseline.passes.len().to_string(), baseline.cells.len().to_string());
                listing.row(vec![name, baseline.saved, passes, cells, spread_text(widest), machine]);
            }
            Err(error) => {
                listing.row(vec![name, "-".into(), "-".into(), "-".into(), "-".into(), format!("{error:#}")]);
            }
        }
    }
    Ok(listing.text())
}

fn show(name: &str, dir: &Path) -> Result<String> {
    let given = PathBuf::from(name);
    let folder = if given.join(baseline::FILE_NAME).is_file() { given } else { dir.join(name) };
    show_in(&folder, &Policy::default())
}

fn show_in(folder: &Path, policy: &Policy) -> Result<String> {
    let Some(baseline) = baseline::open(folder)? else {
        bail!("{} is no baseline: 'gpubench baseline list' names those there are", folder.display());
    };
    let runs = load::runs(&[folder.to_owned()])?;
    let mut listing =
        Listing::new(&["Op", "N", "dtype", "Variant", "Cache", "Passes apart", "Spread", "Shown"]);
    // What a run like the first would show, were it compared with the baseline.
    let alike = Runs { runs: one_more(&runs), ..Runs::default() };
    let compared = compare(&runs, &alike, policy);
    for cell in &baseline.cells {
        let of_cell = compared.cells.iter().find(|change| {
            change.case == cell.case
                && (change.backend.as_str(), change.variant.as_str(), change.cache)
                    == (cell.backend.as_str(), cell.variant.as_str(), cell.cache)
        });
        listing.row(vec![
            cell.case.op.clone(),
            cell.case.n.to_string(),
            cell.case.dtype.to_string(),
            format!("{}/{}", cell.backend, cell.variant),
            cell.cache.to_string(),
            spread_text(cell.apart),
            spread_text(cell.run_spread),
            of_cell.and_then(|change| change.detectable).map_or("-".into(), spread_text),
        ]);
    }
    let machine = runs.runs.first().map(|run| machine(&run.report)).unwrap_or_default();
    Ok(format!(
        "{}: {} passes, saved {}\n{machine}\n\n{}\nShown: the slowdown that one run against this baseline would show with a chance of 80 %.\n",
        baseline.name,
        baseline.passes.len(),
        baseline.saved,
        listing.text()
    ))
}

/// A run like the first of `runs`, under another name.
fn one_more(runs: &Runs) -> Vec<Run> {
    runs.runs.first().cloned().into_iter().collect()
}

/// CPU and, where there is one, GPU of a run.
fn machine(report: &crate::report::Report) -> String {
    let environment = &report.environment;
    let device = environment.backends.iter().find_map(|backend| backend.description.get("name")?.as_str());
    [Some(environment.host.cpu.as_str()), device].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
