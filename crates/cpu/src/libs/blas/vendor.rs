//! The vendors of BLAS libraries, with their file names and install commands.

/// A vendor of BLAS libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    /// OpenBLAS, of the system or of a Python wheel.
    OpenBlas,
    /// Intel oneMKL.
    Mkl,
    /// BLIS, also as AMD ships it in AOCL: BLAS without LAPACK.
    Blis,
}

impl Vendor {
    /// Every vendor, in the order reports use.
    pub(crate) const ALL: [Vendor; 3] = [Vendor::OpenBlas, Vendor::Mkl, Vendor::Blis];

    /// The library's own name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Vendor::OpenBlas => "OpenBLAS",
            Vendor::Mkl => "MKL",
            Vendor::Blis => "BLIS",
        }
    }

    /// The word with which the names of its variants begin.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Vendor::OpenBlas => "openblas",
            Vendor::Mkl => "mkl",
            Vendor::Blis => "blis",
        }
    }

    pub(crate) fn has_lapack(self) -> bool {
        self != Vendor::Blis
    }

    /// Returns whether its variants are listed even if no library of this vendor is found.
    pub(super) fn is_expected(self) -> bool {
        self != Vendor::Blis
    }

    /// The environment variable that names the library's file.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Vendor::OpenBlas => "GPUBENCH_OPENBLAS",
            Vendor::Mkl => "GPUBENCH_MKL",
            Vendor::Blis => "GPUBENCH_BLIS",
        }
    }

    /// File names, best first. For OpenBLAS: the threaded build as Fedora names it, the usual name, and the OpenMP
    /// build of Fedora. For BLIS: AOCL calls the threaded build `mt`.
    pub(super) fn file_names(self) -> &'static [&'static str] {
        match self {
            Vendor::OpenBlas => &["libopenblasp.so.0", "libopenblas.so.0", "libopenblaso.so.0"],
            Vendor::Mkl => &["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"],
            Vendor::Blis => &[
                "libblis-mt.so.5",
                "libblis-mt.so.4",
                "libblis-mt.so",
                "libblis.so.5",
                "libblis.so.4",
                "libblis.so",
            ],
        }
    }

    pub(super) fn fix(self) -> &'static str {
        match self {
            Vendor::OpenBlas => {
                "sudo apt-get install libopenblas0-pthread (or: pip install scipy-openblas32)"
            }
            Vendor::Mkl => "pip install mkl",
            Vendor::Blis => "sudo apt-get install libblis4-pthread",
        }
    }

    /// The fix for a library that the user named and that cannot be used.
    pub(super) fn other_choice(self) -> String {
        format!(
            "name another {} library, or leave out --blas and {} for those found",
            self.name(),
            self.variable()
        )
    }
}
