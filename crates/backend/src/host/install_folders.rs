//! Lists the folders in which libraries are installed: those of the dynamic loader, of Python, and of installers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::host::{process, search_path};

/// Finds install folders from environment variables, the running program and the root of the file system.
pub struct InstallFolders<'a> {
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Root folder: `/`, or another one in tests.
    pub root: &'a Path,
    /// Path of the running program as it was called, if known.
    pub program: Option<PathBuf>,
    /// Current folder, if known.
    pub current: Option<PathBuf>,
}

impl<'a> InstallFolders<'a> {
    /// Returns the install folders of this machine.
    pub fn here() -> InstallFolders<'static> {
        InstallFolders {
            program: process::program().ok(),
            current: std::env::current_dir().ok(),
            ..InstallFolders::below(Path::new("/"), &|name| std::env::var_os(name))
        }
    }

    /// Returns the install folders below a root, with these environment variables and no running program.
    pub fn below(root: &'a Path, variable: &'a dyn Fn(&str) -> Option<OsString>) -> InstallFolders<'a> {
        InstallFolders { variable, root, program: None, current: None }
    }

    /// Returns the value of an environment variable as a path, if it is set and not empty.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        (self.variable)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Returns the absolute folders in a variable such as `PATH`.
    fn folders(&self, name: &str) -> Vec<PathBuf> {
        search_path::absolute_folders(&(self.variable)(name).unwrap_or_default())
    }

    /// Returns a folder below the root.
    pub fn below_root(&self, folder: &str) -> PathBuf {
        self.root.join(folder)
    }

    /// Returns the dynamic loader's search folders in its order: `LD_LIBRARY_PATH`, its configuration, its built-in ones.
    pub fn loader_folders(&self) -> Vec<PathBuf> {
        let mut files = vec![self.below_root("etc/ld.so.conf")];
        files.extend(entries(&self.below_root("etc/ld.so.conf.d"), ""));
        let text: String = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
        let configured = text.lines().filter_map(|line| line.trim().strip_prefix('/'));
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let known = [
            format!("lib/{triplet}"),
            format!("usr/lib/{triplet}"),
            "lib64".into(),
            "usr/lib64".into(),
            "lib".into(),
            "usr/lib".into(),
            "usr/local/lib".into(),
        ];
        let below = configured.map(str::to_owned).chain(known).map(|folder| self.below_root(&folder));
        self.folders(search_path::LOADER).into_iter().chain(below).collect()
    }

    /// Returns the prefixes under which Python installs into `lib`: the one that contains the running program, active
    /// environments, the one on the `PATH`, the user's, the system's, and pyenv's.
    pub fn python_prefixes(&self) -> Vec<PathBuf> {
        let mut prefixes = self.own_prefixes();
        prefixes.extend(["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| self.folder(name)));
        let local = self.current.iter().map(|current| current.join(".venv"));
        // In a folder that others share, anybody may have made one.
        prefixes.extend(local.filter(|prefix| search_path::is_trusted(prefix)));
        let path = self.folders("PATH");
        prefixes.extend(["python3", "python"].iter().flat_map(|program| {
            let found = path.iter().map(|folder| folder.join(program)).find(|file| file.is_file());
            found.map_or(vec![], prefixes_of)
        }));
        let home = self.folder("HOME");
        prefixes.extend(home.iter().map(|home| home.join(".local")));
        prefixes.extend(["usr/local", "usr", "opt/conda"].map(|folder| self.below_root(folder)));
        let pyenv = self.folder("PYENV_ROOT").or_else(|| home.map(|home| home.join(".pyenv")));
        prefixes.extend(pyenv.into_iter().flat_map(|pyenv| entries(&pyenv.join("versions"), "")));
        prefixes
    }

    /// Returns the virtual environment that contains the running program, which need not be active.
    pub fn own_environment(&self) -> Option<PathBuf> {
        self.own_prefixes().into_iter().find(|prefix| prefix.join("pyvenv.cfg").is_file())
    }

    /// Returns the prefixes whose `bin` folder contains the running program.
    fn own_prefixes(&self) -> Vec<PathBuf> {
        let program =
            self.program.clone().filter(|file| file.parent().is_some_and(|bin| bin.ends_with("bin")));
        program.map_or(vec![], prefixes_of)
    }
}

/// Returns two prefixes of a program: its own, which is that of an environment, and that of its link's target, from
/// which the environment was made.
fn prefixes_of(program: PathBuf) -> Vec<PathBuf> {
    let behind = program.canonicalize().ok();
    let above = |file: PathBuf| Some(file.parent()?.parent()?.to_path_buf());
    [Some(program), behind].into_iter().flatten().filter_map(above).collect()
}

/// Returns `python3*/site-packages` and `python3*/dist-packages` in a prefix.
pub fn package_folders(prefix: &Path) -> Vec<PathBuf> {
    let pythons = ["lib", "lib64"].iter().flat_map(|folder| entries(&prefix.join(folder), "python3"));
    let folders = pythons.flat_map(|python| ["site-packages", "dist-packages"].map(|name| python.join(name)));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Returns the entries of a folder whose names begin with `beginning`, sorted; empty if the folder cannot be read.
pub fn entries(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let Ok(listing) = std::fs::read_dir(folder) else { return Vec::new() };
    let matching = listing.flatten().filter(|e| e.file_name().to_string_lossy().starts_with(beginning));
    let mut paths: Vec<PathBuf> = matching.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_environment_that_everybody_may_change_is_left_out() {
        use std::os::unix::fs::PermissionsExt;
        let current = tempfile::tempdir().unwrap();
        let local = current.path().join(".venv");
        std::fs::create_dir(&local).unwrap();
        let folders = InstallFolders {
            current: Some(current.path().to_owned()),
            ..InstallFolders::below(current.path(), &|_| None)
        };
        assert!(folders.python_prefixes().contains(&local));
        std::fs::set_permissions(&local, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!folders.python_prefixes().contains(&local));
    }

    #[test]
    fn the_loader_s_folders_do_not_depend_on_the_current_one() {
        let variable = |name: &str| (name == "LD_LIBRARY_PATH").then(|| OsString::from(":lib:/mine:."));
        let folders = InstallFolders::below(Path::new("/nowhere"), &variable).loader_folders();
        assert_eq!(folders[0], Path::new("/mine"));
        assert!(folders.iter().all(|folder| folder.is_absolute()), "{folders:?}");
    }

    #[test]
    fn the_prefix_of_the_running_program_comes_first_also_behind_a_link() {
        let root = tempfile::tempdir().unwrap();
        let at = |below: &str| root.path().canonicalize().unwrap().join(below);
        for folder in ["tools/gpubench/bin", "home/.local/bin", "target/release"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("tools/gpubench/bin/gpubench"), "").unwrap();
        std::os::unix::fs::symlink(at("tools/gpubench/bin/gpubench"), at("home/.local/bin/gpubench"))
            .unwrap();
        let variable = |name: &str| (name == "VIRTUAL_ENV").then(|| OsString::from("/active"));
        let folders = |program: &str| InstallFolders {
            program: Some(at(program)),
            ..InstallFolders::below(root.path(), &variable)
        };

        let linked = folders("home/.local/bin/gpubench");
        let prefixes = [at("home/.local"), at("tools/gpubench"), PathBuf::from("/active")];
        assert_eq!(linked.python_prefixes()[..3], prefixes);
        assert_eq!(linked.own_environment(), None);
        std::fs::write(at("tools/gpubench/pyvenv.cfg"), "").unwrap();
        assert_eq!(linked.own_environment(), Some(at("tools/gpubench")));
        // A build folder is no prefix.
        assert_eq!(folders("target/release/gpubench").python_prefixes()[0], Path::new("/active"));
    }
}
