//! FFTW: one library per element type, searched and loaded when a cell first needs it. Reference:
//! <https://www.fftw.org/fftw3_doc/>.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use gpubench_backend::Finding;
use gpubench_backend::host::install_folders::InstallFolders;
use gpubench_backend::host::shared_library::SharedLibrary;
use gpubench_report::case::DType;
use gpubench_report::error::Unavailable;

mod lines;
mod matrix;

pub(crate) use lines::FftwLines;
pub(crate) use matrix::FftwMatrix;

/// The display name, without the element type.
const NAME: &str = "FFTW";
/// The word in the names of its variants and its worker. The files for both element types share a worker, because
/// their symbols have different prefixes.
pub(crate) const WORD: &str = "fftw";
/// The variants that need it.
const SERVES: [&str; 2] = ["fft/fftw", "fft/fftw-2d"];

/// Flags of plans: chosen by timing, and for data at any address.
const MEASURE: c_uint = 0;
const UNALIGNED: c_uint = 1 << 1;

/// An FFTW plan, opaque to callers.
type FftwPlan = *mut c_void;

/// The library for one element type. It stays loaded for the life of the process.
pub(crate) struct Fftw {
    path: PathBuf,
    version: String,
    plan_dft_1d: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, c_int, c_uint) -> FftwPlan,
    execute_dft: unsafe extern "C" fn(FftwPlan, *mut c_void, *mut c_void),
    destroy_plan: unsafe extern "C" fn(FftwPlan),
    alignment_of: unsafe extern "C" fn(*mut c_void) -> c_int,
    plan_many_dft_r2c: PlanManyReal,
    execute_dft_r2c: unsafe extern "C" fn(FftwPlan, *mut c_void, *mut c_void),
    set_timelimit: unsafe extern "C" fn(f64),
}

/// Rank, sizes, number; input, its sizes, stride and distance; output likewise; flags.
type PlanManyReal = unsafe extern "C" fn(
    c_int,
    *const c_int,
    c_int,
    *mut c_void,
    *const c_int,
    c_int,
    c_int,
    *mut c_void,
    *const c_int,
    c_int,
    c_int,
    c_uint,
) -> FftwPlan;

impl Fftw {
    /// Returns the library for an element type, which the first call loads; later calls return the same result.
    ///
    /// # Errors
    /// No usable library was found.
    pub(crate) fn of(dtype: DType) -> Result<&'static Fftw, Unavailable> {
        storage(dtype).get_or_init(|| load(&InstallFolders::here(), dtype)).as_ref().map_err(Clone::clone)
    }

    /// Opens a library file; the error describes the problem.
    fn open(path: &Path, dtype: DType) -> Result<Fftw, String> {
        // SAFETY: what is loaded is FFTW, which has no initialisers; types are those of its header, fftw3.h, with
        // pointers to numbers as pointers to anything. The version is an array of characters with a final zero, whose
        // address is its symbol's.
        unsafe {
            let mut library = SharedLibrary::open(path)?;
            library.own_file_defines(&name(dtype, "version"));
            let version: *const c_char = library.symbol(&name(dtype, "version"))?;
            let fftw = Fftw {
                path: path.to_path_buf(),
                version: CStr::from_ptr(version).to_string_lossy().into_owned(),
                plan_dft_1d: library.symbol(&name(dtype, "plan_dft_1d"))?,
                execute_dft: library.symbol(&name(dtype, "execute_dft"))?,
                destroy_plan: library.symbol(&name(dtype, "destroy_plan"))?,
                alignment_of: library.symbol(&name(dtype, "alignment_of"))?,
                plan_many_dft_r2c: library.symbol(&name(dtype, "plan_many_dft_r2c"))?,
                execute_dft_r2c: library.symbol(&name(dtype, "execute_dft_r2c"))?,
                set_timelimit: library.symbol(&name(dtype, "set_timelimit"))?,
            };
            library.keep();
            Ok(fftw)
        }
    }
}

/// Loads the libraries and describes them for `doctor`.
pub(crate) fn findings() -> Vec<Finding> {
    DType::ALL.iter().map(|&dtype| finding(dtype, Fftw::of(dtype))).collect()
}

/// Describes the loaded libraries for reports.
pub(crate) fn loaded() -> Vec<Finding> {
    let loaded = DType::ALL.iter().filter_map(|&dtype| Some((dtype, storage(dtype).get()?.as_ref().ok()?)));
    loaded.map(|(dtype, fftw)| finding(dtype, Ok(fftw))).collect()
}

fn finding(dtype: DType, fftw: Result<&Fftw, Unavailable>) -> Finding {
    let (found, missing) = (fftw.as_ref().ok(), fftw.as_ref().err());
    Finding {
        name: format!("{NAME} {}", dtype.words()),
        path: found.map(|fftw| fftw.path.display().to_string()),
        version: found.map(|fftw| fftw.version.clone()),
        serves: SERVES.map(str::to_owned).to_vec(),
        problem: missing.map(|missing| missing.reason.clone()),
        fix: missing.and_then(|missing| missing.fix.clone()),
    }
}

/// Returns the storage of the library for an element type.
fn storage(dtype: DType) -> &'static OnceLock<Result<Fftw, Unavailable>> {
    static SINGLE: OnceLock<Result<Fftw, Unavailable>> = OnceLock::new();
    static DOUBLE: OnceLock<Result<Fftw, Unavailable>> = OnceLock::new();
    match dtype {
        DType::F32 => &SINGLE,
        DType::F64 => &DOUBLE,
    }
}

/// Locked while a plan is made or destroyed: only executions may be called from several threads at a time.
fn planner() -> MutexGuard<'static, ()> {
    static PLANNER: Mutex<()> = Mutex::new(());
    PLANNER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the first usable file. If there is none, the error describes the first file that exists.
fn load(machine: &InstallFolders, dtype: DType) -> Result<Fftw, Unavailable> {
    let mut unusable = None;
    for file in files(machine, dtype) {
        match Fftw::open(&file, dtype) {
            Ok(fftw) => return Ok(fftw),
            Err(problem) => {
                unusable.get_or_insert(format!("{NAME} at {} cannot be used: {problem}", file.display()));
            }
        }
    }
    let none = || format!("no {NAME} library for {} was found", dtype.words());
    let fix = match dtype {
        DType::F32 => "sudo apt-get install libfftw3-single3 (or: conda install fftw)",
        DType::F64 => "sudo apt-get install libfftw3-double3 (or: conda install fftw)",
    };
    Err(Unavailable::new(unusable.unwrap_or_else(none), fix))
}

/// Returns the candidate files, nearest to the user first: active environments before the system.
fn files(machine: &InstallFolders, dtype: DType) -> Vec<PathBuf> {
    let name = match dtype {
        DType::F32 => "libfftw3f.so.3",
        DType::F64 => "libfftw3.so.3",
    };
    let prefixes = machine.python_prefixes();
    let environments = prefixes.iter().flat_map(|prefix| ["lib", "lib64"].map(|folder| prefix.join(folder)));
    let files = environments.chain(machine.loader_folders()).map(|folder| folder.join(name));
    files.filter_map(|file| file.canonicalize().ok()).collect()
}

/// Returns the name of a symbol with the prefix of the element type.
fn name(dtype: DType, symbol: &str) -> String {
    match dtype {
        DType::F32 => format!("fftwf_{symbol}"),
        DType::F64 => format!("fftw_{symbol}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that stands for `/` and has these files, which are no libraries.
    fn stocked(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        }
        root
    }

    fn on<R>(root: &tempfile::TempDir, of: impl Fn(&InstallFolders) -> R) -> R {
        let conda = root.path().join("conda").into_os_string();
        let variable = |name: &str| (name == "CONDA_PREFIX").then(|| conda.clone());
        of(&InstallFolders::below(root.path(), &variable))
    }

    #[test]
    fn environments_come_before_the_system_and_types_have_files_of_their_own() {
        let root = stocked(&["usr/lib64/libfftw3.so.3", "conda/lib/libfftw3.so.3", "usr/lib/libfftw3f.so.3"]);
        let at = |below: &str| root.path().canonicalize().unwrap().join(below);
        let double = on(&root, |machine| files(machine, DType::F64));
        assert_eq!(double[0], at("conda/lib/libfftw3.so.3"));
        assert!(double[1..].iter().all(|file| *file == at("usr/lib64/libfftw3.so.3")) && double.len() > 1);
        let single = on(&root, |machine| files(machine, DType::F32));
        assert!(single.iter().all(|file| *file == at("usr/lib/libfftw3f.so.3")) && !single.is_empty());
    }

    #[test]
    fn a_missing_or_invalid_library_is_reported_with_its_fix() {
        let missing = on(&stocked(&[]), |machine| load(machine, DType::F32).err().unwrap());
        assert_eq!(missing.reason, "no FFTW library for float32 was found");
        assert!(missing.fix.unwrap().contains("libfftw3-single3"));
        let root = stocked(&["usr/lib/libfftw3.so.3"]);
        let broken = on(&root, |machine| load(machine, DType::F64).err().unwrap());
        assert!(broken.reason.contains("usr/lib/libfftw3.so.3 cannot be used: "), "{}", broken.reason);
        let reported = finding(DType::F64, Err(broken));
        assert_eq!((reported.name.as_str(), reported.path), ("FFTW float64", None));
        assert!(reported.problem.is_some() && reported.fix.unwrap().contains("libfftw3-double3"));
    }

    #[test]
    fn a_library_without_the_routines_is_refused() {
        let problem = Fftw::open(Path::new("libm.so.6"), DType::F64).err().unwrap();
        assert_eq!(problem, "it has no fftw_version");
    }
}
