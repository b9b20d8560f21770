//! The BLAS libraries that are found on machines of every kind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpubench_backend::host::install_folders::InstallFolders;

use super::discovery::find;
use super::elf::example;
use super::library::find_all;
use super::{BlasLibrary, Vendor};

/// A folder that stands for `/`, with files in it.
struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Root {
        Root(tempfile::tempdir().unwrap())
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(below)
    }

    /// Makes a file with that content.
    fn file(&self, below: &str, content: &[u8]) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Makes an OpenBLAS of that version.
    fn openblas(&self, below: &str, version: &str) -> PathBuf {
        self.file(below, &example("openblas_get_config", &format!("OpenBLAS {version} DYNAMIC_ARCH\0")))
    }

    /// Makes a link to a file.
    fn link(&self, below: &str, to: &Path) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, path).unwrap();
    }

    /// Returns the paths and origins of the libraries found under these variables.
    fn found(&self, vendor: Vendor, variables: &[(&str, &str)]) -> Vec<(PathBuf, &str)> {
        let root = self.path("");
        let value = |name: &str| {
            let (_, below) = variables.iter().find(|(variable, _)| *variable == name)?;
            let paths: Vec<PathBuf> = below.split(':').map(|folder| root.join(folder)).collect();
            Some(std::env::join_paths(paths).unwrap())
        };
        let found = find(vendor, &InstallFolders::below(&root, &value), &[]);
        found.into_iter().map(|found| (found.path, found.origin)).collect()
    }
}

#[test]
fn one_product_may_have_more_entries_than_integers_of_32_bits_count() {
    let libraries = super::library::all(&[]);
    for provider in libraries.iter().filter_map(|library| library.provider().ok()) {
        let entries = [1 << 33; 3];
        assert_eq!(provider.steps(1, entries).ok(), Some([0; 3]));
        assert_eq!(provider.steps(2, entries).is_ok(), provider.has_long_integers);
    }
}

const PACKAGES: &str = "lib/python3.11/site-packages";

#[test]
fn the_newest_openblas_comes_first_wherever_it_lies() {
    let root = Root::new();
    let system = root.openblas("usr/lib64/libopenblas.so.0", "0.3.21");
    let scipy = root.openblas(&format!("venv/{PACKAGES}/scipy.libs/libscipy_openblas-1.so"), "0.3.30");
    let numpy =
        root.openblas(&format!("venv/{PACKAGES}/numpy.libs/libscipy_openblas64_-2.so"), "0.3.31.188.0");
    let wheel = root.openblas(&format!("venv/{PACKAGES}/scipy_openblas32/lib/libscipy_openblas.so"), "0.3.9");
    let found = root.found(Vendor::OpenBlas, &[("VIRTUAL_ENV", "venv")]);
    assert_eq!(found, [(numpy, "numpy"), (scipy, "scipy"), (system, "system"), (wheel, "pip")]);
    let old = root.openblas(&format!("old/{PACKAGES}/numpy/.libs/libopenblasp-r0-34a1.3.7.so"), "0.3.7");
    assert_eq!(root.found(Vendor::OpenBlas, &[("VIRTUAL_ENV", "old")])[1], (old, "numpy"));
}

#[test]
fn the_active_environment_comes_first_and_a_copy_counts_once() {
    let root = Root::new();
    let name = format!("{PACKAGES}/scipy.libs/libscipy_openblas-1.so");
    let active = root.openblas(&format!("venv/{name}"), "0.3.30");
    root.openblas(&format!("home/.local/{name}"), "0.3.30");
    let conda = root.openblas("conda/lib/libopenblas.so.0", "0.3.30");
    root.file("conda/conda-meta/history", b"");
    let variables = [("VIRTUAL_ENV", "venv"), ("CONDA_PREFIX", "conda"), ("HOME", "home")];
    let found = root.found(Vendor::OpenBlas, &variables);
    assert_eq!(found, [(active, "scipy"), (conda, "conda")]);
}

#[test]
fn the_python_on_the_path_is_followed_through_its_links() {
    let root = Root::new();
    root.file("base/bin/python3.11", b"");
    root.link("venv/bin/python", &root.path("base/bin/python3.11"));
    root.link("venv/bin/python3", Path::new("python"));
    let of_venv = root.openblas(&format!("venv/{PACKAGES}/scipy.libs/libscipy_openblas-1.so"), "0.3.30");
    let of_base = root.openblas(&format!("base/{PACKAGES}/scipy.libs/libscipy_openblas-2.so"), "0.3.27");
    let mkl = root.file("venv/lib/libmkl_rt.so.2", b"");
    let variables = [("PATH", "none:venv/bin:usr/bin")];
    let found = root.found(Vendor::OpenBlas, &variables);
    assert_eq!(found, [(of_venv, "scipy"), (of_base, "scipy")]);
    assert_eq!(root.found(Vendor::Mkl, &variables), [(mkl, "pip")]);
}

#[test]
fn the_loader_has_folders_of_its_variable_and_its_configuration() {
    let root = Root::new();
    root.file("etc/ld.so.conf", b"# comment\ninclude /etc/ld.so.conf.d/*.conf\n");
    root.file("etc/ld.so.conf.d/own.conf", b"/opt/own\n");
    let first = root.openblas("mine/libopenblas.so.0", "0.3.1");
    let second = root.openblas("opt/own/libopenblasp.so.0", "0.3.1");
    let folder = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let file = root.openblas(&format!("{folder}/openblas-pthread/libopenblasp-r0.3.1.so"), "0.3.1");
    root.link(&format!("{folder}/libopenblas.so.0"), &file);
    root.link("lib", &root.path("usr/lib"));
    let found = root.found(Vendor::OpenBlas, &[("LD_LIBRARY_PATH", "mine")]);
    assert_eq!(found, [(first, "system"), (second, "system"), (file, "system")]);
}

#[test]
fn installers_of_mkl_and_aocl_are_known() {
    let root = Root::new();
    let oneapi = root.file("opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so.2", b"");
    let threaded = root.file("opt/AMD/aocl/aocl-linux-gcc-4.2.0/gcc/lib_LP64/libblis-mt.so", b"");
    root.file("opt/AMD/aocl/aocl-linux-gcc-4.2.0/gcc/lib_LP64/libblis.so", b"");
    let conda = root.file("conda/lib/libblis.so.4", b"");
    root.file("conda/conda-meta/history", b"");
    assert_eq!(root.found(Vendor::Mkl, &[]), [(oneapi, "oneapi")]);
    // Interface 4 is known to be newer than an unknown one.
    let found = root.found(Vendor::Blis, &[("CONDA_PREFIX", "conda")]);
    assert_eq!(found, [(conda, "conda"), (threaded, "aocl")]);
}

/// A machine with four OpenBLAS and a BLIS.
fn stocked() -> Root {
    let root = Root::new();
    root.openblas("usr/lib64/libopenblas.so.0", "0.3.21");
    root.openblas(
        &format!("usr/local/{PACKAGES}/numpy.libs/libscipy_openblas64_-1.so"),
        "0.3.31 USE64BITINT",
    );
    root.openblas(&format!("usr/local/{PACKAGES}/scipy.libs/libscipy_openblas-2.so"), "0.3.30");
    root.openblas(&format!("usr/local/{PACKAGES}/scipy.libs/libscipy_openblas-3.so"), "0.3.29");
    root.file("usr/lib64/libblis.so.4", &example("bli_info_get_version_str", ""));
    root
}

fn words(libraries: &[BlasLibrary]) -> Vec<&str> {
    libraries.iter().map(BlasLibrary::word).collect()
}

#[test]
fn further_libraries_of_a_vendor_are_named_by_their_origin() {
    let all = find_all(&InstallFolders::below(&stocked().path(""), &|_| None), &[]);
    let expected = ["openblas", "mkl", "blis", "openblas-scipy", "openblas-scipy-2", "openblas-system"];
    assert_eq!(words(&all), expected);
    assert!(all[0].is_preferred() && all[0].has_long_integers() && all[0].files().len() == 4);
    assert!(!all[3].is_preferred() && !all[3].has_long_integers() && all[3].files().len() == 1);
    assert_eq!(all[5].name(), "OpenBLAS (system)");
    // MKL, which is not there, may still be known to the loader.
    assert!(all[1].files().iter().all(|file| file.is_relative()));
}

#[test]
fn a_named_library_gets_the_plain_name_and_no_other_replaces_it() {
    let root = stocked();
    let file = root.path("usr/lib64/libopenblas.so.0");
    let all = find_all(&InstallFolders::below(&root.path(""), &|_| None), std::slice::from_ref(&file));
    assert_eq!(all[0].files(), [file]);
    assert!(words(&all).contains(&"openblas-numpy") && !words(&all).contains(&"openblas-system"));
    let missing = all[0].provider().err().unwrap();
    assert!(missing.reason.starts_with("--blas ") && missing.fix.is_some(), "{}", missing.reason);
}

#[test]
fn a_variable_names_the_vendor_s_only_library() {
    let variable = |name: &str| (name == "GPUBENCH_OPENBLAS").then(|| OsString::from("/x/libopenblas.so"));
    let all = find_all(&InstallFolders::below(&stocked().path(""), &variable), &[]);
    assert_eq!(words(&all), ["openblas", "mkl", "blis"]);
    assert_eq!(all[0].files(), [Path::new("/x/libopenblas.so")]);
    let missing = all[0].provider().err().unwrap();
    let expected = "GPUBENCH_OPENBLAS=/x/libopenblas.so cannot";
    assert!(
        missing.reason.starts_with(expected) && missing.reason.contains("No such file"),
        "{}",
        missing.reason
    );
    assert!(missing.fix.unwrap().contains("OpenBLAS"));
}

#[test]
fn without_a_usable_library_the_problem_has_a_fix() {
    let missing = |root: &Root| {
        let all = find_all(&InstallFolders::below(&root.path(""), &|_| None), &[]);
        all[0].provider().err().unwrap()
    };
    let root = Root::new();
    let file = root.file(&format!("usr/{PACKAGES}/scipy.libs/libscipy_openblas.so"), b"no library");
    assert!(missing(&root).reason.contains(file.to_str().unwrap()), "{}", missing(&root).reason);
    assert!(missing(&root).fix.unwrap().contains("apt-get install libopenblas0-pthread"));
}
