//! `auto` where a trial chooses the variant: in some cases by its rules, and in all where they have not been measured.

use std::process::Command;

use serde_json::Value;

use crate::alone_with_device;

/// Makes the program choose by trials on every device.
const SWITCH: &str = "GPUBENCH_TEST_TRIALS";

/// Limit for the time of a choice over that of the fastest variant. A trial takes few samples.
const MAX_RATIO: f64 = 1.15;

/// Runs `auto` and variants with hot caches, with trials of all cases or only where a rule asks for one. Checks that `auto` picks
/// a variant that is about as fast as the fastest.
fn assert_good_choices(op: &str, sizes: &str, variants: &[&str], of_all_cases: bool) {
    let rows = rows(op, sizes, &format!("auto,{}", variants.join(",")), of_all_cases);
    let chosen: Vec<&Value> = rows.iter().filter(|row| row["variant"] == "auto").collect();
    assert_eq!(chosen.len(), 2 * sizes.split(',').count(), "{op}");
    for auto in chosen {
        let case = |row: &&Value| row["n"] == auto["n"] && row["dtype"] == auto["dtype"];
        let times = rows.iter().filter(case).filter(|row| row["variant"] != "auto");
        let times: Vec<(&Value, f64)> =
            times.filter_map(|row| Some((&row["variant"], row["execute"]["median_s"].as_f64()?))).collect();
        let fastest = times.iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
        let picked = times.iter().find(|(variant, _)| **variant == auto["picked"]);
        let name = format!("{op} {} {}: {} of {times:?}", auto["n"], auto["dtype"], auto["picked"]);
        assert_eq!(auto["outcome"], "measured", "{name}");
        assert!(picked.is_some_and(|(_, seconds)| *seconds <= MAX_RATIO * fastest), "{name}");
    }
}

/// Returns the rows of a run. Its report must say so if trials decide every case.
fn rows(op: &str, sizes: &str, variants: &str, of_all_cases: bool) -> Vec<Value> {
    let words = "run --backends cuda --dtypes all --cache hot --no-peaks --format json --out -";
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    command.args(words.split(' ')).args(["--ops", op, "--sizes", sizes, "--variants", variants]);
    let output =
        if of_all_cases { command.env(SWITCH, "1") } else { command.env_remove(SWITCH) }.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let backends = report["environment"]["backends"].as_array().unwrap();
    let cuda = backends.iter().find(|backend| backend["name"] == "cuda").unwrap();
    assert!(!of_all_cases || cuda["description"]["auto"] == "trials", "{cuda}");
    report["rows"].as_array().unwrap().clone()
}

const MATMUL: &[&str] = &["dmma", "f64-accumulate", "cublas", "cublas-padded"];

#[test]
fn a_trial_chooses_a_variant_that_is_about_as_fast_as_the_fastest() {
    let Some(_alone) = alone_with_device() else { return };
    assert_good_choices("matmul", "100,1024", MATMUL, true);
    assert_good_choices("fft", "101,512", &["bluestein", "hermitian", "r2c"], true);
    assert_good_choices("solve", "100", &["cholesky", "potrf"], true);
    assert_good_choices("svd", "16,100", &["jacobi", "gram", "gesvdp"], true);
}

#[test]
fn rules_that_ask_for_a_trial_choose_a_variant_that_is_about_as_fast_as_the_fastest() {
    let Some(_alone) = alone_with_device() else { return };
    assert_good_choices("matmul", "578,834,1000,1054,1250,1400,1826", MATMUL, false);
    assert_good_choices("fft", "2256,2544,3050", &["bluestein", "r2c"], false);
    assert_good_choices("solve", "3300,4400,7500", &["cholesky", "potrf"], false);
}
