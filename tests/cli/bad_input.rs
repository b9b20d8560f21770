//! Every bad input is one line on stderr and exit code 2, and creates nothing.

use super::Folder;

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
        (
            "run --ops fft --backends cpu,mien --external mine=true",
            "--backends: unknown backend 'mien': did you mean 'mine'? (valid: cpu, cuda, ",
        ),
        ("run --ops fft --backends mine", "--backends: unknown backend 'mine' (valid: cpu, "),
        ("run --ops fft --require cdua", "--require: unknown backend 'cdua': did you mean 'cuda'?"),
        ("run --ops fft --format jsn", "--format: unknown format 'jsn': did you mean 'json'?"),
        (
            "run --ops fft --backends sim --sim fair.toml --variants hots",
            "unknown variant 'hots': did you mean 'host'?",
        ),
        ("run --config quik", "unknown sweep 'quik': did you mean 'quick'? (valid: quick, "),
        ("plot x --out y --format pgn", "did you mean 'png'?"),
        ("completions bsh", "bash"),
    ] {
        folder.refuses(line, expected);
    }
}

#[test]
fn words_of_other_programs_are_refused_with_what_they_mean_here() {
    let folder = Folder::new();
    for (line, expected) in [
        ("run --ops gemm", "--ops: unknown op 'gemm': did you mean 'matmul'?"),
        ("run --ops fft,cholesky", "did you mean 'solve'?"),
        ("run --ops sum", "did you mean 'reduction'?"),
        ("run --ops fft2", "did you mean 'fft'?"),
        ("run --backends nvidia", "--backends: unknown backend 'nvidia': did you mean 'cuda'?"),
        ("run --require gpu", "did you mean 'cuda'?"),
        ("run --backends rocm", "its backends are cpu, cuda and sim"),
        ("run --dtypes bf16", "--ops matmul --variants '*f16'"),
        ("run --cache warm", "did you mean 'hot'?"),
        ("run --threads max", "did you mean 'all'?"),
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
        ("run --ops fft --sizes 9..1:x2", "is reversed"),
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
        ("run --ops ,", "name at least one op"),
        ("run --ops fft --backends sim", "add --sim FILE"),
        ("run --ops fft --backends sim --sim absent.toml", "'absent.toml'"),
        ("run --ops fft --sim fair.toml", "add --backends sim"),
        ("run --ops fft --backends cpu --require cuda", "add cuda to --backends"),
        ("run --ops fft --out -", "writes one format to stdout"),
        ("run --ops fft --out - --format json,csv", "writes one format to stdout"),
        ("run --ops fft --out - --format png", "several files"),
        ("plot absent --out y --format csv", "name png or svg"),
        ("plot absent --out y --theme drak", "--theme: unknown theme 'drak': did you mean 'dark'?"),
        ("plot absent --out y --charts speeds", "--charts: unknown chart 'speeds': did you mean 'speedup'?"),
        ("run --ops fft --charts pie", "--charts: unknown chart 'pie'"),
        ("run --ops fft --blas absent.so", "--blas: 'absent.so' cannot be read: No such file"),
        ("run --ops fft --blas fair.toml", "--blas: 'fair.toml' is no shared library"),
        ("list --blas fair.toml,absent.so", "name the file of a library"),
        ("doctor --blas .", "--blas: '.' "),
        ("run --ops fft --theme sepia", "unknown theme 'sepia'"),
        ("trend absent --theme sepia", "unknown theme 'sepia'"),
    ] {
        folder.refuses(line, expected);
    }
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    let folder = Folder::new();
    for (line, expected) in [
        ("run --ops fft --samples 5 --precision 1%", "--precision has no effect with --samples"),
        ("run --ops fft --samples 5 --rounds 30", "--rounds 30 is more than --samples 5"),
        (
            "run --ops fft,matmul --density 0.5",
            "--density has no effect, because no op of this run is sparse",
        ),
        ("run --ops fft --backends cpu --threads 4096", "--threads 4096 is more than the "),
        ("run --ops fft --backends cpu --device 1", "add cuda to --backends, or omit --device"),
        ("baseline save x --ops fft --samples 5 --rounds 30", "lower --rounds or raise --samples"),
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
        ("ops = \"fft\"\nbackends = \"cud\"\n", "bad.toml:2: unknown backend 'cud': did you mean 'cuda'?"),
        ("require = \"cdua\"\n[[sweep]]\nops = \"fft\"\n", "bad.toml:1: unknown backend 'cdua': did you"),
        ("samples = 0\n", "bad.toml:1: 0 samples"),
        ("ops = [\n", "bad.toml:"),
        (
            "backends = \"sim\"\nsim = \"fair.toml\"\nops = \"fft\"\nvariants = [\"hots\"]\n",
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
    folder.refuses(&format!("{run} old"), "old already contains a report.json");
    assert_eq!(std::fs::read_to_string(folder.path().join("old/report.json")).unwrap(), "{}");
}

#[test]
fn a_sweep_file_that_does_not_say_what_to_measure_is_refused() {
    let folder = Folder::new();
    folder.write("comment.toml", "# nothing yet\n");
    folder.write("none.toml", "sweep = []\n");
    folder.write("bare.toml", "[[sweep]]\n");
    folder.write("fft.toml", "[[sweep]]\nops = \"fft\"\nsizes = 4\n");
    folder.write("text.toml", "samples = \"20\"\n");
    folder.write("many.toml", "threads = 4096\nbackends = \"cpu\"\n[[sweep]]\nops = \"fft\"\nsizes = 4\n");
    for (line, expected) in [
        ("run --config /dev/null", "/dev/null names no ops"),
        ("run --config comment.toml", "comment.toml names no ops"),
        ("run --config none.toml", "none.toml names no ops"),
        ("run --config bare.toml", "bare.toml names no ops"),
        ("run --config text.toml", "text.toml:1: samples must be a whole number, not a string"),
        ("run --config many.toml", "--threads 4096 is more than the "),
        ("run --config fft.toml --ops matmul", "--ops matmul: fft.toml contains only fft"),
        ("run --config article --ops spmv", "give sizes with --sizes"),
        ("run --ops fft --cell-timeout -1s", "duration '-1s' is not above zero"),
        ("run --ops fft --threads 5000", "use at most 4096"),
    ] {
        folder.refuses(line, expected);
    }
    let sim = "--backends sim --sim fair.toml --dry-run";
    let planned = folder.run_line(&format!("run --config fft.toml --ops sin --sizes 8 {sim}"));
    assert!(
        planned.stdout.ends_with("2 cells in 1 case. Dry run: nothing was measured.\n"),
        "{}",
        planned.stderr
    );
    folder.succeeds(&format!("run --config bare.toml --ops fft --sizes 8 {sim}"));
}

#[test]
fn mistakes_in_a_script_are_reported_with_their_line() {
    let folder = Folder::new();
    folder.write("typo.toml", "[[variant]]\nname = \"a\"\n[[rule]]\noutcome = \"crahs\"\n");
    let line = "run --ops fft --sizes 4 --backends sim --sim typo.toml";
    folder.refuses(line, "line 4: unknown outcome 'crahs': did you mean 'crash'?");
}

#[test]
fn an_absurd_number_of_threads_in_the_environment_is_ignored() {
    let folder = Folder::new();
    folder.succeeds(
        "run --ops fft --sizes 4,8 --backends sim --sim fair.toml --no-peaks --format json --out out",
    );
    // So many threads would take more than this CPU time to start.
    let limited = r#"ulimit -t 10; exec "$0" plot out --out charts"#;
    let mut plot = std::process::Command::new("sh");
    plot.args(["-c", limited, env!("CARGO_BIN_EXE_gpubench")]).env("RAYON_NUM_THREADS", "100000");
    assert!(plot.current_dir(folder.path()).status().unwrap().success());
}
