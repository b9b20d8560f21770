//! A program in a Python environment that is not active finds the libraries of that environment.

use std::fs::{create_dir_all, read_dir, write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::leave_out;

/// Makes an environment in which an installer has linked gpubench and the files of these folders.
fn environment(root: &Path, prefix: Option<&Path>, cuda: Option<&Path>) -> PathBuf {
    let cuda_packages = root.join("lib/python3.0/site-packages/nvidia/cu13");
    for folder in [&root.join("bin"), &cuda_packages] {
        create_dir_all(folder).unwrap();
    }
    write(root.join("pyvenv.cfg"), "").unwrap();
    if let Some(cuda) = cuda {
        symlink(cuda, cuda_packages.join("lib")).unwrap();
    }
    for entry in prefix.into_iter().flat_map(|prefix| read_dir(prefix.join("lib")).unwrap()).flatten() {
        symlink(entry.path(), root.join("lib").join(entry.file_name())).unwrap();
    }
    let program = root.join("bin/gpubench");
    symlink(crate::cli::GPUBENCH, &program).unwrap();
    program
}

/// Returns the findings of `doctor`, which gets no variable that names an environment.
fn findings(program: &Path, home: &Path) -> Vec<Value> {
    let mut doctor = Command::new(program);
    let output = doctor.args(["doctor", "--json"]).env_clear().env("HOME", home).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let backends = report["backends"].as_array().unwrap();
    backends.iter().flat_map(|backend| backend["findings"].as_array().unwrap().clone()).collect()
}

#[test]
fn a_program_linked_into_an_environment_takes_its_libraries() {
    let folder = |name: &str| {
        let listed = std::env::var(name).unwrap_or_default();
        let first = listed.split(':').next().filter(|path| !path.is_empty());
        first.map(|path| Path::new(path).canonicalize().unwrap())
    };
    let (prefix, cuda) = (folder("GPUBENCH_TEST_PREFIXES"), folder("GPUBENCH_CUDA_LIB_DIR"));
    let root = tempfile::tempdir().unwrap();
    let program = environment(&root.path().join("venv"), prefix.as_deref(), cuda.as_deref());
    let findings = findings(&program, root.path());
    for (name, from, file) in [("MKL", prefix, "lib/libmkl_rt.so.2"), ("NVRTC", cuda, "libnvrtc.so.13")] {
        let Some(expected) = from.map(|folder| folder.join(file)).filter(|file| file.is_file()) else {
            leave_out(name, "it is not among the tests' libraries");
            continue;
        };
        let finding = findings.iter().find(|finding| finding["name"] == name).unwrap();
        assert_eq!(finding["path"].as_str().map(Path::new), Some(expected.as_path()), "{finding}");
    }
}
