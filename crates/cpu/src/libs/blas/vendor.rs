//! The vendors of BLAS libraries, with their file names and install commands, and the vendor, version and integer width
//! of a library file, read without loading it.

use std::path::Path;

use super::elf::{self, SharedObject, position};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    /// OpenBLAS, of the system or of a Python wheel.
    OpenBlas,
    /// Intel oneMKL.
    Mkl,
    /// BLIS, also as AMD ships it in AOCL: BLAS without LAPACK.
    Blis,
}

/// What is known of the libraries of a vendor.
struct VendorFacts {
    name: &'static str,
    /// The word with which the names of its variants begin.
    word: &'static str,
    /// The environment variable that names the library's file.
    variable: &'static str,
    /// File names, best first.
    file_names: &'static [&'static str],
    fix: &'static str,
    /// The routine that identifies the libraries, spelt with any prefix or suffix.
    mark: &'static [u8],
}

static OPENBLAS: VendorFacts = VendorFacts {
    name: "OpenBLAS",
    word: "openblas",
    variable: "GPUBENCH_OPENBLAS",
    // The threaded build as Fedora names it, the usual name, and the OpenMP build of Fedora.
    file_names: &["libopenblasp.so.0", "libopenblas.so.0", "libopenblaso.so.0"],
    fix: "sudo apt-get install libopenblas0-pthread (or: pip install scipy-openblas32)",
    mark: b"openblas_get_config",
};

static MKL: VendorFacts = VendorFacts {
    name: "MKL",
    word: "mkl",
    variable: "GPUBENCH_MKL",
    file_names: &["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"],
    fix: "pip install mkl",
    mark: b"MKL_Get_Version_String",
};

static BLIS: VendorFacts = VendorFacts {
    name: "BLIS",
    word: "blis",
    variable: "GPUBENCH_BLIS",
    // AOCL calls the threaded build `mt`.
    file_names: &[
        "libblis-mt.so.5",
        "libblis-mt.so.4",
        "libblis-mt.so",
        "libblis.so.5",
        "libblis.so.4",
        "libblis.so",
    ],
    fix: "sudo apt-get install libblis4-pthread",
    mark: b"bli_info_get_version_str",
};

impl Vendor {
    /// Every vendor, in the order reports use.
    pub(crate) const ALL: [Vendor; 3] = [Vendor::OpenBlas, Vendor::Mkl, Vendor::Blis];

    fn facts(self) -> &'static VendorFacts {
        match self {
            Vendor::OpenBlas => &OPENBLAS,
            Vendor::Mkl => &MKL,
            Vendor::Blis => &BLIS,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.facts().name
    }

    pub(crate) fn word(self) -> &'static str {
        self.facts().word
    }

    pub(crate) fn has_lapack(self) -> bool {
        self != Vendor::Blis
    }

    /// Returns whether its variants are listed even if no library of this vendor is found.
    pub(super) fn is_expected(self) -> bool {
        self != Vendor::Blis
    }

    pub(super) fn variable(self) -> &'static str {
        self.facts().variable
    }

    pub(super) fn file_names(self) -> &'static [&'static str] {
        self.facts().file_names
    }

    pub(super) fn fix(self) -> &'static str {
        self.facts().fix
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

/// Returns the vendor of the BLAS library in a file. The error is the end of a sentence about the file.
pub(crate) fn vendor_of(path: &Path) -> Result<Vendor, String> {
    elf::opened(path).map_err(|error| format!("cannot be read: {error}"))?;
    let object = SharedObject::open(path).ok_or("is no shared library of this system")?;
    let names = object.section(".dynstr");
    let vendor = Vendor::ALL.into_iter().find(|vendor| position(&names, vendor.facts().mark).is_some());
    vendor.ok_or_else(|| "is neither OpenBLAS nor MKL nor BLIS".to_owned())
}

/// Returns the numbers of the version of a file of a known vendor, most significant first, none if it states no version;
/// and whether it states that its integers have 64 bits.
pub(super) fn version_of(vendor: Vendor, path: &Path) -> (Vec<u32>, bool) {
    let configured = || version_in(&SharedObject::open(path)?.section(".rodata"));
    let of_name = || (number_after(&path.file_name().unwrap_or_default().to_string_lossy(), ".so."), false);
    if vendor == Vendor::OpenBlas { configured().unwrap_or_else(of_name) } else { of_name() }
}

/// Reads the configuration text of OpenBLAS, such as `OpenBLAS 0.3.31.188.0  USE64BITINT DYNAMIC_ARCH`.
fn version_in(constants: &[u8]) -> Option<(Vec<u32>, bool)> {
    const NAME: &[u8] = b"OpenBLAS 0.";
    let text = &constants[position(constants, NAME)?..];
    let text = String::from_utf8_lossy(text.split(|byte| *byte == 0).next()?);
    Some((number_after(&text, "OpenBLAS "), text.contains("USE64BITINT")))
}

/// Returns the dot-separated numbers after `mark`.
fn number_after(text: &str, mark: &str) -> Vec<u32> {
    let after = text.split_once(mark).map_or("", |(_, after)| after);
    let end = after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
    after[..end].split('.').map_while(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::elf::example;
    use super::*;

    #[test]
    fn files_state_their_versions_and_openblas_its_integers() {
        let constants = b"\0OpenBLAS \0\0OpenBLAS 0.3.31.188.0  USE64BITINT DYNAMIC_ARCH\0MAX_THREADS=64\0";
        assert_eq!(version_in(constants), Some((vec![0, 3, 31, 188, 0], true)));
        let constants = b"\x01OpenBLAS 0.3.21 NO_LAPACKE\0USE64BITINT\0";
        assert_eq!(version_in(constants), Some((vec![0, 3, 21], false)));
        assert_eq!(version_in(b"OpenBLAS "), None);
        let version = |vendor, path: &str| version_of(vendor, Path::new(path)).0;
        assert_eq!(version(Vendor::Mkl, "/nowhere/libmkl_rt.so.3"), [3]);
        assert_eq!(version(Vendor::Blis, "/nowhere/libblis.so.4.0.0"), [4, 0, 0]);
        assert!(version(Vendor::Blis, "/nowhere/libblis-mt.so").is_empty());
    }

    #[test]
    fn the_symbols_of_a_file_show_its_vendor_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libany.so");
        for (symbols, vendor) in [
            ("sgemm_\0scipy_openblas_get_config64_\0", Vendor::OpenBlas),
            ("\0MKL_Get_Version_String\0", Vendor::Mkl),
            ("\0bli_info_get_version_str\0", Vendor::Blis),
        ] {
            std::fs::write(&file, example(symbols, "")).unwrap();
            assert_eq!(vendor_of(&file), Ok(vendor));
        }
        std::fs::write(&file, example("malloc", "")).unwrap();
        assert!(vendor_of(&file).unwrap_err().contains("neither OpenBLAS"));
        assert!(vendor_of(Path::new("/nowhere/libopenblas.so")).unwrap_err().contains("No such file"));
        assert!(vendor_of(Path::new("/")).unwrap_err().contains("it is not a file"));
    }
}
