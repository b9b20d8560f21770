//! The words that the command line accepts, and the hints for those that it does not.

use std::process::Stdio;

use super::{Ended, Folder};

/// Returns the lines of a dry run that name cells.
fn planned(folder: &Folder, line: &str) -> Vec<String> {
    let out = folder.succeeds(&format!("{line} --dry-run")).stdout;
    let cells = out.lines().skip(1).take_while(|line| line.contains('/'));
    cells.map(str::to_owned).collect()
}

#[test]
fn a_built_in_sweep_can_be_named_without_an_option() {
    let folder = Folder::new();
    for sweep in ["quick", "article", "lessons"] {
        let backend = "--backends cpu --no-peaks";
        let named = planned(&folder, &format!("run {sweep} {backend}"));
        assert!(!named.is_empty());
        assert_eq!(named, planned(&folder, &format!("run {backend} --config {sweep}")), "{sweep}");
    }
    folder.fair("quick --ops fft --sizes 4,8", "out");
    folder.succeeds("run --resume out --dry-run").prints(&["All cells of the run are finished"]);
    folder.refuses_each(
        "run",
        "quick --resume out => omit the others
        quick --config article => cannot be used with
        matmul => invalid value 'matmul' for '[SWEEP]'; did you mean 'gpubench run --ops matmul'?
        zebra => invalid value 'zebra' for '[SWEEP]'; [possible values: quick, article
        quick zebra => unexpected argument 'zebra' found; see",
    );
}

#[test]
fn show_reads_standard_input() {
    let folder = Folder::new();
    folder.fair("--ops fft --sizes 4,8", "one");
    folder.fair("--ops fft --sizes 4,8", "two");
    folder.succeeds("merge one two -o fleet.json");
    for piped in ["one/report.json", "fleet.json"] {
        let shown = folder.succeeds(&format!("show {piped} --format csv")).stdout;
        let from = |script: &str| folder.shell(script).good().stdout;
        assert_eq!(from(&format!("cat {piped} | $G show - --format csv")), shown);
        assert_eq!(from(&format!("$G show - --format csv < {piped}")), shown);
        assert_eq!(from(&format!("gzip -c {piped} | $G show - --format csv")), shown);
    }
    folder.shell("echo nothing | $G show -").exits(2).complains(&["gpubench: standard input: "]);
    Ended::of(folder.command("show -").stdin(Stdio::null())).complains(&["cannot read standard input"]);
}

#[test]
fn misspelt_options_and_ops_without_one_get_what_to_write() {
    let folder = Folder::new();
    folder.refuses_each(
        "",
        "run --matmul => unexpected argument '--matmul' found; did you mean 'gpubench run --ops matmul'?
        run --shape 4096x512x512 => --shape, --batch and --layout need the op whose shape it is: add --ops
        matmul => unrecognized subcommand 'matmul'; did you mean 'gpubench run --ops matmul'?
        run --formt json => a similar argument exists: '--format'; see
        run --smaples=3 => a similar argument exists: '--samples'; see
        run --vectors => unexpected argument '--vectors' found; see
        run -x => unexpected argument '-x' found; see
        run --color alwys => invalid value 'alwys' for '--color <WHEN>'",
    );
}
