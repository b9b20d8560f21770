//! Replays the seeds of the fuzz targets, and random changes of them. `fuzz/README.md` says how this relates to `cargo fuzz`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]
#![expect(unreachable_pub, reason = "the fuzz targets use these modules from another crate")]

mod inputs;
mod mutate;

use std::fs;
use std::path::Path;

use gpubench::report::example::{self, trials};
use inputs::{Formats, TARGETS, Target};
use mutate::{Random, mutated};

/// Number of changed inputs per target if all are tried.
const CHANGES: u64 = 1500;

/// Dates that no clock shows.
const DATES: [&str; 8] = [
    "10000-01-01T00:00:00Z",
    "+010000-01-01T00:00:00Z",
    "+999999-12-31T23:59:59Z",
    "-000001-01-01T00:00:00Z",
    "-009999-01-02T01:59:59Z",
    "9999-12-30T22:00:00.999999999Z",
    "9999-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z",
];

fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(target.name);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn every_seed_is_read_or_refused_in_one_line() {
    for target in &TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{} has no seed", target.name);
        seeds.iter().for_each(|seed| (target.read)(seed, Formats::All));
    }
}

#[test]
fn changed_seeds_are_read_or_refused_in_one_line() {
    std::thread::scope(|scope| {
        for target in &TARGETS {
            scope.spawn(move || {
                let seeds = seeds(target);
                for number in 0..trials(CHANGES) {
                    let mut random = Random(number);
                    let seed = &seeds[number as usize % seeds.len()];
                    let input = mutated(seed, target.is_json, &mut random);
                    let outcome = std::panic::catch_unwind(|| (target.read)(&input, Formats::All));
                    assert!(outcome.is_ok(), "{} {number}: {}", target.name, String::from_utf8_lossy(&input));
                }
            });
        }
    });
}

#[test]
fn the_formats_of_a_fuzz_target_depend_on_its_input_alone() {
    let one = |input: &[u8]| match Formats::one_for(input) {
        Formats::One(hash) => hash,
        Formats::All => panic!("a fuzz target would write every format"),
    };
    assert_eq!(one(b"input"), one(b"input"));
    let chosen: std::collections::BTreeSet<u64> = (0..100u8).map(|byte| one(&[byte]) % 5).collect();
    assert_eq!(chosen.len(), 5, "every one of five formats is chosen for some input");
    for target in &TARGETS {
        seeds(target).iter().for_each(|seed| (target.read)(seed, Formats::one_for(seed)));
    }
}

#[test]
fn every_target_has_a_program_for_cargo_fuzz() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    // The package that is published has no folder `fuzz`.
    let Ok(manifest) = fs::read_to_string(fuzz.join("Cargo.toml")) else { return };
    for Target { name, .. } in &TARGETS {
        let program = format!("name = \"{name}\"\npath = \"fuzz_targets/target.rs\"\n");
        assert!(manifest.contains(&program), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}

#[test]
fn reports_with_dates_that_no_clock_shows_are_read_or_refused_in_one_line() {
    let mut report = serde_json::to_value(example::full()).unwrap();
    for started in DATES {
        report["environment"]["started"] = started.into();
        inputs::reports::read(report.to_string().as_bytes(), Formats::All);
    }
}

/// Depth of nested lists and objects.
const DEPTH: usize = 100_000;
/// Bytes of a huge text.
const HUGE: usize = 1 << 20;

/// Inputs that exhaust a stack or the range of numbers.
fn hostile() -> Vec<String> {
    let (huge, deep) = ("a".repeat(HUGE), "[".repeat(DEPTH));
    let mut inputs = vec![deep.clone(), "{\"a\":".repeat(DEPTH), format!("{deep}{}", "]".repeat(DEPTH))];
    for key in ["schema_version", "baseline_version", "type", "gpubench_version"] {
        for value in
            [deep.as_str(), "1e400", "-1e400", "NaN", "Infinity", &format!("\"{huge}\""), "\"\\u001b[31m\""]
        {
            inputs.push(format!("{{\"{key}\":{value}}}\n"));
        }
    }
    for key in ["alpha", "threshold", "seed", "sizes", "ops", "max_time", "variants"] {
        for value in [deep.as_str(), "1e400", "nan", "-inf", &format!("'{huge}'"), "\"\\u001b[31m\""] {
            inputs.push(format!("{key} = {value}\n"));
        }
    }
    inputs.push(format!("{huge} = 1\n"));
    inputs.push(format!("[{}]\n", vec!["a"; DEPTH].join(".")));
    inputs
}

#[test]
fn nested_and_huge_inputs_are_refused_in_one_line() {
    for input in hostile() {
        for Target { read, .. } in &TARGETS {
            read(input.as_bytes(), Formats::All);
        }
    }
}
