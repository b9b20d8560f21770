//! The library that a row names is the library that runs: with any set of libraries, loaded in any order, each is
//! alone in its process and calls its own routines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cli::leave_out;
use crate::cpu::loader::{Traced, trace};
use crate::cpu::with_prefixes;

/// The fastest possible cells.
const RUN: &str = "run --backends cpu --sizes 48 --threads 1 --rounds 1 --samples 1 --warmup 0 --no-peaks";
/// The ops that call libraries.
const EVERYTHING: &str = "--ops matmul,fft,solve,svd --dtypes all";
/// One case per kind of library, so that each is loaded as often before another one as after it.
const EACH_ONCE: &str = "--ops matmul,fft --dtypes f32";
/// Another build of a library that is found automatically, with the OpenMP of GNU.
const WITH_GNU_OPENMP: &str = "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0";
/// An order in which one process loaded MKL before the OpenBLAS of the system, with all libraries of `.ci/run`.
const MKL_FIRST: u32 = 2;
/// Number of random orders to try until each library has been loaded before and after each other one.
const SEEDS: u32 = 24;

fn run(seed: u32, cells: &str, variants: Option<&str>) -> Traced {
    let blas = Path::new(WITH_GNU_OPENMP).is_file().then(|| format!("--blas {WITH_GNU_OPENMP}"));
    let variants = variants.map(|variants| format!("--variants {variants}"));
    let words = [Some(format!("{RUN} {cells} --seed {seed}")), blas, variants];
    trace(&words.into_iter().flatten().collect::<Vec<_>>().join(" "), with_prefixes)
}

/// Returns the libraries in the order in which any process loaded them.
fn order(traced: &Traced) -> Vec<usize> {
    let mut order = vec![];
    for family in traced.processes.iter().flat_map(|process| &process.loaded) {
        if !order.contains(family) {
            order.push(*family);
        }
    }
    order
}

/// Asserts that every library is alone in its process and finds its routines in itself.
fn assert_apart(traced: &Traced) {
    for process in &traced.processes {
        let foreign = &process.foreign[..process.foreign.len().min(5)];
        let count = process.foreign.len();
        assert!(count == 0, "{count} routines are another library's, such as {foreign:#?}");
        let names: Vec<&str> = process.loaded.iter().map(|at| traced.families[*at].name.as_str()).collect();
        assert!(names.len() <= 1, "one process loads {names:?}");
    }
    for (at, family) in traced.families.iter().enumerate() {
        // Internal calls are included.
        let own: usize = traced.processes.iter().filter_map(|process| process.own.get(&at)).sum();
        assert!(own > 100, "only {own} routines of {} are seen", family.name);
    }
}

#[test]
fn every_library_calls_its_own_routines_in_every_order_of_loading() {
    let mut pairs = BTreeSet::new();
    let mut names = BTreeSet::new();
    for seed in 1..=SEEDS {
        let traced = run(seed, if seed == 1 { EVERYTHING } else { EACH_ONCE }, None);
        assert_apart(&traced);
        names = traced.families.iter().map(|family| family.name.clone()).collect();
        let order = order(&traced);
        let ordered = order.iter().enumerate().flat_map(|(at, first)| {
            let name = |at: &usize| traced.families[*at].name.clone();
            order[at + 1..].iter().map(move |later| (name(first), name(later))).collect::<Vec<_>>()
        });
        pairs.extend(ordered);
        if pairs.len() == names.len() * names.len().saturating_sub(1) {
            break;
        }
    }
    if names.len() < 2 {
        return leave_out("what libraries call next to each other", &format!("only {names:?} found"));
    }
    assert_eq!(pairs.len(), names.len() * (names.len() - 1), "each of {names:?} before and after each other");
}

#[test]
fn an_answer_does_not_depend_on_the_other_libraries_of_the_run() {
    let errors = |traced: &Traced| -> BTreeMap<String, f64> {
        let rows = traced.report["rows"].as_array().unwrap();
        let measured = rows.iter().filter(|row| row["outcome"] == "measured");
        let title = |key: &str, row: &serde_json::Value| row[key].as_str().unwrap().to_owned();
        measured
            .map(|row| {
                let cell = ["op", "dtype", "variant"].map(|key| title(key, row)).join(" ");
                (cell, row["error"]["value"].as_f64().unwrap())
            })
            .collect()
    };
    let together = errors(&run(MKL_FIRST, EVERYTHING, None));
    let variants: BTreeSet<&str> = together
        .keys()
        .filter_map(|cell| cell.strip_prefix("solve f32 "))
        .filter(|variant| together.contains_key(&format!("matmul f32 {variant}")) && *variant != "faer")
        .collect();
    if variants.len() < 2 {
        return leave_out("answers of libraries next to each other", &format!("only {variants:?} found"));
    }
    for variant in variants {
        let alone = errors(&run(MKL_FIRST, EVERYTHING, Some(variant)));
        // In its own process, its non-default variants run too.
        let same: Vec<_> = alone.iter().filter(|(cell, _)| together.contains_key(*cell)).collect();
        assert!(same.len() >= 6, "{alone:?}");
        for (cell, error) in same {
            assert_eq!(*error, together[cell], "{cell}, alone and with the others");
        }
    }
}
