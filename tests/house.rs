//! The rules that `docs/architecture.md` gives for dependencies between crates.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The crates that measure.
const MEASURE: [&str; 6] = ["backend", "cpu", "cuda", "tuned", "record", "run"];

/// The crates that read reports, each after those that it may use.
const READ: [&str; 3] = ["analysis", "document", "write"];

/// Returns the crates of gpubench that each crate depends on, outside its tests.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let crates = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let crates = crates.filter(|entry| entry.path().join("Cargo.toml").is_file());
    let of = |entry: fs::DirEntry| {
        let manifest: toml::Table =
            fs::read_to_string(entry.path().join("Cargo.toml")).unwrap().parse().unwrap();
        let names = manifest["dependencies"].as_table().unwrap().keys();
        let own = names.filter_map(|name| name.strip_prefix("gpubench-")).map(str::to_owned);
        (entry.file_name().into_string().unwrap(), own.collect())
    };
    crates.map(of).collect()
}

#[test]
fn no_crate_depends_on_one_across_the_wall() {
    let all = dependencies();
    let uses = |one: &str, others: &[&str]| -> Vec<String> {
        all[one].iter().filter(|name| others.contains(&name.as_str())).cloned().collect()
    };
    for one in MEASURE {
        assert_eq!(uses(one, &READ), Vec::<String>::new(), "{one} measures and must not read reports");
    }
    for (position, one) in READ.into_iter().enumerate() {
        assert_eq!(uses(one, &MEASURE), Vec::<String>::new(), "{one} reads reports and must not measure");
        assert_eq!(uses(one, &READ[position..]), Vec::<String>::new(), "{one} comes before these");
    }
    for one in ["text", "report", "ops"] {
        let others = [&MEASURE[..], &READ].concat();
        assert_eq!(uses(one, &others), Vec::<String>::new(), "{one} is below both sides");
    }
    let known = MEASURE.len() + READ.len() + 3;
    assert_eq!(all.len(), known, "docs/architecture.md and this test name every crate: {:?}", all.keys());
}

#[test]
fn the_libraries_know_no_tuned_kernel() {
    let all = dependencies();
    for one in ["backend", "cpu", "cuda"] {
        assert!(!all[one].iter().any(|name| name == "tuned"), "{one}");
    }
}
