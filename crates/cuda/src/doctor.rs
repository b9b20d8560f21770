//! The CUDA part of `gpubench doctor`: the driver, the devices and each library, with the variants that need it.

use gpubench_backend::{Finding, Options};
use gpubench_report::error::Unavailable;

use super::auto::{self, AUTO, Need};
use super::cache::KernelCache;
use super::device;
use super::ffi::driver as ffi;
use super::library::Library;
use super::loader::{self, Loader};
use super::ops::Kernel;
use super::registry::kernels;
use super::startup;

/// Start of the names of findings about devices.
pub const DEVICE: &str = "CUDA device";

/// Returns the cases in which a variant needs `library`.
fn need_of(kernel: &Kernel, library: Library) -> Need {
    match kernel.variant.name.as_ref() {
        // Every timed variant needs kernels that NVRTC compiles.
        _ if library == Library::Nvrtc => Need::Always,
        AUTO => auto::need(&kernel.variant.op, library),
        _ if kernel.libraries.contains(&library) => Need::Always,
        _ => Need::Never,
    }
}

/// Returns the variants that need `library`, or all variants for `None`, as `op/variant`; `auto` as `op/auto (some cases)`
/// where it needs the library only for cases that no other variant can do.
fn serves(library: Option<Library>) -> Vec<String> {
    let serves = |kernel: &Kernel| {
        let note = match library.map_or(Need::Always, |library| need_of(kernel, library)) {
            Need::Never => return None,
            Need::SomeCases => " (some cases)",
            Need::Always => "",
        };
        Some(format!("{}/{}{note}", kernel.variant.op, kernel.variant.name))
    };
    kernels().filter_map(serves).collect()
}

/// Looks for everything that the backend could use. Opens no context.
pub(crate) fn findings(options: &Options) -> Vec<Finding> {
    // Without a driver there is no release to match, so the fix installs the newest toolkit.
    const NEWEST: u32 = 13;
    let mut findings = Vec::new();
    let mut major = NEWEST;
    match loader::driver() {
        Ok(driver) => {
            let cuda = ffi::version().ok();
            major = cuda.and_then(|version| u32::try_from(version / 1000).ok()).unwrap_or(NEWEST);
            let module = device::kernel_module_version().unwrap_or_else(|| "unknown version".into());
            let release = cuda.map_or_else(|| "?".into(), device::version_text);
            findings.push(Finding {
                name: "NVIDIA driver".into(),
                path: driver.path.map(|path| path.display().to_string()),
                version: Some(format!("{module}, CUDA {release}")),
                serves: serves(None),
                problem: None,
                fix: None,
            });
            findings.extend(devices(options));
        }
        Err(missing) => findings.push(missing_finding("NVIDIA driver", missing, serves(None))),
    }
    let mut loader = Loader::new(major);
    findings.extend(Library::ALL.map(|library| match loader.require(library) {
        Ok(finding) => Finding { serves: serves(Some(library)), ..finding.clone() },
        Err(missing) => missing_finding(library.title(), missing, serves(Some(library))),
    }));
    findings.push(kernel_cache(&KernelCache::of_user(&|name| std::env::var_os(name))));
    findings
}

/// Reports the folder of compiled kernels. With it, only the first run on a machine waits for the compiler.
fn kernel_cache(cache: &KernelCache) -> Finding {
    let found = |path| Finding { name: "kernel cache".into(), path, ..Finding::default() };
    let missing = |reason: String, fix: &str| Finding {
        problem: Some(format!("{reason}, so every run compiles the kernels again")),
        fix: Some(fix.into()),
        ..found(None)
    };
    match (cache.folder(), cache.check()) {
        (None, _) => missing(
            "there is no folder for compiled kernels".into(),
            "set HOME or XDG_CACHE_HOME, and unset GPUBENCH_KERNEL_CACHE if it is off",
        ),
        (Some(folder), Err(error)) => missing(
            format!("{} cannot be used: {error}", folder.display()),
            "set XDG_CACHE_HOME to a folder that is yours alone",
        ),
        (Some(folder), Ok(())) => found(Some(folder.display().to_string())),
    }
}

fn missing_finding(name: &str, missing: Unavailable, serves: Vec<String>) -> Finding {
    let Unavailable { reason, fix } = missing;
    Finding { name: name.into(), path: None, version: None, serves, problem: Some(reason), fix }
}

/// Returns one entry per device, or one entry that says why the chosen device cannot be used.
fn devices(options: &Options) -> Vec<Finding> {
    let chosen = match startup::choose_device(options.device) {
        Ok(chosen) => chosen,
        Err(missing) => return vec![missing_finding(DEVICE, missing, serves(None))],
    };
    let all = startup::devices().unwrap_or_default();
    let entry = |(ordinal, &device): (usize, &_)| Finding {
        name: format!("{DEVICE} {ordinal}: {}", device::name(device)),
        path: ffi::pci_bus_id(device).ok(),
        version: Some(device::summary(device)),
        serves: if ordinal == chosen as usize { serves(None) } else { vec![] },
        problem: None,
        fix: None,
    };
    all.iter().enumerate().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_costs_the_variants_that_need_it() {
        assert!(serves(Some(Library::Cublas)).contains(&"matmul/cublas".to_owned()));
        for (library, variant) in [
            (Library::Cublas, "matmul/auto (some cases)"),
            (Library::Nvrtc, "matmul/auto"),
            (Library::Cufft, "fft/auto (some cases)"),
            (Library::Cusolver, "solve/auto (some cases)"),
            (Library::Cusolver, "svd/auto (some cases)"),
            (Library::Cusparse, "spgemm/auto (some cases)"),
            (Library::Nvrtc, "fft/hermitian"),
            (Library::Nvrtc, "solve/cholesky"),
            (Library::Nvrtc, "spgemm/gustavson"),
        ] {
            assert!(serves(Some(library)).contains(&variant.to_owned()), "{variant}");
        }
        assert!(!serves(Some(Library::Cufft)).contains(&"fft/hermitian".to_owned()));
        // `auto` does these without the library: by vector and by gesvdp.
        for (library, op) in [(Library::Cusparse, "spmv"), (Library::Cublas, "svd")] {
            let named = serves(Some(library));
            assert!(!named.iter().any(|name| name.starts_with(&format!("{op}/auto"))), "{named:?}");
        }
        assert_eq!(serves(None), serves(Some(Library::Nvrtc)));
        assert!(Library::ALL.into_iter().all(|library| !serves(Some(library)).is_empty()));
    }

    #[test]
    fn missing_libraries_are_listed_with_a_fix() {
        for finding in findings(&Options::default()) {
            assert_eq!(finding.problem.is_some(), finding.fix.is_some(), "{finding:?}");
        }
    }
}
