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
    ran.assert_cpu_measured();
    let [outcome, reason, fix] = ran.fate("cuda");
    if reason != "NVRTC was not found on this machine" && has_nvrtc(&sandbox) {
        return crate::leave_out("this machine has NVRTC");
    }
    assert_eq!(
        [outcome, reason, fix],
        ["skipped", "NVRTC was not found on this machine", "pip install nvidia-cuda-nvrtc"]
    );
    assert_eq!(ran.code, Some(0));
}

/// Returns whether `doctor` finds an NVRTC, which then is a real one.
fn has_nvrtc(sandbox: &crate::Sandbox) -> bool {
    let output = sandbox.gpubench("doctor --backends cuda --json", &[]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let backends = found["backends"].as_array().unwrap().iter();
    let findings = backends.flat_map(|backend| backend["findings"].as_array().unwrap());
    findings.into_iter().any(|finding| finding["name"] == "NVRTC" && finding["problem"].is_null())
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
        let ran = sandbox.run(BOTH, &[]);
        ran.assert_cpu_measured();
        let [outcome, reason, fix] = ran.fate("cuda");
        assert_eq!([outcome, reason], ["skipped", &format!("nvrtcVersion: {shown}")]);
        assert_eq!(fix, "install the NVRTC of a newer CUDA release: pip install -U nvidia-cuda-nvrtc");
        assert_eq!(ran.code, Some(0));
    }
}
