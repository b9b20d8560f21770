//! Libraries with routines of the same names, as MKL has: each is alone in its process, and its calls do not reach another one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::{GPUBENCH, items, leave_out};
use crate::cpu::compiler::compile;
use crate::cpu::worker::Worker;

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

/// Parts of the names of the files of libraries, and of Intel's OpenMP, which MKL needs.
const FILES: [&str; 5] = ["openblas", "libblis", "libfftw3", "libmkl_", "libiomp5"];

#[test]
fn each_library_is_alone_in_its_worker() {
    let variants = Worker::start_for(Some("openblas"), 1, false).variants();
    let mut by_library: BTreeMap<&str, Vec<[&str; 2]>> = BTreeMap::new();
    for variant in &variants {
        let [op, name] = ["op", "name"].map(|key| variant[key].as_str().unwrap());
        if let Some(library) = variant["library"].as_str() {
            by_library.entry(library).or_default().push([op, name]);
        }
    }
    let mut loaded = BTreeSet::new();
    for (library, variants) in by_library {
        let mut worker = Worker::start_for(Some(library), 2, false);
        for [op, name] in variants {
            let prepared = worker.prepare(op, name, 48, "hot");
            if prepared["type"] == "skipped" {
                leave_out(&format!("{op}/{name}"), &prepared["reason"].to_string());
                continue;
            }
            let own = Path::new(prepared["libraries"][0]["path"].as_str().unwrap()).parent();
            let files = worker.mapped_files();
            let name_of = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
            let of_libraries =
                files.iter().filter(|file| FILES.iter().any(|part| name_of(file).contains(part)));
            let of_libraries: Vec<_> = of_libraries.collect();
            let kinds =
                FILES.iter().filter(|part| of_libraries.iter().any(|file| name_of(file).contains(**part)));
            let kinds: Vec<&str> = kinds.copied().collect();
            assert!(
                kinds.len() == 1 || kinds == ["libmkl_", "libiomp5"],
                "{library} {op}/{name}: {of_libraries:?}"
            );
            assert!(
                of_libraries.iter().all(|file| file.parent() == own),
                "{library} {op}/{name}: {of_libraries:?}"
            );
            loaded.insert(library);
        }
    }
    if loaded.len() < 2 {
        leave_out("libraries next to each other", &format!("only {loaded:?} found"));
    }
}
