//! `gpubench advise`: measures the calls of a recorded program and says whether a GPU would pay.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::{ArgPredicate, PossibleValuesParser, TypedValueParser};
use gpubench_analysis::advice::{self, Advice, DataPlace, ProblemTimes, Verification};
use gpubench_analysis::answer::Estimate;
use gpubench_backend::host::{environment, process};
use gpubench_report::calls::Calls;
use gpubench_report::report::machine::device_name;
use serde::Serialize;

use super::{USAGE, stream};
use crate::document::advice::{
    EMITTED, Price, document, emitted, of_problems, verification as words_of_verification,
};
use crate::document::blocks::{Block, Document};
use crate::fleet::file::load;
use crate::op;
use crate::report::Report;
use crate::report::file::{is_in, to_json_text, write_atomic};
use crate::write::html::page_with;
use crate::write::markdown;
use crate::write::terminal::{Screen, TERMINAL_WIDTH, blocks};

const ADVISE_HELP: &str = "\
Examples:
  gpubench record -- python3 script.py
  gpubench advise calls.json                        measure the 20 calls that take most time, and advise
  gpubench advise calls.json -- --cpu-threads 8     with options of 'gpubench run'
  gpubench advise calls.json --report results/gpu   by reports that exist; nothing is measured
  gpubench advise matmul 4096x512x512 --batch 64 --calls 1000 --data once
  gpubench advise --report results/gpu --verify 500 how well those reports predict problems that they lack

The measurements are an ordinary run, kept in the folder of --out. If it was interrupted, the same command goes on with it. \
docs/advise.md says how the times of other calls are predicted.";

/// The arguments of `advise`.
#[derive(Args)]
#[command(after_help = ADVISE_HELP)]
pub(crate) struct AdviseArgs {
    /// File that gpubench record wrote, or an operation if a SHAPE follows [default: calls.json; none with --report and --verify or --emit]
    #[arg(value_name = "CALLS")]
    pub calls: Option<PathBuf>,

    /// Shape of the operation, as --shape of gpubench run takes it
    #[arg(value_name = "SHAPE", requires = "calls", conflicts_with_all = ["report", "verify", "emit", "price", "all_calls"])]
    pub shape: Option<String>,

    /// Problems of one call, with a SHAPE
    #[arg(long, value_name = "COUNT", requires = "shape", conflicts_with = "report")]
    pub batch: Option<String>,

    /// Element types, with a SHAPE
    #[arg(
        long,
        value_name = "TYPES",
        requires = "shape",
        default_value_if("shape", ArgPredicate::IsPresent, "f32")
    )]
    pub dtypes: Option<String>,

    /// Number of calls, with a SHAPE
    #[arg(long = "calls", value_name = "COUNT", id = "call_count", requires = "shape", conflicts_with = "report", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub call_count: u64,

    /// Where the data of the calls is, with a SHAPE: host, once (copied once for all calls) or device
    #[arg(long, value_name = "PLACE", requires = "shape", conflicts_with = "report", default_value = "host", value_parser = PossibleValuesParser::new(DataPlace::NAMES).map(|name| DataPlace::find(&name)))]
    pub data: DataPlace,

    /// Kinds of calls to measure, those that take most time first; others are predicted
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub top: u16,

    /// Folder of the measurements. Default: the name of CALLS without its extension, followed by -run
    #[arg(long, short, value_name = "DIR", conflicts_with = "report")]
    pub out: Option<PathBuf>,

    /// Reports to take times from, instead of measuring
    #[arg(long, value_name = "REPORT", value_delimiter = ',')]
    pub report: Vec<PathBuf>,

    /// Calls to measure besides, drawn at random, to compare their times with the predicted ones; with --report, measured problems to predict from the others
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub verify: usize,

    /// Prices of an hour without and with a GPU, such as cpu=0.8,gpu=3.5
    #[arg(long, value_name = "PRICES", value_parser = price)]
    pub price: Option<Price>,

    /// Output: text, md, json, or html, a page with the measurements
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "md", "json", "html"])]
    pub format: String,

    /// Print from which size products are faster on the GPU, as c, python, scilib (SCILIB-Accel) or nvblas
    #[arg(long, value_name = "FORM", conflicts_with_all = ["verify", "format"], value_parser = EMITTED)]
    pub emit: Option<String>,

    /// List every kind of call
    #[arg(long)]
    pub all_calls: bool,

    /// Options of gpubench run, after --
    #[arg(last = true, value_name = "RUN OPTIONS", conflicts_with = "report")]
    pub run: Vec<OsString>,
}

/// Parses `--price`.
fn price(text: &str) -> Result<Price, String> {
    let refusal = || format!("'{text}' has no two prices: write cpu=0.8,gpu=3.5");
    let mut prices = [None; 2];
    for part in text.split(',') {
        let (name, price) = part.split_once('=').ok_or_else(refusal)?;
        let index = ["cpu", "gpu"].iter().position(|known| *known == name.trim()).ok_or_else(refusal)?;
        prices[index] = price.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
    }
    let [Some(cpu), Some(gpu)] = prices else { return Err(refusal()) };
    Ok(Price { cpu, gpu })
}

/// With one seed, the same calls verify the predictions of the same record.
const VERIFY_SEED: u64 = 1;

/// What `--format json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    advice_version: u32,
    program: &'a [String],
    calls: Vec<PrintedCall<'a>>,
    totals: &'a advice::ProgramAdvice,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<&'a advice::Verification>,
}

#[derive(Serialize)]
struct PrintedCall<'a> {
    recorded: &'a gpubench_report::calls::Call,
    advice: &'a advice::CallAdvice,
}

/// What `--format json` prints about an operation.
#[derive(Serialize)]
struct PrintedProblems<'a> {
    advice_version: u32,
    calls: u64,
    data: DataPlace,
    problems: Vec<PrintedProblem<'a>>,
}

#[derive(Serialize)]
struct PrintedProblem<'a> {
    #[serde(flatten)]
    times: &'a ProblemTimes,
    /// All calls, in seconds.
    all_on_cpu_s: Option<Estimate>,
    all_on_gpu_s: Option<Estimate>,
}

/// Advises about the program whose calls `args` name, or says what reports predict.
pub(crate) fn run(args: &AdviseArgs) -> Result<ExitCode> {
    let kept = args.report.iter().map(|report| reports_in(report)).collect::<Result<Vec<_>>>()?.concat();
    let is_about_reports = !args.report.is_empty() && args.calls.is_none();
    let verified_by_kept = (!args.report.is_empty() && args.verify > 0)
        .then(|| advice::verify_kept(&kept, args.verify, VERIFY_SEED));
    match (&verified_by_kept, &args.emit) {
        (_, Some(form)) if is_about_reports => return emit(form, &kept).map(|()| ExitCode::SUCCESS),
        (Some(found), None) if is_about_reports => return print_verification(args, found, &kept),
        _ => {}
    }
    let path = args.calls.clone().unwrap_or_else(|| "calls.json".into());
    if let Some(shape) = &args.shape {
        return advise_problem(args, &path.display().to_string(), shape);
    }
    ensure!(
        path.exists() || op::find(&path.to_string_lossy()).is_none(),
        "{} is an operation: add a shape of it, as --shape of gpubench run takes it",
        path.display()
    );
    ensure!(
        path.exists(),
        "there is no {}: record a program with 'gpubench record -- PROGRAM', or name the file of a record",
        path.display()
    );
    let calls = Calls::load(&path)?;
    let shown = path.display();
    ensure!(
        !calls.calls.is_empty(),
        "{shown} has no calls, so there is nothing to advise about: record a program that calls BLAS, LAPACK or an FFT"
    );
    let (reports, verification, code) = match args.report.is_empty() {
        true => measured(args, &calls, &path)?,
        false => {
            check_machine(&calls, &path, &kept);
            (kept, verified_by_kept, ExitCode::SUCCESS)
        }
    };
    if let Some(form) = &args.emit {
        emit(form, &reports)?;
        return Ok(code);
    }
    let advice = advice::advise(&calls, &reports);
    print(args, &calls, &advice, verification.as_ref(), &reports)?;
    Ok(code)
}

/// Measures an op at some shapes, and prints the times of `--calls` calls on both sides.
fn advise_problem(args: &AdviseArgs, op: &str, shape: &str) -> Result<ExitCode> {
    let options = [("--batch", &args.batch), ("--dtypes", &args.dtypes)];
    let options = options.into_iter().filter_map(|(name, value)| Some([name, value.as_deref()?]));
    let words: Vec<OsString> =
        ["--ops", op, "--shape", shape].into_iter().chain(options.flatten()).map(OsString::from).collect();
    let name: String = words.iter().skip(1).step_by(2).map(|word| format!("-{}", word.display())).collect();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let folder = format!("results/advise{}", name.replace(|letter| !is_plain(letter), "-"));
    let out = args.out.clone().unwrap_or_else(|| folder.into());
    let code = measure(args, words, &out)?;
    let reports = reports_in(&out)?;
    let problems = ProblemTimes::of(&reports);
    if args.format == "json" {
        let (calls, data) = (args.call_count, args.data);
        let printed = problems.iter().map(|times| PrintedProblem {
            times,
            all_on_cpu_s: times.on_cpu(calls),
            all_on_gpu_s: times.on_gpu(calls, data),
        });
        let problems = printed.collect();
        stream::print(&to_json_text(&PrintedProblems { advice_version: 1, calls, data, problems })?)?;
    } else {
        print_document(args, of_problems(&problems, args.call_count, args.data), &reports)?;
    }
    Ok(code)
}

/// Measures the calls, and others to verify predictions with.
fn measured(
    args: &AdviseArgs,
    calls: &Calls,
    path: &Path,
) -> Result<(Vec<Report>, Option<Verification>, ExitCode)> {
    let out = args.out.clone().unwrap_or_else(|| run_folder(path));
    let problems = advice::to_measure(calls, args.top.into());
    ensure!(
        !problems.is_empty(),
        "gpubench has no operation for any of the {} kinds of calls in {}: it measures products, positive definite systems, \
         singular values and real transforms",
        calls.calls.len(),
        path.display()
    );
    check_machine(calls, path, &[]);
    let code = measure_problems(args, &problems, &out)?;
    let reports = reports_in(&out)?;
    let others = advice::to_verify(calls, &problems, args.verify, VERIFY_SEED);
    if args.verify > 0 && others.is_empty() {
        stream::note(
            "Every call that gpubench has an operation for was measured, so --verify has none to predict: lower --top.",
        );
    }
    let mut verification = None;
    if !others.is_empty() {
        let later = out.with_file_name(format!("{}-verify", out.file_name().unwrap_or_default().display()));
        measure_problems(args, &others, &later)?;
        verification = Some(advice::verify(&reports, &reports_in(&later)?));
    }
    Ok((reports, verification, code))
}

/// `calls.json` becomes `calls-run`.
fn run_folder(calls: &Path) -> PathBuf {
    let stem = calls.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    calls.with_file_name(format!("{stem}-run"))
}

fn reports_in(path: &Path) -> Result<Vec<Report>> {
    Ok(load(path)?.members.into_iter().map(|member| member.report).collect())
}

/// Warns about a record of another machine than that of the other times, which are those of `reports`, or without any are measured here.
fn check_machine(calls: &Calls, path: &Path, reports: &[Report]) {
    let here = reports.is_empty().then(environment::host);
    let mut hosts = reports.iter().map(|report| &report.environment.host).chain(&here);
    let Some(host) = hosts.find(|host| (&host.cpu, host.threads) != (&calls.cpu, calls.logical_cpus)) else {
        return;
    };
    let (than, of) = match &here {
        Some(_) => (String::new(), "this one"),
        None => (format!(" than the reports ({}, {} CPUs)", host.cpu, host.threads), "the reports'"),
    };
    stream::note(&format!(
        "Warning: {} was recorded on another machine ({}, {} CPUs){than}: the column now is of that machine, the other times are of {of}.",
        path.display(),
        calls.cpu,
        calls.logical_cpus
    ));
}

/// Measures problems as an ordinary run in the folder `out`, or goes on with that run.
fn measure_problems(args: &AdviseArgs, problems: &[advice::CallProblem], out: &Path) -> Result<ExitCode> {
    let list = out.with_extension("problems.jsonl");
    let lines: String = problems.iter().map(|problem| problem.line() + "\n").collect();
    let is_known = std::fs::read_to_string(&list).is_ok_and(|known| known == lines);
    ensure!(
        is_known || !is_in(out),
        "{} has another run: name another folder with --out, or remove it",
        out.display()
    );
    if !is_known {
        write_atomic(&list, lines.as_bytes())?;
    }
    measure(args, vec!["--problems".into(), list.into()], out)
}

/// Runs `gpubench run` with `words` into the folder `out`, or goes on with that run.
fn measure(args: &AdviseArgs, mut words: Vec<OsString>, out: &Path) -> Result<ExitCode> {
    words.extend(["--out".into(), out.into(), "--format".into(), "json".into()]);
    words.extend(args.run.iter().cloned());
    if !is_in(out) {
        return invoke(&words, out);
    }
    let argv = reports_in(out)?.remove(0).environment.argv;
    let known: Vec<OsString> = argv.into_iter().skip(2).map(OsString::from).collect();
    let is_alike = if args.run.is_empty() { known.starts_with(&words) } else { known == words };
    ensure!(
        is_alike,
        "{} has a run with other options: name another folder with --out, or omit the options after --",
        out.display()
    );
    invoke(&["--resume".into(), out.into(), "--quiet".into()], out)
}

/// Runs `gpubench run` with these words to its end, as a program of its own, so that its report has its command line.
fn invoke(words: &[OsString], out: &Path) -> Result<ExitCode> {
    let mut command = std::process::Command::new(process::running_file()?);
    command.arg("run").args(words);
    let ended = gpubench_record::run_to_end(command).context("cannot start gpubench run")?;
    match ended.code() {
        Some(0 | 1) if !is_in(out) => {
            bail!("gpubench run wrote no report: omit options after -- that only print or list")
        }
        Some(code @ (0 | 1)) => Ok(ExitCode::from(code)),
        // The run has said what is wrong.
        Some(USAGE) => std::process::exit(USAGE.into()),
        _ => bail!("the measurement ended with {ended}: the same command goes on with it"),
    }
}

/// Prints the thresholds of products.
fn emit(form: &str, reports: &[Report]) -> Result<()> {
    let thresholds = advice::thresholds(reports);
    ensure!(
        !thresholds.is_empty(),
        "--emit needs products of one element type that were measured at three sizes on both sides: add reports with --report"
    );
    let environment = &reports[0].environment;
    let gpu = environment.backends.iter().find_map(device_name);
    let machine = [Some(environment.host.cpu.as_str()), gpu].into_iter().flatten().collect::<Vec<_>>();
    let date: String = environment.started.chars().take(10).collect();
    let text = emitted(form, &thresholds, &format!("{}, {date}", machine.join(" and ")));
    ensure!(
        form != "scilib" || text.lines().any(|line| !line.starts_with('#')),
        "SCILIB-Accel has one size, of float64 products with copies, and the reports have none at three sizes on both sides: measure \
         with --dtypes f64"
    );
    stream::print(&text)
}

fn print_verification(args: &AdviseArgs, found: &Verification, reports: &[Report]) -> Result<ExitCode> {
    if args.format == "json" {
        stream::print(&to_json_text(found)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let document =
        Document { title: "How well reports predict".into(), blocks: words_of_verification(found) };
    print_document(args, document, reports)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a document in the chosen format, as a page with the reports that it is about.
fn print_document(args: &AdviseArgs, document: Document, reports: &[Report]) -> Result<()> {
    let screen = Screen { width: stream::width().unwrap_or(TERMINAL_WIDTH), color: false };
    stream::print(&match args.format.as_str() {
        "md" => markdown::document(&document),
        "html" => {
            let members: Vec<_> =
                reports.iter().map(|report| (report.environment.started.as_str(), report)).collect();
            let Document { title, blocks } = document;
            page_with(&members, Block::section(title, blocks).as_slice())
        }
        _ => blocks(&document.blocks, screen),
    })
}

fn print(
    args: &AdviseArgs,
    calls: &Calls,
    advice: &Advice,
    verification: Option<&Verification>,
    reports: &[Report],
) -> Result<()> {
    if args.format == "json" {
        let printed =
            advice.calls.iter().map(|advice| PrintedCall { recorded: &calls.calls[advice.call], advice });
        let (program, calls, totals) = (calls.program.as_slice(), printed.collect(), &advice.program);
        return stream::print(&to_json_text(&Printed {
            advice_version: 1,
            program,
            calls,
            totals,
            verification,
        })?);
    }
    let mut document = document(calls, advice, args.price, args.all_calls || args.format != "text");
    document.blocks.extend(verification.into_iter().flat_map(words_of_verification));
    print_document(args, document, reports)
}
