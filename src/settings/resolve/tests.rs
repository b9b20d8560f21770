use super::*;
use crate::measure::sampling::Sampling;
use crate::settings::config;
use crate::settings::options::tests::options;
use crate::write::report::{FORMATS, JSON, PNG};

fn names(sweeps: &[OpSweep]) -> Vec<(&str, &[u64])> {
    sweeps.iter().map(|sweep| (sweep.op.as_str(), sweep.sizes.as_slice())).collect()
}

/// A sweep file with these tables, below defaults of 9 samples and N = 10.
fn file(tables: &str) -> SweepFile {
    config::parse("mine.toml", &format!("samples = 9\nsizes = 10\n{tables}")).unwrap()
}

fn built_in(name: &str) -> SweepFile {
    config::read(name).unwrap()
}

fn resolved(line: &str, file: Option<SweepFile>) -> Result<Settings, String> {
    let found = Settings::resolve(options(line), OutputSettings::default(), file);
    found.map_err(|error| format!("{error:#}"))
}

/// Returns the message that refuses a line, or `accepted`.
fn refused(line: &str, file: Option<SweepFile>) -> String {
    resolved(line, file).map_or_else(|message| message, |_| "accepted".to_owned())
}

#[test]
fn the_command_line_hides_the_table_which_hides_the_defaults_of_the_file() {
    let sweeps =
        resolve_sweeps(&options("--warmup 7"), &file("[[sweep]]\nops = 'fft'\nsizes = 20\nwarmup = 1\n"))
            .unwrap();
    assert_eq!(names(&sweeps), [("fft", &[20u64][..])]);
    let sampling = sweeps[0].sampling;
    assert_eq!((sampling.warmup, sampling.samples), (7, Some(9)));
    assert_eq!(sampling.max_time_s, Sampling::default().max_time_s);
    assert_eq!(sweeps[0].dtypes, [DType::F32]);
    assert_eq!(sweeps[0].backends, ["cpu", "cuda"]);
}

#[test]
fn ops_on_the_command_line_choose_tables_and_others_take_defaults() {
    let tables = "[[sweep]]\nops = 'fft'\nsizes = 20\n[[sweep]]\nops = 'svd'\nsizes = 30\n";
    let sweeps = resolve_sweeps(&options("--ops matmul,svd"), &file(tables)).unwrap();
    assert_eq!(names(&sweeps), [("svd", &[30u64][..]), ("matmul", &[10][..])]);
}

#[test]
fn without_a_file_an_op_has_its_own_default_sizes() {
    let sweeps = resolve_sweeps(&options("--ops fft"), &SweepFile::default()).unwrap();
    let expected = op::find("fft").map(|op| op.about().sizes).unwrap_or_default();
    assert_eq!(names(&sweeps), [("fft", expected)]);
    assert_eq!(resolve_sweeps(&options(""), &SweepFile::default()).unwrap().len(), MAIN_OPS.len());
}

#[test]
fn the_built_in_sweeps_have_the_cases_and_ops_that_the_documentation_says() {
    let sweeps = resolve_sweeps(&options(""), &built_in("article")).unwrap();
    let cases: usize = sweeps.iter().map(|sweep| sweep.sizes.len() * sweep.dtypes.len()).sum();
    assert_eq!(cases, 35);
    assert_eq!(sweeps.iter().map(|sweep| sweep.op.as_str()).collect::<Vec<_>>(), MAIN_OPS);
    // Workers get the sizes of each op.
    let [article, full, lessons] =
        ["article", "full", "lessons"].map(|name| resolved("", Some(built_in(name))).unwrap());
    assert_eq!(article.options.sizes["fft"], [100, 500, 512, 1024, 2048]);
    assert_eq!(article.options.sizes.len(), MAIN_OPS.len());
    let both = [&full.options.ops[..], &lessons.options.ops].concat();
    assert_eq!(both, OPS.iter().map(|op| op.name()).collect::<Vec<_>>());
    assert_eq!(full.options.dtypes, DType::REAL);
    assert_eq!(full.config.as_deref(), Some("full"));
}

#[test]
fn sweeps_that_name_no_sizes_on_the_command_line_are_refined_if_they_ask_for_it() {
    let mine = || Some(file("refine = true\n[[sweep]]\nops = 'fft'\n"));
    let article = || Some(built_in("article"));
    for (line, given, file, expected) in [
        ("", None, mine(), true),
        ("", Some(false), mine(), false),
        ("--ops fft --sizes 4,64", None, None, false),
        ("--ops fft --sizes 4,64", Some(true), None, true),
        ("", None, article(), true),
        ("--sizes 4,64", None, article(), false),
    ] {
        let options = SweepOptions { refine: given, ..options(line) };
        let settings = Settings::resolve(options, OutputSettings::default(), file).unwrap();
        assert_eq!(settings.asked.refine, Some(expected), "{line} {given:?}");
    }
}

#[test]
fn density_is_for_sparse_ops_alone() {
    for sweep in
        resolve_sweeps(&options("--ops matmul,spgemm --density 0.25"), &SweepFile::default()).unwrap()
    {
        let sparse = op::find(&sweep.op).and_then(|op| op.default_density()).is_some();
        assert_eq!(sweep.density, sparse.then_some(0.25), "{}", sweep.op);
    }
}

#[test]
fn stdout_takes_exactly_one_format_that_is_one_file() {
    let takes = |out: &str, formats: &[crate::settings::ReportFormat]| {
        let destination = Destination::named(Some(Path::new(out)));
        checked(OutputSettings { destination, formats: formats.to_vec(), ..OutputSettings::default() })
            .map_err(|error| error.to_string())
    };
    assert_eq!(takes("-", &[&JSON]).map(|output| output.destination), Ok(Destination::Stdout));
    for formats in [&FORMATS.defaults()[..], &[&JSON, FORMATS.all[2]], &[&PNG], &[]] {
        assert!(takes("-", formats).is_err(), "{formats:?}");
    }
    assert!(takes("", &[&JSON]).is_err_and(|message| message.starts_with("--out is empty")));
}

#[test]
fn a_program_joins_the_sweeps_that_name_it_and_all_of_them_if_none_does() {
    let tables = |of_svd: &str| {
        let of_svd = format!("ops = 'svd'\nbackends = '{of_svd}'\n");
        Some(file(&format!("[[sweep]]\nops = 'fft'\nbackends = 'cpu'\n[[sweep]]\n{of_svd}")))
    };
    for (line, file, of_fft, of_svd) in [
        ("", None, &["cpu", "cuda", "mine"][..], &["cpu", "cuda", "mine"][..]),
        ("--backends mine,cpu", None, &["cpu", "mine"], &["cpu", "mine"]),
        ("--backends cpu", None, &["cpu", "mine"], &["cpu", "mine"]),
        ("", tables("cuda"), &["cpu", "mine"], &["cuda", "mine"]),
        ("", tables("mine,cuda"), &["cpu"], &["cuda", "mine"]),
        ("--backends mine", tables("cuda"), &["mine"], &["mine"]),
    ] {
        let settings = resolved(&format!("--ops fft,svd --external mine=true {line}"), file).unwrap();
        let found: Vec<&[String]> = settings.sweeps.iter().map(|sweep| &sweep.backends[..]).collect();
        assert_eq!(found, [of_fft, of_svd]);
        assert_eq!(settings.backends.last().map(String::as_str), Some("mine"));
    }
}

#[test]
fn what_cannot_work_or_has_no_effect_is_refused_with_what_to_change() {
    for (line, expected) in [
        ("--backends cpu --require cuda", "add cuda to --backends"),
        ("--backends sim", "add --sim FILE"),
        ("--sim x.toml", "add --backends sim"),
        ("--backends sim --sim /no/such.toml", "'/no/such.toml': "),
        ("--backends sim --sim /", "it is not a file"),
        ("--samples 5 --precision 1%", "--precision has no effect with --samples"),
        ("--samples 5 --rounds 30", "lower --rounds or raise --samples"),
        ("--samples 5 --rounds 5", "accepted"),
        ("--samples 1", "accepted"),
        (
            "--ops fft,matmul --density 0.5",
            "--density has no effect without a sparse op in --ops (spgemm, spmv); omit",
        ),
        ("--ops fft,spmv --density 0.5", "accepted"),
        ("--device 1 --backends cpu", "--device has no effect without a GPU: add cuda to --backends"),
        ("--device 1 --backends cpu,cuda", "accepted"),
        ("--python /bin/python3 --backends cpu", "--python has no effect without a Python library"),
        ("--python /bin/python3 --backends cpu,torch-cpu", "accepted"),
        ("--threads 4096 --backends cpu", "CPUs that gpubench may use here: use at most "),
        ("--threads 1 --backends cpu", "accepted"),
    ] {
        let message = refused(line, None);
        assert!(message.contains(expected), "{line}: {message}");
    }
    let table = |keys: &str| Some(file(&format!("[[sweep]]\nops = 'fft'\n{keys}\n")));
    let message = refused("", table("samples = 5\nprecision = '1%'"));
    assert!(message.starts_with("mine.toml: precision has no effect with samples"), "{message}");
    assert_eq!(refused("--precision 1%", table("samples = 5")), "accepted");
    let message = refused("--backends cpu", table("backends = 'mien'"));
    assert!(message.starts_with("mine.toml: unknown backend 'mien' (valid: "), "{message}");
}

#[test]
fn a_file_must_name_ops_and_the_command_line_may_name_them_and_sizes_for_it() {
    let file = |text: &str| config::parse("mine.toml", text).unwrap();
    let only =
        "--ops matmul: mine.toml contains only fft, svd: choose one of these, or give sizes with --sizes";
    for (text, line, expected) in [
        ("", "", "mine.toml names no ops: "),
        ("", "--ops fft", "accepted"),
        ("ops = 'fft'\n", "", "accepted"),
        ("[[sweep]]\n", "", "mine.toml names no ops: "),
        ("[[sweep]]\n", "--ops fft", "accepted"),
        ("ops = 'fft'\n[[sweep]]\n", "", "accepted"),
        ("[[sweep]]\nops = 'svd,fft'\n", "--ops fft,matmul", only),
        ("[[sweep]]\nops = 'svd,fft'\n", "--ops fft,matmul --sizes 4", "accepted"),
        ("sizes = 4\n[[sweep]]\nops = 'svd,fft'\n", "--ops fft,matmul", "accepted"),
    ] {
        let found = check_ops(&options(line), &file(text));
        let message = found.map_or_else(|error| error.to_string(), |()| "accepted".to_owned());
        assert!(message.starts_with(expected), "{text:?} {line}: {message}");
    }
    assert_eq!(resolve_sweeps(&options("--ops fft"), &file("[[sweep]]\n")).unwrap().len(), 1);
}
