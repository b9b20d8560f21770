//! Lists the variants of this machine: the variants of every op, and those of each BLAS library.

mod dense;
mod elementwise;
mod fft;
mod matmul;
mod reduction;
mod row_blocks;
mod solve;
mod spgemm;
mod spmv;
mod svd;
mod transfer;
pub(crate) mod variants;

use std::sync::Arc;

use crate::libs::blas::BlasLibrary;
use variants::{AvailableVariant, CpuVariant};

/// The variants of every op.
static TABLES: &[(&str, &[CpuVariant])] = &[
    ("matmul", matmul::VARIANTS),
    ("elementwise", elementwise::VARIANTS),
    ("sin", elementwise::SIN_VARIANTS),
    ("reduction", reduction::VARIANTS),
    ("fft", fft::VARIANTS),
    ("solve", solve::VARIANTS),
    ("spgemm", spgemm::VARIANTS),
    ("spmv", spmv::VARIANTS),
    ("svd", svd::VARIANTS),
    ("transfer", transfer::VARIANTS),
    ("overhead", transfer::OVERHEAD_VARIANTS),
    ("transfer-loop", transfer::LOOP_VARIANTS),
    ("host-loop", elementwise::LOOP_VARIANTS),
];

/// Returns the variants, op by op: the default variants of BLAS libraries, those without one, and the further ones of
/// BLAS libraries.
pub(crate) fn list(libraries: &[Arc<BlasLibrary>]) -> Vec<AvailableVariant> {
    let of_op = |(op, entries): &(&'static str, &[CpuVariant])| {
        let mut listed: Vec<AvailableVariant> =
            entries.iter().flat_map(|entry| AvailableVariant::of(op, entry, libraries)).collect();
        listed.sort_by_key(AvailableVariant::rank);
        listed
    };
    TABLES.iter().flat_map(of_op).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libs::blas;

    #[test]
    fn names_are_unique_and_preferred_libraries_run_by_default() {
        let libraries: Vec<Arc<BlasLibrary>> = blas::all(&[]).into_iter().map(Arc::new).collect();
        let listed = list(&libraries);
        let mut titles: Vec<String> = listed.iter().map(AvailableVariant::title).collect();
        let count = titles.len();
        titles.sort();
        titles.dedup();
        assert_eq!(titles.len(), count);
        for library in &libraries {
            let matmul = format!("matmul/{}", library.word());
            let matmul = listed.iter().find(|listed| listed.title() == matmul).unwrap();
            assert_eq!(matmul.variant.default, library.is_preferred());
            assert!(matmul.needs(library.word()));
            assert!(matmul.variant.summary.contains(&library.name()));
        }
        for title in ["solve/openblas-lu", "svd/openblas-gesvd", "solve/mkl", "svd/mkl"] {
            assert_eq!(listed.iter().filter(|listed| listed.title() == title).count(), 1, "{title}");
        }
        assert!(!listed.iter().any(|listed| listed.title().starts_with("svd/blis")));
    }
}
