//! Calls inside a library do not reach another library with routines of the same names, as MKL has.

use std::process::Command;

use serde_json::{Value, json};

use crate::cli::{GPUBENCH, items, leave_out};
use crate::cpu::compiler::compile;

/// A library whose routines, with names that FFTW and OpenBLAS call internally, end the process.
const OTHER: &str = "#include <stdlib.h>
void *fftw_plan_dft(void) { abort(); }
void *fftwf_plan_dft(void) { abort(); }
void sgebrd_(void) { abort(); }
void dgebrd_(void) { abort(); }
void spotrf_(void) { abort(); }
void dpotrf_(void) { abort(); }
";

/// A library that ends every process that loads it, and claims to be OpenBLAS.
const DEADLY: &str = "#include <stdlib.h>
__attribute__((constructor)) static void end(void) { abort(); }
const char *openblas_get_config(void) { return \"OpenBLAS 9.9.9 \"; }
";

#[test]
fn libraries_work_next_to_one_with_routines_of_the_same_names() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("other.so");
    if let Err(reason) = compile(OTHER, &library) {
        return leave_out("what libraries call", &reason);
    }
    let run = "run --ops fft,solve,svd --variants cpu/fftw-2d,cpu/openblas* --sizes 16 --dtypes all --samples 3 \
               --no-peaks --format json --out -";
    let mut command = Command::new(GPUBENCH);
    // The workers inherit it, and load the libraries after it.
    let output = command.args(run.split_whitespace()).env("LD_PRELOAD", &library).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.len() >= 2 * 3, "{rows:?}");
    for row in rows {
        match row["outcome"].as_str() {
            Some("skipped") => {
                leave_out(&format!("{}/{}", row["op"], row["variant"]), &row["reason"].to_string())
            }
            outcome => assert_eq!(outcome, Some("measured"), "{row}"),
        }
    }
}

#[test]
fn a_library_that_crashes_costs_its_own_cells_and_one_line_of_doctor() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libopenblas.so.0");
    if let Err(reason) = compile(DEADLY, &library) {
        return leave_out("a library that crashes", &reason);
    }
    let answer = |words: &str| -> Value {
        let mut command = Command::new(GPUBENCH);
        command.args(words.split_whitespace()).env("GPUBENCH_OPENBLAS", &library);
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    };
    let examined = answer("doctor --json");
    let cpu = &examined["backends"][0];
    assert!(cpu["name"] == "cpu" && cpu["problem"].is_null(), "{cpu}");
    let findings = cpu["findings"].as_array().unwrap();
    let deadly = findings.iter().find(|finding| finding["name"] == "openblas").unwrap();
    assert!(deadly["problem"].as_str().unwrap().contains("was killed by SIGABRT"), "{deadly}");
    assert!(deadly["serves"].as_array().unwrap().contains(&json!("svd/openblas")), "{deadly}");
    assert!(findings.iter().any(|finding| finding["name"] == "MKL"), "others are still looked for");
    let run = "run --backends cpu --ops matmul --sizes 8 --variants openblas,faer --samples 3 --no-peaks --format json --out -";
    let report = answer(run);
    let outcome = |row: &'_ Value| ["variant", "outcome"].map(|key| row[key].as_str().unwrap().to_owned());
    let outcomes: Vec<[String; 2]> = items(&report["rows"]).iter().map(outcome).collect();
    assert_eq!(outcomes, [["openblas", "failed"], ["faer", "measured"]]);
}
