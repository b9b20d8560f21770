//! Opens a library file, checks that it is usable, and finds its routines.

mod blis;
mod finish;
mod mkl;
mod openblas;

use std::path::Path;

use super::{Provider, Vendor};

/// Opens the library of a vendor and checks that it is usable; the error describes the problem.
pub(super) fn open(vendor: Vendor, library: &Path) -> Result<Provider, String> {
    match vendor {
        Vendor::OpenBlas => openblas::open(library),
        Vendor::Mkl => mkl::open(library),
        Vendor::Blis => blis::open(library),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_the_routines_is_refused() {
        for (vendor, word) in [(Vendor::OpenBlas, "openblas"), (Vendor::Mkl, "MKL_"), (Vendor::Blis, "bli_")]
        {
            let Some(problem) = open(vendor, Path::new("libm.so.6")).err() else { panic!("libm is no BLAS") };
            assert!(problem.contains(word), "{problem}");
        }
    }
}
