//! `gpubench run --device all`: makes a complete run per device, one after another, and merges the reports.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use gpubench_text::grouped::distinct;

use super::dry::write_plan;
use super::measure::{deliver, measure, view};
use super::{INTERRUPTED, check_contenders, exit_code, print_default_sweep};
use crate::backend::{External, Side};
use crate::cli::args::RunArgs;
use crate::cli::folder::Folder;
use crate::cli::show::rendered;
use crate::cli::stream;
use crate::executor::{self, Watch};
use crate::fleet::{self, Fleet, Source};
use crate::plan::{self, Plan};
use crate::report::{Report, file};
use crate::settings::devices::DeviceSelection;
use crate::settings::{Destination, Settings};
use crate::worker::Launcher;
use crate::write::report::{TABLE, View};

/// A device and the folder of its run.
struct DeviceRun {
    ordinal: u32,
    path: PathBuf,
    folder: Folder,
}

/// Runs the sweep on each of `devices`, and prints the merged report.
pub(crate) fn run(args: &RunArgs, devices: &DeviceSelection) -> Result<ExitCode> {
    let settings = super::settings(args)?;
    let externals = plan::describe(&settings)?;
    let plan = Plan::of(&settings, &externals)?;
    check_contenders(&plan, &settings)?;
    if args.dry_run {
        stream::print_with(|out| write_plan(&plan, &settings, out))?;
        return stream::print(&format!("These cells are measured once per device (--device {devices}).\n"))
            .map(|()| ExitCode::SUCCESS);
    }
    let Destination::Folder(out) = &settings.output.destination else {
        bail!(
            "--device {devices} writes one report per device, so --out - is not possible: give --out a folder"
        );
    };
    // The first interrupt from here ends the current run cleanly, and skips the runs after it.
    let watch = Watch::begin()?;
    let ordinals = match chosen(devices, &settings, &plan, &externals, &watch) {
        Err(_) if watch.is_interrupted() => return Ok(ExitCode::from(INTERRUPTED)),
        found => found?,
    };
    let (whole, parts) = claim(out, &ordinals, &settings)?;
    let mut reports = vec![];
    let mut code = 0;
    // A file that cannot be written costs no other device its run.
    let mut unsaved: Option<anyhow::Error> = None;
    for (index, part) in parts.iter().enumerate() {
        if watch.is_interrupted() {
            code = INTERRUPTED;
            break;
        }
        if !settings.output.quiet {
            stream::note(&format!("gpubench: device {} ({} of {})", part.ordinal, index + 1, parts.len()));
        }
        let settings = settings_of(&settings, part);
        let finished = measure(&settings, plan.clone(), externals.clone(), None)
            .inspect_err(|_| remove_created(&parts[index..], &whole))?;
        if args.force && !finished.report.rows.is_empty() {
            part.folder.clear_stale(file::FILE_NAME);
        }
        let delivered = deliver(&settings, &finished);
        code = code.max(exit_code(&finished.report, finished.interrupted));
        reports.push((part, finished.report));
        for error in [delivered, save(&reports, out)].into_iter().filter_map(Result::err) {
            stream::complain(&format!("{error:#}; the run goes on"));
            unsaved.get_or_insert(error);
        }
    }
    remove_created(&parts[reports.len()..], &whole);
    if args.force && reports.iter().any(|(_, report)| !report.rows.is_empty()) {
        whole.clear_stale(fleet::file::FILE_NAME);
    }
    print_default_sweep(args);
    finish(&reports, &settings, out)?;
    unsaved.map_or(Ok(ExitCode::from(code)), Err)
}

/// Returns the devices to run on: those in `--device`, which must exist, or all. A run without a GPU backend that can start is an
/// error.
fn chosen(
    devices: &DeviceSelection,
    settings: &Settings,
    plan: &Plan,
    externals: &[External],
    watch: &Watch,
) -> Result<Vec<u32>> {
    let of_gpu = plan.cells.iter().filter(|planned| planned.variant.side == Side::Gpu);
    let backends = distinct(of_gpu.map(|planned| planned.cell.backend.as_str()));
    ensure!(
        !backends.is_empty(),
        "--device {devices}: no cell of this run uses a GPU: add cuda to --backends"
    );
    let launcher = Launcher::new(None, externals)?;
    let mut most = None;
    let mut missing = vec![];
    for backend in backends {
        match executor::device_count(backend, &launcher, &settings.options, watch) {
            Ok(count) => most = most.max(Some(count)),
            Err(why) => {
                let fix = why.fix.map(|fix| format!(" ({fix})")).unwrap_or_default();
                missing.push(format!("{backend}: {}{fix}", why.reason));
            }
        }
    }
    let Some(count) = most else {
        bail!("--device {devices}: no device can be used: {}", missing.join("; "));
    };
    let DeviceSelection::Named(several) = devices else { return Ok((0..count).collect()) };
    if let Some(absent) = several.iter().find(|ordinal| **ordinal >= count) {
        bail!("--device {devices}: there is no device {absent}: this machine has {count}, numbered from 0");
    }
    Ok(several.clone())
}

/// Creates the folder of the merged report and one folder in it per device; all or none.
fn claim(out: &Path, ordinals: &[u32], settings: &Settings) -> Result<(Folder, Vec<DeviceRun>)> {
    let output = &settings.output;
    let whole = Folder::claim(out, &[], output.force)?;
    let mut parts = vec![];
    for &ordinal in ordinals {
        let path = out.join(format!("gpu{ordinal}"));
        let folder = Folder::claim(&path, &output.formats, output.force)
            .inspect_err(|_| remove_created(&parts, &whole))?;
        parts.push(DeviceRun { ordinal, path, folder });
    }
    Ok((whole, parts))
}

/// Removes the created folders that are still empty.
fn remove_created(parts: &[DeviceRun], whole: &Folder) {
    parts.iter().for_each(|part| part.folder.remove_created());
    whole.remove_created();
}

/// Returns the settings for the run of one device: its device, its folder, and no output on stdout.
fn settings_of(settings: &Settings, part: &DeviceRun) -> Settings {
    let mut settings = settings.clone();
    settings.options.device = part.ordinal;
    settings.output.destination = Destination::Folder(part.path.clone());
    settings.output.formats.retain(|format| *format != &TABLE);
    settings
}

/// Merges the reports that have rows; `None` if there are none.
fn fleet_of(reports: &[(&DeviceRun, Report)]) -> Result<Option<Fleet>> {
    let with_rows = reports.iter().filter(|(_, report)| !report.rows.is_empty());
    let source = |(part, report): &(&DeviceRun, Report)| Source {
        origin: part.path.display().to_string(),
        name: None,
        report: report.clone(),
    };
    let sources: Vec<Source> = with_rows.map(source).collect();
    if sources.is_empty() { Ok(None) } else { fleet::merge(sources, None).map(Some) }
}

/// Writes the merged report so far.
fn save(reports: &[(&DeviceRun, Report)], out: &Path) -> Result<()> {
    let save = |fleet| fleet::file::save(&fleet, &out.join(fleet::file::FILE_NAME));
    fleet_of(reports)?.map_or(Ok(()), save)
}

/// Prints the path of the merged report, and the report itself if the table format is chosen.
fn finish(reports: &[(&DeviceRun, Report)], settings: &Settings, out: &Path) -> Result<()> {
    let output = &settings.output;
    let Some(fleet) = fleet_of(reports)? else { return Ok(()) };
    if !output.quiet {
        let file = out.join(fleet::file::FILE_NAME);
        stream::note(&format!("gpubench: the merged report of all devices is {}", file.display()));
    }
    if !output.formats.contains(&&TABLE) {
        return Ok(());
    }
    // A run on several devices cannot be resumed.
    stream::print(&rendered(&fleet, &TABLE, &View { folder: None, ..view(output) })?)
}
