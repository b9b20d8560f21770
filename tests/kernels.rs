//! Every kernel compiles for every supported GPU generation without spilling registers. Needs NVRTC, no GPU.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::fs;
use std::path::Path;

use gpubench::backend::cuda::compile;
use gpubench::backend::cuda::kernels::{HEADERS, KernelSource};
use gpubench::backend::tuned::CATALOGUE;
use gpubench::error::CellError;
use rayon::prelude::*;

const CHIPS: [i32; 5] = [75, 80, 90, 100, 120];

/// Maximum registers per thread.
const MAX_REGISTERS: u32 = 255;

fn required(what: &str) -> bool {
    std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == what))
}

/// Returns the number before `unit` in a line of the compiler output.
fn number_before(line: &str, unit: &str) -> Option<u32> {
    line.split(unit).next()?.split_whitespace().last()?.parse().ok()
}

/// Returns the number of kernels that the compiler lists for a source, after checking their registers. `None` without
/// a compiler.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn kernels_without_spills(source: &KernelSource, chip: i32) -> Option<usize> {
    let log = match compile(source, chip) {
        Ok(log) => log,
        Err(CellError::Unavailable(missing)) => {
            assert!(!required("nvrtc"), "{}: {:?}", missing.reason, missing.fix);
            eprintln!("skipped: {}; {}", missing.reason, missing.fix.unwrap_or_default());
            return None;
        }
        Err(error) => panic!("{} for sm_{chip}: {error}", source.name),
    };
    let (mut entry, mut seen) = ("", 0);
    for line in log.lines() {
        if let Some(name) = line.split('\'').nth(1).filter(|_| line.contains("Compiling entry function")) {
            entry = name;
        }
        let place = format!("{}.cu: {entry} for sm_{chip}: {line}", source.name);
        if line.contains("bytes spill stores") {
            assert_eq!(number_before(line, " bytes spill stores"), Some(0), "{place}");
            assert_eq!(number_before(line, " bytes spill loads"), Some(0), "{place}");
        }
        if line.contains(" registers") {
            let registers = number_before(line, " registers");
            assert!(registers.is_some_and(|count| count <= MAX_REGISTERS), "{place}");
            seen += 1;
        }
    }
    Some(seen)
}

#[test]
fn every_kernel_compiles_without_spills() {
    let sources = [CATALOGUE.sources(), CATALOGUE.generated_sources()].concat();
    let units: Vec<_> =
        CHIPS.iter().flat_map(|chip| sources.iter().map(move |source| (*source, *chip))).collect();
    let seen: Option<Vec<usize>> =
        units.par_iter().map(|(source, chip)| kernels_without_spills(source, *chip)).collect();
    let Some(seen) = seen else { return };
    let seen: usize = seen.into_iter().sum();
    assert!(seen >= units.len(), "the compiler listed only {seen} kernels");
}

#[test]
fn every_file_of_the_folder_is_embedded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let files = fs::read_dir(&root).unwrap().flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    for path in files.map(|file| file.unwrap().path()) {
        let name = path.strip_prefix(&root).unwrap().with_extension("").display().to_string();
        if name == "measure/faults" && !cfg!(feature = "lab") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let all = CATALOGUE.sources().into_iter().chain(&HEADERS);
        let units: Vec<_> = all.filter(|source| source.name.split('-').next() == Some(&name)).collect();
        assert!(
            !units.is_empty(),
            "{} is named by no entry of crates/cuda/src/ops or crates/tuned/src",
            path.display()
        );
        for unit in units {
            assert!(unit.text.ends_with(&text), "{}", unit.name);
        }
    }
}
