//! Finds the BLAS library files of a machine, their origins and the best file per vendor. Loads none of them.

use std::path::{Path, PathBuf};

use gpubench_backend::host::install_folders::{InstallFolders, entries, package_folders};

use super::Vendor;
use super::vendor::version_of;

/// A library file, with what it states about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Canonical path of the file.
    pub(crate) path: PathBuf,
    /// A word for the origin, such as `numpy` or `system`.
    pub(crate) origin: &'static str,
    /// The numbers of its version; none if it states no version.
    pub(crate) version: Vec<u32>,
    /// Whether the file states that its integers have 64 bits.
    pub(crate) has_long_integers: bool,
}

/// The origin of libraries that the user named.
pub(crate) const NAMED: &str = "named";

/// Returns the libraries of a vendor, best first: those in `named`, then the newest versions. Of equal versions, the
/// one nearer to the user comes first: an active environment before the system.
pub(crate) fn find(vendor: Vendor, machine: &InstallFolders, named: &[PathBuf]) -> Vec<Found> {
    let named: Vec<Found> = named.iter().map(|path| Found::new(vendor, path, NAMED)).collect();
    let mut others: Vec<Found> =
        candidates(vendor, machine).iter().map(|(path, origin)| Found::new(vendor, path, origin)).collect();
    others.sort_by(|a, b| b.version.cmp(&a.version));
    let mut found: Vec<Found> = Vec::new();
    for library in named.into_iter().chain(others) {
        if !found.iter().any(|earlier| earlier.is_same(&library)) {
            found.push(library);
        }
    }
    found
}

impl Found {
    fn new(vendor: Vendor, path: &Path, origin: &'static str) -> Found {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let (version, has_long_integers) = version_of(vendor, &path);
        Found { path, origin, version, has_long_integers }
    }

    /// Returns whether both are the same file or copies of it: wheels put a digest into the names of the files they
    /// bundle.
    fn is_same(&self, other: &Found) -> bool {
        let is_bundled = |found: &Found| ["numpy", "scipy"].contains(&found.origin);
        let is_copy =
            is_bundled(self) && is_bundled(other) && self.path.file_name() == other.path.file_name();
        self.path == other.path || is_copy
    }
}

/// A file that may be a library, and the word for its origin.
type CandidateFile = (PathBuf, &'static str);

/// Returns the files of a vendor, nearest to the user first; some may be the same file.
fn candidates(vendor: Vendor, machine: &InstallFolders) -> Vec<CandidateFile> {
    let mut files: Vec<CandidateFile> = match vendor {
        Vendor::OpenBlas => vec![],
        Vendor::Mkl => in_folders(vendor, &mkl_folders(machine), "oneapi"),
        Vendor::Blis => in_folders(vendor, &aocl_folders(machine), "aocl"),
    };
    for prefix in machine.python_prefixes() {
        let folders = ["lib", "lib64"].map(|folder| prefix.join(folder));
        files.extend(in_folders(vendor, &folders, origin_of(&prefix, machine)));
        if vendor == Vendor::OpenBlas {
            package_folders(&prefix).iter().for_each(|packages| files.extend(bundled(packages)));
        }
    }
    files.extend(in_folders(vendor, &machine.loader_folders(), "system"));
    files
}

/// The origin of files in the `lib` folder of a prefix.
fn origin_of(prefix: &Path, machine: &InstallFolders) -> &'static str {
    let is_systems = ["usr", "usr/local"].iter().any(|folder| machine.below_root(folder) == prefix);
    match (is_systems, prefix.join("conda-meta").is_dir()) {
        (true, _) => "system",
        (_, true) => "conda",
        _ => "pip",
    }
}

/// Finds the OpenBLAS files that Python wheels bundle.
fn bundled(packages: &Path) -> Vec<CandidateFile> {
    // The folders inside the packages are those of wheels until 2020.
    const FOLDERS: [(&str, &str); 5] = [
        ("scipy_openblas32/lib", "pip"),
        ("numpy.libs", "numpy"),
        ("scipy.libs", "scipy"),
        ("numpy/.libs", "numpy"),
        ("scipy/.libs", "scipy"),
    ];
    let files = FOLDERS.into_iter().flat_map(|(folder, origin)| {
        let folder = packages.join(folder);
        let files = ["libscipy_openblas", "libopenblas"].map(|name| entries(&folder, name));
        files.into_iter().flatten().map(move |file| (file, origin))
    });
    files.collect()
}

/// Returns one library per folder that has any, by the first of its file names.
fn in_folders(vendor: Vendor, folders: &[PathBuf], origin: &'static str) -> Vec<CandidateFile> {
    let first = |folder: &PathBuf| {
        let mut files = vendor.file_names().iter().map(|name| folder.join(name));
        Some((files.find(|file| file.is_file())?, origin))
    };
    folders.iter().filter_map(first).collect()
}

fn mkl_folders(machine: &InstallFolders) -> Vec<PathBuf> {
    let roots = machine.folder("MKLROOT").into_iter();
    let roots = roots.chain([machine.below_root("opt/intel/oneapi/mkl/latest")]);
    roots.flat_map(|root| [root.join("lib"), root.join("lib/intel64")]).collect()
}

/// Returns `lib_LP64` of `/opt/AMD/aocl/VERSION/COMPILER`, a path that `AOCL_ROOT` may replace.
fn aocl_folders(machine: &InstallFolders) -> Vec<PathBuf> {
    let versions = entries(&machine.below_root("opt/AMD/aocl"), "aocl").into_iter().rev();
    let installed = versions.flat_map(|version| ["gcc", "aocc"].map(|compiler| version.join(compiler)));
    let roots = machine.folder("AOCL_ROOT").into_iter().chain(installed);
    roots.flat_map(|root| [root.join("lib_LP64"), root.join("lib")]).collect()
}
