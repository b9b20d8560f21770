//! The functions of `kernels/elementwise/sine_cosine.cuh`, compiled for the host, are as accurate as it says.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Units in the last place, as the header says.
const BOUND: f64 = 1.6;

/// What has no meaning on the host.
const OF_THE_DEVICE: [&str; 4] = [
    "#pragma once\n",
    "#include \"common.cuh\"\n",
    "asm volatile(\"\" : \"+f\"(a), \"+f\"(b));",
    "asm volatile(\"\" : \"+d\"(a), \"+d\"(b));",
];

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn sine_and_cosine_are_within_their_bound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("accuracy");
    fs::create_dir_all(&folder).unwrap();
    let mut text = fs::read_to_string(root.join("kernels/elementwise/sine_cosine.cuh")).unwrap();
    for part in OF_THE_DEVICE {
        assert_eq!(text.matches(part).count(), 1, "{part}");
        text = text.replace(part, "");
    }
    fs::write(folder.join("sine_cosine.inc"), text).unwrap();

    let (compiler, program) =
        (std::env::var("CXX").unwrap_or_else(|_| "c++".into()), folder.join("sine_cosine"));
    let compiled = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-ffp-contract=off", "-I"])
        .args([&folder, &root.join("tests/accuracy/sine_cosine.cpp")])
        .arg("-o")
        .arg(&program)
        .output();
    let compiled = match compiled {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: no C++ compiler: {compiler}: {error}");
            return;
        }
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let errors: Vec<f64> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
    // No rounded function is always within half a unit.
    assert!(errors.len() == 4 && errors.iter().all(|error| (0.5..BOUND).contains(error)), "{said}");
}
