//! The CUDA part of `gpubench doctor`: the driver, the devices and each library, with the variants that need it.

use gpubench_backend::{Finding, Options};

use super::cache::KernelCache;
use super::catalogue::Catalogue;
use super::ffi::driver as ffi;
use super::loader::{self, Loader};
use crate::{Library, Unavailable, device, startup};

/// Start of the names of findings about devices.
pub const DEVICE: &str = "CUDA device";

impl Catalogue {
    /// Looks for everything that the backend could use. Opens no context.
    pub fn findings(&self, options: &Options) -> Vec<Finding> {
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
                    serves: self.serves(None),
                    ..Finding::default()
                });
                findings.extend(self.devices(options));
            }
            Err(missing) => findings.push(missing_finding("NVIDIA driver", missing, self.serves(None))),
        }
        let mut loader = Loader::new(major);
        findings.extend(Library::ALL.map(|library| match loader.require(library) {
            Ok(finding) => Finding { serves: self.serves(Some(library)), ..finding.clone() },
            Err(missing) => missing_finding(library.title(), missing, self.serves(Some(library))),
        }));
        findings.push(kernel_cache(&KernelCache::of_user(&|name| std::env::var_os(name))));
        findings
    }

    /// Returns one entry per device, or one entry that says why the chosen device cannot be used.
    fn devices(&self, options: &Options) -> Vec<Finding> {
        let chosen = match startup::choose_device(options.device) {
            Ok(chosen) => chosen,
            Err(missing) => return vec![missing_finding(DEVICE, missing, self.serves(None))],
        };
        let all = startup::devices().unwrap_or_default();
        let entry = |(ordinal, &device): (usize, &_)| Finding {
            name: format!("{DEVICE} {ordinal}: {}", device::name(device)),
            path: ffi::pci_bus_id(device).ok(),
            version: Some(device::summary(device)),
            serves: if ordinal == chosen as usize { self.serves(None) } else { vec![] },
            ..Finding::default()
        };
        all.iter().enumerate().map(entry).collect()
    }
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
    Finding { name: name.into(), serves, problem: Some(reason), fix, ..Finding::default() }
}
