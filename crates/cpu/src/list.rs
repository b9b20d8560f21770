//! The list of all variants on this machine: the kernels of every op, and those that each BLAS library is made into.

use std::borrow::Cow;
use std::sync::Arc;

use gpubench_backend::{Accuracy, Prepared, Side, Variant};
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::blas::{Library, Vendor};
use super::library_kernel::{LibraryKernel, LibraryPrepare, Scope};
use super::{Cpu, Kernel, Prepare};
use super::{elementwise, fft, host_loop, matmul, overhead, reduction, sin, solve, spgemm, spmv, svd};
use super::{transfer, transfer_loop};

/// Every op's kernels, those of BLAS libraries and the others, the fair default first.
static TABLES: &[(&[LibraryKernel], &[Kernel])] = &[
    (matmul::LIBRARY_KERNELS, matmul::KERNELS),
    (&[], elementwise::KERNELS),
    (&[], sin::KERNELS),
    (&[], reduction::KERNELS),
    (fft::LIBRARY_KERNELS, fft::KERNELS),
    (solve::LIBRARY_KERNELS, solve::KERNELS),
    (&[], spgemm::KERNELS),
    (&[], spmv::KERNELS),
    (svd::LIBRARY_KERNELS, svd::KERNELS),
    (&[], transfer::KERNELS),
    (&[], overhead::KERNELS),
    (&[], transfer_loop::KERNELS),
    (&[], host_loop::KERNELS),
];

/// A variant of this machine.
pub struct Listed {
    /// The variant.
    pub variant: Variant,
    make: Make,
}

enum Make {
    Alone(Prepare),
    With(LibraryPrepare, Arc<Library>),
}

/// The variants, op by op: the libraries' that run by default, the other kernels, and the libraries' others.
pub fn list(libraries: &[Arc<Library>]) -> Vec<Listed> {
    let of_op = |(of_libraries, others): &(&'static [LibraryKernel], &'static [Kernel])| {
        let pairs =
            of_libraries.iter().flat_map(|kernel| libraries.iter().map(move |library| (kernel, library)));
        let made = pairs
            .filter(|(kernel, library)| kernel.scope.takes(library, libraries))
            .map(|(kernel, library)| kernel.with(library));
        let (default, further): (Vec<Listed>, Vec<Listed>) = made.partition(|listed| listed.variant.default);
        let others = others
            .iter()
            .map(|kernel| Listed { variant: kernel.variant.clone(), make: Make::Alone(kernel.prepare) });
        default.into_iter().chain(others).chain(further).collect::<Vec<_>>()
    };
    TABLES.iter().flat_map(of_op).collect()
}

impl Scope {
    fn takes(self, library: &Arc<Library>, all: &[Arc<Library>]) -> bool {
        let has_lapack = library.vendor().has_lapack();
        match self {
            Scope::Blas => true,
            Scope::Lapack => has_lapack,
            Scope::OpenBlas => library.vendor() == Vendor::OpenBlas && library.is_preferred(),
            Scope::Dfti => library.vendor() == Vendor::Mkl,
            Scope::Comparison => has_lapack && library.is_preferred(),
            Scope::NdarrayLinalg => {
                let mut same = all.iter().filter(|other| other.vendor() == library.vendor());
                let fit = same.clone().find(|other| !other.has_long_integers());
                has_lapack && fit.or(same.next()).is_some_and(|chosen| Arc::ptr_eq(chosen, library))
            }
        }
    }
}

impl LibraryKernel {
    fn with(&self, library: &Arc<Library>) -> Listed {
        let runs_by_default = match self.scope {
            Scope::Blas | Scope::Lapack | Scope::OpenBlas => true,
            Scope::Dfti => library.is_preferred(),
            Scope::Comparison | Scope::NdarrayLinalg => false,
        };
        let word = match self.scope {
            // There is one a vendor.
            Scope::NdarrayLinalg => library.vendor().word(),
            _ => library.word(),
        };
        let variant = Variant {
            op: Cow::Borrowed(self.op),
            name: Cow::Owned(format!("{word}{}", self.suffix)),
            summary: Cow::Owned(self.summary.replace("{}", &library.name())),
            side: Side::Cpu,
            accuracy: Accuracy::Ieee,
            default: runs_by_default,
            dtypes: Cow::Borrowed(DType::ALL),
            library: Some(Cow::Owned(library.word().to_owned())),
        };
        Listed { variant, make: Make::With(self.prepare, Arc::clone(library)) }
    }
}

impl Listed {
    /// Makes a job of one case.
    pub fn prepare(&self, cpu: &Cpu, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
        match &self.make {
            Make::Alone(prepare) => prepare(cpu, case, inputs),
            Make::With(prepare, library) => prepare(cpu, case, inputs, library),
        }
    }

    /// Whether it calls the library of that word.
    pub fn needs(&self, library: &str) -> bool {
        self.variant.library.as_deref() == Some(library)
    }

    /// `op/variant`.
    pub fn title(&self) -> String {
        format!("{}/{}", self.variant.op, self.variant.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blas;

    #[test]
    fn names_are_unique_and_every_library_runs_by_default() {
        let libraries: Vec<Arc<Library>> = blas::all(&[]).into_iter().map(Arc::new).collect();
        let listed = list(&libraries);
        let mut titles: Vec<String> = listed.iter().map(Listed::title).collect();
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
