//! Opens MKL. `libmkl_rt` loads its parts itself at the first call and with global symbols, so the parts and the
//! OpenMP library that they use are checked too. Reference:
//! <https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/>, "Support Functions".

use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};

use gpubench_backend::host::install_folders::InstallFolders;
use gpubench_backend::host::shared_library;

use super::{OpenedBlas, VendorTraits, finish};
use crate::libs::blas::{Provider, Vendor};

/// Parts without which `libmkl_rt` ends the process.
const PARTS: [&str; 3] = ["libmkl_core.so", "libmkl_intel_lp64.so", "libmkl_intel_thread.so"];

/// Intel's OpenMP, which comes as a package of its own.
const OPENMP: &str = "libiomp5.so";

/// Opens MKL with 32-bit integers and Intel's threads.
pub(super) fn open(library: &Path) -> Result<Provider, String> {
    // MKL's parts use libm without naming it as a dependency.
    open_for_all("libm.so.6")?;
    let mut opened = OpenedBlas::new(library)?;
    opened.check_mark("MKL_Get_Version_String", Vendor::Mkl)?;
    let file = opened.library.file().unwrap_or(library).to_path_buf();
    let folder = file.parent().unwrap_or(Path::new("/"));
    require_parts(folder)?;
    require_no_other_parts(folder)?;
    open_openmp(folder)?;
    let version = initialise(&opened)?;
    // The parts are loaded now.
    require_no_other_parts(folder)?;
    finish(
        opened,
        VendorTraits {
            version,
            has_long_integers: false,
            has_lapack: true,
            uses_openmp: true,
            set_threads: "MKL_Set_Num_Threads",
            get_threads: "MKL_Get_Max_Threads",
        },
    )
}

/// Chooses MKL's layers, and returns its version.
fn initialise(opened: &OpenedBlas) -> Result<String, String> {
    // SAFETY: the types are those of MKL's service routines.
    let (set_interface, set_threading, set_dynamic, get_version) = unsafe {
        (
            opened.routine::<unsafe extern "C" fn(c_int) -> c_int>("MKL_Set_Interface_Layer")?,
            opened.routine::<unsafe extern "C" fn(c_int) -> c_int>("MKL_Set_Threading_Layer")?,
            opened.routine::<unsafe extern "C" fn(c_int)>("MKL_Set_Dynamic")?,
            opened.routine::<unsafe extern "C" fn(*mut c_char, c_int)>("MKL_Get_Version_String")?,
        )
    };
    let mut text = [0 as c_char; 256];
    // SAFETY: layers are chosen before any other call, 0 being LP64 and Intel's threads; the number of threads
    // is not MKL's to lower; the version is written with its final zero into a buffer of the length given.
    let version = unsafe {
        set_interface(0);
        set_threading(0);
        set_dynamic(0);
        get_version(text.as_mut_ptr(), text.len() as c_int - 1);
        CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
    };
    Ok(version.trim().to_owned())
}

/// Checks that the parts exist that `libmkl_rt` loads, because it ends the process if one is missing.
fn require_parts(folder: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    match PARTS.iter().find(|part| !names.iter().any(|name| name.starts_with(*part))) {
        Some(part) => Err(format!("{part} is missing next to it")),
        None => Ok(()),
    }
}

/// Returns an error if parts of another MKL are loaded, whose routines this one would call as its own.
fn require_no_other_parts(folder: &Path) -> Result<(), String> {
    // Without this file, there is no way to check.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    match part_elsewhere(&maps, folder) {
        Some(part) => Err(format!("a part of another MKL is loaded in this process, {}", part.display())),
        None => Ok(()),
    }
}

/// Returns a part of MKL in a process memory map that lies outside `folder`.
fn part_elsewhere(maps: &str, folder: &Path) -> Option<PathBuf> {
    let files = maps.lines().filter_map(|line| Some(Path::new(&line[line.find('/')?..])));
    let mut parts = files
        .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libmkl_")));
    parts.find(|part| part.parent() != Some(folder)).map(Path::to_path_buf)
}

/// Opens Intel's OpenMP, whose symbols the parts of MKL need. The loader does not look for it next to MKL.
fn open_openmp(folder: &Path) -> Result<(), String> {
    let file = openmp_of(folder, &InstallFolders::here()).unwrap_or_else(|| PathBuf::from(OPENMP));
    open_for_all(&file).map_err(|problem| format!("{problem} (Intel's OpenMP: pip install intel-openmp)"))
}

/// Returns the OpenMP library that belongs to the MKL in `folder`: the one next to it, the one of the same oneAPI, or
/// the one of a Python environment, whose installer may have only linked MKL there.
fn openmp_of(folder: &Path, machine: &InstallFolders) -> Option<PathBuf> {
    let oneapi = folder.ancestors().map(|above| above.join("compiler/latest/lib"));
    let environments = machine.python_prefixes().into_iter().map(|prefix| prefix.join("lib"));
    let mut files = std::iter::once(folder.to_path_buf())
        .chain(oneapi)
        .chain(environments)
        .map(|folder| folder.join(OPENMP));
    files.find(|file| file.is_file())
}

fn open_for_all(library: impl AsRef<Path>) -> Result<(), String> {
    // SAFETY: the libraries opened here, libm and Intel's OpenMP, have harmless initialisers.
    unsafe { shared_library::open_for_all(library.as_ref()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_another_mkl_are_found_among_the_files_of_a_process() {
        let line = |file: &str| format!("7f00-7f01 r-xp 00000000 08:01 42    {file}\n");
        let own = ["/opt/a b/libmkl_core.so.2", "/opt/a b/libmkl_rt.so.2", "/usr/lib/libm.so.6", "[heap]"];
        let own: String = own.map(line).concat();
        assert_eq!(part_elsewhere(&own, Path::new("/opt/a b")), None);
        let other = "/opt/c/libmkl_intel_thread.so.2";
        assert_eq!(part_elsewhere(&(own + &line(other)), Path::new("/opt/a b")), Some(other.into()));
    }

    #[test]
    fn openmp_is_found_next_to_mkl_in_its_oneapi_and_in_environments() {
        let root = tempfile::tempdir().unwrap();
        let at = |below: &str| root.path().join(below);
        let touch = |below: &str| {
            std::fs::create_dir_all(at(below).parent().unwrap()).unwrap();
            std::fs::write(at(below), "").unwrap();
        };
        let environment = at("venv").into_os_string();
        let variable = |name: &str| (name == "VIRTUAL_ENV").then(|| environment.clone());
        let found = |folder: &str| openmp_of(&at(folder), &InstallFolders::below(root.path(), &variable));

        assert_eq!(found("venv/lib"), None);
        touch("venv/lib/libiomp5.so");
        touch("opt/intel/oneapi/compiler/latest/lib/libiomp5.so");
        touch("conda/lib/libiomp5.so");
        assert_eq!(found("venv/lib"), Some(at("venv/lib/libiomp5.so")));
        assert_eq!(found("conda/lib"), Some(at("conda/lib/libiomp5.so")));
        // An installer may keep each package in a folder of its own and link the files into the environment.
        assert_eq!(found("cache/mkl/lib"), Some(at("venv/lib/libiomp5.so")));
        let oneapi = found("opt/intel/oneapi/mkl/2025.3/lib");
        assert_eq!(oneapi, Some(at("opt/intel/oneapi/compiler/latest/lib/libiomp5.so")));
    }
}
