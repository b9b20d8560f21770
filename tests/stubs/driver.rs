//! Substitutes for the driver, `libcuda.so.1`.

use std::path::Path;

use crate::Sandbox;

/// The file with the list of functions that gpubench calls.
const LOADER: &str = include_str!("../../crates/cuda/src/loader.rs");

/// The functions of a driver that do more than return success. They obey the variables `STUB_INIT` (what `cuInit` does),
/// `STUB_CONTEXT` (what `cuDevicePrimaryCtxRetain` returns), `STUB_VERSION`, `STUB_DEVICES` (their number) and `STUB_NAME` (if
/// set, the name fills its buffer); each process that calls `cuInit` adds a line to the file `STUB_LOG`.
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
static int of(const char *name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }
int cuDriverGetVersion(int *version) { *version = of("STUB_VERSION", 13000); return 0; }
int cuDeviceGetCount(int *count) { *count = of("STUB_DEVICES", 1); return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) {
    if (getenv("STUB_NAME")) memset(name, 'x', length);
    else snprintf(name, length, "stub");
    return 0;
}
int cuDeviceGetPCIBusId(char *id, int length, int device) { snprintf(id, length, "0000:00:00.0"); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1 << 30; return 0; }
/* Compute capability 9.0; 1 for every other attribute. */
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1;
    return 0;
}
static int one;
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &one; return of("STUB_CONTEXT", 0); }
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

/// Statuses of the first calls, each with a part of the reason and of the fix.
const STATUSES: [(&str, &str, &str); 8] = [
    ("2", "no memory for a CUDA context", "ulimit -v"),
    ("34", "the toolkit's stub, not the NVIDIA driver", "remove the folder `stubs` from LD_LIBRARY_PATH"),
    ("36", "too old for its libcuda.so.1", "update the NVIDIA driver"),
    ("800", "may not use the GPU", "/dev/nvidia*"),
    ("803", "of different driver versions", "reboot"),
    ("804", "forward-compatibility package", "remove the folder `compat` from LD_LIBRARY_PATH"),
    ("808", "(MPS) has as many clients", "end other programs"),
    ("12345", "CUDA found no usable device", "`nvidia-smi` works"),
];

#[test]
fn a_driver_that_fails_to_start_skips_the_cells_of_the_gpu_alone() {
    let Some(sandbox) = sandbox("") else { return };
    let calls = [("STUB_INIT", "cuInit: "), ("STUB_CONTEXT", "cuDevicePrimaryCtxRetain: ")];
    for ((status, cause, step), (variable, call)) in
        STATUSES.iter().flat_map(|status| calls.map(|call| (status, call)))
    {
        sandbox.run(BOTH, &[(variable, status)]).assert_gpu_skipped(&[cause, call], step);
    }
}

#[test]
fn devices_that_a_variable_hides_are_not_looked_for_in_nvidia_smi() {
    let Some(sandbox) = sandbox("") else { return };
    for value in ["-1", "", "7", "GPU-00000000-1111-2222-3333-444444444444"] {
        for none in [("STUB_INIT", "100"), ("STUB_DEVICES", "0")] {
            let ran = sandbox.run(BOTH, &[none, ("CUDA_VISIBLE_DEVICES", value)]);
            let reason = format!("CUDA_VISIBLE_DEVICES is '{value}' and hides all GPUs");
            ran.assert_gpu_skipped(&[&reason], "unset CUDA_VISIBLE_DEVICES");
        }
    }
    for none in [("STUB_INIT", "100"), ("STUB_DEVICES", "0")] {
        let ran = sandbox.run(BOTH, &[none]);
        assert_eq!(ran.fate("cuda"), ["skipped", "this machine has no CUDA device", NO_GPU]);
    }
}

#[test]
fn an_impossible_number_of_devices_is_reported_and_not_counted_to() {
    let Some(sandbox) = sandbox("") else { return };
    for count in ["2147483647", "-1"] {
        let reason = format!("the NVIDIA driver reports {count} devices, which cannot be");
        let ran = sandbox.run(BOTH, &[("STUB_DEVICES", count)]);
        ran.assert_gpu_skipped(&[&reason], "reinstall the NVIDIA driver");
    }
}

#[test]
fn a_name_that_fills_its_buffer_is_shown() {
    let Some(sandbox) = sandbox("") else { return };
    let output = sandbox.gpubench("doctor", &[("STUB_NAME", "256")]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("CUDA device 0: {}", "x".repeat(256))), "{text}");
}

#[test]
fn a_driver_that_lacks_a_function_is_too_old() {
    let Some(sandbox) = sandbox("cuLaunchKernelEx") else { return };
    let reason = "the NVIDIA driver is too old: it has no cuLaunchKernelEx";
    let fix = "update the NVIDIA driver to one for CUDA 12.0 or newer";
    sandbox.run(BOTH, &[]).assert_gpu_skipped(&[reason], fix);
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
fn a_driver_that_hangs_is_tried_once_and_the_cpu_is_measured() {
    let Some(sandbox) = sandbox("") else { return };
    let log = sandbox.path("log");
    let variables =
        [("STUB_INIT", "hang"), ("STUB_LOG", log.to_str().unwrap()), ("GPUBENCH_START_LIMIT", "4")];
    let ran = sandbox.run(BOTH, &variables);
    ran.assert_cpu_measured();
    let [outcome, reason, fix] = ran.fate("cuda");
    assert_eq!([outcome, reason], ["failed", "the worker did not start within 4 s"]);
    assert!(fix.contains("gpubench doctor"), "{fix}");
    let note = "still starting cuda; its cells fail if that takes more than 4 s";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    assert_eq!((starts(&log), ran.code), (1, Some(1)));
}

#[test]
fn doctor_reports_a_kernel_cache_only_where_one_can_be() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("file"), "").unwrap();
    let long = format!("/{}", "a/".repeat(2500));
    let (own, file) = (sandbox.path("own"), sandbox.path("file"));
    let folders = [(own.to_str().unwrap(), true), ("/dev/null", false), ("/proc", false), (&long, false)];
    for (folder, usable) in folders.into_iter().chain([(file.to_str().unwrap(), false)]) {
        let cache = sandbox.finding("kernel cache", &[("XDG_CACHE_HOME", folder)]);
        assert_eq!(cache["problem"].is_null(), usable, "{cache}");
        assert_eq!(cache["fix"].is_null(), usable, "{cache}");
    }
    assert_eq!(std::fs::read_dir(own.join("gpubench/kernels")).unwrap().count(), 0);
}
