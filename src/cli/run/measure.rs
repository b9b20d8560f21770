//! Runs a plan on one device, and writes its report in the formats of the run.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use gpubench_text::escape::shell_word;

use crate::backend::External;
use crate::cli::stream;
use crate::executor::{self, Earlier, Finished, PeakSource};
use crate::plan::Plan;
use crate::plan::refinement::next_sizes;
use crate::report::file::save_all;
use crate::settings::RESULTS;
use crate::settings::{Destination, OutputSettings, Settings};
use crate::write::report::{JSON, TABLE, View, nothing_measured};
use crate::{observe, user_cache};

/// Runs the plan, with `externals` for some of its cells; progress goes to stderr.
pub(crate) fn measure(
    settings: &Settings,
    plan: Plan,
    externals: Vec<External>,
    earlier: Option<Earlier>,
) -> Result<Finished> {
    let out = match &settings.output.destination {
        Destination::Folder(path) => Some(path.clone()),
        Destination::Stdout => None,
    };
    let asked = &settings.asked;
    let run = executor::RunSpec {
        registry: crate::backend::BACKENDS,
        externals,
        cells: plan.cells,
        options: settings.options.clone(),
        seed: asked.seed.unwrap_or_default().0,
        next_sizes: asked.refine.unwrap_or(false).then_some(next_sizes),
        peaks: peaks(asked.peaks.unwrap_or(true)),
        cell_timeout: Duration::from_secs_f64(asked.cell_timeout.unwrap_or_default().0),
        program: None,
        require: asked.required().to_vec(),
        out,
        argv: earlier.as_ref().map_or_else(argv, |earlier| earlier.environment.argv.clone()),
        earlier,
        settings: serde_json::to_value(settings)?,
    };
    let mut finished = executor::run(&run, observe::for_stderr(settings.output.quiet).as_mut())?;
    let backends = &mut finished.report.environment.backends;
    for absent in plan.absent {
        if backends.iter().all(|known| known.name != absent.name) {
            backends.push(absent);
        }
    }
    Ok(finished)
}

/// Returns the command line, which a later `--resume` repeats.
fn argv() -> Vec<String> {
    std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

/// Returns the folder of kept peaks, or that none are wanted.
fn peaks(wanted: bool) -> PeakSource {
    let folder = || user_cache::folder("peaks", "GPUBENCH_PEAK_CACHE", &|name| std::env::var_os(name));
    if wanted { folder().map_or(PeakSource::Measured, PeakSource::Kept) } else { PeakSource::Unwanted }
}

/// Writes the report in the formats of `settings.output`: to a folder, with tables on stdout, or the single format of
/// the run to stdout.
///
/// # Errors
/// A file cannot be written, or the run could not save its report. Everything else is written, and tables are on stdout all
/// the same.
pub(crate) fn deliver(settings: &Settings, finished: &Finished) -> Result<()> {
    let (output, report) = (&settings.output, &finished.report);
    let view = view(output);
    let nothing = nothing_measured(report);
    let mut text = String::new();
    let mut formats = output.formats.clone();
    // A folder always gets the report with its answer, from which everything else follows. It is on disk before it replaces the
    // one that the run has saved.
    if matches!(output.destination, Destination::Folder(_)) && !formats.contains(&&JSON) {
        formats.push(&JSON);
    }
    let mut unsaved = None;
    for format in &formats {
        match &output.destination {
            Destination::Folder(folder) => {
                // A report without rows does not replace one that has some.
                if !report.rows.is_empty() {
                    let saved = format.files(report, &view).and_then(|files| save_all(folder, &files, true));
                    unsaved = unsaved.or(saved.err());
                }
                text.push_str(&format.screen(report, &view)?);
            }
            // An empty table would hide the reason; other formats are for programs, which get what they asked for.
            Destination::Stdout if nothing.is_some() && format.name == TABLE.name => {}
            Destination::Stdout => text.push_str(&format.text(report, &view)?),
        }
    }
    if let Some(reasons) = nothing {
        let Destination::Folder(folder) = &output.destination else {
            stream::complain(&reasons);
            return stream::print(&text);
        };
        stream::complain(&if_nothing(reasons, finished.interrupted, folder));
        return Ok(());
    }
    // The first screen ends with this.
    if let (Destination::Folder(folder), false, None, true) =
        (&output.destination, output.quiet, &unsaved, text.is_empty())
    {
        stream::note(&format!("gpubench: results are in {}", folder.display()));
    }
    stream::print(&text)?;
    unsaved.map_or(Ok(()), Err)
}

/// Says that nothing was measured, and how to go on.
fn if_nothing(reasons: String, interrupted: bool, folder: &Path) -> String {
    match interrupted {
        true => format!(
            "nothing was measured before the interrupt; go on with: gpubench run --resume {}",
            shell_word(folder)
        ),
        false => format!("{reasons}; the report is in {}", folder.display()),
    }
}

/// Returns the display settings of a run.
pub(crate) fn view(output: &OutputSettings) -> View {
    let folder = match &output.destination {
        Destination::Folder(folder) => Some(folder.clone()),
        Destination::Stdout => None,
    };
    View {
        tables: output.tables,
        all_variants: output.all_variants,
        color: output.color,
        width: stream::width(),
        shown: folder.clone().filter(|folder| folder.parent() != Some(Path::new(RESULTS))),
        folder,
        theme: output.theme,
        charts: output.charts,
    }
}
