//! Finds and loads the driver and the toolkit's libraries before the first call into them.
//!
//! The bindings panic when a library or a symbol is missing; the functions here return a reason and a fix instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpubench_backend::Finding;
use gpubench_backend::host::install_folders::InstallFolders;
use gpubench_report::error::Unavailable;

use super::ffi::dl;
use super::installations::{self, Installation};
use super::library::{Library, cuda_major};

const DRIVER_FIX: &str = "install the NVIDIA driver, or run without cuda: --backends cpu";

/// Driver functions that this backend calls. The oldest driver that has them all is CUDA 12.0's.
#[rustfmt::skip]
const DRIVER_SYMBOLS: &[&str] = &[
    "cuInit", "cuDriverGetVersion", "cuDeviceGet", "cuDeviceGetCount", "cuDeviceGetName",
    "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDeviceGetPCIBusId", "cuDeviceGetDefaultMemPool",
    "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxGetCurrent", "cuCtxSetCurrent",
    "cuCtxSynchronize", "cuStreamCreate", "cuStreamSynchronize", "cuStreamDestroy_v2",
    "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphUpload",
    "cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy", "cuEventCreate", "cuEventRecord",
    "cuEventSynchronize", "cuEventDestroy_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemAllocAsync",
    "cuMemFreeAsync", "cuMemHostAlloc", "cuMemHostGetDevicePointer_v2", "cuMemFreeHost",
    "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2", "cuMemsetD8Async",
    "cuMemGetInfo_v2", "cuMemPoolGetAttribute", "cuMemPoolSetAttribute", "cuMemPoolTrimTo",
    "cuModuleLoadData", "cuModuleGetFunction", "cuModuleUnload", "cuFuncGetAttribute", "cuFuncSetAttribute",
    "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cuLaunchKernel", "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel", "cuStreamQuery", "cuEventElapsedTime",
];

/// The NVIDIA driver's library, loaded and with all the symbols needed.
pub(crate) struct Driver {
    /// Handle for looking up symbols that the bindings lack.
    pub library: libloading::Library,
    pub path: Option<PathBuf>,
}

/// Loads the driver and checks its symbols.
pub(crate) fn driver() -> Result<Driver, Unavailable> {
    let absent = || Unavailable::new("this machine has no CUDA driver (libcuda.so.1)", DRIVER_FIX);
    let library = match open_by_stem("cuda") {
        Some(library) => library,
        None => {
            if let Some(problem) = damage("cuda") {
                return Err(damaged(&problem));
            }
            let folders = installations::driver_folders();
            let path = folders.file("cuda", u32::MAX).ok_or_else(absent)?;
            std::mem::forget(dl::open(&path).map_err(|problem| damaged(&problem))?);
            open_by_stem("cuda").ok_or_else(absent)?
        }
    };
    if let Some(missing) = DRIVER_SYMBOLS.iter().find(|symbol| !dl::has_symbol(&library, symbol)) {
        let reason = format!("the NVIDIA driver is too old: it has no {missing}");
        return Err(Unavailable::new(reason, "update the NVIDIA driver to one for CUDA 12.0 or newer"));
    }
    let path = dl::path_of(&library, "cuInit");
    Ok(Driver { library, path })
}

/// Opens the library of that stem by the names that the bindings will try.
pub(super) fn open_by_stem(stem: &str) -> Option<libloading::Library> {
    cudarc::get_lib_name_candidates(stem).iter().find_map(|name| dl::open(name).ok())
}

/// Returns the dynamic linker's message about a library of that stem that is there and cannot be loaded.
fn damage(stem: &str) -> Option<String> {
    let problems = cudarc::get_lib_name_candidates(stem).into_iter().filter_map(|name| dl::open(name).err());
    problems.into_iter().find(|problem| !problem.contains("No such file"))
}

fn damaged(problem: &str) -> Unavailable {
    let reason = format!("the library of the NVIDIA driver (libcuda.so.1) cannot be loaded: {problem}");
    Unavailable::new(reason, "reinstall the NVIDIA driver, or run without cuda: --backends cpu")
}

/// Loads each library once, on demand.
pub(crate) struct Loader {
    /// CUDA release of the driver. Libraries of newer releases are rejected.
    major: u32,
    /// The installation that the last library came from; the next search starts there.
    preferred: Option<Installation>,
    found: BTreeMap<Library, Result<Finding, Unavailable>>,
}

impl Loader {
    pub(crate) fn new(major: u32) -> Self {
        Loader { major, preferred: None, found: BTreeMap::new() }
    }

    /// Loads the library, or returns the reason and the fix if that fails.
    pub(crate) fn require(&mut self, library: Library) -> Result<&Finding, Unavailable> {
        if !self.found.contains_key(&library) {
            let result = self.load(library);
            self.found.insert(library, result);
        }
        self.found[&library].as_ref().map_err(Clone::clone)
    }

    pub(crate) fn loaded(&self) -> Vec<Finding> {
        self.found.values().filter_map(|found| found.as_ref().ok().cloned()).collect()
    }

    /// Returns the files that decide which library is loaded: the dynamic linker's cache and the matching file of
    /// every installation. Loads nothing.
    pub(crate) fn candidates(&self, library: Library) -> Vec<PathBuf> {
        let machine = InstallFolders::here();
        let installations =
            installations::chosen(&machine).into_iter().chain(installations::installed(&machine));
        let files = installations.filter_map(|installation| installation.file(library.stem(), self.major));
        std::iter::once(PathBuf::from("/etc/ld.so.cache")).chain(files).collect()
    }

    /// Loads the first usable file: of the chosen installations, of those that the dynamic linker knows, and of the others. If
    /// there is none, the error describes the first file found.
    fn load(&mut self, library: Library) -> Result<Finding, Unavailable> {
        let machine = InstallFolders::here();
        let mut first = None;
        // One is enough: a second copy of a library would be loaded besides the first.
        installations::chosen(&machine)
            .iter()
            .any(|installation| self.preload(library, installation, &mut first));
        if let Some(finding) = self.open_by_name(library, &mut first) {
            return Ok(finding);
        }
        let others = self.preferred.clone().into_iter().chain(installations::installed(&machine));
        for installation in others {
            if self.preload(library, &installation, &mut first)
                && let Some(finding) = self.open_by_name(library, &mut first)
            {
                self.preferred = Some(installation);
                return Ok(finding);
            }
        }
        Err(first.unwrap_or_else(|| {
            let reason = match damage(library.stem()) {
                Some(problem) => format!("{} cannot be loaded: {problem}", library.title()),
                None => format!("{} was not found on this machine", library.title()),
            };
            Unavailable::new(reason, library.fix(self.major))
        }))
    }

    /// Loads the library by path, dependencies first. A later load by name then returns the same library. Returns whether it is
    /// usable; if not, it is unloaded, and `first` describes it unless an earlier one was unusable too.
    fn preload(
        &self,
        library: Library,
        installation: &Installation,
        first: &mut Option<Unavailable>,
    ) -> bool {
        let Some(path) = installation.file(library.stem(), self.major) else { return false };
        let (_, dependencies) = library.load_order().split_last().unwrap_or((&"", &[]));
        for stem in dependencies {
            // A dependency may be installed elsewhere or be linked in, so only the library itself must load.
            std::mem::forget(installation.file(stem, self.major).and_then(|path| dl::open(path).ok()));
        }
        let loaded = dl::open(&path).map_err(|problem| {
            let reason = format!("{} cannot be loaded: {problem}", library.title());
            Unavailable::new(reason, library.fix(self.major))
        });
        let usable = loaded.and_then(|handle| {
            self.inspect(library, &handle, Some(path))?;
            std::mem::forget(handle);
            Ok(())
        });
        usable.map_err(|problem| first.get_or_insert(problem)).is_ok()
    }

    /// Loads the library by the names that the bindings will try. If it is not usable, it is unloaded.
    fn open_by_name(&self, library: Library, first: &mut Option<Unavailable>) -> Option<Finding> {
        let handle = open_by_stem(library.stem())?;
        let path = dl::path_of(&handle, library.symbols()[0]);
        if library == Library::Nvrtc {
            self.load_builtins(path.as_deref());
        }
        let finding = self.inspect(library, &handle, path).map_err(|problem| first.get_or_insert(problem));
        // Never unloaded, because the bindings keep function pointers into it.
        finding.inspect(|_| std::mem::forget(handle)).ok()
    }

    /// NVRTC looks for its builtins by name only, but they are in its own folder.
    fn load_builtins(&self, nvrtc: Option<&Path>) {
        if let Some(folder) = nvrtc.and_then(Path::parent) {
            let installation = Installation { folders: vec![folder.to_path_buf()] };
            std::mem::forget(
                installation.file("nvrtc-builtins", self.major).and_then(|path| dl::open(path).ok()),
            );
        }
    }

    fn inspect(
        &self,
        library: Library,
        handle: &libloading::Library,
        path: Option<PathBuf>,
    ) -> Result<Finding, Unavailable> {
        let shown =
            path.as_ref().map_or_else(|| library.title().to_owned(), |path| path.display().to_string());
        if let Some(missing) = library.symbols().iter().find(|symbol| !dl::has_symbol(handle, symbol)) {
            return Err(Unavailable::new(
                format!("{shown} is too old: it has no {missing}"),
                library.fix(self.major),
            ));
        }
        let parts: Option<Vec<i32>> = match library {
            Library::Nvrtc => dl::nvrtc_version(handle).map(Vec::from),
            _ => dl::version_by_property(handle, &format!("{}GetProperty", library.stem())).map(Vec::from),
        };
        let numbers: Vec<u32> = parts.iter().flatten().map_while(|part| u32::try_from(*part).ok()).collect();
        if let Some(major) = cuda_major(library.stem(), &numbers)
            && major > self.major
        {
            let reason =
                format!("{shown} is for CUDA {major}, but the driver supports only CUDA {}", self.major);
            let fix = format!(
                "update the NVIDIA driver, or put a CUDA {} library first in LD_LIBRARY_PATH",
                self.major
            );
            return Err(Unavailable::new(reason, fix));
        }
        Ok(Finding {
            name: library.title().to_owned(),
            path: path.map(|path| path.display().to_string()),
            version: parts.map(|p| p.iter().map(i32::to_string).collect::<Vec<_>>().join(".")),
            ..Finding::default()
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_says_what_to_do() {
        let Err(missing) = driver() else { return };
        assert!(missing.reason.contains("libcuda.so.1"), "{}", missing.reason);
        assert!(missing.fix.is_some_and(|fix| fix.contains("--backends cpu")));
    }

    #[test]
    fn a_library_that_is_not_there_is_not_called_damaged() {
        assert!(dl::open("libgpubench-none.so.1").unwrap_err().contains("No such file"));
        assert_eq!(damage("gpubench-none"), None);
    }
}
