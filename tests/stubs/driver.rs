//! Substitutes for the driver, `libcuda.so.1`.

use std::path::Path;
use std::time::Duration;

use crate::Sandbox;

/// The file with the list of functions that gpubench calls.
const LOADER: &str = include_str!("../../crates/cuda/src/loader.rs");

/// The functions of a driver that do more than return success. They obey the variables `STUB_INIT` (what `cuInit` does)
/// and `STUB_DEVICES`; each process that calls `cuInit` adds a line to the file `STUB_LOG`.
const FUNCTIONS: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int cuInit(unsigned flags) {
    static int calls;
    const char *log = getenv("STUB_LOG"), *how = getenv("STUB_INIT");
    if (log && !calls++) {
        FILE *file = fopen(log, "a");
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
    if (!how) return 0;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "hang")) for (;;) pause();
    return atoi(how);
}
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) {
    const char *devices = getenv("STUB_DEVICES");
    *count = devices ? atoi(devices) : 1;
    return 0;
}
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "stub"); return 0; }
int cuDeviceGetPCIBusId(char *id, int length, int device) { snprintf(id, length, "0000:00:00.0"); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1 << 30; return 0; }
/* Compute capability 9.0; 1 for every other attribute. */
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1;
    return 0;
}
static int one;
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &one; return 0; }
int cuCtxGetCurrent(void **context) { *context = &one; return 0; }
int cuDeviceGetDefaultMemPool(void **pool, int device) { *pool = &one; return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = &one; return 0; }
int cuEventCreate(void **event, unsigned flags) { *event = &one; return 0; }
"#;

/// Returns the names in `DRIVER_SYMBOLS`.
fn symbols() -> Vec<&'static str> {
    let list = LOADER.split_once("const DRIVER_SYMBOLS: &[&str] = &[").unwrap().1.split_once(']').unwrap().0;
    let symbols: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(symbols.len() > 40 && symbols.contains(&"cuLaunchKernel"), "{symbols:?}");
    symbols
}

/// Makes a folder whose driver has every function except `missing`. Returns `None` without a compiler.
pub(crate) fn sandbox(missing: &str) -> Option<Sandbox> {
    let others = symbols().into_iter().filter(|name| !FUNCTIONS.contains(&format!("int {name}(")));
    let others =
        others.filter(|name| *name != missing).map(|name| format!("int {name}(void) {{ return 0; }}\n"));
    let text = FUNCTIONS.to_owned() + &others.collect::<String>();
    let sandbox = Sandbox::new();
    let driver = sandbox.library("libcuda.so.1", &text)?;
    // A real driver may be installed under this name, which is tried first.
    std::os::unix::fs::symlink(driver, sandbox.path("libcuda.so")).unwrap();
    Some(sandbox)
}

const BOTH: &str = "--backends cpu,cuda --ops sin --sizes 8";

const NO_GPU: &str = "check that `nvidia-smi` lists a GPU, or run without cuda: --backends cpu";

#[test]
fn a_driver_that_fails_to_start_skips_the_cells_of_the_gpu_alone() {
    let Some(sandbox) = sandbox("") else { return };
    for (init, reason, fix) in [
        (
            "34",
            "the first libcuda.so found is the toolkit's stub, not the NVIDIA driver",
            "remove the folder `stubs` from LD_LIBRARY_PATH",
        ),
        ("100", "this machine has no CUDA device", NO_GPU),
        ("999", "CUDA found no usable device (cuInit: CUDA_ERROR_UNKNOWN)", NO_GPU),
        ("12345", "CUDA found no usable device (cuInit: CUDA error 12345)", NO_GPU),
    ] {
        let ran = sandbox.run(BOTH, &[("STUB_INIT", init)]);
        ran.assert_cpu_measured();
        assert_eq!(ran.fate("cuda"), ["skipped", reason, fix], "{init}");
        assert_eq!(ran.code, Some(0), "{init}");
    }
}

#[test]
fn a_driver_without_devices_skips_the_cells_of_the_gpu_alone() {
    let Some(sandbox) = sandbox("") else { return };
    let ran = sandbox.run(BOTH, &[("STUB_DEVICES", "0")]);
    ran.assert_cpu_measured();
    assert_eq!(ran.fate("cuda"), ["skipped", "this machine has no CUDA device", NO_GPU]);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn a_driver_that_lacks_a_function_is_too_old() {
    let Some(sandbox) = sandbox("cuLaunchKernelEx") else { return };
    let ran = sandbox.run(BOTH, &[]);
    ran.assert_cpu_measured();
    let reason = "the NVIDIA driver is too old: it has no cuLaunchKernelEx";
    let fix = "update the NVIDIA driver to one for CUDA 12.0 or newer";
    assert_eq!(ran.fate("cuda"), ["skipped", reason, fix]);
    assert_eq!(ran.code, Some(0));
}

/// Returns the number of processes that called `cuInit`.
fn starts(log: &Path) -> usize {
    std::fs::read_to_string(log).unwrap().lines().count()
}

#[test]
fn a_driver_that_crashes_fails_the_cells_of_the_gpu_after_three_starts() {
    let Some(sandbox) = sandbox("") else { return };
    let log = sandbox.path("log");
    let ran = sandbox.run(BOTH, &[("STUB_INIT", "abort"), ("STUB_LOG", log.to_str().unwrap())]);
    ran.assert_cpu_measured();
    let [outcome, reason, fix] = ran.fate("cuda");
    assert_eq!(outcome, "failed");
    assert!(reason.contains("failed to start 3 times") && reason.contains("killed by SIGABRT"), "{reason}");
    assert!(fix.contains("gpubench doctor"), "{fix}");
    assert_eq!((starts(&log), ran.code), (3, Some(1)));
}

#[test]
fn a_driver_that_hangs_is_tried_once_and_the_cpu_is_measured_meanwhile() {
    let Some(sandbox) = sandbox("") else { return };
    let log = sandbox.path("log");
    let variables =
        [("STUB_INIT", "hang"), ("STUB_LOG", log.to_str().unwrap()), ("GPUBENCH_START_LIMIT", "14")];
    let (ran, times) = sandbox.run_timed(BOTH, &variables);
    let limit = Duration::from_secs(14);
    let of_cpu: Vec<Duration> = times.of(" cpu/");
    assert!(!of_cpu.is_empty() && of_cpu.iter().all(|at| *at < limit), "{times:?}");
    assert!(times.of(" cuda/").iter().all(|at| *at >= limit), "{times:?}");
    ran.assert_cpu_measured();
    let [outcome, reason, fix] = ran.fate("cuda");
    assert_eq!([outcome, reason], ["failed", "the worker did not start within 14 s"]);
    assert!(fix.contains("gpubench doctor"), "{fix}");
    let note = "still starting cuda; the other cells are measured meanwhile, and its cells fail if that takes more than 14 s";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    assert_eq!((starts(&log), ran.code), (1, Some(1)));
}
