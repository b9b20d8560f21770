use std::path::Path;

use gpubench_report::case::{Cache, Case, DType};

use super::file::parse;
use super::*;

fn cell(op: &str, n: u64, variant: &str) -> Cell {
    let case = Case::square(op, n, DType::F32, 1);
    let backend = if variant.starts_with("cu") { "cuda" } else { "cpu" };
    Cell { case, backend: backend.into(), variant: variant.into(), cache: Cache::Cold }
}

fn message(text: &str) -> String {
    parse("gate.toml", text)
        .map_or_else(|error| format!("{error:#}"), |policy| format!("accepted: {policy:?}"))
}

#[test]
fn the_example_file_parses_and_says_what_its_comments_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/policy-example.toml");
    let policy = read(&path).unwrap();
    assert_eq!((policy.defaults.threshold, policy.defaults.variation_between_runs), (Some(0.05), None));
    assert_eq!(policy.defaults.mean_threshold, Some(0.02));
    assert_eq!((policy.defaults.error_growth, policy.alpha), (Some(4.0), 0.01));
    assert!(!policy.accept_missing && !policy.accept_inconclusive && !policy.cross_machine);
    assert_eq!(policy.severities.get("governor"), Some(&Severity::Warn));
    assert_eq!(policy.severities.get("gpu-model"), None);
    let small = policy.limits(&cell("matmul", 64, "cublas"));
    assert_eq!((small.threshold, small.is_ignored()), (Some(0.2), false));
    assert_eq!(policy.limits(&cell("matmul", 2000, "openblas")).threshold, Some(0.1));
    assert_eq!(policy.limits(&cell("matmul", 2000, "cublas")), policy.defaults);
    assert_eq!(policy.limits(&cell("spgemm", 2000, "cusparse")).threshold, Some(0.2));
    assert!(!policy.limits(&cell("svd", 500, "gesvdp")).is_ignored());
}

#[test]
fn the_policy_of_the_example_workflow_is_strict_for_device_work() {
    let policy = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci/gpu-gate.toml")).unwrap();
    let threshold = |op, n, variant| policy.limits(&cell(op, n, variant)).threshold;
    assert_eq!(threshold("matmul", 1000, "cublas"), Some(0.03));
    assert_eq!(threshold("fft", 1000, "cufft"), Some(0.05));
    assert_eq!(threshold("fft", 2000, "cufft"), Some(0.03));
    assert_eq!(threshold("spgemm", 4000, "cusparse"), Some(0.25));
    let mean = |op| policy.limits(&cell(op, 4000, "cublas")).mean_threshold;
    assert_eq!((mean("matmul"), mean("spgemm")), (Some(0.02), Some(0.1)));
}

#[test]
fn an_empty_file_is_the_default_policy() {
    assert_eq!(parse("gate.toml", "# nothing\n").unwrap(), Policy::default());
    assert_eq!(Policy::default().limits(&cell("fft", 8, "rustfft")), Limits::default());
}

#[test]
fn later_tables_override_earlier_ones_key_by_key() {
    let text = "threshold = \"5%\"\nvariation-between-runs = \"2%\"\n\
                [[cell]]\nop = \"matmul\"\nthreshold = \"3%\"\nmean-threshold = \"1%\"\nerror-growth = 2\nignore = true\n\
                [[cell]]\nn = \"1000..\"\nthreshold = \"0%\"\n\
                [[cell]]\nvariant = \"cu*\"\ncache = \"cold\"\ndtype = \"f*\"\nbackend = \"cuda\"\nignore = false\n";
    let policy = parse("gate.toml", text).unwrap();
    let limits = |op, n, variant| policy.limits(&cell(op, n, variant));
    let base = Limits { threshold: Some(0.05), variation_between_runs: Some(0.02), ..Limits::default() };
    assert_eq!(limits("fft", 100, "rustfft"), base);
    assert_eq!(limits("fft", 1000, "rustfft"), Limits { threshold: Some(0.0), ..base });
    let small = Limits {
        threshold: Some(0.03),
        mean_threshold: Some(0.01),
        error_growth: Some(2.0),
        ignored: Some(true),
        ..base
    };
    assert_eq!(limits("matmul", 100, "openblas"), small);
    let large = Limits { threshold: Some(0.0), ..small };
    assert_eq!(limits("matmul", 1000, "openblas"), large);
    assert_eq!(limits("matmul", 1000, "cublas"), Limits { ignored: Some(false), ..large });
}

#[test]
fn the_command_line_replaces_defaults_and_leaves_tables_alone() {
    let text =
        "threshold = \"5%\"\nvariation-between-runs = \"2%\"\n[[cell]]\nop = \"fft\"\nthreshold = \"10%\"\n";
    let mut policy = parse("gate.toml", text).unwrap();
    policy.set_defaults(Limits { threshold: Some(0.01), mean_threshold: Some(0.04), ..Limits::default() });
    let limits = policy.limits(&cell("matmul", 100, "openblas"));
    assert_eq!(limits.mean_threshold, Some(0.04));
    assert_eq!((limits.threshold, limits.variation_between_runs), (Some(0.01), Some(0.02)));
    assert_eq!(policy.limits(&cell("fft", 100, "rustfft")).threshold, Some(0.1));
}

#[test]
fn tables_that_match_nothing_are_named() {
    let text = "[[cell]]\nop = \"matmull\"\nignore = true\n[[cell]]\nop = \"mat*\"\nthreshold = \"3%\"\n\
                [[cell]]\nn = \"5..9\"\nignore = true\n[[cell]]\nop = \"fft\"\nvariant = \"cublas\"\nignore = true\n";
    let policy = parse("gate.toml", text).unwrap();
    let cells = [cell("matmul", 100, "cublas"), cell("fft", 200, "rustfft")];
    let expected =
        [1, 7, 10].map(|line| format!("gate.toml:{line}: this [[cell]] table matches no cell of OLD or NEW"));
    assert_eq!(policy.unused(cells.iter()), expected);
    assert_eq!(policy.unused([].iter()).len(), 4);
}

#[test]
fn messages_name_the_line_and_the_nearest_valid_word() {
    for (text, expected) in [
        ("treshold = \"5%\"\n", "1: unknown key 'treshold': did you mean 'threshold'?"),
        ("\nthreshold = 0.05\n", "2: '0.05' is not a percentage: write 5% or 0.05%, with the percent sign"),
        ("threshold = \"-1%\"\n", "1: percentage '-1%' is not between 0% and 100%"),
        ("variation-between-runs = true\n", "1: variation-between-runs must be a string such as"),
        ("error-growth = 0.5\n", "1: error-growth 0.5 is not a factor >= 1"),
        ("alpha = 0\n", "1: alpha 0 must be above 0 and at most 0.5"),
        ("accept-missing = 1\n", "1: accept-missing must be true or false, not 1"),
        ("[environment]\ngpu-modl = \"warn\"\n", "2: unknown fact 'gpu-modl': did you mean 'gpu-model'?"),
        ("[environment]\n\ndriver = \"blok\"\n", "3: unknown severity 'blok': did you mean 'block'?"),
        ("[environment]\nalpha = 0.01\n", "2: 'alpha' is not a fact of the environment: write it above"),
        ("[[cell]]\nalpha = 0.1\n", "2: 'alpha' applies to the whole comparison: write it above"),
        ("[cell]\nop = \"fft\"\n", "1: write [[cell]] with two brackets"),
        ("\n[[cell]]\nop = \"fft\"\n", "2: this [[cell]] table sets nothing: give it threshold"),
        ("[[cell]]\nn = \"9..5\"\nignore = true\n", "2: n = \"9..5\" is reversed"),
        (
            "[[cell]]\ndtype = \"f23\"\nignore = true\n",
            "1: dtype = \"f23\" matches no dtype: did you mean \"f32\"?",
        ),
        ("\"a\\nb\" = 1\n", "1: unknown key 'a\\nb'"),
        ("threshold = \"5%\"\nthreshold = \"5%\"\n", "2: duplicate key"),
        ("\n {\n  \"schema_version\": 5 }", "1: this is JSON"),
    ] {
        let message = message(text);
        assert!(message.starts_with(&format!("gate.toml:{expected}")), "{text:?}: {message}");
        assert!(!message.contains('\n'), "{text:?}: {message}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_what_to_do() {
    let message = read(Path::new("no/such/gate.toml")).unwrap_err().to_string();
    assert!(message.starts_with("cannot read policy 'no/such/gate.toml': "), "{message}");
    assert!(message.contains("docs/compare-policy.md"), "{message}");
}
