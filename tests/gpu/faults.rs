//! Faults of kernels and a lack of memory cost their own cells, and a run leaves the device as it was.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gpubench::backend::Backend;
use gpubench::case::Cache;
use gpubench::error::CellError;
use gpubench::op::{self, MAIN_OPS};
use gpubench_backend::host::environment;
use serde_json::{Value, json};

use crate::{alone_with_device, case, free_bytes, samples, skipped, start_alone, variants};

/// Seconds that jobs are prepared and released for; 30 without it.
const SOAK_SECONDS: &str = "GPUBENCH_SOAK_S";

/// File to which the figures of that are appended, as in `tests/soak`.
const SOAK_RECORD: &str = "GPUBENCH_SOAK_RECORD";

/// Bytes by which the driver's own use of memory may differ.
const SLACK: u128 = 64 << 20;

/// `gpubench run` on the GPU alone, with the variants that have faults.
fn gpubench(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    let always = "run --backends cuda --no-peaks --format json --out -";
    command.args(always.split(' ')).args(words.split_whitespace()).env("GPUBENCH_TEST_FAULTS", "1");
    command
}

/// Runs it and returns variant, outcome and reason of each cell, and the exit code.
fn cells(words: &str) -> (Vec<[String; 3]>, Option<i32>) {
    let output = gpubench(words).output().unwrap();
    (rows(&output.stdout), output.status.code())
}

fn rows(report: &[u8]) -> Vec<[String; 3]> {
    let report: Value = serde_json::from_slice(report).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = report["rows"].as_array().unwrap().iter();
    rows.map(|row| ["variant", "outcome", "reason"].map(|key| text(&row[key]))).collect()
}

/// Returns the bytes in use on the first device, or `None` without `nvidia-smi`.
fn used_bytes() -> Option<u128> {
    let query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0"];
    let output = Command::new("nvidia-smi").args(query).output().ok()?;
    let mebibytes: u128 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(mebibytes << 20)
}

/// Waits until the memory in use is as demanded.
fn await_memory(what: &str, is_right: impl Fn(u128) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !used_bytes().is_some_and(&is_right) {
        assert!(Instant::now() < deadline, "{what}: {:?} bytes are in use", used_bytes());
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_kernel_that_breaks_the_context_costs_its_own_cell() {
    let Some(_alone) = alone_with_device() else { return };
    for (fault, errors) in [
        ("illegal-address", &["CUDA_ERROR_ILLEGAL_ADDRESS"][..]),
        ("trap", &["CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_INSTRUCTION"]),
    ] {
        let words = format!("--ops sin --sizes 8,100 --samples 3 --variants {fault},fused");
        let (rows, code) = cells(&words);
        assert_eq!((rows.len(), code), (4, Some(1)), "{rows:?}");
        for [variant, outcome, reason] in rows {
            if variant == fault {
                assert_eq!(outcome, "failed", "{reason}");
                assert!(errors.iter().any(|error| reason.contains(error)), "{reason}");
            } else {
                assert_eq!(outcome, "measured", "after {fault}: {reason}");
            }
        }
    }
}

#[test]
fn an_endless_kernel_is_cut_at_the_time_limit_and_the_next_cell_is_measured() {
    let Some(_alone) = alone_with_device() else { return };
    let (rows, code) = cells("--ops sin --sizes 8 --samples 3 --variants endless,fused --cell-timeout 5s");
    assert_eq!((rows.len(), code), (2, Some(1)), "{rows:?}");
    for [variant, outcome, reason] in rows {
        let expected = if variant == "endless" { "failed" } else { "measured" };
        assert_eq!(outcome, expected, "{variant}: {reason}");
        assert!(variant != "endless" || reason.contains("timed out"), "{reason}");
    }
}

/// A process that is killed when dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Its worker ends with it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn memory_that_another_process_takes_during_a_run_costs_the_cells_that_need_it() {
    let Some(_alone) = alone_with_device() else { return };
    let Some(before) = used_bytes() else { return skipped("memory", "no nvidia-smi") };
    // Three matrices of 1.2 GB each do not fit in the 1 GiB that is left; those of 4 MB do.
    let words = "--ops matmul --sizes 1000,17000 --variants cublas --rounds 8 --max-time 3s";
    let during = gpubench(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    await_memory("the run's first cells", |used| used > before + (256 << 20));
    let hoard = "--ops sin --sizes 8 --variants hoard --cell-timeout 1h --max-time 500ms";
    let taker = Killed(gpubench(hoard).stdout(Stdio::null()).spawn().unwrap());
    let output = during.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
    let found = rows(&output.stdout);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|[_, outcome, _]| outcome != "incorrect"), "{found:?}");

    // Alone with the other process, the large size is skipped and the small one measured.
    await_memory("the other process", |used| used > before + (8 << 30));
    let (rows, code) = cells("--ops matmul --sizes 1000,17000 --variants cublas --samples 3");
    let outcomes: Vec<&str> = rows.iter().map(|[_, outcome, _]| outcome.as_str()).collect();
    assert_eq!((&outcomes[..], code), (&["measured", "skipped"][..], Some(0)), "{rows:?}");
    assert!(rows[1][2].contains("device memory"), "{rows:?}");

    drop(taker);
    await_memory("the other process has ended", |used| used <= before + SLACK);
    let (rows, code) = cells("--ops matmul --sizes 1000,17000 --variants cublas --samples 3");
    assert!(rows.iter().all(|[_, outcome, _]| outcome == "measured") && code == Some(0), "{rows:?}");
    await_memory("after the run", |used| used <= before + SLACK);
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn jobs_that_are_prepared_and_released_leave_neither_memory_nor_open_files() {
    const AT_LEAST: usize = 200;
    let Some((_alone, mut backend)) = start_alone() else { return };
    let seconds = std::env::var(SOAK_SECONDS).map_or(30.0, |seconds| seconds.parse().unwrap());
    let variants: Vec<_> = variants()
        .into_iter()
        .filter(|variant| variant.default && MAIN_OPS.contains(&variant.op.as_ref()))
        .collect();
    let cycle = |backend: &mut dyn Backend| {
        let mut jobs = 0;
        for variant in &variants {
            let case = case(variant, 100, variant.dtypes[0]);
            let inputs = op::find(&variant.op).unwrap().inputs(&case);
            match backend.prepare(&variant.name, &case, &mut inputs.clone()) {
                Ok(mut job) => drop(samples(backend, &mut *job, Cache::Hot, 2)),
                Err(CellError::Unavailable(_)) => continue,
                Err(error) => panic!("{} {}: {error}", variant.op, variant.name),
            }
            jobs += 1;
        }
        jobs
    };
    // Libraries keep files and memory from their first use.
    cycle(&mut *backend);
    let (free, files, begun) = (free_bytes(&mut *backend), open_files(), Instant::now());
    let mut jobs = 0;
    while begun.elapsed().as_secs_f64() < seconds || jobs < AT_LEAST {
        jobs += cycle(&mut *backend);
    }
    let (seconds, files_after, now) =
        (begun.elapsed().as_secs_f64(), open_files(), free_bytes(&mut *backend));
    if let Some(path) = std::env::var_os(SOAK_RECORD) {
        let figures = json!({
            "device": backend.describe()["name"], "revision": environment::BUILD_REVISION, "seconds": seconds, "jobs": jobs,
            "free_bytes": [free, now], "open_files": [files, files_after],
        });
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{figures}").unwrap();
    }
    assert_eq!(files_after, files);
    assert!(now + SLACK >= free, "{free} bytes were free before, {now} after");
}
