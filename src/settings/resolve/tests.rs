use super::*;
use crate::measure::sampling::Sampling;
use crate::settings::config;
use crate::settings::options::{Density, Ops, Precision, Rounds, Samples, Sizes, Warmup};
use crate::write::report::{JSON, PNG};

fn names(sweeps: &[OpSweep]) -> Vec<(&str, &[u64])> {
    sweeps.iter().map(|sweep| (sweep.op.as_str(), sweep.sizes.as_slice())).collect()
}

fn file(tables: Vec<SweepOptions>) -> SweepFile {
    let defaults = SweepOptions { samples: Some(Samples(9)), sizes: sizes(&[10]), ..SweepOptions::default() };
    SweepFile { name: "mine.toml".into(), defaults, tables }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn ops(ops: &[&str]) -> Option<Ops> {
    Some(Ops(words(ops)))
}

fn sizes(sizes: &[u64]) -> Option<Sizes> {
    Some(Sizes(sizes.to_vec()))
}

#[test]
fn the_command_line_hides_the_table_which_hides_the_defaults_of_the_file() {
    let table = SweepOptions {
        ops: ops(&["fft"]),
        sizes: sizes(&[20]),
        warmup: Some(Warmup(1)),
        ..SweepOptions::default()
    };
    let cli = SweepOptions { warmup: Some(Warmup(7)), ..SweepOptions::default() };
    let sweeps = resolve_sweeps(&cli, &file(vec![table]));
    assert_eq!(names(&sweeps), [("fft", &[20u64][..])]);
    let sampling = sweeps[0].sampling;
    assert_eq!((sampling.warmup, sampling.samples), (7, Some(9)));
    assert_eq!(sampling.max_time_s, Sampling::default().max_time_s);
    assert_eq!(sweeps[0].dtypes, [DType::F32]);
    assert_eq!(sweeps[0].backends, ["cpu", "cuda"]);
}

#[test]
fn ops_on_the_command_line_choose_tables_and_others_take_defaults() {
    let table = |name: &str, size| SweepOptions {
        ops: ops(&[name]),
        sizes: sizes(&[size]),
        ..SweepOptions::default()
    };
    let tables = vec![table("fft", 20), table("svd", 30)];
    let cli = SweepOptions { ops: ops(&["matmul", "svd"]), ..SweepOptions::default() };
    let sweeps = resolve_sweeps(&cli, &file(tables));
    assert_eq!(names(&sweeps), [("svd", &[30u64][..]), ("matmul", &[10][..])]);
}

#[test]
fn without_a_file_an_op_has_its_own_default_sizes() {
    let cli = SweepOptions { ops: ops(&["fft"]), ..SweepOptions::default() };
    let sweeps = resolve_sweeps(&cli, &SweepFile::default());
    let expected = op::find("fft").map(|op| op.about().sizes).unwrap_or_default();
    assert_eq!(names(&sweeps), [("fft", expected)]);
    assert_eq!(resolve_sweeps(&SweepOptions::default(), &SweepFile::default()).len(), MAIN_OPS.len());
}

#[test]
fn the_article_s_sweep_has_its_35_cases() {
    let sweeps = resolve_sweeps(&SweepOptions::default(), &config::read("article").unwrap());
    let cases: usize = sweeps.iter().map(|sweep| sweep.sizes.len() * sweep.dtypes.len()).sum();
    assert_eq!(cases, 35);
    assert_eq!(sweeps.iter().map(|sweep| sweep.op.as_str()).collect::<Vec<_>>(), MAIN_OPS);
}

#[test]
fn workers_get_the_sizes_of_each_op() {
    let settings = Settings::resolve(Request::default(), Some(config::read("article").unwrap())).unwrap();
    assert_eq!(settings.options.sizes["fft"], [100, 500, 512, 1024, 2048]);
    assert_eq!(settings.options.sizes.len(), MAIN_OPS.len());
}

#[test]
fn the_full_sweep_and_the_lessons_have_every_op_once() {
    let resolved = |name| Settings::resolve(Request::default(), Some(config::read(name).unwrap())).unwrap();
    let (settings, lessons) = (resolved("full"), resolved("lessons"));
    let both = [&settings.options.ops[..], &lessons.options.ops].concat();
    assert_eq!(both, OPS.iter().map(|op| op.name()).collect::<Vec<_>>());
    assert_eq!(settings.options.dtypes, DType::ALL);
    assert_eq!(settings.config.as_deref(), Some("full"));
}

#[test]
fn density_is_for_sparse_ops_alone() {
    let cli = SweepOptions {
        ops: ops(&["matmul", "spgemm"]),
        density: Some(Density(0.25)),
        ..SweepOptions::default()
    };
    for sweep in resolve_sweeps(&cli, &SweepFile::default()) {
        let sparse = op::find(&sweep.op).and_then(|op| op.default_density()).is_some();
        assert_eq!(sweep.density, sparse.then_some(0.25), "{}", sweep.op);
    }
}

#[test]
fn stdout_takes_exactly_one_format_that_is_one_file() {
    assert_eq!(destination(Some(Path::new("-")), Some(&[&JSON])).ok(), Some(Destination::Stdout));
    for formats in [None, Some(&[&JSON, FORMATS.all[2]][..]), Some(&[&PNG][..]), Some(&[][..])] {
        assert!(destination(Some(Path::new("-")), formats).is_err(), "{formats:?}");
    }
}

#[test]
fn what_cannot_work_is_refused_with_what_to_change() {
    let refused = |request: Request| {
        Settings::resolve(request, None).map_or_else(|e| format!("{e:#}"), |_| String::from("accepted"))
    };
    let named = |names: &[&str]| names.join(",").parse().ok();
    let on = |names: &[&str]| SweepOptions { backends: named(names), ..SweepOptions::default() };
    let sim = |path: &str| SweepOptions { sim: Some(path.into()), ..SweepOptions::default() };
    let asked = |options: SweepOptions| Request { options, ..Request::default() };
    for (request, expected) in [
        (asked(SweepOptions { require: named(&["cuda"]), ..on(&["cpu"]) }), "add cuda to --backends"),
        (asked(on(&["sim"])), "add --sim FILE"),
        (asked(sim("x.toml")), "add --backends sim"),
        (asked(sim("/no/such.toml").over(&on(&["sim"]))), "'/no/such.toml': "),
        (asked(sim("/").over(&on(&["sim"]))), "it is not a file"),
        (Request { out: Some(PathBuf::new()), ..Request::default() }, "--out is empty"),
    ] {
        let message = refused(request);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_program_joins_the_sweeps_that_name_it_and_all_of_them_if_none_does() {
    let external = || SweepOptions {
        ops: ops(&["fft", "svd"]),
        external: "mine=true".parse().ok().map(|one| vec![one]),
        ..SweepOptions::default()
    };
    let line = |backends: &str| SweepOptions { backends: backends.parse().ok(), ..external() };
    let table = |op: &str, backends: &str| SweepOptions {
        ops: ops(&[op]),
        backends: backends.parse().ok(),
        ..SweepOptions::default()
    };
    let tables = |of_svd: &str| Some(file(vec![table("fft", "cpu"), table("svd", of_svd)]));
    for (options, file, of_fft, of_svd) in [
        (external(), None, &["cpu", "cuda", "mine"][..], &["cpu", "cuda", "mine"][..]),
        (line("mine,cpu"), None, &["cpu", "mine"], &["cpu", "mine"]),
        (line("cpu"), None, &["cpu", "mine"], &["cpu", "mine"]),
        (external(), tables("cuda"), &["cpu", "mine"], &["cuda", "mine"]),
        (external(), tables("mine,cuda"), &["cpu"], &["cuda", "mine"]),
        (line("mine"), tables("cuda"), &["mine"], &["mine"]),
    ] {
        let settings = Settings::resolve(Request { options, ..Request::default() }, file).unwrap();
        let found: Vec<&[String]> = settings.sweeps.iter().map(|sweep| &sweep.backends[..]).collect();
        assert_eq!(found, [of_fft, of_svd]);
        assert_eq!(settings.backends.last().map(String::as_str), Some("mine"));
    }
}

#[test]
fn an_unknown_backend_is_refused_even_if_the_command_line_replaces_it() {
    let file = config::parse("mine.toml", "[[sweep]]\nops = \"fft\"\nbackends = \"mien\"\n").unwrap();
    let options = SweepOptions { backends: "cpu".parse().ok(), ..SweepOptions::default() };
    let refused =
        Settings::resolve(Request { options, ..Request::default() }, Some(file)).unwrap_err().to_string();
    assert!(refused.starts_with("mine.toml:3: unknown backend 'mien' (valid: "), "{refused}");
}

#[test]
fn options_without_effect_are_refused_with_what_to_change() {
    let options = |ops: &str, more: SweepOptions| {
        let named = SweepOptions { ops: ops.parse().ok(), ..SweepOptions::default() };
        Request { options: more.over(&named), ..Request::default() }
    };
    let resolved = |request: Request, file: Option<SweepFile>| {
        Settings::resolve(request, file).map_or_else(|e| e.to_string(), |_| "accepted".to_owned())
    };
    let none = SweepOptions::default;
    let samples = |count| SweepOptions { samples: Some(Samples(count)), ..none() };
    let rounds = |count| Some(Rounds(count));
    let precision = Some(Precision(0.01));
    let density = SweepOptions { density: Some(Density(0.5)), ..none() };
    let on_device = |backends: &str| SweepOptions {
        device: "1".parse().ok(),
        backends: backends.parse().ok(),
        ..SweepOptions::default()
    };
    let with_python = |backends: &str| SweepOptions {
        python: Some("/usr/bin/python3".into()),
        backends: backends.parse().ok(),
        ..SweepOptions::default()
    };
    let both = SweepOptions { precision, ..samples(5) };
    let many = |threads: &str| SweepOptions {
        threads: threads.parse().ok(),
        backends: "cpu".parse().ok(),
        ..SweepOptions::default()
    };
    for (ops, more, expected) in [
        ("fft", both, "--precision has no effect with --samples"),
        ("fft", SweepOptions { rounds: rounds(30), ..samples(5) }, "lower --rounds or raise --samples"),
        ("fft", SweepOptions { rounds: rounds(5), ..samples(5) }, "accepted"),
        ("fft", samples(1), "accepted"),
        ("fft,matmul", density.clone(), "add one to --ops (spgemm, spmv), or omit --density"),
        ("fft,spmv", density, "accepted"),
        ("fft", on_device("cpu"), "--device 1: no backend of this run uses a GPU: add cuda to --backends"),
        ("fft", on_device("cpu,cuda"), "accepted"),
        (
            "fft",
            with_python("cpu"),
            "--python has no effect, because no backend of this run is a Python library",
        ),
        ("fft", with_python("cpu,torch-cpu"), "accepted"),
        ("fft", many("4096"), "CPUs that gpubench may use here: use at most "),
        ("fft", many("1"), "accepted"),
    ] {
        let message = resolved(options(ops, more), None);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let table = SweepOptions { ops: ops(&["fft"]), precision, ..samples(5) };
    let message = resolved(Request::default(), Some(file(vec![table])));
    assert!(message.starts_with("mine.toml: precision has no effect with samples"), "{message}");
    let cli = Request { options: SweepOptions { precision, ..none() }, ..Request::default() };
    let table = SweepOptions { ops: ops(&["fft"]), ..samples(5) };
    assert_eq!(resolved(cli, Some(file(vec![table]))), "accepted");
}

#[test]
fn a_new_folder_never_is_an_old_one() {
    let parent = tempfile::tempdir().unwrap();
    let first = new_folder(parent.path());
    std::fs::create_dir(&first).unwrap();
    assert_ne!(new_folder(parent.path()), first);
}

#[test]
fn a_file_must_name_ops_and_the_command_line_may_name_them_for_it() {
    let check = |file: SweepFile, cli: SweepOptions| {
        let file = SweepFile { name: "mine.toml".into(), ..file };
        check_ops(&cli, &file).map_or_else(|error| error.to_string(), |()| "accepted".to_owned())
    };
    let bare = || SweepFile { tables: vec![SweepOptions::default()], ..SweepFile::default() };
    let named = |names: &[&str]| SweepOptions { ops: ops(names), ..SweepOptions::default() };
    for file in [SweepFile::default(), bare()] {
        assert!(check(file.clone(), SweepOptions::default()).starts_with("mine.toml names no ops: "));
        assert_eq!(check(file.clone(), named(&["fft"])), "accepted");
        assert_eq!(
            check(SweepFile { defaults: named(&["fft"]), ..file }, SweepOptions::default()),
            "accepted"
        );
    }
    let sweeps = resolve_sweeps(&named(&["fft"]), &bare());
    assert_eq!(sweeps.len(), 1);
}

#[test]
fn an_op_that_the_file_does_not_name_needs_sizes() {
    let file = SweepFile {
        name: "mine.toml".into(),
        tables: vec![SweepOptions { ops: ops(&["svd", "fft"]), ..SweepOptions::default() }],
        ..SweepFile::default()
    };
    let cli = SweepOptions { ops: ops(&["fft", "matmul"]), ..SweepOptions::default() };
    let message = check_ops(&cli, &file).map_or_else(|error| error.to_string(), |()| String::new());
    assert_eq!(
        message,
        "--ops matmul: mine.toml contains only fft, svd: choose one of these, or give sizes with --sizes"
    );
    assert!(check_ops(&SweepOptions { sizes: sizes(&[4]), ..cli.clone() }, &file).is_ok());
    let defaults = SweepOptions { sizes: sizes(&[4]), ..SweepOptions::default() };
    assert!(check_ops(&cli, &SweepFile { defaults, ..file }).is_ok());
}
