//! `gpubench run` through the real program, on the simulated device: plans, exit codes, files, and every bad input.

use std::path::Path;

use assert_cmd::Command;

/// Two right variants, one a side.
const FAIR: &str = r#"
seed = 1
[[variant]]
name = "host"
side = "cpu"
[[variant]]
name = "accelerator"
side = "gpu"
"#;

/// An empty folder to run the program in, with a script of the simulated device in it.
struct Folder(tempfile::TempDir);

/// How the program ended and what it wrote.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("fair.toml", FAIR);
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn run(&self, args: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
        let output = command.current_dir(self.path()).args(args).output().unwrap();
        Ended {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs with words that none of the arguments here contain a space in.
    fn run_line(&self, line: &str) -> Ended {
        self.run(&line.split(' ').collect::<Vec<_>>())
    }

    /// The program must end with 2, say one line that contains `expected`, and leave the folder as it was.
    fn refuses(&self, line: &str, expected: &str) {
        let before = self.names();
        let ended = self.run_line(line);
        let told = format!("{line}: exit {}\n{}", ended.code, ended.stderr);
        assert_eq!(ended.code, 2, "{told}");
        assert_eq!(ended.stderr.lines().count(), 1, "{told}");
        assert!(ended.stderr.starts_with("gpubench: "), "{told}");
        assert!(ended.stderr.contains(expected), "{told}");
        assert!(!ended.stderr.contains("panicked"), "{told}");
        assert_eq!(ended.stdout, "", "{told}");
        assert_eq!(self.names(), before, "{told}");
    }
}

#[test]
fn every_wrong_word_is_refused_with_the_nearest_right_one() {
    let folder = Folder::new();
    for (line, expected) in [
        ("rnu", "did you mean 'run'?"),
        ("run --op matmul", "did you mean '--ops'?"),
        ("run --ops matmull", "--ops: unknown op 'matmull': did you mean 'matmul'?"),
        ("run --ops matmul,ftt", "did you mean 'fft'?"),
        ("run --ops fft --dtypes f23", "--dtypes: unknown dtype 'f23': did you mean 'f32'?"),
        ("run --ops fft --backends cuad", "--backends: unknown backend 'cuad': did you mean 'cuda'?"),
        ("run --ops fft --require cdua", "--require: unknown backend 'cdua': did you mean 'cuda'?"),
        ("run --ops fft --format jsn", "--format: unknown format 'jsn': did you mean 'json'?"),
        (
            "run --ops fft --backends sim --sim fair.toml --variants hots",
            "unknown variant 'hots': did you mean 'host'?",
        ),
        ("run --config quik", "such as 'quick'"),
        ("plot x --out y --format pgn", "did you mean 'png'?"),
        ("completions bsh", "bash"),
    ] {
        folder.refuses(line, expected);
    }
}

#[test]
fn every_impossible_value_is_refused() {
    let folder = Folder::new();
    for (line, expected) in [
        ("run --ops fft --sizes 0", "--sizes: size 0"),
        ("run --ops fft --sizes -5", "--sizes: size -5 is negative"),
        ("run --ops fft --sizes ten", "--sizes: size 'ten' is not a whole number"),
        ("run --ops fft --sizes 1..9:x1", "never ends"),
        ("run --ops fft --sizes 1..9:+0", "never ends"),
        ("run --ops fft --sizes 9..1:x2", "runs backwards"),
        ("run --ops fft --sizes 1..9", "has no step"),
        ("run --ops fft --sizes 1..10000000:+1", "more than 1000000"),
        (
            "run --ops all --sizes 1..1000000:+1 --backends sim --sim fair.toml",
            "more than 1000000: name fewer",
        ),
        ("run --ops fft --samples 0", "0 samples"),
        ("run --ops fft --warmup -1", "--warmup"),
        ("run --ops fft --threads 0", "0 threads"),
        ("run --ops fft --density 0", "density 0"),
        ("run --ops fft --density 1.5", "density 1.5"),
        ("run --ops fft --density NaN", "density NaN"),
        ("run --ops fft --seed -1", "--seed"),
        ("run --ops fft --cell-timeout soon", "duration 'soon'"),
        ("run --ops", "--ops"),
        ("run --ops ,", "no op is named"),
        ("run --ops fft --backends sim", "add --sim FILE"),
        ("run --ops fft --backends sim --sim absent.toml", "'absent.toml'"),
        ("run --ops fft --sim fair.toml", "add --backends sim"),
        ("run --ops fft --backends cpu --require cuda", "add cuda to --backends"),
        ("run --ops fft --out -", "exactly one format"),
        ("run --ops fft --out - --format json,csv", "exactly one format"),
        ("run --ops fft --out - --format png", "several files"),
        ("plot absent --out y --format csv", "name png or svg"),
    ] {
        folder.refuses(line, expected);
    }
}

#[test]
fn a_wrong_sweep_file_is_refused_with_file_and_line() {
    let folder = Folder::new();
    for (text, expected) in [
        ("[[sweep]]\nopps = \"fft\"\n", "bad.toml:2: unknown key 'opps': did you mean 'ops'?"),
        ("\nops = [\"fft\", \"sovle\"]\n", "bad.toml:2: unknown op 'sovle': did you mean 'solve'?"),
        ("ops = \"fft\"\nsizes = [4, 0]\n", "bad.toml:2: size 0"),
        ("samples = 0\n", "bad.toml:1: 0 samples"),
        ("ops = [\n", "bad.toml:"),
        (
            "backends = \"sim\"\nsim = \"fair.toml\"\n\nvariants = [\"hots\"]\n",
            "bad.toml:4: unknown variant 'hots': did you mean 'host'?",
        ),
    ] {
        folder.write("bad.toml", text);
        folder.refuses("run --config bad.toml", expected);
    }
    folder.refuses("run --config .", "cannot read sweep file '.'");
}

#[test]
fn an_out_that_cannot_take_results_is_refused_before_any_work() {
    let folder = Folder::new();
    let run = "run --ops fft --sizes 4 --backends sim --sim fair.toml --out";
    folder.refuses(&format!("{run} fair.toml"), "cannot write to the folder 'fair.toml'");
    folder.refuses(&format!("{run} fair.toml/below"), "cannot write to the folder 'fair.toml/below'");
    std::fs::create_dir(folder.path().join("old")).unwrap();
    folder.write("old/report.json", "{}");
    folder.refuses(&format!("{run} old"), "old already holds a report.json");
    assert_eq!(std::fs::read_to_string(folder.path().join("old/report.json")).unwrap(), "{}");
}

#[test]
fn a_dry_run_names_every_cell_with_its_work_and_creates_nothing() {
    let folder = Folder::new();
    let before = folder.names();
    let ended = folder.run_line(
        "run --ops matmul,spgemm --sizes 4..16:x2 --dtypes all --backends sim --sim fair.toml --density 0.5 --dry-run",
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 3 * 2 * 2 + 1);
    let fields: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(fields, ["matmul", "4", "f32", "-", "sim/host", "1.280e2", "1.920e2"]);
    assert!(lines[13].contains("spgemm") && lines[13].contains("0.5"), "{}", lines[13]);
    assert!(lines[25].starts_with("24 cells of 12 cases"), "{}", lines[25]);
    assert_eq!(folder.names(), before);
}

#[test]
fn the_command_line_replaces_what_a_sweep_file_says() {
    let folder = Folder::new();
    folder.write(
        "mine.toml",
        "backends = \"sim\"\nsim = \"fair.toml\"\n[[sweep]]\nops = \"fft,svd\"\nsizes = [4, 8]\n",
    );
    let cells = |line: &str| folder.run_line(line).stdout.lines().count() - 2;
    assert_eq!(cells("run --config mine.toml --dry-run"), 8);
    assert_eq!(cells("run --config mine.toml --dry-run --sizes 5"), 4);
    assert_eq!(cells("run --config mine.toml --dry-run --ops svd --variants host"), 2);
    assert_eq!(cells("run --config mine.toml --dry-run --dtypes all --ops fft"), 8);
}

#[test]
fn the_reader_of_a_long_plan_may_go_away() {
    let folder = Folder::new();
    let line = "run --ops fft --sizes 1..20000:+1 --backends sim --sim fair.toml --dry-run";
    let program = env!("CARGO_BIN_EXE_gpubench");
    let mut shell = Command::new("bash");
    let script = format!("set -o pipefail; '{program}' {line} | head -n 1");
    let output = shell.current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
