//! The arguments as typed. Its doc comments are the help, and the help is the tutorial.

mod baseline;
mod compare;
mod merge;
mod report;
mod run;
mod trend;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use baseline::{BaselineCommand, SaveArgs};
pub(crate) use compare::CompareArgs;
pub(crate) use merge::MergeArgs;
pub(crate) use report::ReportArgs;
pub(crate) use run::RunArgs;
pub(crate) use trend::TrendArgs;

use crate::chart;
use crate::export;
use crate::settings::options::ThemeName;
use crate::settings::words;

/// Measures operations on CPU libraries and on CUDA side by side, checks every answer, and says whether the GPU pays.
#[derive(Parser)]
#[command(name = "gpubench", version, max_term_width = 110, arg_required_else_help = false)]
#[command(after_help = "\
Start with:
  gpubench run --ops matmul --sizes 100,1000   measure, check, and say who wins by how much
  gpubench list                                what can be measured, where, and by which variant
  gpubench doctor                              which libraries were found, how to add the rest
  gpubench compare OLD NEW                     did the last change make it slower?

Exit codes: 0 done, 1 a cell was incorrect or failed (compare: a regression), 2 nothing could be done (wrong usage, \
unreadable file), 3 compare could not tell, 130 interrupted, with everything finished so far saved.")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measure ops on the CPU and the GPU, and write tables, JSON and charts
    Run(Box<RunArgs>),
    /// List ops, backends and variants
    List {
        /// Print JSON instead of tables
        #[arg(long)]
        json: bool,

        /// BLAS library files to take before those that are found, separated by commas
        #[arg(long, value_name = "FILE", value_delimiter = ',')]
        blas: Vec<PathBuf>,
    },
    /// Say which libraries and devices were found where, what is missing, what that costs, and how to fix it
    Doctor {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,

        /// BLAS library files to take before those that are found, separated by commas
        #[arg(long, value_name = "FILE", value_delimiter = ',')]
        blas: Vec<PathBuf>,
    },
    /// Compare runs: what became slower, faster, wrong or lost, and whether that can be believed; a gate for CI
    Compare(Box<CompareArgs>),
    /// Keep runs that later ones are compared with
    Baseline {
        /// What to do.
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// Print a report again, as the run that made it did
    Show(ShowArgs),
    /// Join reports of several machines and devices in one file, to be shown side by side
    Merge(MergeArgs),
    /// Draw the charts of reports again
    Plot(PlotArgs),
    /// Make one page of HTML of reports: the answer, charts and every row, to read and to share
    Report(ReportArgs),
    /// Chart every report of a folder over time, and mark where times stepped
    Trend(TrendArgs),
    /// Print the JSON schema of report.json, of a comparison, or of a merged file
    Schema {
        /// Which: report, compare or fleet
        #[arg(value_enum, default_value = "report")]
        of: SchemaOf,
    },
    /// Print a completion script for a shell
    #[command(
        after_help = "Example: gpubench completions bash > ~/.local/share/bash-completion/completions/gpubench"
    )]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Serve one backend on stdin and stdout (docs/worker-protocol.md)
    #[command(hide = true)]
    Worker {
        /// Name of the backend
        backend: String,
    },
}

/// The commands that a user is meant to see, for completion scripts, which would offer hidden ones too.
pub(crate) fn without_hidden() -> clap::Command {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::new("gpubench").version(env!("CARGO_PKG_VERSION")).subcommands(shown)
}

/// What `show` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  gpubench show results/mine                    the answer, in one screen
  gpubench show results/mine --tables | less -S
  gpubench show fleet.json                     every GPU and host side by side, and which stand out
  gpubench show fleet.json --member 'node17 GPU 3'
  gpubench show results/mine --format md | gh pr comment --body-file -")]
pub(crate) struct ShowArgs {
    /// A report.json file, a merged file, or the folder of a run
    pub report: PathBuf,

    /// Show this member of a merged file as the report that it is
    #[arg(long, value_name = "NAME")]
    pub member: Option<String>,

    // The help follows from the list of formats.
    #[arg(help = format!("How: {}", export::FORMATS.printable()))]
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: String,

    /// Print a table an op too, then what to mind about the times, and why cells have none
    #[arg(long)]
    pub tables: bool,

    /// Print these tables with every variant, not only the best of each side
    #[arg(long)]
    pub all_variants: bool,

    /// Use no colours; also by NO_COLOR in the environment, and where stdout is no terminal
    #[arg(long)]
    pub no_color: bool,
}

/// What `plot` takes.
#[derive(Args)]
#[command(after_help = "Example: gpubench plot results/h200/article --out charts --format png,svg")]
pub(crate) struct PlotArgs {
    /// Reports: report.json files, merged files, or folders of runs
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    /// Folder for the charts, made when missing
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// What to draw: png, svg
    #[arg(long, value_name = "LIST", default_value = "png")]
    pub format: String,

    /// How they look: light or dark
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: ThemeName,

    /// Replace charts that --out already holds
    #[arg(long)]
    pub force: bool,
}

impl PlotArgs {
    /// The formats of the charts.
    pub(crate) fn formats(&self) -> Result<Vec<chart::Format>> {
        let charts = words::chart_formats(&self.format);
        let others = if charts.is_err() { words::formats(&self.format).unwrap_or_default() } else { vec![] };
        match others.iter().find(|format| format.is_text()) {
            Some(other) => bail!("--format: charts cannot be drawn as {}: name png or svg", other.name),
            None => charts.context("--format"),
        }
    }
}

/// What a schema is of.
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
    fn plot_draws_png_and_svg_alone() {
        let plot = |format: &str| {
            let cli =
                Cli::try_parse_from(["gpubench", "plot", "r", "--out", "o", "--format", format]).unwrap();
            let Command::Plot(args) = cli.command else { panic!("not plot") };
            args.formats().map_err(|error| format!("{error:#}"))
        };
        assert_eq!(plot("svg,png"), Ok(chart::Format::ALL.to_vec()));
        assert!(plot("csv").is_err_and(|message| message.contains("name png or svg")));
        let refused = plot("gif").unwrap_err();
        assert!(refused.starts_with("--format: unknown format 'gif': did you mean '"), "{refused}");
        assert!(refused.ends_with("(valid: png, svg)"), "{refused}");
    }
}
