//! `gpubench baseline save`: runs a sweep several times, or takes existing reports, and saves them if they agree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use gpubench_text::count::counted;
use gpubench_text::escape::shell_word;
use gpubench_text::file::Partial;

use super::refusal::{Refusal, refusal};
use super::{MIN_PASSES, SaveArgs, show_in};
use crate::backend::External;
use crate::baseline::{self, Baseline, StagedBaseline};
use crate::cli::compare::read_policy;
use crate::cli::folder::Lock;
use crate::cli::run::{INTERRUPTED, exit_code, measure, sweep_file, with_libraries};
use crate::cli::stream;
use crate::compare::planning::{Calibrated, calibrate};
use crate::compare::{Limits, Policy, load};
use crate::executor::Finished;
use crate::plan::{self, Plan};
use crate::report::file;
use crate::settings::options::SweepOptions;
use crate::settings::{Destination, OutputSettings, Settings};
use crate::write::report::{JSON, nothing_measured};

/// Exit code of passes that disagree.
const DISAGREE: u8 = 1;

/// Saves a baseline, or reports why it cannot.
pub(crate) fn save(args: &SaveArgs) -> Result<ExitCode> {
    baseline::check_name(&args.name)?;
    ensure!(
        args.from.is_empty() || args.sweep == SweepOptions::default(),
        "--from takes existing runs, so no sweep is run: omit the options of a sweep"
    );
    let given = Limits { threshold: args.threshold, ..Limits::default() };
    let policy = read_policy(args.policy.as_deref(), given)?;
    let staged = match args.from.is_empty() {
        true => StagedBaseline::measured(&args.dir, &args.name),
        false => StagedBaseline::copied(&args.dir, &args.name),
    };
    staged.recover()?;
    ensure!(
        args.force || !staged.folder.exists(),
        "{} exists: choose another name, or replace it with --force",
        staged.folder.display()
    );
    if args.from.is_empty() {
        from_sweep(args, &policy, &staged)
    } else {
        from_reports(args, &policy, &staged)
    }
}

/// Measures passes in a folder next to the baseline, so that an existing one stays until all passes agree.
fn from_sweep(args: &SaveArgs, policy: &Policy, staged: &StagedBaseline) -> Result<ExitCode> {
    let mut settings = settings(args)?;
    let externals = plan::describe(&settings)?;
    let plan = Plan::for_this_machine(&mut settings, &externals)?;
    let _lock = lock(args)?;
    if staged.clear()? && !args.quiet {
        stream::note(&format!("gpubench: removed {}, left by an earlier save", staged.staging.display()));
    }
    let staging = staged.staging.display();
    for pass in 1..=args.passes {
        if !args.quiet {
            stream::note(&format!("gpubench: pass {pass} of {}", args.passes));
        }
        let finished = measure_pass(&settings, &plan, &externals, &staged.staging.join(name(pass)))?;
        let code = exit_code(&finished.report, finished.interrupted);
        match code {
            0 => continue,
            INTERRUPTED => stream::complain(&format!("no baseline was saved: pass {pass} was interrupted")),
            _ => match nothing_measured(&finished.report) {
                Some(why) => stream::complain(&format!("no baseline was saved: {why}")),
                None => Refusal::of_pass(pass, &finished.report).print(),
            },
        }
        stream::note(&format!("The passes are in {staging}, which you may delete."));
        return Ok(ExitCode::from(code));
    }
    let passes: Vec<PathBuf> = (1..=args.passes).map(|pass| staged.staging.join(name(pass))).collect();
    let runs = load::runs(&passes)?;
    let cells = calibrate(&runs, policy);
    if let Some(refusal) = refusal(&runs, &cells, policy, args.accept_noisy) {
        refusal.print();
        stream::note(&format!("The passes are in {staging}, which you may delete."));
        if refusal.is_noise {
            stream::note(&format!("Save them as they are: {}", accepting_command(args, staged)));
        }
        return Ok(ExitCode::from(DISAGREE));
    }
    drop(runs);
    finish(args, policy, staged, args.passes, &cells)
}

/// Returns the command that saves noisy passes without measuring again.
fn accepting_command(args: &SaveArgs, staged: &StagedBaseline) -> String {
    let is_default = args.dir == Path::new(baseline::FOLDER);
    let dir = if is_default { String::new() } else { format!(" --dir {}", shell_word(&args.dir)) };
    format!(
        "gpubench baseline save {}{dir} --from {}/pass-* --accept-noisy",
        args.name,
        shell_word(&staged.staging)
    )
}

/// Keeps other processes from saving baselines in the same folder until the lock is dropped.
fn lock(args: &SaveArgs) -> Result<Lock> {
    make(&args.dir)?;
    let shown = args.dir.display();
    let lock = Lock::take(&args.dir);
    let lock = lock.with_context(|| format!("cannot write to {shown} (name another folder with --dir)"))?;
    lock.with_context(|| format!("another gpubench baseline save writes to {shown}: wait until it has ended"))
}

/// Copies existing reports if they agree.
fn from_reports(args: &SaveArgs, policy: &Policy, staged: &StagedBaseline) -> Result<ExitCode> {
    let reports = load::reports(&args.from)?;
    let runs = load::runs(&reports)?;
    let count = u32::try_from(reports.len()).unwrap_or(u32::MAX);
    let least = MIN_PASSES;
    ensure!(
        i64::from(count) >= least,
        "--from names {}; with fewer than {least}, an unchanged run could never pass: name at least {least} runs of \
        the same sweep, preferably 5",
        counted(count, "run")
    );
    let cells = calibrate(&runs, policy);
    if let Some(refusal) = refusal(&runs, &cells, policy, args.accept_noisy) {
        refusal.print();
        return Ok(ExitCode::from(DISAGREE));
    }
    let _lock = lock(args)?;
    staged.clear()?;
    for (pass, report) in (1..=count).zip(&reports) {
        let (from, folder) = (file::locate(report), staged.staging.join(name(pass)));
        make(&folder)?;
        copy(&from, &folder.join(file::FILE_NAME))
            .with_context(|| format!("cannot copy {} to {}", from.display(), folder.display()))?;
    }
    // The reports are read again from the baseline; both at once could exceed the memory.
    drop(runs);
    finish(args, policy, staged, count, &cells)
}

/// Writes the baseline, moves it to its folder and shows it.
fn finish(
    args: &SaveArgs,
    policy: &Policy,
    staged: &StagedBaseline,
    passes: u32,
    cells: &[Calibrated],
) -> Result<ExitCode> {
    Baseline::new(&args.name, (1..=passes).map(name).collect(), cells).write(&staged.staging)?;
    staged.commit()?;
    if let Err(error) = staged.recover() {
        stream::complain(&format!("the baseline is saved, but {error:#}"));
    }
    stream::print(&show_in(&staged.folder, policy)?)?;
    let folder = staged.folder.display();
    stream::note(&format!("gpubench: saved {folder}; to compare with it: gpubench compare {folder} NEW"));
    Ok(ExitCode::SUCCESS)
}

/// Copies a file, and waits until it is on disk.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = fs::File::open(from)?;
    Partial::write_with(to, |file| io::copy(&mut from, file).map(|_| ()))?.0.finish()
}

fn name(pass: u32) -> String {
    format!("pass-{pass}")
}

/// Returns the settings of each pass; `measure` sets the folder.
fn settings(args: &SaveArgs) -> Result<Settings> {
    if let Some(devices) = args.sweep.device.as_ref().filter(|device| device.0.single().is_none()) {
        bail!("--device {}: only 'gpubench run' takes several devices: name one device", devices.0);
    }
    // The passes must have the same cells: what refinement adds depends on the times of each.
    let options = SweepOptions { refine: Some(false), ..with_libraries(&args.sweep)? };
    let destination = Destination::Folder(args.dir.join(&args.name));
    let output =
        OutputSettings { destination, formats: vec![&JSON], quiet: args.quiet, ..OutputSettings::default() };
    Settings::resolve(options, output, sweep_file(&args.sweep)?)
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {} (name another with --dir)", folder.display()))
}

/// Runs the sweep once with its report in `folder`.
fn measure_pass(settings: &Settings, plan: &Plan, externals: &[External], folder: &Path) -> Result<Finished> {
    make(folder)?;
    let mut settings = settings.clone();
    settings.output.destination = Destination::Folder(folder.to_owned());
    let mut finished = measure(&settings, plan.clone(), externals.to_vec(), None)?;
    finished.unsaved.take().map_or(Ok(finished), Err)
}
