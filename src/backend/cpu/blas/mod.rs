//! BLAS and LAPACK found at run time: one provider a vendor, loaded when a cell first needs it.
//!
//! A provider's gemm is called by pointer ([`Provider::gemm`]); its LAPACK is called through ndarray-linalg,
//! whose symbols [`shim`] defines and [`Provider::activate`] points at the provider.

mod discovery;
mod gemm;
mod provider;
mod shim;

pub use gemm::Blas;
pub use provider::Provider;

use std::path::Path;
use std::sync::OnceLock;

use crate::backend::Finding;
use crate::error::Unavailable;

/// A family of BLAS libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// OpenBLAS, of the system or of a Python wheel.
    OpenBlas,
    /// Intel oneMKL.
    Mkl,
}

type Loaded = Result<Provider, Unavailable>;

impl Vendor {
    /// Every vendor, in the order reports use.
    pub const ALL: [Vendor; 2] = [Vendor::OpenBlas, Vendor::Mkl];

    /// The library's own name.
    pub fn name(self) -> &'static str {
        match self {
            Vendor::OpenBlas => "OpenBLAS",
            Vendor::Mkl => "MKL",
        }
    }

    /// The word with which its variants' names begin.
    pub fn word(self) -> &'static str {
        match self {
            Vendor::OpenBlas => "openblas",
            Vendor::Mkl => "mkl",
        }
    }

    /// The environment variable that names the library's file.
    pub fn variable(self) -> &'static str {
        match self {
            Vendor::OpenBlas => "GPUBENCH_OPENBLAS",
            Vendor::Mkl => "GPUBENCH_MKL",
        }
    }

    fn fix(self) -> &'static str {
        match self {
            Vendor::OpenBlas => {
                "sudo apt-get install libopenblas0-pthread (or: pip install scipy-openblas32)"
            }
            Vendor::Mkl => "pip install mkl",
        }
    }

    /// The provider, loaded at the first call; the same answer at every later one.
    pub fn provider(self) -> Result<&'static Provider, Unavailable> {
        let load = || {
            self.load(&discovery::Machine { variable: &|name| std::env::var_os(name), root: Path::new("/") })
        };
        self.cell().get_or_init(load).as_ref().map_err(Clone::clone)
    }

    /// The provider, if it has been loaded.
    pub fn loaded(self) -> Option<&'static Provider> {
        self.cell().get()?.as_ref().ok()
    }

    /// What `doctor` and reports say of the vendor's library; `serves` are the variants that need it.
    pub fn finding(self, provider: Result<&Provider, Unavailable>, serves: Vec<String>) -> Finding {
        let name = self.name().to_owned();
        match provider {
            Ok(provider) => Finding {
                name,
                path: Some(provider.path().display().to_string()),
                version: Some(provider.version().to_owned()),
                serves,
                problem: None,
                fix: None,
            },
            Err(missing) => Finding {
                name,
                path: None,
                version: None,
                serves,
                problem: Some(missing.reason),
                fix: missing.fix,
            },
        }
    }

    fn cell(self) -> &'static OnceLock<Loaded> {
        static OPENBLAS: OnceLock<Loaded> = OnceLock::new();
        static MKL: OnceLock<Loaded> = OnceLock::new();
        match self {
            Vendor::OpenBlas => &OPENBLAS,
            Vendor::Mkl => &MKL,
        }
    }

    /// Loads the first candidate that can be used; if there is none, says why the best existing one cannot.
    fn load(self, machine: &discovery::Machine) -> Loaded {
        let mut unusable = None;
        for candidate in discovery::candidates(self, machine) {
            match Provider::open(self, &candidate) {
                Ok(provider) => return Ok(provider),
                // A bare name that the loader does not know says nothing worth reporting.
                Err(problem) if candidate.is_absolute() => {
                    unusable.get_or_insert(format!("{}: {problem}", candidate.display()));
                }
                Err(_) => {}
            }
        }
        Err(match ((machine.variable)(self.variable()), unusable) {
            (Some(chosen), problem) if !chosen.is_empty() => Unavailable::new(
                format!(
                    "{}={} cannot be used: {}",
                    self.variable(),
                    chosen.display(),
                    problem.unwrap_or_else(|| "no such file; give an absolute path".to_owned())
                ),
                format!("unset {0}, or set it to an LP64 {1} library", self.variable(), self.name()),
            ),
            (_, Some(problem)) => Unavailable::new(problem, self.fix()),
            (_, None) => Unavailable::new(format!("no {} library was found", self.name()), self.fix()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn a_missing_library_is_unavailable_with_its_fix() {
        let root = tempfile::tempdir().unwrap();
        let nowhere = root.path().join("libopenblas.so.0").into_os_string();
        for vendor in Vendor::ALL {
            let variable = |name: &str| (name == vendor.variable()).then(|| nowhere.clone());
            let machine = discovery::Machine { variable: &variable, root: root.path() };
            let missing = vendor.load(&machine).err().expect("an empty folder holds no library");
            assert!(missing.reason.contains(vendor.variable()), "{}", missing.reason);
            assert!(missing.fix.is_some_and(|fix| fix.contains("unset")));
        }
    }

    #[test]
    fn a_file_that_is_no_library_is_unavailable() {
        let root = tempfile::tempdir().unwrap();
        let packages = root.path().join("usr/lib/python3/dist-packages/scipy_openblas32/lib");
        std::fs::create_dir_all(&packages).unwrap();
        std::fs::write(packages.join("libscipy_openblas.so"), "no library").unwrap();
        let variable = |_: &str| None::<OsString>;
        let machine = discovery::Machine { variable: &variable, root: root.path() };
        if let Err(missing) = Vendor::OpenBlas.load(&machine) {
            assert!(missing.reason.contains("libscipy_openblas.so"), "{}", missing.reason);
            assert!(missing.fix.is_some_and(|fix| fix.contains("libopenblas0-pthread")));
        }
    }

    #[test]
    fn a_library_without_the_routines_is_refused() {
        let Some(problem) = Provider::open(Vendor::OpenBlas, Path::new("libm.so.6")).err() else {
            panic!("libm is no BLAS");
        };
        assert!(problem.contains("openblas"), "{problem}");
    }
}
