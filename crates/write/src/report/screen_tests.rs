//! Tests of the first screen.

use gpubench_document::table::Tone;
use gpubench_ops::MAIN_OPS;
use gpubench_report::Side;
use gpubench_report::case::DType;
use gpubench_report::measure::grade::{Grade, WarningKind};
use gpubench_report::report::{Outcome, example};

use super::*;
use crate::terminal::{TERMINAL_WIDTH, painted};

fn screen(report: &Report, color: bool) -> String {
    super::table::screen(report, &View { color, ..View::default() })
}

/// A report of seven ops at five sizes: the CPU's time grows as N³, the GPU's as N².
fn sweep(dtypes: &[DType]) -> Report {
    let mut report = example::empty();
    for state in &mut report.environment.backends {
        state.peaks = Some(example::peaks());
        state.description["context_s"] = 0.15.into();
    }
    for (place, op) in MAIN_OPS.iter().enumerate() {
        for &dtype in dtypes {
            for n in [100, 500, 1000, 5000, 10_000] {
                let size = n as f64;
                let cpu = example::measured(op, n, "cpu", "openblas", 2e-10 * size.powi(3));
                let overhead = 1e-8 * 4f64.powi(place as i32);
                let gpu = example::measured(op, n, "cuda", "cublas", overhead * size.powi(2));
                for mut row in [cpu, gpu] {
                    row.case.dtype = dtype;
                    report.rows.push(row);
                }
            }
        }
    }
    report.rows.push(example::without_time("svd", 5000, "cuda", "gesvd", Outcome::Failed, "no", None));
    report
}

/// The text with single blanks between its words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn seven_ops_fit_on_the_screen() {
    let mut report = example::with_pinned(sweep(DType::REAL), 10.0);
    let both = screen(&report, false);
    for op in MAIN_OPS {
        let rows = both.lines().filter(|line| line.trim_start().starts_with(&format!("{op} f")));
        assert_eq!(rows.filter(|row| row.contains(" 10000 ")).count(), DType::REAL.len(), "{op}: {both}");
    }
    report.rows.retain(|row| row.case.dtype == DType::F32);
    example::warn(&mut report.rows[9], WarningKind::Drift, Grade::D, "something", "do something");
    report.environment.warnings.push(gpubench_report::report::RunWarning {
        text: "one core took 2.3 times as long as another, so CPU times may vary".into(),
        next: "close other programs".into(),
    });
    let view = View { folder: Some("results/7".into()), ..View::default() };
    let text = super::table::screen(&report, &view);
    let expected = "\
NVIDIA H200 against Intel Xeon Platinum 8480C, 16 threads; float32, N x N, cold
caches.
The faster side at the largest N measured, and how many times faster it is:
                    copied each call ───────────  data stays on the GPU   calls
                               ← wins             library    ← wins       repay
op               N  pageable   from N  pinned     or plain   from N       copies
matmul       10000  GPU 200x!  ≤ 100!  GPU 200x!  GPU 200x!  ≤ 100!       1!
elementwise  10000  GPU 50x    ~210    GPU 50x    GPU 50x    ~201         1
reduction    10000  GPU 12.5x  ~801    GPU 12.5x  GPU 12.5x  ~800         1
fft          10000  GPU 3.12x  ~3200   GPU 3.12x  GPU 3.12x  ~3200        1
solve        10000  CPU 1.28x  none    CPU 1.28x  CPU 1.28x  none         never
spgemm       10000  CPU 5.1x   none    CPU 5.1x   CPU 5.1x   none         never
svd          10000  CPU 20.5x  none    CPU 20.5x  CPU 20.5x  none         never

!: unreliable (1 of the 70 fastest times of a side and N).
CPU: the fastest of openblas.
1 of 71 cells failed.
Warning: one core took 2.3 times as long as another.
Results: results/7. More: gpubench show --tables (or --legend)
";
    assert_eq!(text, expected);
    let other = View { shown: Some(PathBuf::from("my runs/7")), ..view };
    let last = "\nMore: gpubench show 'my runs/7' --tables (or --legend)\n";
    assert!(super::table::screen(&report, &other).ends_with(last));
}

/// Columns go until rows fit, crossovers last, and the screen says which.
#[test]
fn long_names_of_sweeps_leave_out_columns_and_fold_no_row() {
    let mut report = sweep(&[DType::F32]);
    for row in &mut report.rows {
        row.case.op = format!("an-op-of-another-code-{}", row.case.op);
    }
    let text = screen(&report, false);
    assert!(text.lines().all(|line| line.chars().count() <= TERMINAL_WIDTH), "{text}");
    let left_out = "No room here for calls: repay copies (widen the terminal, or see --tables).";
    assert!(words(&text).contains(left_out), "{text}");
}

/// With few cases every size has a row, the crossover is in the last of its sweep, and few rows have their times.
#[test]
fn few_cases_have_one_row_each() {
    let report = example::full();
    let text = screen(&report, false);
    for expected in [
        " matmul 100 CPU 10x CPU 2.27x never",
        " matmul 10000 GPU 18.1x ~540 GPU 18.2x ~280 1",
        " Times: matmul 100: CPU 7.68 µs (openblas), GPU 17.4 µs (cublas). matmul 10000: ",
    ] {
        assert!(words(&text).contains(expected), "{expected}: {text}");
    }
}

#[test]
fn a_tie_has_a_question_mark_and_no_colour() {
    let mut report = example::of(example::both_sides("fft", 100, 1.0054e-3, 1e-3));
    let text = screen(&report, true);
    assert!(text.contains("  GPU 1.00x? ") && text.contains("\n?: either may win.\n"), "{text}");
    example::warn(&mut report.rows[0], WarningKind::Drift, Grade::D, "something", "do something");
    let text = screen(&report, true);
    assert!(text.contains("  GPU 1.00x?! "), "{text}");
    assert!(
        text.contains("\n?: either may win. !: unreliable (1 of the 2 fastest times of a side and N).\n"),
        "{text}"
    );
}

#[test]
fn colours_mark_winners_only() {
    let text = screen(&example::full(), true);
    let begun = |text, tone| painted(text, tone).replace("\x1b[0m", "");
    assert!(text.contains(&begun("CPU ", Tone::Cpu)) && text.contains(&begun("GPU ", Tone::Gpu)), "{text}");
    assert!(text.starts_with(&begun("INCORRECT: ", Tone::Wrong)), "{text}");
}

#[test]
fn a_report_of_one_side_says_why_there_is_no_comparison() {
    let mut report = example::of([example::measured("fft", 100, "cpu", "realfft", 1e-3)]);
    let text = screen(&report, false);
    assert!(text.starts_with("CPU only: no GPU cell was measured "), "{text}");
    assert!(words(&text).contains(" fft 100 realfft 1.000 ms (no other) - "), "{text}");
    report.rows.push(example::without_time("fft", 100, "cuda", "r2c", Outcome::Skipped, "no driver", None));
    let text = screen(&report, false);
    assert!(text.starts_with("CPU only: no GPU cell was measured (gpubench show --tables)."), "{text}");
    assert!(text.contains("1 of 2 cells skipped."), "{text}");
    report.environment.backends[1].available = false;
    let text = screen(&report, false);
    assert!(text.starts_with("No GPU found (gpubench doctor). "), "{text}");
    assert!(!text.contains("skipped"), "the title says it: {text}");
    report.rows.remove(0);
    let text = words(&screen(&report, false));
    assert!(
        text.starts_with("Nothing was measured: no driver; gpubench doctor lists what is missing."),
        "{text}"
    );
    report.rows.clear();
    assert!(screen(&report, false).starts_with("Nothing was measured."));
}

#[test]
fn a_contender_without_times_has_a_reason() {
    let mut report = example::of([example::measured("fft", 100, "cpu", "realfft", 1e-3)]);
    report.environment.settings["versus"] = "cpu:cuda".into();
    assert!(words(&screen(&report, false)).starts_with("No cell of cuda was measured. cpu times only: "));
    let skipped =
        example::without_time("fft", 100, "cuda", "r2c", Outcome::Skipped, "no driver", Some("install it"));
    report.rows.push(skipped);
    let text = words(&screen(&report, false));
    let expected = "No cell of cuda was measured: no driver (fix: install it); gpubench doctor lists what is missing. cpu times only: ";
    assert!(text.starts_with(expected), "{text}");
}

/// A report of one side compares its libraries: with the next and the slowest, or per backend and number of threads.
#[test]
fn libraries_of_one_side_are_compared_with_the_fastest() {
    let of = |variants: &[(&str, &str, f64)]| {
        let row = |&(backend, variant, time_s): &(&str, &str, f64)| {
            let mut row = example::measured("matmul", 100, backend, variant, time_s);
            row.side = Side::Cpu;
            row
        };
        words(&screen(&example::of(variants.iter().map(row).collect::<Vec<_>>()), false))
    };
    let one =
        [("cpu", "openblas", 1e-3), ("cpu", "mkl", 3e-3), ("cpu", "faer", 2e-3), ("cpu", "gemm@1", 9e-3)];
    let two = [("cpu", "openblas", 1e-3), ("numpy", "matmul", 3e-3), ("numpy", "dot", 2e-3)];
    let columns = [
        "next takes slowest takes matmul 100 openblas 1.000 ms faer 2.00x mkl 3.00x ",
        "all threads 1 thread matmul 100 openblas 1.000 ms openblas 1.00x gemm@1 9.0x ",
        "cpu numpy matmul 100 cpu/openblas 1.000 ms cpu/openblas 1.00x numpy/dot 2.00x ",
    ];
    for (text, columns) in [of(&one[..3]), of(&one), of(&two)].iter().zip(columns) {
        assert!(text.contains(&format!(" op N fastest time {columns}")), "{columns}: {text}");
    }
}

#[test]
fn a_cost_without_a_rival_is_listed() {
    let mut report = example::of([
        example::measured("host-loop", 100, "cpu", "parallel", 10e-6),
        example::measured("host-loop", 100, "cuda", "fused", 5e-6),
        example::measured("transfer", 8, "cuda", "h2d-pinned", 2e-6),
    ]);
    report.rows[2].work = gpubench_ops::Work { flop: 0.0, bytes: 4e3 };
    let text = screen(&report, false);
    assert!(text.contains("transfer N=8: h2d-pinned 2.00 µs (2.00 GB/s)."), "{text}");
}
