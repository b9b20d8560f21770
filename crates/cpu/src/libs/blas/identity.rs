//! Reads the vendor, version and integer width of a library file without loading it.

use std::path::Path;

use super::Vendor;
use super::elf::{SharedObject, position};

/// The routine that identifies the libraries of each vendor, spelt with any prefix or suffix.
const MARKS: [(&[u8], Vendor); 3] = [
    (b"openblas_get_config", Vendor::OpenBlas),
    (b"MKL_Get_Version_String", Vendor::Mkl),
    (b"bli_info_get_version_str", Vendor::Blis),
];

/// The properties that a file states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The numbers of its version, most significant first; empty if the file states none.
    pub(crate) version: Vec<u32>,
    /// Whether the file states that its integers have 64 bits.
    pub(crate) has_long_integers: bool,
}

/// Returns the vendor of the BLAS library in a file. The error is the end of a sentence about the file.
pub(crate) fn vendor_of(path: &Path) -> Result<Vendor, String> {
    std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let object = SharedObject::open(path).ok_or("is no shared library of this system")?;
    let names = object.section(".dynstr");
    let vendor = MARKS.iter().find(|(mark, _)| position(&names, mark).is_some());
    vendor.map(|(_, vendor)| *vendor).ok_or_else(|| "is neither OpenBLAS nor MKL nor BLIS".to_owned())
}

/// Reads the properties of a file of a known vendor.
pub(crate) fn identify(vendor: Vendor, path: &Path) -> Identity {
    let of_name = || Identity { version: number_after(&file_name(path), ".so."), ..Identity::default() };
    match vendor {
        Vendor::OpenBlas => SharedObject::open(path)
            .and_then(|object| configured(&object.section(".rodata")))
            .unwrap_or_else(of_name),
        Vendor::Mkl | Vendor::Blis => of_name(),
    }
}

/// Reads the configuration text of OpenBLAS, such as `OpenBLAS 0.3.31.188.0  USE64BITINT DYNAMIC_ARCH ...`.
fn configured(constants: &[u8]) -> Option<Identity> {
    const NAME: &[u8] = b"OpenBLAS 0.";
    let text = &constants[position(constants, NAME)?..];
    let text = String::from_utf8_lossy(text.split(|byte| *byte == 0).next()?);
    Some(Identity {
        version: number_after(&text, "OpenBLAS "),
        has_long_integers: text.contains("USE64BITINT"),
    })
}

/// Returns the dot-separated numbers after `mark`.
fn number_after(text: &str, mark: &str) -> Vec<u32> {
    let after = text.split_once(mark).map_or("", |(_, after)| after);
    let end = after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
    after[..end].split('.').map_while(|number| number.parse().ok()).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::elf::example;
    use super::*;

    #[test]
    fn openblas_states_its_version_and_its_integers() {
        let constants = b"\0OpenBLAS \0\0OpenBLAS 0.3.31.188.0  USE64BITINT DYNAMIC_ARCH\0MAX_THREADS=64\0";
        let expected = Identity { version: vec![0, 3, 31, 188, 0], has_long_integers: true };
        assert_eq!(configured(constants), Some(expected));
        let constants = b"\x01OpenBLAS 0.3.21 NO_LAPACKE\0USE64BITINT\0";
        assert_eq!(
            configured(constants),
            Some(Identity { version: vec![0, 3, 21], has_long_integers: false })
        );
        assert_eq!(configured(b"OpenBLAS "), None);
    }

    #[test]
    fn other_libraries_state_the_version_of_their_interface() {
        let version = |vendor, path: &str| identify(vendor, Path::new(path)).version;
        assert_eq!(version(Vendor::Mkl, "/nowhere/libmkl_rt.so.3"), [3]);
        assert_eq!(version(Vendor::Blis, "/nowhere/libblis.so.4.0.0"), [4, 0, 0]);
        assert!(version(Vendor::Blis, "/nowhere/libblis-mt.so").is_empty());
    }

    #[test]
    fn the_symbols_of_a_file_show_its_vendor() {
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
    }

    #[test]
    fn a_file_that_is_no_blas_is_refused() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.split_whitespace().find(|word| word.contains("/libc.so.6")).unwrap();
        assert!(vendor_of(Path::new(libc)).unwrap_err().contains("neither OpenBLAS"));
        assert!(vendor_of(Path::new("/nowhere/libopenblas.so")).unwrap_err().contains("No such file"));
        assert!(vendor_of(Path::new("/")).unwrap_err().contains("no shared library"));
    }
}
