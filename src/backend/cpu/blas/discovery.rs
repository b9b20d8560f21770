//! Where BLAS libraries may lie on a machine, in the order they are tried; opens none of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Vendor;

/// What decides where libraries lie: the environment, and the root of the file system.
pub struct Machine<'a> {
    /// The value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The folder that stands for `/`.
    pub root: &'a Path,
}

impl Machine<'_> {
    /// The value of an environment variable that is set and not empty, as a path.
    fn folder(&self, name: &str) -> Option<PathBuf> {
        (self.variable)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}

/// The library that the vendor's variable names, which then is the only candidate.
pub fn chosen(vendor: Vendor, machine: &Machine) -> Option<PathBuf> {
    machine.folder(vendor.variable())
}

/// The libraries to try, best first: absolute paths of files that exist, and bare names for the loader.
pub fn candidates(vendor: Vendor, machine: &Machine) -> Vec<PathBuf> {
    if let Some(chosen) = chosen(vendor, machine) {
        return vec![chosen];
    }
    let prefixes = python_prefixes(machine);
    let (names, files) = match vendor {
        Vendor::OpenBlas => (OPENBLAS_NAMES, prefixes.iter().flat_map(|p| openblas_files(p)).collect()),
        Vendor::Mkl => (MKL_NAMES, mkl_files(machine, prefixes)),
    };
    names.into_iter().map(PathBuf::from).chain(files).collect()
}

/// OpenBLAS in an environment's own `lib` (conda) and inside Python wheels; `scipy_openblas64` is ILP64.
fn openblas_files(prefix: &Path) -> Vec<PathBuf> {
    let library_folder = prefix.join("lib");
    let mut files = existing(&library_folder, OPENBLAS_NAMES);
    for packages in package_folders(&library_folder) {
        files.extend(entries(&packages.join("scipy_openblas32/lib"), "libscipy_openblas"));
        files.extend(entries(&packages.join("scipy.libs"), "libscipy_openblas-"));
    }
    files
}

/// MKL where its installer, conda and pip put it.
fn mkl_files(machine: &Machine, prefixes: Vec<PathBuf>) -> Vec<PathBuf> {
    let roots = machine.folder("MKLROOT").into_iter();
    let roots = roots.chain([machine.root.join("opt/intel/oneapi/mkl/latest")]).chain(prefixes);
    let folders = roots.flat_map(|root| [root.join("lib"), root.join("lib/intel64")]);
    folders.flat_map(|folder| existing(&folder, MKL_NAMES)).collect()
}

fn existing(folder: &Path, names: [&str; 3]) -> Vec<PathBuf> {
    names.map(|name| folder.join(name)).into_iter().filter(|path| path.is_file()).collect()
}

/// The threaded build by Fedora's name, the usual name, and Fedora's OpenMP build.
const OPENBLAS_NAMES: [&str; 3] = ["libopenblasp.so.0", "libopenblas.so.0", "libopenblaso.so.0"];
const MKL_NAMES: [&str; 3] = ["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"];

/// Folders under which a Python installs into `lib`: active environments, the user's, the system's.
fn python_prefixes(machine: &Machine) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].map(|name| machine.folder(name)).into_iter().flatten().collect();
    let home = machine.folder("HOME");
    prefixes.extend(home.iter().map(|home| home.join(".local")));
    prefixes.extend(["usr/local", "usr"].map(|folder| machine.root.join(folder)));
    let pyenv = machine.folder("PYENV_ROOT").or_else(|| home.map(|home| home.join(".pyenv")));
    prefixes.extend(pyenv.into_iter().flat_map(|pyenv| entries(&pyenv.join("versions"), "")));
    prefixes
}

/// `python3*/site-packages` and `python3*/dist-packages` in a `lib` folder.
fn package_folders(library_folder: &Path) -> Vec<PathBuf> {
    let pythons = entries(library_folder, "python3");
    let folders = pythons.iter().flat_map(|p| [p.join("site-packages"), p.join("dist-packages")]);
    folders.filter(|folder| folder.is_dir()).collect()
}

/// The entries of a folder whose names begin with `beginning`, in order of name; none if it cannot be read.
fn entries(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let Ok(listing) = std::fs::read_dir(folder) else { return Vec::new() };
    let matching = listing.flatten().filter(|e| e.file_name().to_string_lossy().starts_with(beginning));
    let mut paths: Vec<PathBuf> = matching.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: PathBuf) -> PathBuf {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, []).unwrap();
        path
    }

    #[test]
    fn a_named_library_is_the_only_candidate() {
        let variable = |name: &str| (name == "GPUBENCH_MKL").then(|| OsString::from("/x/libmkl_rt.so.3"));
        let machine = Machine { variable: &variable, root: Path::new("/nowhere") };
        assert_eq!(candidates(Vendor::Mkl, &machine), [PathBuf::from("/x/libmkl_rt.so.3")]);
        assert_eq!(candidates(Vendor::OpenBlas, &machine), OPENBLAS_NAMES.map(PathBuf::from));
    }

    #[test]
    fn an_active_environment_comes_before_the_system_and_ilp64_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        let venv = root.path().join("venv");
        let packages = venv.join("lib/python3.11/site-packages");
        touch(packages.join("numpy.libs/libscipy_openblas64_-1.so"));
        let wheel = touch(packages.join("scipy_openblas32/lib/libscipy_openblas.so"));
        let bundled = touch(packages.join("scipy.libs/libscipy_openblas-2.so"));
        let system =
            touch(root.path().join("usr/lib/python3/dist-packages/scipy.libs/libscipy_openblas-1.so"));
        let variable = |name: &str| (name == "VIRTUAL_ENV").then(|| venv.clone().into_os_string());
        let found = candidates(Vendor::OpenBlas, &Machine { variable: &variable, root: root.path() });
        assert_eq!(found[OPENBLAS_NAMES.len()..], [wheel, bundled, system]);
    }

    #[test]
    fn mkl_is_found_where_pip_and_conda_put_it() {
        let root = tempfile::tempdir().unwrap();
        let library = touch(root.path().join("conda/lib/libmkl_rt.so.3"));
        let conda = root.path().join("conda").into_os_string();
        let variable = |name: &str| (name == "CONDA_PREFIX").then(|| conda.clone());
        let found = candidates(Vendor::Mkl, &Machine { variable: &variable, root: root.path() });
        assert_eq!(found[MKL_NAMES.len()..], [library]);
    }
}
