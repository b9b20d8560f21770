//! BLAS and LAPACK found at run time: one provider a vendor, loaded when a cell first needs it.
//!
//! What jobs call is called straight ([`calls`], [`Svd`]); the rest of LAPACK through ndarray-linalg, whose symbols
//! [`shim`] defines and [`Provider::activate`] points at the provider.

mod calls;
mod crew;
mod discovery;
mod gesdd;
mod open;
mod provider;
mod rouse;
mod shim;
mod stack;

pub use calls::Blas;
pub use crew::Crew;
pub use gesdd::Svd;
pub use provider::Provider;
pub use stack::require as require_stack;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use discovery::Machine;

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

/// The machine that this process runs on.
fn here() -> Machine<'static> {
    Machine { variable: &|name| std::env::var_os(name), root: Path::new("/") }
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
        let load = || self.load(self.candidates(), discovery::chosen(self, &here()).is_some());
        self.cell().get_or_init(load).as_ref().map_err(Clone::clone)
    }

    /// The libraries that are tried, best first: absolute paths of files that exist, and bare names for the loader.
    pub fn candidates(self) -> Vec<PathBuf> {
        discovery::candidates(self, &here())
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

    /// Loads the first candidate that can be used; if there is none, says why the first existing one cannot.
    /// A chosen candidate is one that the vendor's variable names.
    fn load(self, candidates: Vec<PathBuf>, chosen: bool) -> Loaded {
        let mut unusable = None;
        for candidate in candidates {
            match open::open(self, &candidate) {
                Ok(provider) => return Ok(provider),
                // That the loader does not know a name which nobody chose is not worth a word.
                Err(problem) if candidate.is_absolute() || chosen => {
                    unusable.get_or_insert((candidate, problem));
                }
                Err(_) => {}
            }
        }
        let name = self.name();
        Err(match (unusable, chosen) {
            (Some((file, problem)), true) => Unavailable::new(
                format!("{}={} cannot be used: {problem}", self.variable(), file.display()),
                format!("unset {}, or set it to the path of an LP64 {name} library", self.variable()),
            ),
            (Some((file, problem)), false) => Unavailable::new(
                format!("{name} at {} cannot be used: {problem}", file.display()),
                self.fix(),
            ),
            (None, _) => Unavailable::new(format!("no {name} library was found"), self.fix()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_library_the_fix_installs_one() {
        let missing = Vendor::OpenBlas.load(vec!["libnowhere.so.0".into()], false).err().unwrap();
        assert_eq!(missing.reason, "no OpenBLAS library was found");
        assert!(missing.fix.unwrap().contains("apt-get install libopenblas0-pthread"));
        let missing = Vendor::Mkl.load(vec![], false).err().unwrap();
        assert_eq!(missing.fix.unwrap(), "pip install mkl");
    }

    #[test]
    fn a_chosen_library_that_is_missing_names_the_variable() {
        for vendor in Vendor::ALL {
            let missing = vendor.load(vec!["libnowhere.so.0".into()], true).err().unwrap();
            assert!(missing.reason.contains(vendor.variable()), "{}", missing.reason);
            assert!(missing.reason.contains("No such file"), "{}", missing.reason);
            assert!(missing.fix.unwrap().starts_with("unset"));
        }
    }

    #[test]
    fn a_file_that_is_no_library_is_named_with_its_problem() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libscipy_openblas.so");
        std::fs::write(&file, "no library").unwrap();
        let missing = Vendor::OpenBlas.load(vec![file.clone()], false).err().unwrap();
        assert!(missing.reason.contains(file.to_str().unwrap()), "{}", missing.reason);
    }

    #[test]
    fn a_library_without_the_routines_is_refused() {
        let Some(problem) = open::open(Vendor::OpenBlas, Path::new("libm.so.6")).err() else {
            panic!("libm is no BLAS");
        };
        assert!(problem.contains("openblas"), "{problem}");
    }
}
