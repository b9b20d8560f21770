use std::ffi::OsString;

use super::super::elf::example;
use super::*;

fn only(vendor: Vendor, files: Vec<PathBuf>, requested: Option<&str>) -> BlasLibrary {
    BlasLibrary::preferred(vendor, files, requested.map(str::to_owned), false)
}

fn words(libraries: &[BlasLibrary]) -> Vec<&str> {
    libraries.iter().map(BlasLibrary::word).collect()
}

/// Files of OpenBLAS and BLIS in a folder that stands for `/`.
fn stocked() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let packages = "usr/local/lib/python3.11/site-packages";
    for (file, symbols, constants) in [
        ("usr/lib64/libopenblas.so.0".to_owned(), "openblas_get_config", "OpenBLAS 0.3.21 DYNAMIC_ARCH"),
        (
            format!("{packages}/numpy.libs/libscipy_openblas64_-1.so"),
            "scipy_openblas_get_config64_",
            "OpenBLAS 0.3.31 USE64BITINT",
        ),
        (
            format!("{packages}/scipy.libs/libscipy_openblas-2.so"),
            "scipy_openblas_get_config",
            "OpenBLAS 0.3.30",
        ),
        (
            format!("{packages}/scipy.libs/libscipy_openblas-3.so"),
            "scipy_openblas_get_config",
            "OpenBLAS 0.3.29",
        ),
        ("usr/lib64/libblis.so.4".to_owned(), "bli_info_get_version_str", ""),
    ] {
        let path = root.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, example(symbols, &format!("{constants}\0"))).unwrap();
    }
    root
}

#[test]
fn further_libraries_of_a_vendor_are_named_by_their_origin() {
    let root = stocked();
    let machine = InstallFolders::below(root.path(), &|_| None);
    let all = find_all(&machine, &[]);
    assert_eq!(
        words(&all),
        ["openblas", "mkl", "blis", "openblas-scipy", "openblas-scipy-2", "openblas-system"]
    );
    assert!(all[0].is_preferred() && all[0].has_long_integers() && all[0].files().len() == 4);
    assert!(!all[3].is_preferred() && !all[3].has_long_integers() && all[3].files().len() == 1);
    assert_eq!(all[5].name(), "OpenBLAS (system)");
    // MKL, which is not there, may still be known to the loader.
    assert!(all[1].files().iter().all(|file| file.is_relative()));
}

#[test]
fn a_named_library_gets_the_plain_name_and_no_other_replaces_it() {
    let root = stocked();
    let machine = InstallFolders::below(root.path(), &|_| None);
    let file = root.path().join("usr/lib64/libopenblas.so.0").canonicalize().unwrap();
    let all = find_all(&machine, std::slice::from_ref(&file));
    assert_eq!(all[0].files(), [file]);
    assert!(words(&all).contains(&"openblas-numpy") && !words(&all).contains(&"openblas-system"));
    let missing = all[0].provider().err().unwrap();
    assert!(missing.reason.starts_with("--blas ") && missing.fix.is_some(), "{}", missing.reason);
}

#[test]
fn a_variable_names_the_vendor_s_only_library() {
    let root = stocked();
    let variable = |name: &str| (name == "GPUBENCH_OPENBLAS").then(|| OsString::from("/x/libopenblas.so"));
    let all = find_all(&InstallFolders::below(root.path(), &variable), &[]);
    assert_eq!(words(&all), ["openblas", "mkl", "blis"]);
    assert_eq!(all[0].files(), [Path::new("/x/libopenblas.so")]);
    let missing = all[0].provider().err().unwrap();
    assert!(missing.reason.starts_with("GPUBENCH_OPENBLAS=/x/libopenblas.so cannot"), "{}", missing.reason);
}

#[test]
fn without_a_library_the_fix_installs_one() {
    let missing = only(Vendor::OpenBlas, vec!["libnowhere.so.0".into()], None).provider().err().unwrap();
    assert_eq!(missing.reason, "no OpenBLAS library was found");
    assert!(missing.fix.unwrap().contains("apt-get install libopenblas0-pthread"));
    let missing = only(Vendor::Mkl, vec![], None).provider().err().unwrap();
    assert_eq!(missing.fix.unwrap(), "pip install mkl");
}

#[test]
fn a_chosen_library_that_is_missing_is_named_as_it_was_chosen() {
    for vendor in Vendor::ALL {
        let library = only(vendor, vec!["libnowhere.so.0".into()], Some("GPUBENCH_ANY=libnowhere.so.0"));
        let missing = library.provider().err().unwrap();
        assert!(missing.reason.starts_with("GPUBENCH_ANY="), "{}", missing.reason);
        assert!(missing.reason.contains("No such file"), "{}", missing.reason);
        assert!(missing.fix.unwrap().contains(vendor.name()));
    }
}

#[test]
fn a_file_that_is_no_library_is_named_with_its_problem() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libscipy_openblas.so");
    std::fs::write(&file, "no library").unwrap();
    let missing = only(Vendor::OpenBlas, vec![file.clone()], None).provider().err().unwrap();
    assert!(missing.reason.contains(file.to_str().unwrap()), "{}", missing.reason);
}
