//! `gpubench compare`: reads both sides, compares them, prints what came out, and ends with the gate's exit code.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use super::args::CompareArgs;
use super::listing::Listing;
use super::stream;
use crate::compare::export::{self, FORMATS, Format, View};
use crate::compare::plan::{MOST_RUNS, POWER, Plan, plans};
use crate::compare::self_test::self_test;
use crate::compare::{Comparison, Limits, Policy, compare, load, policy};
use crate::report::file::{self, File, save_all_in_new};
use crate::report::quantity::spread_text;
use crate::settings::words;

/// The slowdown that a plan is about when nothing is said.
const SEE: f64 = 0.03;

/// Exit code of a gate that does not do what it claims.
const SELF_TEST_FAILED: u8 = 1;

/// The file to which a step of GitHub Actions adds its summary.
const JOB_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Compares, plans, or puts the gate to the test.
pub fn run(args: &CompareArgs) -> Result<ExitCode> {
    let policy = policy_of(args)?;
    if args.self_test {
        return test_gate(args, &policy);
    }
    if !args.plan.is_empty() {
        return stream::print(&plan_text(&args.plan, args.see.unwrap_or(SEE), &policy)?)
            .map(|()| ExitCode::SUCCESS);
    }
    let formats = formats(args)?;
    let (old, new) = match (args.reports.as_slice(), args.old.as_slice(), args.new.as_slice()) {
        ([old, new], [], []) => load::sides(std::slice::from_ref(old), std::slice::from_ref(new))?,
        ([], [_, ..], [_, ..]) => load::sides(&args.old, &args.new)?,
        _ => bail!(
            "compare takes two reports, OLD and NEW, or several a side: --old A B C --new D E F; see 'gpubench compare --help'"
        ),
    };
    let comparison = compare(&old, &new, &policy);
    deliver(args, &formats, &comparison)?;
    Ok(ExitCode::from(comparison.gate.exit_code))
}

/// The policy file, with what the command line says put over it.
fn policy_of(args: &CompareArgs) -> Result<Policy> {
    let mut policy = read_policy(args.policy.as_deref(), args.threshold)?;
    policy.accept_missing |= args.accept_missing;
    policy.accept_unsure |= args.accept_unsure;
    policy.cross_machine |= args.cross_machine;
    Ok(policy)
}

/// The policy in `file`, or the default one, with the threshold of the command line for cells without their own.
pub fn read_policy(file: Option<&Path>, threshold: Option<f64>) -> Result<Policy> {
    let mut policy = file.map(policy::read).transpose()?.unwrap_or_default();
    policy.set_defaults(Limits { threshold, ..Limits::default() });
    Ok(policy)
}

fn formats(args: &CompareArgs) -> Result<Vec<&'static dyn Format>> {
    let names: Vec<&str> = args.format.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let valid: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    let find = |name: &&str| {
        export::find(name).with_context(|| format!("--format: {}", words::unknown("format", name, &valid)))
    };
    let formats = names.iter().map(find).collect::<Result<Vec<_>>>()?;
    ensure!(!formats.is_empty(), "--format names no format (valid: {})", valid.join(", "));
    ensure!(
        formats.len() == 1 || args.out.is_some(),
        "--format names {} formats and stdout takes one: name a folder with --out",
        formats.len()
    );
    Ok(formats)
}

/// Files into the folder and the table to stdout, or the one format to stdout.
fn deliver(args: &CompareArgs, formats: &[&dyn Format], comparison: &Comparison) -> Result<()> {
    let view = View { all_cells: args.all_cells, color: !args.no_color && stream::takes_colors() };
    if formats.iter().any(|format| format.name() == "github") {
        add_job_summary(comparison)?;
    }
    let Some(out) = &args.out else {
        return stream::print(&formats[0].text(comparison, &view));
    };
    let plain = View { color: false, ..view };
    let files = formats.iter().filter(|format| format.name() != "table").map(|format| File {
        name: format.file_name().into(),
        bytes: format.text(comparison, &plain).into_bytes(),
    });
    for path in save_all_in_new(out, &files.collect::<Vec<_>>(), args.force)? {
        stream::note(&format!("gpubench: wrote {}", path.display()));
    }
    stream::print(&FORMATS[0].text(comparison, &view))
}

/// Adds the summary of a step to the file that GitHub Actions names, where it names one.
fn add_job_summary(comparison: &Comparison) -> Result<()> {
    let Some(path) = std::env::var_os(JOB_SUMMARY).filter(|path| !path.is_empty()) else { return Ok(()) };
    let shown = Path::new(&path).display().to_string();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    file.as_mut()
        .map_err(|error| error.to_string())
        .and_then(|file| {
            file.write_all(export::job_summary(comparison).as_bytes()).map_err(|error| error.to_string())
        })
        .map_err(|error| anyhow::anyhow!("cannot add to {shown}: {error}; unset {JOB_SUMMARY} to do without"))
}

fn test_gate(args: &CompareArgs, policy: &Policy) -> Result<ExitCode> {
    let report = match args.reports.as_slice() {
        [] => None,
        [path] => Some(file::load(path)?),
        _ => bail!("--self-test takes one report at most"),
    };
    let claims = self_test(report.as_ref(), policy);
    let mut text = String::new();
    for claim in &claims {
        let _ = writeln!(text, "{:<6}  {}", if claim.held { "ok" } else { "FAILED" }, claim.text);
    }
    let held = claims.iter().all(|claim| claim.held);
    text.push_str(match held {
        true => "the gate trips over a regression and stays quiet without one\n",
        false => {
            "the gate does not do what it should: with this policy, do not rely on it; try the default one\n"
        }
    });
    stream::print(&text)?;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(SELF_TEST_FAILED) })
}

/// Slowdowns that a plan tells of beside the one asked for.
const LADDER: [f64; 5] = [0.01, 0.02, 0.03, 0.05, 0.10];

fn plan_text(paths: &[std::path::PathBuf], see: f64, policy: &Policy) -> Result<String> {
    let runs = load::runs(paths)?;
    let slowdowns: Vec<f64> = std::iter::once(see).chain(LADDER).collect();
    let mut plans = plans(&runs, &slowdowns, policy);
    let asked = plans.remove(0);
    ensure!(
        !asked.cells.is_empty(),
        "no cell of {} has a time: plan with a report of measured cells",
        paths[0].display()
    );
    let mut listing = Listing::new(&["Op", "Variant", "Cells", "Run-to-run spread", "Runs a side"]);
    for group in groups(&asked) {
        listing.row(group);
    }
    let spread = match asked.measured {
        true => "as these runs showed it",
        false => "assumed, since one run cannot show it: save a baseline, or name several runs",
    };
    let mut text = format!(
        "To see a slowdown of {} in any one cell with a chance of {} %, compare with --threshold {} and so many runs a side:\n\n{}\n",
        spread_text(see),
        100.0 * POWER,
        spread_text(asked.threshold),
        listing.text(),
    );
    let _ = writeln!(text, "Spread from run to run: {spread}. A row tells of its noisiest cell.\n");
    let mut ladder = Listing::new(&["Slowdown", "--threshold", "Runs a side, all cells"]);
    for plan in plans {
        ladder.row(vec![spread_text(plan.see), spread_text(plan.threshold), runs_text(plan.runs())]);
    }
    let _ = write!(text, "{}", ladder.text());
    Ok(text)
}

/// One line an op and variant: how many cells, the widest spread, the most runs.
fn groups(plan: &Plan) -> Vec<Vec<String>> {
    let mut groups: Vec<(String, String, usize, f64, Option<usize>)> = Vec::new();
    for planned in &plan.cells {
        let variant = format!("{}/{}", planned.cell.backend, planned.cell.variant);
        let place = groups.iter().position(|(op, name, ..)| *op == planned.cell.case.op && *name == variant);
        let place = place.unwrap_or_else(|| {
            groups.push((planned.cell.case.op.clone(), variant, 0, 0.0, Some(0)));
            groups.len() - 1
        });
        let (_, _, cells, spread, runs) = &mut groups[place];
        *cells += 1;
        *spread = spread.max(planned.run_spread);
        *runs = runs.zip(planned.runs).map(|(most, runs)| most.max(runs));
    }
    let line = |(op, variant, cells, spread, runs): (String, String, usize, f64, Option<usize>)| {
        vec![op, variant, cells.to_string(), spread_text(spread), runs_text(runs)]
    };
    groups.into_iter().map(line).collect()
}

fn runs_text(runs: Option<usize>) -> String {
    runs.map_or_else(|| format!("over {MOST_RUNS}"), |runs| runs.to_string())
}
