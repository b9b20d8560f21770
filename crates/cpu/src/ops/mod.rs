//! Lists the variants of this machine: the variants of every op, and those of each BLAS library.

mod elementwise;
mod fft;
mod matmul;
mod matrices;
mod overhead;
mod reduction;
mod row_blocks;
mod sin;
mod solve;
mod spgemm;
mod spmv;
mod svd;
mod transfer;
pub(crate) mod variants;

use std::sync::Arc;

use crate::libs::blas::BlasLibrary;
use variants::{AvailableVariant, CpuVariant, LibraryVariant};

/// The variants of every op, those of BLAS libraries and the others, the default ones first.
static TABLES: &[(&[LibraryVariant], &[CpuVariant])] = &[
    (matmul::LIBRARY_VARIANTS, matmul::VARIANTS),
    (elementwise::LIBRARY_VARIANTS, elementwise::VARIANTS),
    (sin::LIBRARY_VARIANTS, sin::VARIANTS),
    (&[], reduction::VARIANTS),
    (fft::LIBRARY_VARIANTS, fft::VARIANTS),
    (solve::LIBRARY_VARIANTS, solve::VARIANTS),
    (&[], spgemm::VARIANTS),
    (&[], spmv::VARIANTS),
    (svd::LIBRARY_VARIANTS, svd::VARIANTS),
    (&[], transfer::VARIANTS),
    (&[], overhead::VARIANTS),
    (&[], transfer::LOOP_VARIANTS),
    (&[], sin::LOOP_VARIANTS),
];

/// Returns the variants, op by op: the default variants of libraries, the others without a library, and the further
/// ones of libraries.
pub(crate) fn list(libraries: &[Arc<BlasLibrary>]) -> Vec<AvailableVariant> {
    let of_op = |(of_libraries, others): &(&'static [LibraryVariant], &'static [CpuVariant])| {
        let made = of_libraries.iter().flat_map(|entry| {
            libraries.iter().filter_map(move |library| AvailableVariant::with(entry, library, libraries))
        });
        let (default, further): (Vec<AvailableVariant>, Vec<AvailableVariant>) =
            made.partition(|listed| listed.variant.default);
        let others = others.iter().map(AvailableVariant::alone);
        default.into_iter().chain(others).chain(further).collect::<Vec<_>>()
    };
    TABLES.iter().flat_map(of_op).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libs::blas;

    #[test]
    fn names_are_unique_and_every_library_runs_by_default() {
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
            assert!(
                matmul.variant.default
                    && matmul.needs(library.word())
                    && matmul.variant.summary.contains(&library.name())
            );
        }
        for title in
            ["solve/openblas-blocked", "solve/openblas-lu", "svd/openblas-gesvd", "solve/mkl", "svd/mkl"]
        {
            assert_eq!(listed.iter().filter(|listed| listed.title() == title).count(), 1, "{title}");
        }
        assert!(!listed.iter().any(|listed| listed.title().starts_with("svd/blis")));
    }
}
