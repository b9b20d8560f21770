//! A BLAS library as variants use it: the word in the variants' names, its candidate files, and the loaded file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use gpubench_backend::Finding;
use gpubench_backend::host::install_folders::InstallFolders;
use gpubench_report::error::Unavailable;

use super::discovery::{self, NAMED};
use super::{Provider, Vendor, open, vendor};

/// A library that is loaded when it is first needed.
pub(crate) struct BlasLibrary {
    vendor: Vendor,
    /// The word with which the names of its variants begin.
    word: String,
    /// The word for its origin, if it is not the best library of its vendor.
    origin: Option<String>,
    /// Candidate files, best first; the names that the loader knows if no file was found.
    files: Vec<PathBuf>,
    /// The option or variable with which the user named it.
    requested: Option<String>,
    has_long_integers: bool,
    used: OnceLock<Result<&'static Provider, Unavailable>>,
}

/// Returns every library of this machine, and one for each vendor that is expected. Libraries in `named` come first.
pub(crate) fn all(named: &[PathBuf]) -> Vec<BlasLibrary> {
    find_all(&InstallFolders::here(), named)
}

pub(super) fn find_all(machine: &InstallFolders, named: &[PathBuf]) -> Vec<BlasLibrary> {
    let is_of = |vendor, path: &&PathBuf| vendor::vendor_of(path) == Ok(vendor);
    let mut libraries: Vec<BlasLibrary> = Vendor::ALL
        .into_iter()
        .flat_map(|vendor| {
            let named: Vec<PathBuf> = named.iter().filter(|path| is_of(vendor, path)).cloned().collect();
            of(vendor, machine, &named)
        })
        .collect();
    libraries.sort_by_key(|library| !library.is_preferred());
    libraries
}

/// Returns the libraries of one vendor, the preferred one first.
fn of(vendor: Vendor, machine: &InstallFolders, named: &[PathBuf]) -> Vec<BlasLibrary> {
    let variable = vendor.variable();
    if let (true, Some(file)) = (named.is_empty(), machine.folder(variable)) {
        let requested = Some(format!("{variable}={}", file.display()));
        return vec![BlasLibrary::new(vendor, None, vec![file], requested)];
    }
    let found = discovery::find(vendor, machine, named);
    let Some(best) = found.first() else {
        let names = || vendor.file_names().iter().map(PathBuf::from).collect();
        return vendor
            .is_expected()
            .then(|| BlasLibrary::new(vendor, None, names(), None))
            .into_iter()
            .collect();
    };
    let requested = (best.origin == NAMED).then(|| format!("--blas {}", best.path.display()));
    let files = if requested.is_some() { &found[..1] } else { &found[..] };
    let files = files.iter().map(|found| found.path.clone()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let others = found[1..].iter().map(|found| {
        let count = counts.entry(found.origin).or_default();
        *count += 1;
        let number = if *count > 1 { format!("-{count}") } else { String::new() };
        let origin = format!("{}{number}", found.origin);
        let library = BlasLibrary::new(vendor, Some(origin), vec![found.path.clone()], None);
        BlasLibrary { has_long_integers: found.has_long_integers, ..library }
    });
    let preferred = BlasLibrary::new(vendor, None, files, requested);
    let preferred = BlasLibrary { has_long_integers: best.has_long_integers, ..preferred };
    std::iter::once(preferred).chain(others).collect()
}

impl BlasLibrary {
    fn new(vendor: Vendor, origin: Option<String>, files: Vec<PathBuf>, requested: Option<String>) -> Self {
        let of_origin = |origin: &String| format!("{}-{origin}", vendor.word());
        let word = origin.as_ref().map_or_else(|| vendor.word().to_owned(), of_origin);
        let (has_long_integers, used) = (false, OnceLock::new());
        BlasLibrary { vendor, word, origin, files, requested, has_long_integers, used }
    }

    pub(crate) fn vendor(&self) -> Vendor {
        self.vendor
    }

    pub(crate) fn word(&self) -> &str {
        &self.word
    }

    /// Returns whether it is the best library of its vendor.
    pub(crate) fn is_preferred(&self) -> bool {
        self.origin.is_none()
    }

    /// Returns whether its best file states that its integers have 64 bits.
    pub(crate) fn has_long_integers(&self) -> bool {
        self.has_long_integers
    }

    /// Returns the display name, such as `OpenBLAS (numpy)`.
    pub(crate) fn name(&self) -> String {
        let name = self.vendor.name();
        self.origin.as_ref().map_or_else(|| name.to_owned(), |origin| format!("{name} ({origin})"))
    }

    /// Candidate files, best first: paths, or names for the loader.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Returns the provider, which the first call loads; later calls return the same result.
    pub(crate) fn provider(&self) -> Result<&'static Provider, Unavailable> {
        self.used.get_or_init(|| self.load()).clone()
    }

    pub(crate) fn loaded(&self) -> Option<&'static Provider> {
        self.used.get()?.as_ref().ok().copied()
    }

    /// Describes the library for `doctor` and reports; `serves` lists the variants that need it.
    pub(crate) fn finding(&self, serves: Vec<String>) -> Finding {
        let found = self.provider();
        let found = found.as_ref().map(|provider| (provider.path(), provider.version()));
        crate::finding(self.name(), serves, found)
    }

    /// Loads the first usable file. If there is none, the error describes the first file that exists.
    fn load(&self) -> Result<&'static Provider, Unavailable> {
        let mut unusable = None;
        for file in &self.files {
            match opened(self.vendor, file) {
                Ok(provider) => return Ok(provider),
                // A name that the loader does not know and the user did not choose is not worth reporting.
                Err(problem) if file.is_absolute() || self.requested.is_some() => {
                    unusable.get_or_insert((file, problem));
                }
                Err(_) => {}
            }
        }
        let name = self.vendor.name();
        Err(match (unusable, &self.requested) {
            (Some((_, problem)), Some(requested)) => {
                Unavailable::new(format!("{requested} cannot be used: {problem}"), self.vendor.other_choice())
            }
            (Some((file, problem)), None) => Unavailable::new(
                format!("{name} at {} cannot be used: {problem}", file.display()),
                self.vendor.fix(),
            ),
            (None, _) => Unavailable::new(format!("no {name} library was found"), self.vendor.fix()),
        })
    }
}

/// Every file opened so far, with its provider (never closed) or its problem.
type OpenedFiles = BTreeMap<PathBuf, Result<&'static Provider, String>>;

/// Opens a file once per process.
fn opened(vendor: Vendor, file: &Path) -> Result<&'static Provider, String> {
    static OPENED: Mutex<OpenedFiles> = Mutex::new(BTreeMap::new());
    let mut all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let load = || open::open(vendor, file).map(|provider| &*Box::leak(Box::new(provider)));
    all.entry(file.to_path_buf()).or_insert_with(load).clone()
}
