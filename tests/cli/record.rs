//! `gpubench record` of Python with NumPy, and what it refuses. `tests/stubs/record.rs` has programs that are hard to record.

use serde_json::Value;

use super::Folder;
use super::python::python_with_numpy;

#[test]
fn the_calls_of_numpy_are_recorded_with_their_shapes() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    folder.write(
        "program.py",
        "import numpy as np\na, b = np.ones((30, 20)), np.ones((20, 40), 'f4').astype('f8')\nfor _ in range(3): c = a @ b\n\
         np.linalg.svd(a, full_matrices=False)\nprint(c[0, 0])\nraise SystemExit(4)\n",
    );
    let ended = folder.run_line(&format!("record -- {python} program.py")).exits(4);
    assert_eq!(ended.stdout, "20.0\n");
    super::assert_contains(&ended.stderr, &["dgemm NN  30 x 40 x 20", "dgesdd S", "Saved as calls.json"]);
    let recorded = folder.json("calls.json");
    let calls = recorded["calls"].as_array().unwrap();
    let product = calls.iter().find(|call| call["routine"] == "gemm").unwrap();
    assert_eq!(
        (&product["count"], &product["row_major"]),
        (&Value::from(3), &Value::from(true)),
        "{product}"
    );
    assert!(product["library"].as_str().unwrap().contains("openblas"), "{product}");
    assert!(recorded["calls"][0]["total_s"].as_f64().unwrap() < recorded["elapsed_s"].as_f64().unwrap());
    let again = format!("record -- {python} program.py");
    folder.refuses(&again, "calls.json exists: name another file with -o, or replace it with --force");
}

#[test]
fn what_cannot_be_recorded_is_refused_in_one_line() {
    let folder = Folder::new();
    folder.refuses("record", "<PROGRAM>");
    folder.refuses("record -- gpubench-absent", "there is no program gpubench-absent in PATH");
    folder.refuses("record -- ./absent", "there is no program ./absent");
    folder.refuses("record -o absent/calls.json -- true", "there is no folder for absent/calls.json");
    folder.refuses("record -o . -- true", ". is a folder");
    let ended = folder.run_line("record -- sh -c true").good();
    super::assert_contains(&ended.stderr, &["The program made no call that gpubench record knows"]);
}
