//! Operations of the user's own, from Python files.

use serde_json::Value;

use super::Folder;
use super::python::python_with_numpy;

const DOUBLE: &str = "import gpubench, numpy as np, cupy\n\
    op = gpubench.Op('double', sizes=[64, 512], work=lambda n: (16 * n * n, n * n))\n\
    @op.inputs\n\
    def _(n, rng): return rng.random((n, n))\n\
    @op.variant('plus')\n\
    def _(a): return a + a\n\
    @op.variant('times')\n\
    def _(a): return np.multiply(a, 2.0)\n\
    @op.variant('wrong')\n\
    def _(a): return a * 2.001\n\
    @op.variant('ends')\n\
    def _(a): __import__('os')._exit(3)\n\
    @op.variant('on-gpu')\n\
    def _(a): return cupy.add(a, a)\n";

/// Returns the rows of the report in `out`, each as operation, N, variant and outcome.
fn rows(folder: &Folder) -> Vec<String> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let rows = folder.rows("out").into_iter();
    rows.map(|row| {
        format!("{} {} {} {}", text(&row, "op"), row["n"], text(&row, "variant"), text(&row, "outcome"))
    })
    .collect()
}

#[test]
fn an_operation_of_a_file_is_measured_judged_compared_and_resumed_like_any_other() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    folder.write("double.py", DOUBLE);
    let options = "--samples 3 --rounds 2 --no-peaks --backends numpy --quiet";
    let run = format!("run --ops double.py,matmul --python {python} {options} --sizes 64,128 --out out");
    let ended = folder.run_line(&run);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let found = rows(&folder);
    let expected = |outcome: &str| found.iter().filter(|row| row.ends_with(outcome)).count();
    assert!(found.contains(&"double 64 plus measured".to_owned()), "{found:?}");
    assert!(found.contains(&"double 128 times measured".to_owned()), "{found:?}");
    assert!(found.contains(&"double 64 wrong incorrect".to_owned()), "{found:?}");
    assert!(found.contains(&"double 128 ends failed".to_owned()), "{found:?}");
    assert_eq!((expected("incorrect"), expected("failed"), expected("skipped")), (2, 2, 0), "{found:?}");
    assert!(found.iter().any(|row| row.starts_with("matmul 64")), "{found:?}");
    let rows = folder.rows("out");
    let row = rows.iter().find(|row| row["variant"] == "plus").unwrap();
    assert_eq!((&row["dtype"], &row["work"]["flop"]), (&Value::from("f64"), &Value::from(4096.0)), "{row}");
    assert!(row["error"]["value"].as_f64().unwrap() <= row["error"]["bound"].as_f64().unwrap());
    assert!(folder.succeeds("show out --tables").stdout.contains("double"));
    folder.run_line(&run.replace("--out out", "--out again"));
    let compared = folder.run_line("compare out again");
    assert!(matches!(compared.code, 0 | 1 | 3) && compared.stdout.contains("double"), "{}", compared.stderr);
}

#[test]
fn without_a_gpu_the_variants_of_its_libraries_are_skipped_with_the_package_they_need() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    folder.write("double.py", DOUBLE);
    let ended = folder.run_line(&format!(
        "run --ops double.py --python {python} --samples 3 --rounds 2 --no-peaks --sizes 64 --variants plus,on-gpu --out out"
    ));
    assert_eq!(rows(&folder), ["double 64 plus measured", "double 64 on-gpu skipped"], "{}", ended.stderr);
    let row = &folder.rows("out")[1];
    assert!(row["fix"].as_str().unwrap().contains("pip install"), "{row}");
}

#[test]
fn the_sizes_of_a_sweep_file_reach_the_function_of_the_work() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    folder.write("double.py", DOUBLE);
    folder.write("sweep.toml", "[[sweep]]\nops = [\"double.py\"]\nsizes = [1000]\n");
    let options = "--samples 3 --rounds 2 --no-peaks --backends numpy --variants plus --out out";
    folder.succeeds(&format!("run --config sweep.toml --python {python} {options}"));
    assert_eq!(folder.rows("out")[0]["work"]["flop"], Value::from(1e6));
}

#[test]
fn a_file_that_cannot_be_used_is_refused_in_one_line() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    for (text, expected) in [
        ("import gpubench\nx = (\n", "mine.py:2: "),
        ("import gpubench\n1 / 0\n", "mine.py:2: ZeroDivisionError"),
        ("x = 1\n", "mine.py defines no operation"),
        (&DOUBLE.replace("'double'", "'matmul'"), "gpubench has an op named matmul"),
    ] {
        folder.write("mine.py", text);
        folder.refuses(&format!("run --ops mine.py --python {python}"), expected);
    }
    folder.refuses("run --ops missing.py", "missing.py");
    folder.refuses("list mine.py", "--ops mine.py --dry-run");
    folder.refuses("run --ops mine.py --python missing/python3", "--python PATH");
}

#[test]
fn every_example_of_the_documentation_is_measured_on_the_cpu() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/ops");
    let files = std::fs::read_dir(examples).unwrap().map(|file| file.unwrap().path().display().to_string());
    let mut files: Vec<String> = files.filter(|file| file.ends_with(".py")).collect();
    files.sort_unstable();
    let run = "--sizes 100 --backends numpy --samples 3 --rounds 1 --no-peaks --quiet --out out";
    folder.succeeds(&format!("run --ops {} --python {python} {run}", files.join(",")));
    let found = rows(&folder);
    let (measured, others): (Vec<_>, Vec<_>) = found.iter().partition(|row| row.ends_with(" measured"));
    assert!(measured.len() > files.len(), "{found:?}");
    assert!(others.iter().all(|row| *row == "pca 100 scikit-learn skipped"), "{found:?}");
}
