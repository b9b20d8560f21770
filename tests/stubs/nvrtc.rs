//! A device without a compiler for its kernels, and with one that fails.

use crate::driver::sandbox;

/// An NVRTC whose functions all return `STATUS`.
const FAILING: &str = "
#define FAILS(name) int name(void) { return STATUS; }
FAILS(nvrtcVersion) FAILS(nvrtcGetNumSupportedArchs) FAILS(nvrtcGetSupportedArchs) FAILS(nvrtcCreateProgram)
FAILS(nvrtcDestroyProgram) FAILS(nvrtcCompileProgram) FAILS(nvrtcGetProgramLogSize) FAILS(nvrtcGetProgramLog)
FAILS(nvrtcGetCUBINSize) FAILS(nvrtcGetCUBIN) FAILS(nvrtcGetPTXSize) FAILS(nvrtcGetPTX)
";

const BOTH: &str = "--backends cpu,cuda --ops sin --sizes 8";

#[test]
fn without_nvrtc_the_cells_of_the_gpu_are_skipped_with_the_command_that_installs_it() {
    let Some(sandbox) = sandbox("") else { return };
    let ran = sandbox.run(BOTH, &[]);
    let missing = "NVRTC was not found on this machine";
    // What doctor finds then is a real one.
    if ran.fate("cuda")[1] != missing && sandbox.finding("NVRTC", &[])["problem"].is_null() {
        return crate::leave_out("this machine has NVRTC");
    }
    ran.assert_gpu_skipped(&[missing], "pip install nvidia-cuda-nvrtc");
}

#[test]
fn an_nvrtc_that_fails_skips_the_cells_of_the_gpu_with_the_name_or_number_of_the_error() {
    for (status, shown) in [(11, "NVRTC_ERROR_INTERNAL_ERROR"), (77, "NVRTC error 77")] {
        let Some(sandbox) = sandbox("") else { return };
        let text = FAILING.replace("STATUS", &status.to_string());
        if sandbox.library("libnvrtc.so.13", &text).is_none() {
            return;
        }
        std::os::unix::fs::symlink("libnvrtc.so.13", sandbox.path("libnvrtc.so")).unwrap();
        let fix = "install the NVRTC of a newer CUDA release: pip install -U nvidia-cuda-nvrtc";
        sandbox.run(BOTH, &[]).assert_gpu_skipped(&[&format!("nvrtcVersion: {shown}")], fix);
    }
}

/// A cuSPARSE of version 12.MINOR, as it is called in CUDA 12 and CUDA 13.
const CUSPARSE: &str = "
int cusparseGetProperty(int kind, int *value) { *value = kind == 0 ? 12 : kind == 1 ? MINOR : 4; return 0; }
int cusparseCreate(void) { return 0; } int cusparseSpGEMM_compute(void) { return 0; }
int cusparseSpMV(void) { return 0; } int cusparseCreateConstCsr(void) { return 0; }
";

#[test]
fn a_cusparse_of_cuda_13_is_passed_over_for_a_driver_of_cuda_12() {
    let packages = "venv/lib/python3.12/site-packages/nvidia";
    let (own, wheel_13, wheel_12) =
        (".", &*format!("{packages}/cu13/lib"), &*format!("{packages}/cusparse/lib"));
    for (driver, installed, expected) in [
        ("12020", vec![(wheel_13, 9), (wheel_12, 5)], Some(5)),
        ("13000", vec![(wheel_13, 9), (wheel_12, 5)], Some(9)),
        ("12020", vec![(wheel_13, 9)], None),
        // The linker finds the first one by name, before those of wheels.
        ("12020", vec![(own, 6), (wheel_12, 5)], Some(5)),
        ("13000", vec![(own, 6), (wheel_12, 5)], Some(6)),
        ("12020", vec![(own, 6)], None),
        ("12020", vec![(wheel_12, 6)], None),
    ] {
        let Some(sandbox) = sandbox("") else { return };
        for (folder, minor) in &installed {
            std::fs::create_dir_all(sandbox.path(folder)).unwrap();
            let name = format!("{folder}/libcusparse.so.12");
            sandbox.library(&name, &CUSPARSE.replace("MINOR", &minor.to_string())).unwrap();
        }
        let venv = sandbox.path("venv");
        let variables = [("STUB_VERSION", driver), ("VIRTUAL_ENV", venv.to_str().unwrap())];
        let cusparse = sandbox.finding("cuSPARSE", &variables);
        let version = expected.map(|minor| format!("12.{minor}.4"));
        assert_eq!(cusparse["version"].as_str(), version.as_deref(), "{driver} {installed:?}: {cusparse}");
        assert_eq!(cusparse["problem"].is_null(), expected.is_some(), "{cusparse}");
    }
}
