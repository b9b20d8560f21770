//! `gpubench compare`: reads both sides, compares them, writes the results and returns the gate's exit code.

mod plan;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use gpubench_report::format::{Unprintable, for_stdout};

use super::args::CompareArgs;
use super::{folder, stream};
use crate::compare::{Comparison, Limits, Policy, compare_with_history, load, policy};
use crate::report::file::save_all_in_new;
use crate::write::compare::{ComparisonFormat, FORMATS, GITHUB, Sanitized, TABLE, View, job_summary};

/// The variable that names the file for the summary of a step of GitHub Actions.
const JOB_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Compares or plans.
pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let policy = policy_of(args)?;
    if !args.plan.is_empty() {
        return stream::print(&plan::plan(args, &policy)?).map(|()| ExitCode::SUCCESS);
    }
    let out = folder::named(args.out.as_deref())?;
    let formats = formats(args.format.as_deref(), out)?;
    let (old, new) = match (args.reports.as_slice(), args.old.as_slice(), args.new.as_slice()) {
        ([old, new], [], []) => load::sides(std::slice::from_ref(old), std::slice::from_ref(new))?,
        ([], [_, ..], [_, ..]) => load::sides(&args.old, &args.new)?,
        (reports, ..) => {
            let given = if reports.len() > 2 { format!(", not {}", reports.len()) } else { String::new() };
            bail!(
                "compare takes two reports{given}: OLD and NEW; for several per side write --old A B C --new D E F (see 'gpubench compare --help')"
            )
        }
    };
    let history = load::history(&args.history, &old, &new, &policy)?;
    let comparison = compare_with_history(&old, &new, &history, &policy);
    deliver(args, &formats, out, &comparison)?;
    Ok(ExitCode::from(comparison.gate.exit_code))
}

/// Reads the policy file and applies the options of the command line.
fn policy_of(args: &CompareArgs) -> Result<Policy> {
    let given =
        Limits { threshold: args.threshold, mean_threshold: args.mean_threshold, ..Limits::default() };
    let mut policy = read_policy(args.policy.as_deref(), given)?;
    policy.accept_missing |= args.accept_missing;
    policy.accept_inconclusive |= args.accept_inconclusive;
    policy.cross_machine |= args.cross_machine;
    Ok(policy)
}

/// Reads the policy in `file`, or takes the default one, and sets the limits of the command line as defaults.
pub(crate) fn read_policy(file: Option<&Path>, given: Limits) -> Result<Policy> {
    let mut policy = file.map(policy::read).transpose()?.unwrap_or_default();
    policy.set_defaults(given);
    Ok(policy)
}

/// Returns the requested formats, each once.
fn formats(list: Option<&str>, out: Option<&Path>) -> Result<Vec<&'static ComparisonFormat>> {
    let formats = match (list, out) {
        (Some(list), _) => FORMATS.parse(list).context("--format")?,
        (None, Some(_)) => FORMATS.defaults(),
        (None, None) => vec![&TABLE],
    };
    if let (Err(Unprintable::Count(count)), None) = (for_stdout(&formats), out) {
        bail!("--format names {count} formats, but stdout takes only one: name a folder with --out");
    }
    Ok(formats)
}

/// Writes files to the folder and the table to stdout, or the one format to stdout.
fn deliver(
    args: &CompareArgs,
    formats: &[&ComparisonFormat],
    out: Option<&Path>,
    comparison: &Comparison,
) -> Result<()> {
    let view = View { all_cells: args.all_cells, color: args.colors.takes_colors() };
    if formats.contains(&&GITHUB) {
        add_job_summary(comparison);
    }
    let comparison = Sanitized::of(comparison);
    let Some(out) = out else {
        return stream::print(&formats[0].text(&comparison, &view)?);
    };
    let plain = View { color: false, ..view };
    let mut files = vec![];
    for format in formats {
        files.extend(format.files(&comparison, &plain)?);
    }
    for path in save_all_in_new(out, &files, args.force)? {
        stream::note(&format!("gpubench: wrote {}", path.display()));
    }
    stream::print(&TABLE.text(&comparison, &view)?)
}

/// Appends the summary to the file that GitHub Actions names, if any. A failure is only reported, because the verdict
/// matters more.
fn add_job_summary(comparison: &Comparison) {
    let Some(path) = std::env::var_os(JOB_SUMMARY).filter(|path| !path.is_empty()) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(job_summary(comparison).as_bytes()));
    if let Err(error) = written {
        stream::complain(&format!(
            "cannot add the summary to {}: {error}; correct or unset {JOB_SUMMARY}",
            Path::new(&path).display()
        ));
    }
}
