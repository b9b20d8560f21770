//! ThreadSanitizer finds no data race in `kernels/cholesky.cu`, and finds one wherever a barrier is removed.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use rayon::prelude::*;

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/race");

/// The first line after what all kernels share; not all of that is used here.
const END_OF_COMMON: &str = "constexpr int TILE = 64, HALF = 32, CHUNK = 8, THREADS = 256;";

/// Exit code of a program in which ThreadSanitizer found a race.
const RACE: i32 = 66;

/// Largest backward error of a right solution, in units of roundoff.
const BOUND: f64 = 16.0;

/// Instructions of the kernel, each in one statement, and their replacement on the host.
const ON_THE_HOST: [(&str, &str); 15] = [
    ("ld.relaxed.gpu.global.v4.f32", "host::load(at, p.v);"),
    ("ld.relaxed.gpu.global.v2.f64", "host::load(at, p.v);"),
    ("ld.relaxed.gpu.global.f32", "value = host::load(at);"),
    ("ld.relaxed.gpu.global.f64", "value = host::load(at);"),
    ("st.relaxed.gpu.global.f32", "host::store(at, value);"),
    ("st.relaxed.gpu.global.f64", "host::store(at, value);"),
    ("ld.relaxed.gpu.global.u64", "word = __atomic_load_n(from, __ATOMIC_RELAXED);"),
    ("ld.relaxed.gpu.global.v2.u64", "first = host::load(from), second = host::load(from + 1);"),
    ("st.relaxed.gpu.global.u64", "__atomic_store_n(to, word, __ATOMIC_RELAXED);"),
    ("rsqrt.approx.ftz.f32", "r = 1 / std::sqrt(value);"),
    ("rsqrt.approx.ftz.f64", "r = 1 / std::sqrt(value);"),
    ("rcp.approx.ftz.f64", "r = 1 / value;"),
    ("cvt.rn.f16.f32", "host::fail(\"no float16 here\", -1);"),
    ("bar.sync", "host::wait(ID, PARTIES);"),
    ("bar.arrive", "host::arrive(ID, PARTIES);"),
];
const SHARED: &str = "extern __shared__ __align__(16) unsigned char shared[];";
const SHARED_ON_THE_HOST: &str = "unsigned char* shared = host::shared();";

/// Type, N, blocks, blocks of the diagonal, and the order in which threads run.
const RUNS: [&str; 5] =
    ["float32 60 2 1 1", "float32 70 3 2 2", "float64 70 2 1 3", "float32 140 3 1 4", "float32 140 4 2 5"];

/// The numbers of the named barriers.
const BARRIERS: std::ops::RangeInclusive<i32> = 1..=15;
/// Minimum rows of tiles that need all of these.
const TWO_ROWS: &str = "float32 70 2 1 1";
/// Minimum rows of tiles that need every `__syncthreads`.
const THREE_ROWS: &str = "float32 140 3 1 1";

/// Orders between lanes that only these statements give: a shuffle gives none.
const NEEDED_IN_A_WARP: [&str; 2] = [
    "publish(out + (j + q) * TILE, value);\n        }\n        __syncwarp();",
    "difference.store(block);\n    __syncwarp();",
];

const TRIAL: &str = "#include <sanitizer/tsan_interface.h>
int main() { __tsan_destroy_fiber(__tsan_create_fiber(0)); }";

fn required(what: &str) -> bool {
    std::env::var("GPUBENCH_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == what))
}

/// Returns the text of a file of `kernels`, with the text of each header in the place where it is first included.
fn with_headers(name: &str, included: &mut Vec<String>) -> String {
    let mut text = String::new();
    for line in fs::read_to_string(Path::new(KERNELS).join(name)).unwrap().lines() {
        let header = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
        match header {
            Some(header) if included.iter().any(|name| name == header) => {}
            Some(header) => {
                included.push(header.to_owned());
                text += &with_headers(header, included);
            }
            None if line == "#pragma once" => {}
            None => text += &format!("{line}\n"),
        }
    }
    text
}

/// Returns the kernel with its headers, in CUDA C.
fn kernel() -> String {
    with_headers("cholesky.cu", &mut Vec::new())
}

/// Returns the kernel translated to C++, line by line.
fn host_text(kernel: &str) -> String {
    let mut text = kernel.to_owned();
    for (instruction, host) in ON_THE_HOST {
        let found: Vec<usize> = text.match_indices(&format!("\"{instruction} ")).map(|(at, _)| at).collect();
        assert_eq!(found.len(), 1, "{instruction}");
        let begin = text[..found[0]].rfind("asm").unwrap();
        assert!(["asm(", "asm volatile("].contains(&&text[begin..found[0]]), "{instruction}");
        let end = found[0] + text[found[0]..].find(");\n").unwrap() + 2;
        let lines = text[begin..end].matches('\n').count();
        text.replace_range(begin..end, &(host.to_string() + &"\n".repeat(lines)));
    }
    assert_eq!(text.matches(SHARED).count(), 2, "shared memory");
    let text = text.replace(SHARED, SHARED_ON_THE_HOST);
    assert!(!text.contains("asm") && !text.contains("__shared__"), "what has no text for the host");
    text
}

/// Returns the number of the line in which `text` ends; it must occur once.
fn line_of(kernel: &str, text: &str) -> usize {
    let found: Vec<_> = kernel.match_indices(text).collect();
    assert_eq!(found.len(), 1, "{text}");
    kernel[..found[0].0 + text.len()].lines().count()
}

fn compile(folder: &Path, source: &Path, program: &str) -> Result<PathBuf, String> {
    let path = folder.join(program);
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let output = Command::new(&compiler)
        .args(["-std=c++20", "-O1", "-g", "-fsanitize=thread", "-fno-strict-aliasing", "-I"])
        .args([folder, source])
        .arg("-o")
        .arg(&path)
        .output()
        .map_err(|error| format!("{compiler}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(path) } else { Err(format!("{compiler}: {said}")) }
}

/// A program that runs under ThreadSanitizer.
struct Sanitized {
    path: PathBuf,
    /// Puts memory at fixed addresses, without which some versions of ThreadSanitizer do not start.
    fixed: bool,
}

impl Sanitized {
    fn run(&self, words: &str) -> Output {
        let mut command = Command::new(if self.fixed { "setarch".as_ref() } else { self.path.as_os_str() });
        if self.fixed {
            command.arg("-R").arg(&self.path);
        }
        let options = format!("halt_on_error=1 exitcode={RACE}");
        command.args(words.split(' ')).env("TSAN_OPTIONS", options).output().unwrap()
    }

    fn starts(&self) -> bool {
        (!self.fixed || Command::new("setarch").arg("--version").output().is_ok())
            && self.run("").status.success()
    }
}

/// Compiles the kernel, or returns why ThreadSanitizer is not available.
fn build() -> Result<Sanitized, String> {
    if !cfg!(target_os = "linux") {
        return Err("the host's part is written for Linux".into());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("race");
    fs::create_dir_all(&folder).unwrap();
    let trial = folder.join("trial.cpp");
    fs::write(&trial, TRIAL).unwrap();
    let path = compile(&folder, &trial, "trial")?;
    let mut ways = [false, true].map(|fixed| Sanitized { path: path.clone(), fixed }).into_iter();
    let way = ways.find(Sanitized::starts).ok_or("a program with ThreadSanitizer does not start")?;
    fs::write(folder.join("cholesky.inc"), host_text(&kernel())).unwrap();
    let path = compile(&folder, &Path::new(SOURCES).join("solve.cpp"), "solve").unwrap();
    Ok(Sanitized { path, fixed: way.fixed })
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn solver() -> Option<&'static Sanitized> {
    static SOLVER: LazyLock<Result<Sanitized, String>> = LazyLock::new(build);
    match &*SOLVER {
        Ok(solver) => Some(solver),
        Err(reason) => {
            assert!(!required("tsan"), "{reason}");
            eprintln!("skipped: no ThreadSanitizer: {reason}");
            None
        }
    }
}

/// Runs two at a time, because each needs up to a gigabyte.
fn each<W: AsRef<str> + Sync>(runs: &[W], check: impl Fn(&str) + Sync) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| runs.par_iter().for_each(|words| check(words.as_ref())));
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn no_race_is_found_and_the_solution_is_right() {
    let Some(solver) = solver() else { return };
    each(&RUNS, |words| {
        let output = solver.run(words);
        let said = said(&output);
        assert!(output.status.success(), "{words}: {said}");
        let errors: Vec<f64> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [plain, refined, changed] = errors[..] else { panic!("{words}: {said}") };
        assert!(plain <= BOUND && refined <= BOUND && changed == 0.0, "{words}: {said}");
    });
}

#[test]
fn a_race_is_found_where_a_barrier_is_left_out() {
    let Some(solver) = solver() else { return };
    let kernel = kernel();
    let mut broken: Vec<String> = BARRIERS.map(|number| format!("{TWO_ROWS} barrier {number}")).collect();
    broken.extend(NEEDED_IN_A_WARP.map(|text| format!("{TWO_ROWS} line {}", line_of(&kernel, text))));
    let used = kernel.lines().zip(1..).skip_while(|(line, _)| *line != END_OF_COMMON);
    let calls = used.filter(|(line, _)| line.contains("__syncthreads();"));
    broken.extend(calls.map(|(_, number)| format!("{THREE_ROWS} line {number}")));
    // An arrival does not wait: code after it is not ordered.
    broken.push("arrival".into());
    each(&broken, |words| {
        let output = solver.run(words);
        let said = said(&output);
        assert!(output.status.code() == Some(RACE) && said.contains("data race"), "{words}: {said}");
    });
}
