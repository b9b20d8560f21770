//! The adapters for Python libraries, through the program: NumPy and SciPy for real, and what is missing.

use crate::cli::{Ended, Folder, assert_contains, items, leave_out};

/// Returns a Python with NumPy and SciPy; `None`, with the reason printed, where there is none. With `GPUBENCH_REQUIRE=numpy`
/// that fails.
pub(super) fn python_with_numpy() -> Option<String> {
    let prefixes = std::env::var("GPUBENCH_TEST_PREFIXES").unwrap_or_default();
    let found = prefixes.split(':').map(|prefix| format!("{prefix}/bin/python")).find(|python| {
        let mut check = std::process::Command::new(python);
        check.args(["-c", "import numpy, scipy"]).output().is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        let required =
            std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "numpy"));
        let missing = "no Python with NumPy and SciPy under GPUBENCH_TEST_PREFIXES";
        assert!(!required, "{missing}");
        leave_out("NumPy", missing);
    }
    found
}

/// Returns a Python without NumPy: a new virtual environment has no package.
fn python_without_numpy(folder: &Folder) -> String {
    folder.shell("python3 -m venv --without-pip empty").good();
    folder.path().join("empty/bin/python").display().to_string()
}

#[test]
fn numpy_and_scipy_are_measured_and_judged_next_to_gpubench_s_own_variants() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    let ops = "matmul,elementwise,sin,reduction,fft,solve,spgemm,spmv,svd";
    folder.succeeds(&format!(
        "run --ops {ops} --sizes 33 --dtypes all --cache both --density 0.05 --samples 3 --rounds 1 --warmup 1 --no-peaks \
         --backends cpu,numpy --variants numpy/*,cpu/plain --python {python} --quiet --format json --out all"
    ));
    // An answer with fewer columns than rows, and one with more.
    folder.succeeds(&format!(
        "run --ops spgemm --shape 30x7x9,7x30x9 --density 0.2 --samples 3 --rounds 1 --warmup 1 --no-peaks --backends numpy \
         --python {python} --quiet --format json --out sparse"
    ));
    let report = folder.report("all");
    let of_numpy = items(&report["rows"]).iter().filter(|row| row["backend"] == "numpy");
    for op in ops.split(',') {
        assert!(of_numpy.clone().any(|row| row["op"] == op), "{op}");
    }
    for row in of_numpy {
        assert_eq!(row["outcome"], "measured", "{row}");
        assert!(row["error"]["value"].as_f64() <= row["error"]["bound"].as_f64(), "{row}");
        assert_eq!(row["execute"]["clock"], "host");
        assert!(row["threads"].as_u64() >= Some(1), "{row}");
    }
    let numpy =
        items(&report["environment"]["backends"]).iter().find(|backend| backend["name"] == "numpy").unwrap();
    assert!(numpy["description"]["versions"]["numpy"].is_string(), "{numpy}");
}

#[test]
fn a_library_that_is_missing_skips_its_cells_with_the_line_that_installs_it() {
    let folder = Folder::new();
    let python = python_without_numpy(&folder);
    let sweep = "--ops elementwise --sizes 8 --samples 1 --rounds 1 --no-peaks";
    folder.succeeds(&format!(
        "run {sweep} --backends cpu,numpy,torch,jax --python {python} --format json --out both"
    ));
    let mut missing = folder.rows("both");
    missing.retain(|row| row["backend"] != "cpu");
    assert!(missing.len() >= 3);
    for row in missing {
        assert_eq!(row["outcome"], "skipped", "{row}");
        assert_contains(row["fix"].as_str().unwrap(), &["pip install"]);
    }
    let alone = folder.run_line(&format!("run {sweep} --backends numpy --python {python} --out alone"));
    alone.exits(2).complains(&["pip install"]);
}

#[test]
fn a_wrong_interpreter_or_program_is_one_line_and_nothing_is_measured() {
    let folder = Folder::new();
    folder.refuses_each(
        "",
        "run --ops elementwise --sizes 8 --backends numpy --python /bin/false => --python PATH
        run --ops elementwise --sizes 8 --backends numpy --python missing/python3 => --python PATH
        doctor --python /bin/false => /bin/false is not a Python that works
        doctor --python missing/python3 => missing/python3 cannot be used as Python
        run --ops elementwise --sizes 8 --external cpu=true => already
        run --ops elementwise --sizes 8 --external mine => NAME=COMMAND
        run --ops elementwise --sizes 8 --external mine=no/such/program => no/such/program cannot be started
        run --ops elementwise --sizes 8 --external mine=true => exited with code 0",
    );
}

#[test]
fn doctor_lists_python_libraries_with_their_versions_or_the_line_that_installs_them() {
    let folder = Folder::new();
    let python = python_without_numpy(&folder);
    let section = |python: &str| {
        let text = folder.succeeds(&format!("doctor --python {python}")).stdout;
        text.split("\npython: ").nth(1).unwrap().to_owned()
    };
    let found = section(&python);
    assert_contains(&found, &["missing NumPy", "pip install"]);
    let asked = found.lines().find(|line| line.starts_with("  found   Python 3.")).unwrap();
    assert!(asked.ends_with(&format!("({python})")), "{asked}");
    let Some(python) = python_with_numpy() else { return };
    assert_contains(&section(&python), &["found   NumPy", "found   SciPy"]);
}

#[test]
fn an_empty_entry_of_pythonpath_is_not_the_current_folder() {
    let folder = Folder::new();
    for module in ["importlib", "json", "shlex", "numpy", "sitecustomize"] {
        folder.write(&format!("{module}.py"), "open('imported', 'w')\n");
    }
    let run = "run --backends numpy --python python3 --ops elementwise --sizes 8 --samples 1 --no-peaks --force --out x";
    // `doctor` asks for more libraries, and takes longer.
    for (list, line) in [(":/nowhere", run), (".", run), ("", "doctor --python python3")] {
        Ended::of(folder.command(line).env("PYTHONPATH", list));
        assert!(!folder.has("imported"), "PYTHONPATH={list}");
    }
}
