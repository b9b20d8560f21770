//! The adapters for Python libraries, through the program: NumPy and SciPy for real, and what is missing.

use serde_json::Value;

use crate::cli::{Ended, Folder};

/// Returns a Python with NumPy and SciPy; `None`, with the reason printed, where there is none. With `GPUBENCH_REQUIRE=numpy`
/// that fails.
#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
pub(super) fn python_with_numpy() -> Option<String> {
    let prefixes = std::env::var("GPUBENCH_TEST_PREFIXES").unwrap_or_default();
    let found = prefixes.split(':').map(|prefix| format!("{prefix}/bin/python")).find(|python| {
        let mut check = std::process::Command::new(python);
        check.args(["-c", "import numpy, scipy"]).output().is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        let required =
            std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "numpy"));
        assert!(!required, "no Python with NumPy and SciPy under GPUBENCH_TEST_PREFIXES");
        eprintln!("skipped: no Python with NumPy and SciPy under GPUBENCH_TEST_PREFIXES");
    }
    found
}

/// Returns a Python without NumPy: a new virtual environment has no package.
fn python_without_numpy(folder: &Folder) -> String {
    folder.shell("python3 -m venv --without-pip empty").good();
    folder.path().join("empty/bin/python").display().to_string()
}

fn rows(report: &Value) -> &Vec<Value> {
    report["rows"].as_array().unwrap()
}

#[test]
fn numpy_and_scipy_are_measured_and_judged_next_to_gpubench_s_own_variants() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    let sweep = "--ops all --sizes 33 --dtypes all --cache both --density 0.05 --samples 3 --rounds 1 --warmup 1 --no-peaks";
    let ops = "matmul,elementwise,sin,reduction,fft,solve,spgemm,spmv,svd";
    let sweep = sweep.replace("all --sizes", &format!("{ops} --sizes"));
    let ended = folder.run_line(&format!(
        "run {sweep} --backends cpu,numpy --variants numpy/*,cpu/plain --python {python} --quiet --format json --out all"
    ));
    let report = folder.json("all/report.json");
    let of_numpy: Vec<&Value> = rows(&report).iter().filter(|row| row["backend"] == "numpy").collect();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for op in ops.split(',') {
        let mut of_op = of_numpy.iter().filter(|row| row["op"] == op);
        assert!(of_op.any(|row| row["outcome"] == "measured"), "{op}");
    }
    for row in of_numpy {
        assert_eq!(row["outcome"], "measured", "{row}");
        assert!(row["error"]["value"].as_f64() <= row["error"]["bound"].as_f64(), "{row}");
        assert_eq!(row["execute"]["clock"], "host");
        assert!(row["threads"].as_u64() >= Some(1), "{row}");
    }
    let backends = report["environment"]["backends"].as_array().unwrap();
    let numpy = backends.iter().find(|backend| backend["name"] == "numpy").unwrap();
    assert!(numpy["description"]["versions"]["numpy"].is_string(), "{numpy}");
}

#[test]
fn a_library_that_is_missing_skips_its_cells_with_the_line_that_installs_it() {
    let folder = Folder::new();
    let python = python_without_numpy(&folder);
    let sweep = "--ops elementwise --sizes 8 --samples 1 --rounds 1 --no-peaks";
    let both =
        format!("run {sweep} --backends cpu,numpy,torch,jax --python {python} --format json --out both");
    folder.succeeds(&both);
    let report = folder.json("both/report.json");
    let missing: Vec<&Value> = rows(&report).iter().filter(|row| row["backend"] != "cpu").collect();
    assert!(missing.len() >= 3);
    for row in missing {
        assert_eq!(row["outcome"], "skipped", "{row}");
        assert!(row["fix"].as_str().unwrap().contains("pip install"), "{row}");
    }
    let alone = folder.run_line(&format!("run {sweep} --backends numpy --python {python} --out alone"));
    assert_eq!(alone.code, 2, "{}", alone.stderr);
    assert!(alone.stderr.contains("pip install"), "{}", alone.stderr);
}

#[test]
fn a_wrong_interpreter_or_program_is_one_line_and_nothing_is_measured() {
    let folder = Folder::new();
    let run = "run --ops elementwise --sizes 8 --out new";
    folder.refuses(&format!("{run} --backends numpy --python /bin/false"), "--python PATH");
    folder.refuses(&format!("{run} --backends numpy --python missing/python3"), "--python PATH");
    folder.refuses("doctor --python /bin/false", "/bin/false is not a Python that works");
    folder.refuses("doctor --python missing/python3", "missing/python3 cannot be used as Python");
    folder.refuses(&format!("{run} --external cpu=true"), "already");
    folder.refuses(&format!("{run} --external mine"), "NAME=COMMAND");
    folder.refuses(&format!("{run} --external mine=no/such/program"), "no/such/program cannot be started");
    folder.refuses(&format!("{run} --external mine=true"), "exited with code 0");
}

#[test]
fn doctor_lists_python_libraries_with_their_versions_or_the_line_that_installs_them() {
    let folder = Folder::new();
    let python = python_without_numpy(&folder);
    let text = folder.succeeds(&format!("doctor --python {python}")).stdout;
    let section = text.split("\npython: ").nth(1).unwrap();
    assert!(section.contains("missing NumPy") && section.contains("pip install"), "{section}");
    let asked = section.lines().find(|line| line.starts_with("  found   Python 3.")).unwrap();
    assert!(asked.ends_with(&format!("({python})")), "{asked}");
    let Some(python) = python_with_numpy() else { return };
    let text = folder.succeeds(&format!("doctor --python {python}")).stdout;
    let section = text.split("\npython: ").nth(1).unwrap();
    assert!(section.contains("found   NumPy") && section.contains("found   SciPy"), "{section}");
}

#[test]
fn an_empty_entry_of_pythonpath_is_not_the_current_folder() {
    let folder = Folder::new();
    for module in ["importlib", "json", "shlex", "numpy", "sitecustomize"] {
        folder.write(&format!("{module}.py"), "open('imported', 'w')\n");
    }
    let run = "run --backends numpy --python python3 --ops elementwise --sizes 8 --samples 1 --no-peaks --force --out x";
    // `doctor` asks for more libraries, and takes longer.
    for (list, line) in
        [("", run), ("x:", run), (":/nowhere", run), (".", run), ("", "doctor --python python3")]
    {
        Ended::of(folder.command(line).env("PYTHONPATH", list));
        assert!(!folder.path().join("imported").exists(), "PYTHONPATH={list}");
    }
}
