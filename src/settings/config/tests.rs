use super::*;
use crate::settings::options::tests::options;

fn message(text: &str) -> String {
    parse("mine.toml", text).map_or_else(|e| format!("{e:#}"), |file| format!("accepted: {file:?}"))
}

#[test]
fn every_built_in_sweep_is_valid_and_has_the_size_the_documentation_says() {
    for (name, _) in BUILT_IN {
        let file = read(name).unwrap_or_else(|e| panic!("{name}: {e:#}"));
        assert!(!file.tables.is_empty(), "{name}");
    }
}

#[test]
fn values_may_be_lists_or_texts_as_on_the_command_line() {
    let text = "ops = \"fft, matmul\"\nsizes = [100, \"64..256:x2\"]\ndtypes = \"all\"\nseed = 7\n\
                cell-timeout = \"90s\"\nthreads = 2\n[[sweep]]\nops = [\"svd\"]\nsizes = 5\ndensity = 1\nsamples = 3\n";
    let file = parse("mine.toml", text).unwrap();
    let line = "--ops fft,matmul --sizes 100,64..256:x2 --dtypes all --seed 7 --cell-timeout 90s --threads 2";
    assert_eq!(file.defaults, options(line));
    assert_eq!(file.tables.len(), 1);
    assert_eq!(file.tables[0], options("--ops svd --sizes 5 --density 1 --samples 3"));
}

#[test]
fn messages_name_the_line_and_the_nearest_valid_word() {
    for (text, expected) in [
        ("sise = [1]\n", "mine.toml:1: unknown key 'sise': did you mean 'sizes'?"),
        ("# a\n[[sweep]]\nopps = \"fft\"\n", "mine.toml:3: unknown key 'opps': did you mean 'ops'?"),
        ("[[swep]]\nops = \"fft\"\n", "mine.toml:1: unknown key 'swep': did you mean 'sweep'?"),
        ("[[sweep]]\nseed = 1\n", "mine.toml:2: 'seed' applies to the whole run: write it above"),
        ("theme = \"drak\"\n", "mine.toml:1: unknown theme 'drak': did you mean 'dark'?"),
        ("[[sweep]]\ncell-timeout = \"1m\"\n", "mine.toml:2: 'cell-timeout' applies to the whole run"),
        ("backends = 1.5\n", "mine.toml:1: backends must be a list such as"),
        ("sizes = [0]\n", "mine.toml:1: size 0"),
        ("sizes = []\n", "mine.toml:1: give at least one size"),
        ("samples = 0\n", "mine.toml:1: it must be a whole number from 1 to 1000000"),
        ("samples = \"20\"\n", "mine.toml:1: samples must be a whole number, not a string"),
        (
            "precision = 0.01\n",
            "mine.toml:1: '0.01' is not a percentage: write 1% or 0.01%, with the percent sign",
        ),
        ("max-time = true\n", "mine.toml:1: max-time must be a string such as \"2s\""),
        ("[[sweep]]\ncache = \"warm\"\n", "mine.toml:2: unknown state of the caches 'warm'"),
        (
            "transfer = \"pined\"\n",
            "mine.toml:1: unknown kind of host memory 'pined': did you mean 'pinned'?",
        ),
        ("peaks = 1\n", "mine.toml:1: peaks must be true or false, not 1"),
        ("warmup = true\n", "mine.toml:1: warmup must be a whole number, not true"),
        ("sim = 3\n", "mine.toml:1: sim must be a string, not 3"),
        ("seed = 1\n[sweep]\nops = \"fft\"\n", "mine.toml:2: write [[sweep]] with two brackets"),
        ("sweep = 3\n", "mine.toml:1: sweep must be a list of tables, not 3: write [[sweep]]"),
        ("sweep = [3]\n", "mine.toml:1: sweep must be a table, not 3"),
        ("density = 2.0\n", "mine.toml:1: density 2 is not"),
        ("cell-timeout = \"soon\"\n", "mine.toml:1: duration 'soon'"),
        ("cell-timeout = \"10us\"\n", "mine.toml:1: a cell needs at least a millisecond"),
        ("a\n = [\n", "mine.toml:1:"),
        ("ops = [\n", "mine.toml:"),
        (
            "ops = \"matmul\"\nshape = \"4x4\"\n",
            "mine.toml: shape: matmul has the dimensions m x n x k, but 2",
        ),
        ("batch = 4\n[[sweep]]\nops = \"spmv\"\n", "mine.toml: batch: spmv has no batch"),
        ("[[sweep]]\nops = \"svd\"\nlayout = \"nt\"\n", "mine.toml: layout: svd has no layout"),
        (
            "[[sweep]]\nops = \"fft\"\nsizes = 4\nshape = \"5\"\n",
            "mine.toml: sizes has no effect on the shapes",
        ),
        ("variants = []\n", "mine.toml:1: no variant is named: name one, or '*' for all"),
    ] {
        let message = message(text);
        assert!(message.starts_with(expected), "{text:?}: {message}");
        assert!(!message.contains('\n'), "{text:?}: {message}");
    }
}

#[test]
fn patterns_remember_their_line() {
    let file = parse("mine.toml", "\n[[sweep]]\nbackends = [\"mine\"]\nvariants = [\"cu*\"]\n").unwrap();
    let Variants(patterns) = file.tables[0].variants.clone().unwrap();
    assert_eq!((patterns[0].text.as_str(), patterns[0].origin.as_str()), ("cu*", "mine.toml:4"));
}

#[test]
fn a_missing_file_points_to_the_built_in_sweeps_and_a_misspelt_one_to_its_name() {
    for (name, part) in [
        ("no/such/file", "; name a TOML file or a built-in sweep (quick, "),
        ("quik", "): did you mean 'quick'?"),
    ] {
        let message = read(name).map_or_else(|e| e.to_string(), |_| String::new());
        let start = format!("cannot read sweep file '{name}': ");
        assert!(message.starts_with(&start) && message.contains(part), "{message}");
    }
}

#[test]
fn a_script_s_path_is_relative_to_the_sweep_file() {
    let file = parse("sweeps/mine.toml", "sim = \"faults.toml\"\n").unwrap();
    assert_eq!(file.defaults.sim, Some("sweeps/faults.toml".into()));
}

#[test]
fn the_help_names_every_built_in_sweep() {
    let options = <SweepOptions as clap::Args>::augment_args(clap::Command::new(""));
    let config = options.get_arguments().find(|argument| argument.get_id() == "config").unwrap();
    let help = config.get_help().unwrap().to_string().replace(',', " ");
    for (name, _) in BUILT_IN {
        assert!(help.split_whitespace().any(|word| word == *name), "{name}: {help}");
    }
}
