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
fn a_short_o_names_the_output_of_every_command_that_has_one() {
    let folder = Folder::new();
    folder.fair("--ops fft --sizes 4,8", "one");
    folder.succeeds("run --ops fft --sizes 4,8 --backends sim --sim fair.toml --format json -o two");
    folder.succeeds("plot one -o charts --format svg");
    folder.succeeds("report one -o page.html");
    folder.succeeds("merge one two -o fleet.json");
    folder.succeeds("trend one two -o trend");
    folder.run_line("compare one two -o gate --format json");
    let expected = ["charts", "fair.toml", "fleet.json", "gate", "one", "page.html", "trend", "two"];
    assert_eq!(folder.names(), expected);
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
        matmul => unknown argument 'matmul': did you mean '--ops matmul'?
        quik => unknown argument 'quik': did you mean 'quick'?
        mine.toml => unknown argument 'mine.toml': did you mean '--config mine.toml'?
        zebra => unknown argument 'zebra'; see 'gpubench run --help'
        quick zebra => unknown argument 'zebra'; see",
    );
}

#[test]
fn the_values_of_a_list_may_be_given_in_several_options() {
    let folder = Folder::new();
    let sim = "--backends sim --sim fair.toml";
    let joined =
        format!("run {sim} --ops matmul,fft --sizes 4,8,16 --dtypes f32,f64 --variants host,accelerator");
    let apart = format!(
        "run --ops matmul {sim} --sizes 4 --dtypes=f64 --variants host --ops=fft --sizes 8,16 --dtypes f32 --variants \
         accelerator"
    );
    assert_eq!(planned(&folder, &apart), planned(&folder, &joined));
    assert_eq!(planned(&folder, &joined).len(), 2 * 3 * 2 * 2);
    folder.fair("--ops fft --sizes 4 --format csv", "out");
    assert!(folder.has("out/report.csv"));
    // Options that take one value still do, and a value is still required. What follows the program of protocol-check belongs to
    // it, so that gpubench reports the program and not these options.
    folder.refuses_each(
        "",
        "run --ops matmul --ops ftt => --ops: unknown op 'ftt': did you mean 'fft'?
        run --samples 3 --samples 4 => cannot be used multiple times
        run --ops matmul --ops => value is required
        protocol-check --sizes 8 absent-program --sizes 9 --sizes x => absent-program",
    );
}

#[test]
fn durations_may_have_several_units() {
    let folder = Folder::new();
    let run = "run --ops fft --sizes 4 --backends sim --sim fair.toml --dry-run --budget";
    for time in ["1m30s", "1h", "90s", "1500ms", "1h1m1s"] {
        folder.succeeds(&format!("{run} {time}")).prints(&["1 case"]);
    }
    let file = |time: &str| {
        format!("backends = 'sim'\nsim = 'fair.toml'\nops = 'fft'\nsizes = 4\nmax-time = '{time}'\n")
    };
    folder.write("mine.toml", &file("1s250ms"));
    folder.succeeds("run --config mine.toml --dry-run");
    folder.write("bad.toml", &file("30s1m"));
    folder.refuses("run --config bad.toml --dry-run", "write it like 100us, 30s, 1m30s or 1.5h");
    folder.refuses("run --ops fft --budget 1m-30s", "duration '1m-30s' is not valid: write it like");
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
fn a_format_or_an_op_in_place_of_a_report_gets_its_option() {
    let folder = Folder::new();
    folder.refuses_each(
        "",
        "show json => there is no report 'json': did you mean '--format json'?
        show html => did you mean '--format html'?
        show png => there is no report 'png': did you mean 'gpubench plot --format png'?
        show fft => did you mean '--ops fft'?
        plot svg -o charts => did you mean '--format svg'?
        show absent => cannot read absent",
    );
    // A folder of that name is a report.
    folder.fair("--ops fft --sizes 4,8", "json");
    folder.succeeds("show json").prints(&["fft"]);
}

#[test]
fn show_report_and_plot_take_the_newest_run() {
    let folder = Folder::new();
    let none = "there is no report below results: create one with 'gpubench run', or name a report";
    for line in ["show", "report -o page.html", "plot -o charts"] {
        folder.refuses(line, none);
    }
    folder.fair("--ops matmul --sizes 4,8", "results/old");
    folder.fair("--ops fft --sizes 4,8", "results/new");
    let note = "gpubench: results/new is the newest run in results\n";
    assert_eq!(folder.succeeds("show").stderr, note);
    assert_eq!(folder.succeeds("report -o page.html").stderr, note);
    folder.succeeds("report results/new -o named.html");
    assert_eq!(folder.read("page.html"), folder.read("named.html"));
    assert!(folder.succeeds("plot -o charts --format svg").stderr.starts_with(note));
    folder.succeeds("plot results/new -o named --format svg");
    assert_eq!(folder.names_in("charts"), folder.names_in("named"));
    assert!(!folder.names_in("charts").is_empty());
}

#[test]
fn options_and_commands_of_other_programs_get_what_to_write_here() {
    let folder = Folder::new();
    folder.refuses_each(
        "",
        "run --json => unknown argument '--json': did you mean '--format json'?
        run --html => did you mean '--format html'?
        compare a b --junit => did you mean '--format junit'?
        show --csv => did you mean '--format csv'?
        show --png => did you mean 'gpubench plot --format png'?
        run --gpu => did you mean '--backends cuda'?
        run --cpu => did you mean '--backends cpu'?
        run --numpy => did you mean '--backends numpy'?
        baseline save x --gpu => did you mean '--backends cuda'?
        run --quick => did you mean '--config quick'?
        run --matmul => did you mean '--ops matmul'?
        run --f64 => did you mean '--dtypes f64'?
        run --list => unknown argument '--list': did you mean 'gpubench list'?
        --list => did you mean 'gpubench list'?
        --doctor => did you mean 'gpubench doctor'?
        run --time 5s => did you mean '--max-time'?
        run --k 64 => unknown argument '--k': did you mean '--shape m=4096,n=512,k=64'?
        run --shape 4096x512x512 => --shape, --batch and --layout need the op whose shape it is: add --ops
        list --ops fft => write its value alone, as in 'gpubench list VALUE'
        baseline save --name x => write its value alone, as in 'gpubench baseline save VALUE'
        version => unknown command 'version': did you mean 'gpubench --version'?
        matmul => unknown command 'matmul': did you mean 'gpubench run --ops matmul'?
        quick => unknown command 'quick': did you mean 'gpubench run quick'?
        run --formt json => did you mean '--format'?
        run --warm-up 2 => did you mean '--warmup'?
        run --smaples=3 => did you mean '--samples'?
        run --color alwys => --color: unknown choice of colours 'alwys': did you mean 'always'?
        wroker => unknown command 'wroker' (valid:",
    );
}

#[test]
fn what_resembles_no_option_gets_no_suggestion_and_hidden_options_never_are_one() {
    let folder = Folder::new();
    let all = folder.succeeds("help run").stdout;
    let strange = "--vectors --calls --isolat --isolation --list-all --energy --zzz -x --stride";
    for word in strange.split(' ') {
        let message = folder.run_line(&format!("run {word}")).stderr;
        assert_eq!(message, format!("gpubench: unknown argument '{word}'; see 'gpubench run --help'\n"));
    }
    // Whatever is suggested is in the help.
    let mistyped = "--siz --dtyps --backend --variant --seeds --thread --isolate-all --outt";
    for option in mistyped.split(' ') {
        let message = folder.run_line(&format!("run {option}")).stderr;
        if let Some((_, rest)) = message.split_once("did you mean '") {
            let suggested = rest.split('\'').next().unwrap();
            assert!(all.contains(suggested), "{option}: {message}");
        }
    }
}
