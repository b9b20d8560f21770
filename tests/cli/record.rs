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
    super::assert_contains(&ended.stderr, &["dgemm NN  30x40x20", "dgesdd S", "Saved as calls.json"]);
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
    folder.refuses(&again, "calls.json exists: name another file with --out, or replace it with --force");
}

#[test]
fn with_python_ffts_and_sparse_products_are_recorded_and_the_users_sitecustomize_runs() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("site")).unwrap();
    folder.write("site/sitecustomize.py", "import sys\nsys.customized = 7\n");
    folder.write(
        "program.py",
        "import sys, numpy as np\nimport scipy.fft\nfrom scipy.sparse import csr_matrix\nx = np.ones((6, 8))\n\
         np.fft.fft(x); np.fft.rfft2(x); np.fft.irfft(np.ones((3, 5), 'c16'), 8); scipy.fft.rfft(x.astype('f4'), axis=0)\n\
         np.fft.fftn(x, s=(4, 4)); a = csr_matrix(x)\nprint((a @ np.ones(8))[0], (a.T @ a).shape, a.dot(np.ones(8))[0], sys.customized)\n\
         try: np.fft.fft(x, axis=9)\nexcept IndexError: print('index')\n",
    );
    let mut command = folder.command(&format!("record --python -q -- {python} program.py"));
    let ended = super::Ended::of(command.env("PYTHONPATH", folder.path().join("site"))).good();
    assert_eq!(ended.stdout, "8.0 (8, 8) 8.0 7\nindex\n", "{}", ended.stderr);
    let recorded = folder.json("calls.json");
    let shape = |call: &Value| {
        let text = |key: &str| call[key].as_str().unwrap().to_owned();
        let numbers = if text("routine") == "fft" {
            call["extents"].to_string()
        } else {
            format!("{} {}", call["entries"], call["other_entries"])
        };
        format!(
            "{} {} {} {numbers} {} {}",
            text("routine"),
            text("dtype"),
            text("flags"),
            call["batch"],
            call["count"]
        )
    };
    let mut calls: Vec<String> = recorded["calls"].as_array().unwrap().iter().map(shape).collect();
    calls.retain(|call| call.starts_with("fft") || call.starts_with("sp"));
    calls.sort();
    let expected = [
        "fft c128 C [4,4] 1 1",
        "fft c128 C [8] 6 1",
        "fft f32 R [6] 8 1",
        "fft f64 B [8] 3 1",
        "fft f64 R [6,8] 1 1",
        "spgemm f64  48 48 1 1",
        "spmv f64  48 null 1 2",
    ];
    assert_eq!(calls, expected, "{recorded:#}");
}

#[test]
fn a_python_that_keeps_the_recorder_out_is_named() {
    let Some(python) = python_with_numpy() else { return };
    let folder = Folder::new();
    for (options, is_named) in [("-I", true), ("", false)] {
        let ended = folder.succeeds(&format!("record --python --force -- {python} {options} -c 0"));
        assert_eq!(ended.stderr.contains("-E, -I and -S keep it out"), is_named, "{}", ended.stderr);
    }
}

#[test]
fn signals_that_are_ignored_reach_the_program_so() {
    let folder = Folder::new();
    for trap in ["", "trap '' PIPE;", "trap '' XFSZ;", "trap '' PIPE XFSZ HUP;"] {
        let ask = "grep SigIgn /proc/self/status";
        let record = format!("{} record -q --force --", env!("CARGO_BIN_EXE_gpubench"));
        let [alone, recorded] =
            ["", &record].map(|before| folder.shell(&format!("{trap} {before} {ask}")).good().stdout);
        assert_eq!(alone, recorded, "{trap}");
    }
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
