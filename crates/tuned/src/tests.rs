//! The variants of all crates together: their entries, what they need, and what is compiled when a run starts.

use gpubench_backend::{Accuracy, Options, Variant};
use gpubench_cuda::Library;
use gpubench_cuda::ops::Kernel;
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
fn the_sources_compiled_at_start_are_those_of_a_run_without_variants() {
    let names = |op: &str| names_of_sizes(op, None);
    let products = ["common/convert", "matmul/dmma-TILE_16X16X64_F64"];
    assert_eq!(names("matmul"), products, "not tiled, nor the other type; dmma up to N = 192");
    assert_eq!(names("host-loop"), ["elementwise/elementwise-STEPS_F64", "loops/sine_at"]);
    assert_eq!(names("fft"), ["fft/fill"], "the others are made for one size");
    let reductions =
        ["1024", "128", "2048", "256", "512", "64"].map(|side| format!("svd/tridiagonal-SIDE_{side}"));
    let all = ["common/convert", "svd/gram", "svd/jacobi-F64"]
        .into_iter()
        .chain(reductions.iter().map(String::as_str));
    let rest = ["svd/tridiagonal_eigen", "svd/tridiagonal_panel"];
    assert_eq!(names("svd"), all.chain(rest).collect::<Vec<_>>());
    assert_eq!(names("transfer"), [""; 0]);
    assert_eq!(names("spmv"), ["spmv/csr"]);
}

#[test]
fn the_sources_compiled_at_start_are_those_of_the_sizes_of_the_run() {
    let names = |op: &str, sizes: &[u64]| names_of_sizes(op, Some(sizes));
    assert_eq!(names("svd", &[17]), ["common/convert", "svd/jacobi-F64"], "cuSOLVER's gesvdp converts");
    assert_eq!(
        names("svd", &[25]),
        ["common/convert", "svd/gram", "svd/tridiagonal-SIDE_64", "svd/tridiagonal_eigen"]
    );
    let between = ["svd/tridiagonal-SIDE_1024", "svd/tridiagonal-SIDE_256", "svd/tridiagonal-SIDE_512"];
    assert_eq!(names("svd", &[1000, 200])[2..5], between, "the run may add N = 300");
    let large = ["svd/tridiagonal-SIDE_2048", "svd/tridiagonal_eigen", "svd/tridiagonal_panel"];
    assert_eq!(names("svd", &[2049])[2..], large);
    assert_eq!(names("matmul", &[100]), ["matmul/dmma-TILE_16X16X64_F64"]);
    assert_eq!(names("solve", &[3000]), ["solve/cholesky-SOLVE_F64"]);
    assert_eq!(names("solve", &[3001]), ["solve/cholesky-SOLVE_F64"], "that of a trial");
    assert_eq!(names("solve", &[4501]), [""; 0], "by cuSOLVER");
}

#[test]
fn the_sources_compiled_at_start_for_trials_are_those_of_every_rule() {
    let names = |op: &str, n| names_of(op, Some(&[n]), &[DType::F64], true);
    assert_eq!(names("solve", 4096), ["solve/cholesky-SOLVE_F64"]);
    assert_eq!(names("matmul", 600), ["common/convert", "matmul/dmma-TILE_64X64X32_F64"]);
    let by_gram =
        ["common/convert", "svd/gram", "svd/jacobi-F64", "svd/tridiagonal-SIDE_64", "svd/tridiagonal_eigen"];
    assert_eq!(names("svd", 10), by_gram);
}

#[test]
fn the_sources_compiled_at_start_are_those_of_both_types() {
    let names = names_of("matmul", Some(&[100]), &[DType::F32, DType::F64], false);
    assert_eq!(names, ["matmul/dmma-TILE_16X16X128_F32", "matmul/dmma-TILE_16X16X64_F64"]);
    let large = names_of("matmul", Some(&[1500]), &[DType::F32], false);
    assert_eq!(large, ["common/convert", "matmul/dmma-TILE_64X64X64_F32"], "those of a trial");
}

fn names_of_sizes(op: &str, sizes: Option<&[u64]>) -> Vec<&'static str> {
    names_of(op, sizes, &[DType::F64], false)
}

fn names_of(op: &str, sizes: Option<&[u64]>, dtypes: &[DType], by_trial: bool) -> Vec<&'static str> {
    let options = Options {
        ops: vec![op.to_owned()],
        sizes: sizes.map(|sizes| (op.to_owned(), sizes.to_vec())).into_iter().collect(),
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
