//! Records which routines of BLAS, LAPACK and FFT libraries a program calls, with shapes and times.
//!
//! A shared object, made from `interpose/`, is preloaded into the program. It defines the routines under all their names, forwards every
//! call to the library that the program would have reached, and counts it in a file that all processes of the program share. The file
//! stays valid if the program crashes or is killed.

mod child;
mod program;
mod table;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use gpubench_backend::host::environment::version_text;
use gpubench_backend::host::{search_path, user_cache};

pub use child::{ProgramEnd, run as run_to_end};
use gpubench_report::calls::{Call, Calls, Others};
use gpubench_report::data::hash::fnv1a;
use table::{CallKey, Counts};

/// The object that programs preload; empty on systems that `record` does not support.
static INTERPOSER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/interpose.so"));

/// Wraps functions of Python that are no calls of a library.
static SITECUSTOMIZE: &str = include_str!("../interpose/sitecustomize.py");

/// The variable with the path of the file that processes share; `interpose.c` reads it.
const FILE_VARIABLE: &str = "GPUBENCH_RECORD";
/// `off` keeps the object out of the user's cache.
const CACHE_SWITCH: &str = "GPUBENCH_RECORD_CACHE";
const PRELOAD: &str = "LD_PRELOAD";

/// The machine that records.
pub struct Machine {
    /// Model of the CPU.
    pub cpu: String,
    /// Logical CPUs.
    pub logical_cpus: u64,
    /// The present in UTC, as RFC 3339.
    pub now: String,
}

/// What [`record`] returns.
pub struct Recorded {
    /// The calls.
    pub calls: Calls,
    /// How the program ended.
    pub ended: ProgramEnd,
    /// Whether a Python of the program has loaded what records NumPy and SciPy.
    pub python_began: bool,
}

/// Runs `program`, whose first entry is its name or path, to its end. Its input and output are those of this process. With `python`, the
/// FFTs and sparse products of NumPy and SciPy are recorded too.
///
/// # Errors
/// The system is not Linux, the program cannot be started, or it cannot be recorded; one line that says what to do. A program that fails
/// is no error.
pub fn record(program: &[OsString], python: bool, machine: Machine) -> Result<Recorded> {
    ensure!(
        !INTERPOSER.is_empty(),
        "gpubench record preloads an object into the program, which this build supports on 64-bit Linux alone"
    );
    let name =
        program.first().context("name the program after --, such as gpubench record -- python3 script.py")?;
    program::check(name)?;
    let folder = tempfile::Builder::new().prefix("gpubench-record-").tempdir().with_context(|| {
        format!("cannot make a folder for temporary files in {}", std::env::temp_dir().display())
    })?;
    let (object, file) = (object(folder.path())?, folder.path().join("calls"));
    // The whole file, so that a disk that becomes full ends no process.
    std::fs::write(&file, table::empty()).with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = std::process::Command::new(name);
    command.args(&program[1..]).env(FILE_VARIABLE, &file).env(PRELOAD, before(&object, PRELOAD));
    if python {
        let file = folder.path().join("sitecustomize.py");
        std::fs::write(&file, SITECUSTOMIZE).with_context(|| format!("cannot write {}", file.display()))?;
        command.env(search_path::PYTHON, before(folder.path(), search_path::PYTHON));
    }
    let start = Instant::now();
    let ended = child::run(command).with_context(|| format!("cannot start {}", Path::new(name).display()))?;
    let elapsed_s = start.elapsed().as_secs_f64();
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let recording = table::RecordedCalls::read(&bytes)?;
    let calls = Calls {
        calls_version: Calls::LAYOUT,
        gpubench_version: version_text(),
        program: program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        started: machine.now,
        elapsed_s,
        ended: ended.to_string(),
        cpu: machine.cpu,
        logical_cpus: machine.logical_cpus,
        processes: recording.processes,
        threads: recording.threads,
        overhead_s: seconds(f64::from(recording.overhead_ns)),
        calls: recording.calls.iter().map(|(key, counts)| call(key, counts)).collect(),
        others: Others { count: recording.others.0, total_s: seconds(recording.others.1 as f64) },
    };
    Ok(Recorded { calls, ended, python_began: folder.path().join("begun").exists() })
}

fn seconds(ns: f64) -> f64 {
    ns * 1e-9
}

fn call(key: &CallKey, counts: &Counts) -> Call {
    let size = |index: usize| u64::try_from(key.dims[index]).unwrap_or(0);
    let is_fft = key.routine == "fft";
    let dtype = match key.dtype {
        's' if is_fft && key.flags == "C" => "c64",
        'd' if is_fft && key.flags == "C" => "c128",
        's' => "f32",
        'd' => "f64",
        'c' => "c64",
        _ => "c128",
    };
    let is_sparse = key.routine.starts_with("sp");
    let dim = |index: usize| if is_fft || (is_sparse && index == 3) { 0 } else { size(index) };
    let extents = (0..3).map(size).filter(|extent| is_fft && *extent > 0).collect();
    // A sparse product has the stored entries of the second factor there.
    let lds = if is_sparse { &[][..] } else { &key.lds[..] };
    let leading: Vec<u64> = lds.iter().map(|ld| ld.unsigned_abs()).collect();
    let used = leading.iter().rposition(|ld| *ld > 0).map_or(0, |last| last + 1);
    Call {
        routine: key.routine.clone(),
        dtype: dtype.into(),
        m: dim(0),
        n: dim(1),
        k: dim(2),
        rhs: dim(3),
        extents,
        entries: if is_sparse { size(3) } else { 0 },
        other_entries: if is_sparse { key.lds[0].unsigned_abs() } else { 0 },
        batch: if is_fft { size(3) } else { 1 },
        flags: key.flags.clone(),
        row_major: key.row_major,
        leading: leading[..used].to_vec(),
        library: key.library.clone(),
        threads: key.threads,
        count: counts.count,
        total_s: seconds(counts.total_ns as f64),
        least_s: seconds(counts.least_ns as f64),
        median_s: seconds(counts.median_ns()),
        longest_s: seconds(counts.longest_ns as f64),
        result_bytes: counts.result_bytes,
        repeated_bytes: counts.repeated_bytes,
    }
}

/// Writes the object that programs preload. It stays, since programs that outlive the recorded one would miss it: in the user's cache, or
/// where that cannot be, in `folder`.
fn object(folder: &Path) -> Result<PathBuf> {
    let name = format!("record-{:016x}.so", fnv1a(0, INTERPOSER));
    let cache = user_cache::folder("record", CACHE_SWITCH, &|name| std::env::var_os(name));
    // Spaces and colons separate the entries of `LD_PRELOAD`.
    let holds = |folder: &&Path| folder.to_str().is_some_and(|path| !path.contains([' ', ':']));
    let mut folders = cache.as_deref().into_iter().chain([folder]).filter(holds);
    let is_there = |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes == INTERPOSER);
    let written = |folder: &Path| {
        let path = folder.join(&name);
        (is_there(&path) || user_cache::write_as_is(folder, &name, INTERPOSER).is_ok()).then_some(path)
    };
    folders.find_map(written).context(
        "the recorder can be written neither to the user's cache nor to the folder for temporary files, or their paths have spaces or \
         colons: set TMPDIR to another folder, such as TMPDIR=/tmp",
    )
}

/// A list for a variable of the environment: the path, then what the variable holds.
fn before(path: &Path, variable: &str) -> OsString {
    let mut list = path.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
