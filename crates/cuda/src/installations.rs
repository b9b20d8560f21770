//! Lists the folders that may contain CUDA libraries, in the order in which they are searched. Opens no library.

use std::path::{Path, PathBuf};

use gpubench_backend::host::install_folders::{InstallFolders, entries, package_folders};

use super::library::cuda_major;

/// One installation of CUDA. The loader takes all libraries from one installation if it can, to avoid mixing
/// versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installation {
    /// Folders of the installation that hold libraries.
    pub folders: Vec<PathBuf>,
}

impl Installation {
    /// Returns the file of that stem for the newest CUDA release up to `max_major`.
    pub(crate) fn file(&self, stem: &str, max_major: u32) -> Option<PathBuf> {
        let mut best: Option<(u32, usize, PathBuf)> = None;
        for entry in self.folders.iter().flat_map(|folder| entries(folder, "")) {
            let Some(soname) = version_in_name(&entry, stem) else { continue };
            let Some(name) = entry.file_name().and_then(|name| name.to_str()) else { continue };
            let major = release_of(&entry, stem, &soname[..1]).unwrap_or(0);
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

/// Returns the version in the name of a library file of that stem. A name without a version may be a stub or a linker script; the
/// versioned file is next to it.
fn version_in_name(file: &Path, stem: &str) -> Option<Vec<u32>> {
    let version = file.file_name()?.to_str()?.strip_prefix(&format!("lib{stem}.so."))?;
    let numbers: Vec<u32> = version.split('.').map_while(|number| number.parse().ok()).collect();
    (!numbers.is_empty()).then_some(numbers)
}

/// Returns the CUDA release of a library file with this soname. Where the soname is that of two releases, the name of the file
/// behind the links may have the whole version, and pip's folder for CUDA 13 is called `cu13`.
fn release_of(file: &Path, stem: &str, soname: &[u32]) -> Option<u32> {
    cuda_major(stem, soname)
        .or_else(|| cuda_major(stem, &version_in_name(&file.canonicalize().ok()?, stem)?))
        .or_else(|| file.parent()?.ends_with("cu13/lib").then_some(13))
}

/// Returns the installations that come before the libraries known to the dynamic linker, best first: the folders in
/// `GPUBENCH_CUDA_LIB_DIR`, and the packages in the virtual environment that gpubench itself is installed in.
pub(crate) fn chosen(machine: &InstallFolders) -> Vec<Installation> {
    let named = machine.folder("GPUBENCH_CUDA_LIB_DIR");
    let named = named.map(|folders| Installation { folders: std::env::split_paths(&folders).collect() });
    let own = machine.own_environment().into_iter().flat_map(|environment| wheels(&environment));
    distinct(named.into_iter().chain(own))
}

/// Returns the existing installations to search when the dynamic linker finds nothing by name, best first.
pub(crate) fn installed(machine: &InstallFolders) -> Vec<Installation> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|name| machine.folder(name));
    let local = machine.below_root("usr/local");
    let versioned = entries(&local, "cuda-1").into_iter().rev();
    let conda = machine.folder("CONDA_PREFIX");
    let toolkits = homes.chain([local.join("cuda")]).chain(versioned).chain(conda);
    let prefixes = machine.python_prefixes();
    distinct(toolkits.map(|home| toolkit(&home)).chain(prefixes.iter().flat_map(|prefix| wheels(prefix))))
}

/// Returns the installations that have folders, each once.
fn distinct(installations: impl Iterator<Item = Installation>) -> Vec<Installation> {
    let mut distinct: Vec<Installation> = Vec::new();
    for installation in installations {
        if !installation.folders.is_empty() && !distinct.contains(&installation) {
            distinct.push(installation);
        }
    }
    distinct
}

/// Returns folders that can contain a driver and that the dynamic linker does not search.
pub(crate) fn driver_folders() -> Installation {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib/wsl/lib",
        "/run/opengl-driver/lib",
        "/usr/local/nvidia/lib64",
    ];
    Installation { folders: folders.iter().map(PathBuf::from).collect() }
}

/// Returns a toolkit in the layout of NVIDIA's installers and of conda.
fn toolkit(home: &Path) -> Installation {
    let folders = ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"];
    Installation {
        folders: folders.iter().map(|name| home.join(name)).filter(|path| path.is_dir()).collect(),
    }
}

/// Returns pip's packages under a prefix: CUDA 13 uses one folder, CUDA 12 one folder per library.
fn wheels(prefix: &Path) -> Vec<Installation> {
    let of_packages = |packages: PathBuf| {
        let (thirteen, others): (Vec<PathBuf>, Vec<PathBuf>) = entries(&packages.join("nvidia"), "")
            .into_iter()
            .map(|package| package.join("lib"))
            .filter(|path| path.is_dir())
            .partition(|path| path.ends_with("cu13/lib"));
        [Installation { folders: thirteen }, Installation { folders: others }]
    };
    package_folders(prefix).into_iter().flat_map(of_packages).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, b"").unwrap();
    }

    fn environment(pairs: &[(&'static str, PathBuf)]) -> impl Fn(&str) -> Option<OsString> + use<> {
        let pairs = pairs.to_vec();
        move |name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone().into_os_string())
        }
    }

    fn first_folders(installations: &[Installation]) -> Vec<&Path> {
        installations.iter().map(|installation| installation.folders[0].as_path()).collect()
    }

    #[test]
    fn toolkits_come_before_wheels_and_newer_ones_first() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for path in [
            "usr/local/cuda-12.4/lib64/libcublas.so.12",
            "usr/local/cuda-13.0/lib64/libcublas.so.13",
            "opt/mine/lib64/libcublas.so.13",
            "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13",
            "venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12",
            "venv/lib/python3.12/site-packages/nvidia/cufft/lib/libcufft.so.11",
            "home/.local/lib/python3.11/site-packages/nvidia/cu13/lib/libcublas.so.13",
            "home/.pyenv/versions/3.13.1/lib/python3.13/site-packages/nvidia/cu13/lib/libcublas.so.13",
        ] {
            touch(&at(path));
        }
        let variables = [("CUDA_HOME", at("opt/mine")), ("VIRTUAL_ENV", at("venv")), ("HOME", at("home"))];
        let installations = installed(&InstallFolders::below(root.path(), &environment(&variables)));
        let packages = "venv/lib/python3.12/site-packages/nvidia";
        assert_eq!(
            first_folders(&installations),
            [
                at("opt/mine/lib64"),
                at("usr/local/cuda-13.0/lib64"),
                at("usr/local/cuda-12.4/lib64"),
                at(&format!("{packages}/cu13/lib")),
                at(&format!("{packages}/cublas/lib")),
                at("home/.local/lib/python3.11/site-packages/nvidia/cu13/lib"),
                at("home/.pyenv/versions/3.13.1/lib/python3.13/site-packages/nvidia/cu13/lib"),
            ]
        );
        assert_eq!(installations[4].folders.len(), 2, "the wheels of CUDA 12 are one installation");
    }

    #[test]
    fn the_newest_release_that_the_driver_supports_is_chosen() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "libcublas.so.12",
            "libcublas.so.13",
            "libcublas.so.13.1.0.3",
            "libcublasLt.so.13",
            "libcublas.so",
        ] {
            touch(&root.path().join(name));
        }
        let installation = Installation { folders: vec![root.path().to_path_buf()] };
        assert_eq!(installation.file("cublas", 13), Some(root.path().join("libcublas.so.13")));
        assert_eq!(installation.file("cublas", 12), Some(root.path().join("libcublas.so.12")));
        assert_eq!(installation.file("cublas", 11), None);
        assert_eq!(installation.file("cufft", 13), None);
    }

    #[test]
    fn a_library_whose_soname_is_that_of_two_releases_is_known_by_its_version_or_folder() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, major| {
            let folder = root.path().join(path).parent().unwrap().to_path_buf();
            Installation { folders: vec![folder] }.file("cusparse", major)
        };
        for (path, target, release) in [
            ("a/libcusparse.so.12", Some("libcusparse.so.12.5.9.5"), 12),
            ("b/libcusparse.so.12", Some("libcusparse.so.12.6.2.49"), 13),
            ("cu13/lib/libcusparse.so.12", None, 13),
            // Its version is known once it is loaded.
            ("cusparse/lib/libcusparse.so.12", None, 0),
        ] {
            let link = root.path().join(path);
            touch(&link.with_file_name(target.unwrap_or("libcusparse.so.12")));
            if let Some(target) = target {
                std::os::unix::fs::symlink(target, &link).unwrap();
            }
            assert_eq!(file(path, 13), Some(link.clone()));
            assert_eq!(file(path, 12), (release <= 12).then_some(link), "{path}");
        }
    }

    #[test]
    fn alternate_builds_of_nvrtc_are_ignored() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join("libnvrtc.alt.so.13"));
        touch(&root.path().join("libnvrtc-builtins.so.13.0"));
        let installation = Installation { folders: vec![root.path().to_path_buf()] };
        assert_eq!(installation.file("nvrtc", 13), None);
        assert_eq!(
            installation.file("nvrtc-builtins", 13),
            Some(root.path().join("libnvrtc-builtins.so.13.0"))
        );
    }

    #[test]
    fn the_users_folders_come_first_and_then_the_environment_that_gpubench_is_installed_in() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let packages = "lib/python3.12/site-packages/nvidia/cu13/lib";
        touch(&at(&format!("own/{packages}/libnvrtc.so.13")));
        touch(&at(&format!("active/{packages}/libnvrtc.so.13")));
        let variables = [("GPUBENCH_CUDA_LIB_DIR", "/a:/b".into()), ("VIRTUAL_ENV", at("active"))];
        let variable = environment(&variables);
        let machine = InstallFolders {
            program: Some(at("own/bin/gpubench")),
            ..InstallFolders::below(root.path(), &variable)
        };
        let named = Installation { folders: vec!["/a".into(), "/b".into()] };
        // A prefix such as /usr/local, which gpubench shares with everything, does not come before the toolkits.
        assert_eq!(chosen(&machine), std::slice::from_ref(&named));
        touch(&at("own/pyvenv.cfg"));
        let own = Installation { folders: vec![at(&format!("own/{packages}"))] };
        assert_eq!(chosen(&machine), [named, own.clone()]);
        assert_eq!(installed(&machine)[0], own);
        assert_eq!(chosen(&InstallFolders::below(root.path(), &|_| None)), []);
    }
}
