//! All variants, with the sources to embed and the sources to compile when a run starts.

use std::ops::RangeInclusive;

use gpubench_backend::Options;

use super::auto;
use super::kernels::{ANY_SIZE, KernelSource, common};
use super::ops::Kernel;
use super::ops::TABLES;

/// Returns every variant of every op. The default variant of an op comes first.
pub(super) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    [auto::KERNELS].into_iter().chain(TABLES.iter().copied()).flatten()
}

/// Returns every source file that a variant compiles, once.
pub(super) fn sources() -> Vec<&'static KernelSource> {
    distinct(kernels().flat_map(|kernel| kernel.sources).copied())
}

/// Returns the sources that a run without `--variants` uses on chips with fast float64, except those for one size. They are
/// compiled when the run starts; others with the first cell that needs them. A run can add sizes between those of its
/// options. With `by_trial` trials choose in all cases.
pub(super) fn compiled_ahead(options: &Options, by_trial: bool) -> Vec<&'static KernelSource> {
    let runs = |op: &str| options.ops.iter().any(|of_run| of_run == op);
    let default = kernels().filter(|kernel| kernel.variant.default && runs(&kernel.variant.op));
    let cases = default.flat_map(|kernel| options.dtypes.iter().map(move |dtype| (kernel, *dtype)));
    let likely = cases.flat_map(|(kernel, dtype)| {
        let op = kernel.variant.op.as_ref();
        let sizes = range(options.sizes.get(op));
        let kernels: Vec<_> = match kernel.variant.name.as_ref() {
            auto::AUTO if by_trial => {
                auto::in_any_rule(op, dtype).map(|kernel| (kernel, sizes.clone())).collect()
            }
            auto::AUTO => auto::preferred(op, &sizes, dtype),
            _ => vec![(kernel, sizes)],
        };
        kernels.into_iter().map(move |(kernel, sizes)| (kernel, sizes, dtype))
    });
    let sources = likely.flat_map(|(kernel, sizes, dtype)| {
        let is_needed = move |source: &&KernelSource| {
            source.per_size.is_none()
                && source.dtype.is_none_or(|only| only == dtype)
                && common(&source.sizes, &sizes).is_some()
        };
        kernel.sources.iter().copied().filter(is_needed)
    });
    distinct(sources)
}

/// Returns the range of the sizes of an op; all sizes, if they are unknown.
fn range(sizes: Option<&Vec<u64>>) -> RangeInclusive<u64> {
    let ends = sizes.and_then(|sizes| Some(*sizes.iter().min()?..=*sizes.iter().max()?));
    ends.unwrap_or(ANY_SIZE)
}

/// Removes duplicates, comparing sources by file name.
fn distinct(sources: impl Iterator<Item = &'static KernelSource>) -> Vec<&'static KernelSource> {
    let mut sources: Vec<_> = sources.collect();
    sources.sort_by_key(|source| source.name);
    sources.dedup_by_key(|source| source.name);
    sources
}

#[cfg(test)]
mod tests {
    use gpubench_backend::{Accuracy, Variant};
    use gpubench_report::case::DType;

    use super::*;
    use crate::library::Library;

    #[test]
    fn each_op_has_a_default_variant_first_and_names_are_unique() {
        let mut seen: Vec<&Variant> = vec![];
        for Kernel { variant, .. } in kernels() {
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
        for Kernel { variant, sources, libraries, .. } in TABLES.iter().copied().flatten() {
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
        let by_gram = [
            "common/convert",
            "svd/gram",
            "svd/jacobi-F64",
            "svd/tridiagonal-SIDE_64",
            "svd/tridiagonal_eigen",
        ];
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
        compiled_ahead(&options, by_trial).iter().map(|source| source.name).collect()
    }
}
