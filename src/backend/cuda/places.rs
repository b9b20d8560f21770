//! Where CUDA libraries may lie, in the order in which they are looked for. Opens none of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::library::cuda_major;

/// One installation: libraries are taken from as few of these as possible, never mixed without need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Folders of the installation that hold libraries.
    pub folders: Vec<PathBuf>,
}

impl Place {
    /// The file of that stem for the newest CUDA release that is not above `max_major`.
    pub fn file(&self, stem: &str, max_major: u32) -> Option<PathBuf> {
        let prefix = format!("lib{stem}.so");
        let mut best: Option<(u32, usize, PathBuf)> = None;
        for entry in self.folders.iter().flat_map(|folder| list(folder)) {
            let Some(name) = entry.file_name().and_then(|name| name.to_str()) else { continue };
            let Some(version) = name.strip_prefix(&prefix) else { continue };
            // A name without a version may be a stub or a linker script; the versioned one lies beside it.
            let Some(soname) = version.strip_prefix('.').and_then(|v| v.split('.').next()?.parse().ok())
            else {
                continue;
            };
            let major = cuda_major(stem, soname).unwrap_or(0);
            if major > max_major {
                continue;
            }
            // Newest release first, then the shortest name: the soname rather than the full version.
            let better =
                best.as_ref().is_none_or(|(m, length, _)| major > *m || major == *m && name.len() < *length);
            if better {
                best = Some((major, name.len(), entry));
            }
        }
        best.map(|(_, _, path)| path)
    }
}

/// Folders named by the user in `GPUBENCH_CUDA_LIB_DIR`; they come before everything else.
pub fn named(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<Place> {
    let folders: Vec<PathBuf> = std::env::split_paths(&variable("GPUBENCH_CUDA_LIB_DIR")?).collect();
    (!folders.is_empty()).then_some(Place { folders })
}

/// Installations to search when the dynamic linker finds nothing by name; those that exist, best first.
///
/// `root` is the root of the file system, `here` the current folder.
pub fn known(variable: &dyn Fn(&str) -> Option<OsString>, root: &Path, here: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    for home in ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|name| folder(name)) {
        places.push(toolkit(&home));
    }
    let local = root.join("usr/local");
    places.push(toolkit(&local.join("cuda")));
    let mut versioned = matching(&local, "cuda-1");
    versioned.reverse();
    places.extend(versioned.iter().map(|home| toolkit(home)));

    let mut prefixes: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| folder(name)).collect();
    prefixes.push(here.join(".venv"));
    if let Some(conda) = folder("CONDA_PREFIX") {
        places.push(toolkit(&conda));
    }
    prefixes.extend([root.join("usr"), local, root.join("opt/conda")]);
    if let Some(home) = folder("HOME") {
        prefixes.push(home.join(".local"));
        let pyenv = folder("PYENV_ROOT").unwrap_or_else(|| home.join(".pyenv"));
        prefixes.extend(list(&pyenv.join("versions")));
    }
    places.extend(prefixes.iter().flat_map(|prefix| wheels(prefix)));
    places.retain(|place| !place.folders.is_empty());
    let mut unique: Vec<Place> = Vec::new();
    for place in places {
        if !unique.contains(&place) {
            unique.push(place);
        }
    }
    unique
}

/// Folders in which a driver may lie that the dynamic linker does not search.
pub fn driver_folders() -> Place {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib/wsl/lib",
        "/run/opengl-driver/lib",
        "/usr/local/nvidia/lib64",
    ];
    Place { folders: folders.iter().map(PathBuf::from).collect() }
}

/// A toolkit as NVIDIA's installers and conda lay it out.
fn toolkit(home: &Path) -> Place {
    let folders = ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"];
    Place { folders: folders.iter().map(|name| home.join(name)).filter(|path| path.is_dir()).collect() }
}

/// What pip installed under a prefix: CUDA 13 in one folder, CUDA 12 in one folder a library.
fn wheels(prefix: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    for python in matching(&prefix.join("lib"), "python3") {
        for packages in ["site-packages", "dist-packages"] {
            let nvidia = python.join(packages).join("nvidia");
            let (thirteen, others): (Vec<PathBuf>, Vec<PathBuf>) = list(&nvidia)
                .into_iter()
                .map(|package| package.join("lib"))
                .filter(|path| path.is_dir())
                .partition(|path| path.ends_with("cu13/lib"));
            places.extend([Place { folders: thirteen }, Place { folders: others }]);
        }
    }
    places
}

fn matching(folder: &Path, start: &str) -> Vec<PathBuf> {
    let named =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
    list(folder).into_iter().filter(named).collect()
}

/// The entries of a folder in order of their names; none if it cannot be read.
fn list(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}
