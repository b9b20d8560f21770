//! `gpubench advise` with calls measured on the simulated device.

use super::{Folder, assert_contains, assert_lacks, flat};

/// 60 ms of 100 ms in large products, 10 ms in a small one, 5 ms in a call without an op, and products that are not measured.
const CALLS: &str = r#"{"calls_version": 1, "gpubench_version": "0", "program": ["p"], "started": "", "elapsed_s": 0.1, "ended": "exit code 0",
    "cpu": "another", "logical_cpus": 1, "processes": 1, "threads": 1, "overhead_s": 0.0, "calls": [
    {"routine": "gemm", "dtype": "f32", "m": 500, "n": 500, "k": 500, "flags": "NN", "row_major": true, "count": 10, "total_s": 0.06,
     "least_s": 0.006, "median_s": 0.006, "longest_s": 0.006, "repeated_bytes": 20000000},
    {"routine": "gemm", "dtype": "f32", "m": 20, "n": 30, "k": 40, "flags": "NN", "row_major": true, "count": 1000, "total_s": 0.01,
     "least_s": 1e-5, "median_s": 1e-5, "longest_s": 1e-5},
    {"routine": "gesv", "dtype": "f64", "n": 100, "rhs": 1, "count": 1, "total_s": 0.005, "least_s": 0.005, "median_s": 0.005, "longest_s": 0.005},
    {"routine": "gemm", "dtype": "f32", "m": 100, "n": 100, "k": 100, "flags": "NN", "row_major": true, "count": 1, "total_s": 0.004,
     "least_s": 0.004, "median_s": 0.004, "longest_s": 0.004},
    {"routine": "gemm", "dtype": "f32", "m": 300, "n": 100, "k": 200, "flags": "NT", "row_major": true, "count": 1, "total_s": 0.003,
     "least_s": 0.003, "median_s": 0.003, "longest_s": 0.003},
    {"routine": "gemm", "dtype": "f32", "m": 200, "n": 90, "k": 80, "flags": "NN", "row_major": true, "count": 1, "total_s": 0.002,
     "least_s": 0.002, "median_s": 0.002, "longest_s": 0.002}]}"#;

const SCRIPT: &str = "seed = 1
variant = [{ name = 'host', side = 'cpu' }, { name = 'accelerator', side = 'gpu' }]
[[rule]]
variant = 'host'
time = { base = '1us', per_element = '0.02ns', exponent = 3.0 }
[[rule]]
variant = 'accelerator'
time = { base = '20us', per_element = '0.0002ns', exponent = 3.0 }
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("calls.json", CALLS);
    folder.write("script.toml", SCRIPT);
    folder
}

const SIM: &str =
    "-- --backends sim --sim script.toml --variants * --samples 3 --rounds 2 --no-peaks --quiet";

#[test]
fn calls_are_measured_predicted_verified_and_the_program_is_judged() {
    let folder = folder();
    let ended = folder.run_line(&format!("advise --top 4 --verify 1 --price cpu=1,gpu=2 {SIM}")).good();
    let text = flat(&ended.stdout);
    assert_contains(
        &text,
        &[
            "sgemm NN 500x500x500 10",
            "dgesv 100, rhs 1 1 5.0% 5.00 ms - - - -",
            "sgemm NN 200x90x80 1 2.0% 2.00 ms ~",
            "The program took 100 ms, recorded calls 84.0 ms of it (84%)",
            "If nothing had to be copied, it would take at least",
            "times what it costs now",
            "Move first: sgemm NN of 500x500x500",
            "Verified with 1 problem drawn at random",
        ],
    );
    assert_contains(&ended.stderr, &["was recorded on another machine"]);
    // The run is kept, and the same command needs no second one.
    let times = || folder.report("calls-run")["rows"].to_string();
    let first = times();
    folder.run_line("advise --top 4").good();
    assert_eq!(times(), first);
    let json = folder.run_line("advise --report calls-run --format json").good().json();
    assert_eq!(json["calls"][0]["advice"]["verdict"], "gpu");
    assert!(
        json["totals"]["data_stays_s"]["value"].as_f64() < json["totals"]["with_copies_s"]["value"].as_f64(),
        "{json}"
    );
    assert_contains(
        &folder.succeeds("advise --report calls-run --format md").stdout,
        &["# Would a GPU pay", "| sgemm NN |"],
    );
    let page = folder.succeeds("advise --report calls-run --format html").stdout;
    assert_contains(&page, &["Would a GPU pay for this program?</h3>", "Move first", "Every row"]);
    // Reports alone predict and emit; without a record there is nothing to advise about.
    std::fs::remove_file(folder.path().join("calls.json")).unwrap();
    let kept = folder.succeeds("advise --report calls-run --verify 9").stdout;
    assert_contains(&flat(&kept), &["Verified with 4 problems drawn at random, predicted from the others"]);
    let json = folder.run_line("advise --report calls-run --verify 9 --format json").good().json();
    assert_eq!(json["problems"], 4);
    folder.refuses_each("advise ", "--report calls-run => there is no calls.json: record a program");
    let header = folder.succeeds("advise --report calls-run --emit c").stdout;
    assert_contains(&header, &["#define GPUBENCH_GEMM_F32_WITH_COPIES ", "#define GPUBENCH_GEMM_F32 "]);
}

#[test]
fn an_operation_of_some_shape_is_measured_for_so_many_calls() {
    let folder = folder();
    let words = "advise matmul 64x32x16,8x8x8 --batch 4 --dtypes f32,f64 --calls 1000";
    let ended = folder.run_line(&format!("{words} {SIM}")).good();
    let text = flat(&ended.stdout);
    assert_contains(
        &text,
        &[
            "matmul 64x32x16 batch 4 f32",
            "matmul 8x8x8 batch 4 f64",
            "1.04 ms 40.3 ms CPU 39x",
            "All calls: 1000; each call copies",
        ],
    );
    // The run is kept: other data and numbers of calls need no second one.
    let kept = folder.report("results/advise-matmul-64x32x16-8x8x8-4-f32-f64")["rows"].to_string();
    let once = folder.run_line(&format!("{words} --data once --format json")).good().json();
    assert!(once["problems"][3]["all_on_gpu_s"]["value"].as_f64().unwrap() > 0.0, "{once}");
    assert_contains(
        &flat(&folder.succeeds(&format!("{words} --data device")).stdout),
        &["on the GPU already"],
    );
    assert_eq!(folder.report("results/advise-matmul-64x32x16-8x8x8-4-f32-f64")["rows"].to_string(), kept);
    folder.refuses_each(
        "advise ",
        "nosuch 8x8x8 => nosuch
        matmul 8x8 => matmul
        matmul => matmul is an operation: add a shape
        calls.json --report calls-run --batch 4 => --batch
        matmul 8x8x8 --calls 0 => 0 is not in 1..
        matmul 8x8x8 --report kept => --report
        calls.json --batch 4 => required",
    );
}

#[test]
fn without_a_gpu_the_best_library_is_named() {
    let folder = folder();
    // So slow a recorded product that a busy machine's is faster, too.
    let slow = CALLS.replace("\"elapsed_s\": 0.1", "\"elapsed_s\": 10").replace("0.006", "0.6");
    folder.write("calls.json", &slow.replace("0.06,", "6.0,"));
    let cpu = "-- --backends cpu --variants faer --samples 3 --rounds 2 --no-peaks --quiet";
    let ended = folder.run_line(&format!("advise --top 2 {cpu}")).good();
    assert_contains(
        &flat(&ended.stdout),
        &["With the best CPU library", "No time of a GPU is known", "Without a GPU: cpu/faer"],
    );
    assert_lacks(&ended.stdout, &["Move first"]);
    let one = folder.run_line(&format!("advise matmul 8x8x8 --calls 7 {cpu}")).good();
    assert_contains(&flat(&one.stdout), &["All calls: 7. No time of a GPU is known"]);
}

#[test]
fn what_cannot_be_advised_about_is_refused_in_one_line() {
    let folder = folder();
    folder.write("empty.json", &CALLS.replace("\"calls_version\": 1", "\"calls_version\": 9"));
    folder.write("none.json", "{}");
    folder.write("unknown.json", &CALLS.replace("gemm", "trsm"));
    folder.refuses_each(
        "advise ",
        "absent.json => there is no absent.json: record a program
        none.json => none.json is no calls.json of gpubench record
        empty.json => its layout is 9, and this gpubench reads 1: record again
        unknown.json => gpubench has no operation for any of the 6 kinds of calls
        --price 5 => '5' has no two prices: write cpu=0.8,gpu=3.5
        --report absent => absent
        --report absent --emit c --verify 3 => --verify
        --report calls-run --out other => --out",
    );
}
