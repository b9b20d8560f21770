//! The ops on CUDA: the variants of each, and the sources of their kernels.

pub(super) mod auto;
mod copies;
mod elementwise;
pub(super) mod entry;
pub(super) mod fft;
mod host_buffer;
mod host_loop;
pub(super) mod matmul;
mod overhead;
mod reduction;
mod sin;
mod solve;
pub(super) mod spgemm;
pub(super) mod spmv;
mod svd;
mod transfer_loop;

use gpubench_backend::{Prepared, Variant};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::context::Cuda;
use super::kernels::KernelSource;
use entry::{extra, input, matrices, reduced, variant};

/// Makes a job of one case.
pub(crate) type Prepare = fn(&Cuda, &Case, &[Operand]) -> Result<Box<Prepared>, CellError>;

/// A variant and how its jobs are made.
pub(crate) struct Kernel {
    /// The variant.
    pub variant: Variant,
    /// Makes a job.
    pub prepare: Prepare,
}

/// Every op's kernels, what a run takes that names none first.
static TABLES: &[&[Kernel]] = &[
    auto::KERNELS,
    matmul::KERNELS,
    elementwise::KERNELS,
    sin::KERNELS,
    reduction::KERNELS,
    fft::KERNELS,
    solve::KERNELS,
    spgemm::KERNELS,
    spmv::KERNELS,
    svd::KERNELS,
    copies::KERNELS,
    overhead::KERNELS,
    transfer_loop::KERNELS,
    host_loop::KERNELS,
];

/// Every source file of theirs.
pub(super) static SOURCES: &[&KernelSource] = &[
    &matmul::own::TILED,
    &matmul::own::DMMA,
    &matmul::ozaki::SOURCE,
    &matmul::widened::SOURCE,
    &elementwise::SOURCE,
    &reduction::SOURCE,
    &fft::SOURCE,
    &fft::plan::SOURCE,
    &solve::SOURCE,
    &spgemm::SOURCE,
    &spmv::SOURCE,
    &svd::GRAM,
    &svd::REDUCTION,
    &svd::EIGENVECTORS,
    &overhead::SOURCE,
    &host_loop::SOURCE,
];

/// The sources that a run of each op uses when it names no variant, on the chips that most rules are for: they are compiled
/// when it starts, all others (those made for one size among them) with the first cell that needs them.
pub(super) static COMPILED_AHEAD: &[(&str, &KernelSource)] = &[
    ("elementwise", &elementwise::SOURCE),
    ("sin", &elementwise::SOURCE),
    ("reduction", &reduction::SOURCE),
    ("matmul", &matmul::own::DMMA),
    ("matmul", &matmul::widened::SOURCE),
    ("solve", &solve::SOURCE),
    ("spgemm", &spgemm::SOURCE),
    ("spmv", &spmv::SOURCE),
    ("svd", &svd::GRAM),
    ("svd", &svd::REDUCTION),
    ("svd", &svd::EIGENVECTORS),
    ("overhead", &overhead::SOURCE),
    ("transfer-loop", &elementwise::SOURCE),
    ("host-loop", &elementwise::SOURCE),
    ("host-loop", &host_loop::SOURCE),
];

/// Every variant of every op.
pub(super) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    TABLES.iter().copied().flatten()
}

/// Sources whose constants are set for one size and element type, for examples of those.
pub(super) fn generated_sources() -> Vec<&'static KernelSource> {
    fft::plan::examples()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_backend::Accuracy;

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
    fn a_missing_operand_is_an_error() {
        let missing = input::<f32>(&[], 0);
        assert!(matches!(missing, Err(CellError::Failed(_))));
    }
}
