//! The arguments of every command, read by clap. The doc comments of arguments are the text of their help.

mod run;

use std::path::PathBuf;
use std::sync::LazyLock;

use crate::write::terminal::TERMINAL_WIDTH;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gpubench_backend::host::environment::version_text;

pub(crate) use run::{RunArgs, common_help};

use crate::cli::advise::AdviseArgs;
use crate::cli::baseline::BaselineCommand;
use crate::cli::compare::CompareArgs;
use crate::cli::merge::MergeArgs;
use crate::cli::record::RecordArgs;
use crate::cli::stream::ColorArgs;
use crate::cli::trend::TrendArgs;
use crate::settings::options::{Contenders, Ops, ThemeName};
use crate::write::report;

/// Version and revision of this build, for `--version`.
static VERSION: LazyLock<String> = LazyLock::new(version_text);

/// Measure operations on CPU libraries and on CUDA side by side, and check every answer
#[derive(Parser)]
#[command(name = "gpubench", version = VERSION.as_str(), max_term_width = TERMINAL_WIDTH, arg_required_else_help = false)]
#[command(after_help = "\
Start with: gpubench run --ops matmul,fft --sizes 100,1000
Exit codes: 0 done; 1 a cell is incorrect or failed, or compare found a regression; 2 wrong usage or unreadable file; \
3 compare is inconclusive; 130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order of the help.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measure operations on the CPU and the GPU
    Run(Box<RunArgs>),
    /// List the operations, backends and variants
    #[command(after_help = "\
Examples:
  gpubench list                  everything
  gpubench list matmul           one operation and its variants
  gpubench list fft svd --json   the same data for programs")]
    List {
        /// Operations to list, separated by blanks or commas. Default: all
        #[arg(value_name = "OP")]
        ops: Vec<Ops>,

        /// Print JSON instead of tables
        #[arg(long)]
        json: bool,

        /// BLAS libraries to use before those found, separated by commas
        #[arg(long, value_name = "FILE", value_delimiter = ',')]
        blas: Vec<PathBuf>,
    },
    /// List the devices and libraries found, and how to add missing ones
    Doctor {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,

        /// BLAS libraries to use before those found, separated by commas
        #[arg(long, value_name = "FILE", value_delimiter = ',')]
        blas: Vec<PathBuf>,

        /// Python interpreter whose libraries are listed. Default: that of the active virtual environment, else python3 on
        /// PATH
        #[arg(long, value_name = "PATH")]
        python: Option<PathBuf>,
    },
    /// Record which library routines a program calls
    Record(RecordArgs),
    /// Say whether a GPU would pay for a recorded program
    Advise(AdviseArgs),
    /// Compare runs: what became slower, faster or wrong
    Compare(Box<CompareArgs>),
    /// Save runs to compare later runs with
    Baseline {
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// Print a report again
    Show(ShowArgs),
    /// Join reports of several machines or GPUs in one file
    Merge(MergeArgs),
    /// Draw the charts of reports again
    Plot(PlotArgs),
    /// Make one HTML page from reports
    Report(ReportArgs),
    /// Find steps in the times of many reports
    Trend(TrendArgs),
    /// Print the JSON schema of a report, comparison or merged file
    Schema {
        /// Document that the schema describes
        #[arg(value_enum, default_value = "report")]
        of: SchemaOf,
    },
    /// Print a completion script for a shell
    #[command(
        after_help = "Example: gpubench completions bash > ~/.local/share/bash-completion/completions/gpubench"
    )]
    Completions {
        /// Shell that reads the script
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page of gpubench or of one command
    #[command(after_help = "Example: gpubench man run | man -l -")]
    Man {
        /// Command that the page describes; without it, gpubench itself
        command: Option<String>,
    },
    /// Serve one backend on stdin and stdout (docs/worker-protocol.md)
    #[command(hide = true)]
    Worker {
        /// Name of the backend
        backend: String,
    },
}

/// The commands of the help by what they are for. A command that is not hidden is in one group.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Measure", &["run", "list", "doctor", "record", "advise"]),
    ("Look at results", &["show", "report", "plot", "trend", "merge"]),
    ("Gate changes", &["compare", "baseline"]),
    ("Tools", &["schema", "completions", "man", "help"]),
];

/// The definition, whose help lists the commands in groups.
pub(crate) fn definition() -> clap::Command {
    let plain = Cli::command();
    let about = |name: &str| match plain.find_subcommand(name).and_then(clap::Command::get_about) {
        Some(about) => about.to_string(),
        None => "Print this help or that of a command".to_owned(),
    };
    let widest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let group = |(heading, names): &(&str, &[&str])| {
        let lines = names.iter().map(|name| format!("  {name:widest$}  {}\n", about(name)));
        format!("{heading}:\n{}", lines.collect::<String>())
    };
    let groups: String = GROUPS.iter().map(group).collect();
    plain.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}{{after-help}}"
    ))
}

/// The definition without hidden commands, which completion scripts and manual pages would otherwise show.
pub(crate) fn without_hidden() -> clap::Command {
    let all = Cli::command();
    let shown: Vec<_> = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let about = all.get_about().cloned().unwrap_or_default();
    clap::Command::new("gpubench").about(about).version(env!("CARGO_PKG_VERSION")).subcommands(shown)
}

/// What `show` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  gpubench show                          the newest run in results
  gpubench show results/mine             the first screen
  gpubench show results/mine --ops matmul,fft
  gpubench show results/mine --versus numpy:cupy
  gpubench show results/mine --tables --color always | less -SR
  gpubench show fleet.json               all GPUs and hosts, and the outliers
  gpubench show fleet.json --member 'node17 GPU 3'
  gpubench show results/mine --format md | gh pr comment --body-file -")]
pub(crate) struct ShowArgs {
    /// A report.json file, a merged file, the folder of a run, or - for standard input. Default: the newest run in results
    pub report: Option<PathBuf>,

    /// Show only these ops, separated by commas
    #[arg(long, value_name = "LIST")]
    pub ops: Option<Ops>,

    /// Show only this member of a merged file
    #[arg(long, value_name = "NAME")]
    pub member: Option<String>,

    /// Compare B with A instead of the GPU with the CPU: names of backends, or backend/variant, and lists of these, such as
    /// numpy:cupy or cpu,numpy:cuda. Default: those of the run; sides for GPU and CPU
    #[arg(long, value_name = "A:B")]
    pub versus: Option<Contenders>,

    // The help follows from the list of formats.
    #[arg(help = format!("Format to print: {}", report::FORMATS.printable()))]
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: String,

    /// Also print a table per op, notes on the times, and reasons for missing ones
    #[arg(long)]
    pub tables: bool,

    /// Print tables of all variants, not only the best of each side
    #[arg(long)]
    pub all_variants: bool,

    /// Print the meaning of the first screen's columns and marks, and nothing else
    #[arg(long)]
    pub legend: bool,

    /// The colours of stdout.
    #[command(flatten)]
    pub colors: ColorArgs,
}

/// What `plot` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  gpubench plot -o charts                 the newest run
  gpubench plot results/h200/article -o charts --format png,svg")]
pub(crate) struct PlotArgs {
    /// Reports: report.json files, merged files, or folders of runs. Default: the newest run in results
    #[arg(value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    /// Folder for the charts; created if missing
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,

    /// Formats: png, svg
    #[arg(long, value_name = "LIST", default_value = "png")]
    pub format: String,

    /// Charts to draw: overview, speedup, throughput, time, grid, roofline or all. Default: overview,speedup,throughput,
    /// grid, and time for ops without a throughput
    #[arg(long, value_name = "LIST")]
    pub charts: Option<String>,

    /// Compare B with A instead of the GPU with the CPU: names of backends, or backend/variant, and lists of these, such as
    /// numpy:cupy or cpu,numpy:cuda. Default: those of the run; sides for GPU and CPU
    #[arg(long, value_name = "A:B")]
    pub versus: Option<Contenders>,

    /// Theme of the charts: light or dark
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: ThemeName,

    /// Replace charts already in --out
    #[arg(long)]
    pub force: bool,
}

const REPORT_HELP: &str = "\
Examples:
  gpubench report -o report.html                       the newest run
  gpubench report results/mine -o report.html
  gpubench report node-a node-b node-c -o fleet.html   several reports
  gpubench report fleet.json -o fleet.html             all members of a file
  gpubench report results/mine -o - | gzip > report.html.gz

The page is one file that loads nothing from the network. It shows the verdict, charts and every row, and can be read without \
JavaScript; with it, rows can be sorted and filtered.";

/// What `report` takes.
#[derive(Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct ReportArgs {
    /// Reports: report.json files, merged files, or folders that contain one. Default: the newest run in results
    #[arg(value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    /// File for the page; - for stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,

    /// Compare B with A instead of the GPU with the CPU: names of backends, or backend/variant, and lists of these, such as
    /// numpy:cupy or cpu,numpy:cuda. Default: those of the run; sides for GPU and CPU
    #[arg(long, value_name = "A:B")]
    pub versus: Option<Contenders>,

    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// The documents that have a schema.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// report.json
    Report,
    /// A comparison in JSON
    Compare,
    /// What merge writes
    Fleet,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_that_is_not_hidden_is_in_one_group_of_the_help() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let definition = Cli::command();
        let shown = definition.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).chain(["help"]).collect();
        shown.sort_unstable();
        assert_eq!(grouped, shown);
    }
}
