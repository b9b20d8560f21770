//! The transforms of FFTW, whose parallel loops run on rayon's threads. There is one library per element
//! type, searched and loaded when a cell first needs it. Reference: <https://www.fftw.org/fftw3_doc/>.
//!
//! FFTW's threads are a library of their own. By its callback ([FFTW Reference, "Usage of Multi-threaded
//! FFTW"](https://www.fftw.org/fftw3_doc/Usage-of-Multi_002dthreaded-FFTW.html), version 3.3.9 and later), a program
//! runs FFTW's loops on threads that it has.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::operands::ArrayElement;
use crate::{CellError, CellResult, Unavailable};
use gpubench_backend::Finding;
use gpubench_backend::host::install_folders::InstallFolders;
use gpubench_backend::host::shared_library::SharedLibrary;
use gpubench_ops::fft::Transforms;
use gpubench_report::case::DType;
use rayon::prelude::*;
use rustfft::num_complex::Complex;

/// The display name, without the element type.
const NAME: &str = "FFTW";
/// The word in the names of its variants and its worker. The files for both element types share a worker, because
/// their symbols have different prefixes.
pub(crate) const WORD: &str = "fftw";
/// The variant that needs it.
const SERVES: &str = "fft/fftw-2d";

/// Flags of plans: chosen by timing, and for data at any address.
const MEASURE: c_uint = 0;
const UNALIGNED: c_uint = 1 << 1;
/// Sign of the exponent of a forward transform.
const FORWARD: c_int = -1;
/// Longest time to choose a plan by timing, in seconds; then the best so far is taken.
const PLAN_S: f64 = 10.0;

/// An FFTW plan, opaque to callers.
type FftwPlan = *mut c_void;

/// The library for one element type. It stays loaded for the life of the process.
pub(crate) struct Fftw {
    path: PathBuf,
    version: String,
    destroy_plan: unsafe extern "C" fn(FftwPlan),
    alignment_of: unsafe extern "C" fn(*mut c_void) -> c_int,
    plan_many_dft_r2c: PlanManyReal,
    plan_many_dft: PlanManyComplex,
    execute_dft: unsafe extern "C" fn(FftwPlan, *mut c_void, *mut c_void),
    execute_dft_r2c: unsafe extern "C" fn(FftwPlan, *mut c_void, *mut c_void),
    set_timelimit: unsafe extern "C" fn(f64),
    plan_with_nthreads: unsafe extern "C" fn(c_int),
}

type LoopBody = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type ParallelLoop = unsafe extern "C" fn(LoopBody, *mut c_char, usize, c_int, *mut c_void);

/// The type of a planner of many transforms: rank, sizes, number; input, its sizes, stride and distance; output likewise; further arguments.
macro_rules! planner_of_many {
    ($($further:ty),*) => {
        unsafe extern "C" fn(
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
            $($further),*
        ) -> FftwPlan
    };
}

/// The planner of real arrays, which ends with flags.
type PlanManyReal = planner_of_many!(c_uint);
/// The planner of complex arrays, which has the sign of the exponent before the flags.
type PlanManyComplex = planner_of_many!(c_int, c_uint);

impl Fftw {
    /// Returns the library for an element type, which the first call loads; later calls return the same result.
    pub(crate) fn of(dtype: DType) -> Result<&'static Fftw, Unavailable> {
        storage(dtype).get_or_init(|| load(&InstallFolders::here(), dtype)).as_ref().map_err(Clone::clone)
    }

    /// Opens a library file and the library of threads next to it; the error describes the problem.
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
                destroy_plan: library.symbol(&name(dtype, "destroy_plan"))?,
                alignment_of: library.symbol(&name(dtype, "alignment_of"))?,
                plan_many_dft_r2c: library.symbol(&name(dtype, "plan_many_dft_r2c"))?,
                plan_many_dft: library.symbol(&name(dtype, "plan_many_dft"))?,
                execute_dft: library.symbol(&name(dtype, "execute_dft"))?,
                execute_dft_r2c: library.symbol(&name(dtype, "execute_dft_r2c"))?,
                set_timelimit: library.symbol(&name(dtype, "set_timelimit"))?,
                plan_with_nthreads: open_threads(path, dtype)?,
            };
            library.keep();
            Ok(fftw)
        }
    }

    /// Returns the alignments of an input and an output, by which FFTW chooses instructions.
    fn alignments<T, C>(&self, input: &[T], output: &[C]) -> [c_int; 2] {
        let addresses = [input.as_ptr().cast_mut().cast(), output.as_ptr().cast_mut().cast::<c_void>()];
        // SAFETY: the routine only looks at the addresses.
        addresses.map(|address| unsafe { (self.alignment_of)(address) })
    }
}

/// Opens and initialises the library of threads next to the library in `fftw`, and returns the routine that sets the
/// number of threads of plans.
fn open_threads(fftw: &Path, dtype: DType) -> Result<unsafe extern "C" fn(c_int), String> {
    let file = fftw.with_file_name(match dtype {
        DType::F64 => "libfftw3_threads.so.3",
        _ => "libfftw3f_threads.so.3",
    });
    let opened = || {
        // SAFETY: what is loaded is FFTW, which has no initialisers; types are those of its header. Nobody else is in the
        // planner; the callback is one for any plan, and takes no data.
        unsafe {
            let mut library = SharedLibrary::open(&file)?;
            library.own_file_defines(&name(dtype, "init_threads"));
            let init: unsafe extern "C" fn() -> c_int = library.symbol(&name(dtype, "init_threads"))?;
            let set_callback: unsafe extern "C" fn(ParallelLoop, *mut c_void) =
                library.symbol(&name(dtype, "threads_set_callback"))?;
            let plan_with_nthreads = library.symbol(&name(dtype, "plan_with_nthreads"))?;
            library.keep();
            let _alone = planner();
            if init() == 0 {
                return Err("it cannot start threads".to_owned());
            }
            set_callback(on_rayon, std::ptr::null_mut());
            Ok(plan_with_nthreads)
        }
    };
    opened().map_err(|problem| {
        format!("{problem} (FFTW's threads, of version 3.3.9 or later: {})", file.display())
    })
}

/// Runs `work` on each of `jobs` elements of `size` bytes.
unsafe extern "C" fn on_rayon(work: LoopBody, data: *mut c_char, size: usize, jobs: c_int, _: *mut c_void) {
    let first = data.expose_provenance();
    (0..usize::try_from(jobs).unwrap_or(0)).into_par_iter().with_max_len(1).for_each(|job| {
        let data = std::ptr::with_exposed_provenance_mut(first + job * size);
        // SAFETY: FFTW asks for its function to be called with each of its elements once, on any threads.
        unsafe { work(data) };
    });
}

/// Loads the libraries and describes them for `doctor`.
pub(crate) fn findings() -> Vec<Finding> {
    DType::REAL.iter().map(|&dtype| finding(dtype, Fftw::of(dtype))).collect()
}

/// Describes the loaded libraries for reports.
pub(crate) fn loaded() -> Vec<Finding> {
    let loaded = DType::REAL.iter().filter_map(|&dtype| Some((dtype, storage(dtype).get()?.as_ref().ok()?)));
    loaded.map(|(dtype, fftw)| finding(dtype, Ok(fftw))).collect()
}

fn finding(dtype: DType, fftw: Result<&Fftw, Unavailable>) -> Finding {
    let found = fftw.as_ref().map(|fftw| (&*fftw.path, &*fftw.version));
    crate::finding(format!("{NAME} {}", dtype.words()), vec![SERVES.to_owned()], found)
}

/// Returns the storage of the library for an element type.
fn storage(dtype: DType) -> &'static OnceLock<Result<Fftw, Unavailable>> {
    static SINGLE: OnceLock<Result<Fftw, Unavailable>> = OnceLock::new();
    static DOUBLE: OnceLock<Result<Fftw, Unavailable>> = OnceLock::new();
    match dtype {
        DType::F64 => &DOUBLE,
        _ => &SINGLE,
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
        DType::F64 => "sudo apt-get install libfftw3-double3 (or: conda install fftw)",
        _ => "sudo apt-get install libfftw3-single3 (or: conda install fftw)",
    };
    Err(Unavailable::new(unusable.unwrap_or_else(none), fix))
}

/// Returns the candidate files, nearest to the user first: active environments before the system.
fn files(machine: &InstallFolders, dtype: DType) -> Vec<PathBuf> {
    let name = match dtype {
        DType::F64 => "libfftw3.so.3",
        _ => "libfftw3f.so.3",
    };
    let prefixes = machine.python_prefixes();
    let environments = prefixes.iter().flat_map(|prefix| ["lib", "lib64"].map(|folder| prefix.join(folder)));
    let files = environments.chain(machine.loader_folders()).map(|folder| folder.join(name));
    files.filter_map(|file| file.canonicalize().ok()).collect()
}

fn name(dtype: DType, symbol: &str) -> String {
    match dtype {
        DType::F64 => format!("fftw_{symbol}"),
        _ => format!("fftwf_{symbol}"),
    }
}

/// A plan of the transforms of real arrays to the leading half of the columns of their spectra, or of complex arrays.
pub(crate) struct FftwTransform<T> {
    fftw: &'static Fftw,
    elements: usize,
    plan: FftwPlan,
    /// Alignments of the input and the output that the plan is for; any, if `None`.
    alignments: Option<[c_int; 2]>,
    element: PhantomData<fn(T)>,
}

// SAFETY: a plan is only read by executions and destroyed by its owner alone.
unsafe impl<T> Send for FftwTransform<T> {}

impl<T: ArrayElement> FftwTransform<T> {
    /// Plans transforms on `threads` threads for a copy of `input`, by timing them into `output`. Fails if a library is missing, or refuses
    /// an extent. Panics if an array has another number of elements.
    pub(crate) fn new(
        transforms: &Transforms,
        threads: usize,
        input: &[T],
        output: &mut [Complex<T::Part>],
    ) -> CellResult<Self> {
        let elements = transforms.elements();
        assert_eq!((input.len(), output.len()), (elements, elements));
        let fftw = Fftw::of(T::DTYPE.working())?;
        let refused = || CellError::Failed(format!("FFTW makes no plan for {transforms:?}"));
        let int = |number: usize| c_int::try_from(number).map_err(|_| refused());
        let sides = transforms.sides.iter().map(|side| int(*side)).collect::<CellResult<Vec<c_int>>>()?;
        let (rank, batch) = (int(sides.len())?, int(transforms.batch)?);
        let (distance, threads) = (int(transforms.points())?, int(threads)?);
        let mut copy = input.to_vec();
        let planned = fftw.alignments(&copy, output);
        let alignments = (planned == fftw.alignments(input, output)).then_some(planned);
        let (source, target) = (copy.as_mut_ptr().cast(), output.as_mut_ptr().cast::<c_void>());
        let flags = if alignments.is_some() { MEASURE } else { MEASURE | UNALIGNED };
        // SAFETY: the planner works in arrays of as many elements of the library's type as the sizes and their number say, with rows of one
        // length in both, and nobody else is in it.
        let plan = unsafe {
            let (_alone, sides) = (planner(), sides.as_ptr());
            (fftw.plan_with_nthreads)(threads);
            (fftw.set_timelimit)(PLAN_S);
            if T::DTYPE.is_complex() {
                (fftw.plan_many_dft)(
                    rank, sides, batch, source, sides, 1, distance, target, sides, 1, distance, FORWARD,
                    flags,
                )
            } else {
                (fftw.plan_many_dft_r2c)(
                    rank, sides, batch, source, sides, 1, distance, target, sides, 1, distance, flags,
                )
            }
        };
        if plan.is_null() {
            return Err(refused());
        }
        Ok(FftwTransform { fftw, elements, plan, alignments, element: PhantomData })
    }

    /// Returns whether the plan is for arrays with the alignments of these.
    pub(crate) fn is_for(&self, input: &[T], output: &[Complex<T::Part>]) -> bool {
        self.alignments.is_none_or(|planned| planned == self.fftw.alignments(input, output))
    }

    /// Writes every row of `output`, of real arrays the leading half of the columns up to the middle one. Rows are as long as those of `input`.
    /// Panics if one of them has another number of elements, or the plan [is not for](FftwTransform::is_for) them.
    pub(crate) fn transform(&self, input: &[T], output: &mut [Complex<T::Part>]) {
        assert_eq!((input.len(), output.len()), (self.elements, self.elements));
        assert!(self.is_for(input, output), "arrays were moved");
        let (source, target) = (input.as_ptr().cast_mut().cast(), output.as_mut_ptr().cast::<c_void>());
        // SAFETY: the plan is for arrays of as many elements of this type, with these alignments; it only reads the input.
        unsafe {
            let execute =
                if T::DTYPE.is_complex() { self.fftw.execute_dft } else { self.fftw.execute_dft_r2c };
            execute(self.plan, source, target);
        }
    }
}

impl<T> Drop for FftwTransform<T> {
    fn drop(&mut self) {
        let _alone = planner();
        // SAFETY: the plan was made, nothing executes it any more, and the lock keeps other threads out of the planner.
        unsafe { (self.fftw.destroy_plan)(self.plan) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_come_before_the_system_and_a_missing_library_has_a_fix() {
        let root = tempfile::tempdir().unwrap();
        let conda = root.path().join("conda").into_os_string();
        let variable = |name: &str| (name == "CONDA_PREFIX").then(|| conda.clone());
        for file in ["usr/lib64/libfftw3.so.3", "conda/lib/libfftw3.so.3"] {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        }
        let machine = InstallFolders::below(root.path(), &variable);
        let at = |below: &str| root.path().canonicalize().unwrap().join(below);
        let double = files(&machine, DType::F64);
        assert_eq!(double[0], at("conda/lib/libfftw3.so.3"));
        assert!(double[1..].iter().all(|file| *file == at("usr/lib64/libfftw3.so.3")) && double.len() > 1);
        let broken = load(&machine, DType::F64).err().unwrap();
        assert!(broken.reason.contains("conda/lib/libfftw3.so.3 cannot be used: "), "{}", broken.reason);
        let reported = finding(DType::F32, load(&machine, DType::F32).as_ref().map_err(Clone::clone));
        assert_eq!((reported.name.as_str(), reported.path), ("FFTW float32", None));
        assert_eq!(reported.problem.unwrap(), "no FFTW library for float32 was found");
        assert!(reported.fix.unwrap().contains("libfftw3-single3"));
    }

    #[test]
    fn a_plan_for_vectors_is_not_for_arrays_at_any_address() {
        let (side, zero) = (8, Complex::new(0.0f32, 0.0));
        let (input, mut output) = (vec![1.0f32; side * side + 1], vec![zero; side * side]);
        let Ok(plan) = FftwTransform::new(&Transforms::square(side), 1, &input[1..], &mut output) else {
            return;
        };
        plan.transform(&input[1..], &mut output);
        assert_eq!(output[0].re, 64.0);
        let Ok(plan) = FftwTransform::new(&Transforms::square(side), 1, &input[..64], &mut output) else {
            return;
        };
        assert!(
            plan.is_for(&input[..64], &output)
                && (!plan.is_for(&input[1..], &output) || plan.alignments.is_none())
        );
    }
}
