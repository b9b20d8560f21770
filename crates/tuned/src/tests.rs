//! The variants of all crates together: their entries, what they need, and what is compiled when a run starts.

use gpubench_backend::{Accuracy, Options, Variant};
use gpubench_cuda::{Kernel, Library};
use gpubench_report::case::DType;

use super::*;

#[test]
fn each_op_has_a_default_variant_first_and_names_are_unique() {
    let mut seen: Vec<&Variant> = vec![];
    for Kernel { variant, .. } in CATALOGUE.kernels() {
        let first = seen.iter().all(|other| other.op != variant.op);
        assert!(!first || variant.default && variant.accuracy == Accuracy::Ieee, "{variant:?}");
        assert!(seen.iter().all(|other| (&other.op, &other.name) != (&variant.op, &variant.name)));
        seen.push(variant);
    }
}

#[test]
fn every_entry_lists_its_sources_and_libraries() {
    // These launch none of our kernels and call only the driver.
    let bare = ["transfer", "overhead"];
    for Kernel { variant, sources, libraries, .. } in
        CATALOGUE.groups[1..].iter().copied().flatten().copied().flatten()
    {
        assert!(!libraries.contains(&Library::Nvrtc), "{variant:?}: that follows from having sources");
        let says = !sources.is_empty() || !libraries.is_empty();
        assert!(says || bare.contains(&variant.op.as_ref()), "{variant:?}");
    }
}

#[test]
fn the_sources_compiled_at_start_are_those_of_the_sizes_and_types_of_the_run() {
    let (f64_only, both): (&[DType], &[DType]) = (&[DType::F64], DType::REAL);
    let reductions =
        ["1024", "128", "2048", "256", "512", "64"].map(|side| format!("svd/tridiagonal-SIDE_{side}"));
    let all = ["common/convert", "svd/gram", "svd/jacobi-F64"].into_iter();
    let all = all.chain(reductions.iter().map(String::as_str));
    let all: Vec<&str> = all.chain(["svd/tridiagonal_eigen", "svd/tridiagonal_panel"]).collect();
    let small = ["common/convert", "svd/gram", "svd/tridiagonal-SIDE_64", "svd/tridiagonal_eigen"];
    let by_gram =
        ["common/convert", "svd/gram", "svd/jacobi-F64", "svd/tridiagonal-SIDE_64", "svd/tridiagonal_eigen"];
    let (any, by_rules, by_trial): (&[u64], bool, bool) = (&[], false, true);
    for (op, sizes, dtypes, trial, expected) in [
        // Not tiled, nor the other type; dmma up to N = 192.
        ("matmul", any, f64_only, by_rules, &["common/convert", "matmul/dmma-TILE_16X16X64_F64"][..]),
        ("host-loop", any, f64_only, by_rules, &["elementwise/elementwise-STEPS_F64", "loops/sine_at"]),
        // The others are made for one size.
        ("fft", any, f64_only, by_rules, &["fft/fill"]),
        ("svd", any, f64_only, by_rules, &all),
        ("transfer", any, f64_only, by_rules, &[]),
        ("spmv", any, f64_only, by_rules, &["spmv/csr"]),
        // cuSOLVER's gesvdp converts.
        ("svd", &[17], f64_only, by_rules, &["common/convert", "svd/jacobi-F64"]),
        ("svd", &[35], f64_only, by_rules, &small),
        ("matmul", &[100], f64_only, by_rules, &["matmul/dmma-TILE_16X16X64_F64"]),
        ("solve", &[3000], f64_only, by_rules, &["solve/cholesky-SOLVE_F64"]),
        // That of a trial, and cuSOLVER's.
        ("solve", &[3001], f64_only, by_rules, &["solve/cholesky-SOLVE_F64"]),
        ("solve", &[4501], f64_only, by_rules, &[]),
        ("solve", &[4096], f64_only, by_trial, &["solve/cholesky-SOLVE_F64"]),
        ("matmul", &[600], f64_only, by_trial, &["common/convert", "matmul/dmma-TILE_64X64X32_F64"]),
        ("svd", &[10], f64_only, by_trial, &by_gram),
        (
            "matmul",
            &[100],
            both,
            by_rules,
            &["matmul/dmma-TILE_16X16X128_F32", "matmul/dmma-TILE_16X16X64_F64"],
        ),
        // Those of a trial.
        ("matmul", &[1500], &[DType::F32], by_rules, &["common/convert", "matmul/dmma-TILE_64X64X64_F32"]),
    ] {
        assert_eq!(names_of(op, sizes, dtypes, trial), expected, "{op} {sizes:?} {trial}");
    }
    let some = |sizes: &[u64]| names_of("svd", sizes, f64_only, by_rules)[2..].to_vec();
    let between = ["svd/tridiagonal-SIDE_1024", "svd/tridiagonal-SIDE_256", "svd/tridiagonal-SIDE_512"];
    assert_eq!(some(&[1000, 200])[..3], between, "the run may add N = 300");
    assert_eq!(
        some(&[2049]),
        ["svd/tridiagonal-SIDE_2048", "svd/tridiagonal_eigen", "svd/tridiagonal_panel"]
    );
}

/// Returns the sources for a run of an op; without `sizes`, of all.
fn names_of(op: &str, sizes: &[u64], dtypes: &[DType], by_trial: bool) -> Vec<&'static str> {
    let sizes = (!sizes.is_empty()).then(|| (op.to_owned(), sizes.to_vec()));
    let options = Options {
        ops: vec![op.to_owned()],
        sizes: sizes.into_iter().collect(),
        dtypes: dtypes.to_vec(),
        ..Options::default()
    };
    CATALOGUE.compiled_ahead(&options, by_trial).iter().map(|source| source.name).collect()
}

#[test]
fn each_library_costs_the_variants_that_need_it() {
    assert!(CATALOGUE.serves(Some(Library::Cublas)).contains(&"matmul/cublas".to_owned()));
    for (library, variant) in [
        (Library::Cublas, "matmul/auto (some cases)"),
        (Library::Nvrtc, "matmul/auto"),
        (Library::Cufft, "fft/auto (some cases)"),
        (Library::Cusolver, "solve/auto (some cases)"),
        (Library::Cusolver, "svd/auto (some cases)"),
        (Library::Cusparse, "spgemm/auto (some cases)"),
        (Library::Nvrtc, "fft/hermitian"),
        (Library::Nvrtc, "solve/cholesky"),
        (Library::Nvrtc, "spgemm/gustavson"),
    ] {
        assert!(CATALOGUE.serves(Some(library)).contains(&variant.to_owned()), "{variant}");
    }
    assert!(!CATALOGUE.serves(Some(Library::Cufft)).contains(&"fft/hermitian".to_owned()));
    // `auto` does these without the library: by vector and by gesvdp.
    for (library, op) in [(Library::Cusparse, "spmv"), (Library::Cublas, "svd")] {
        let named = CATALOGUE.serves(Some(library));
        assert!(!named.iter().any(|name| name.starts_with(&format!("{op}/auto"))), "{named:?}");
    }
    assert_eq!(CATALOGUE.serves(None), CATALOGUE.serves(Some(Library::Nvrtc)));
    assert!(Library::ALL.into_iter().all(|library| !CATALOGUE.serves(Some(library)).is_empty()));
}

#[test]
fn missing_libraries_are_listed_with_a_fix() {
    for finding in CATALOGUE.findings(&Options::default()) {
        assert_eq!(finding.problem.is_some(), finding.fix.is_some(), "{finding:?}");
    }
}

#[test]
fn no_user_sees_the_variants_with_faults() {
    let is_on = std::env::var_os("GPUBENCH_TEST_FAULTS").is_some();
    assert!(is_on || CATALOGUE.variants().len() == CATALOGUE.kernels().count());
}
