use crate::palette::terminal;
use gpubench_ops::MAIN_OPS;
use gpubench_report::Side;
use gpubench_report::case::DType;
use gpubench_report::report::{Outcome, example};

use super::*;

fn screen(report: &Report, color: bool) -> String {
    super::screen(report, &View { color, ..View::default() })
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
    for dtypes in [&[DType::F32][..], DType::ALL] {
        let text = screen(&sweep(dtypes), false);
        assert!(text.lines().count() <= LINES, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= TERMINAL_WIDTH), "{text}");
        for op in MAIN_OPS {
            let is_row =
                |line: &&str| line.trim_start().starts_with(&format!("{op} ")) && line.contains(" 10000 ");
            assert_eq!(text.lines().filter(is_row).count(), dtypes.len(), "{op}: {text}");
        }
        assert!(text.contains(" cells failed (reasons: --tables)."), "{text}");
    }
}

/// Columns go until rows fit, crossovers last, and the screen says which.
#[test]
fn long_names_of_sweeps_leave_out_columns_and_fold_no_row() {
    let mut report = sweep(&[DType::F32]);
    for row in &mut report.rows {
        row.case.op = format!("op-of-another-program-{}", row.case.op);
    }
    let text = screen(&report, false);
    assert!(text.lines().all(|line| line.chars().count() <= TERMINAL_WIDTH), "{text}");
    let left_out =
        "No room here for rate / peak; resident: from N; end to end, pageable: from N: see --tables";
    assert!(words(&text).contains(left_out), "{text}");
    assert!(!text.contains("\nfrom N: ") && !text.contains("\nrate / peak: "), "{text}");
    let whole = whole_table(&report, &View::default()).unwrap();
    assert!(whole.lines().all(|line| line.chars().count() <= TERMINAL_WIDTH), "{whole}");
    assert!(whole.contains("rate / peak") && whole.matches("from N").count() == 2, "{whole}");
    assert_eq!(
        whole_table(&report, &View { width: Some(200), ..View::default() }),
        None,
        "nothing is left out"
    );
}

#[test]
fn the_host_memory_is_named_where_both_kinds_were_measured() {
    let one = screen(&sweep(&[DType::F32]), false);
    assert!(words(&one).contains("end to end: + copies (pageable)."), "{one}");
    assert!(!one.contains("pinned"), "{one}");
    let both = screen(&example::with_pinned(sweep(&[DType::F32]), 10.0), false);
    assert!(both.lines().count() <= LINES, "{both}");
    assert!(both.lines().all(|line| line.chars().count() <= TERMINAL_WIDTH), "{both}");
    let copies = "end to end: + copies (pageable: ordinary memory; pinned: page-locked).";
    assert!(words(&both).contains(copies), "{both}");
}

#[test]
fn a_case_that_the_host_memory_decides_is_named() {
    let sizes = [(1024, 150e-6), (2048, 100e-6), (4096, 1.0)];
    let rows = sizes.map(|(n, cpu_s)| example::both_sides("fft", n, cpu_s, 50e-6));
    let mut report = example::with_pinned(example::of(rows.concat()), 10.0);
    let decides = "End to end depends on the host memory: fft 2048 CPU 1.2x pageable, GPU 1.6x pinned.";
    let text = screen(&report, false);
    assert!(words(&text).contains(decides), "{text}");
    assert_eq!(Sweeps::of(&report).memory_decides(true).as_deref(), Some(decides));
    assert_eq!(Sweeps::of(&report).memory_decides(false), None, "it does not at the largest size");
    report.rows.truncate(4);
    assert_eq!(Sweeps::of(&report).memory_decides(false).as_deref(), Some(decides));
}

#[test]
fn crossovers_with_copies_name_the_memory_where_it_makes_a_difference() {
    let of = |gpu_s: f64, times: f64| {
        let rows = [1024, 2048].map(|n| example::both_sides("fft", n, 100e-6, gpu_s));
        words(&screen(&example::with_pinned(example::of(rows.concat()), times), false))
    };
    let sizes = "is faster at every size from 1024 to 2048";
    let apart = format!(
        "fft: the GPU {sizes}; end to end (pageable memory) the CPU {sizes}; end to end (pinned memory) the GPU {sizes}."
    );
    assert!(of(50e-6, 10.0).contains(&apart), "{}", of(50e-6, 10.0));
    let same = format!("fft: the GPU {sizes}; end to end (either memory) the CPU {sizes}.");
    assert!(of(50e-6, 1.0).contains(&same), "{}", of(50e-6, 1.0));
    let all = format!("fft: the GPU {sizes}, with or without copies.");
    assert!(of(1e-6, 10.0).contains(&all), "{}", of(1e-6, 10.0));
}

#[test]
fn a_variant_that_picks_is_named_by_what_it_picked() {
    let mut report = sweep(&[DType::F32]);
    for row in report.rows.iter_mut().filter(|row| row.variant == "cublas") {
        (row.variant, row.picked) = ("auto".into(), Some("gustavson".into()));
    }
    let text = screen(&report, false);
    assert!(text.contains("matmul openblas / gustavson"), "{text}");
    assert!(text.lines().count() <= LINES, "{text}");
}

#[test]
fn a_sweep_has_one_row_with_its_crossovers() {
    let text = screen(&sweep(&[DType::F32]), false);
    let line = |op: &str| words(text.lines().find(|line| line.trim_start().starts_with(op)).unwrap());
    let expected = "fft 10000 GPU 3.12x GPU 3.12x 3200 GPU 3.12x 3200 <0.1% <0.1%";
    assert_eq!(line("fft"), expected);
    assert!(line("matmul").contains(" all GPU 200x all "), "{text}");
    assert!(line("svd").contains(" CPU 20.5x none CPU 20.5x none "), "{text}");
    let costs = "First use of the GPU: context 150 ms; compiling and planning matmul 214 ms, ";
    assert!(words(&text).contains(costs) && text.contains("solve never"), "{text}");
}

#[test]
fn a_row_at_a_smaller_size_has_its_reason() {
    let mut report = sweep(&[DType::F32]);
    let largest = |row: &&mut gpubench_report::report::Row| {
        (row.case.op.as_str(), row.case.n, row.side) == ("svd", 10_000, Side::Gpu)
    };
    let row = report.rows.iter_mut().find(largest).unwrap();
    (row.outcome, row.execute) = (Outcome::Incorrect, None);
    let text = words(&screen(&report, false));
    assert!(text.contains(" svd 5000 ") && !text.contains(" svd 10000 "), "{text}");
    assert!(text.contains(" Not compared at larger N: svd (GPU incorrect at 10000). "), "{text}");
}

#[test]
fn few_cases_have_one_row_each_with_times() {
    let text = screen(&example::full(), false);
    let has = |start: &str| text.lines().any(|line| words(line).starts_with(start));
    assert!(has("matmul 100 openblas 7.68 µs cublas 12.4 µs CPU 1.62x CPU 2.2"), "{text}");
    assert!(has("matmul 10000 openblas 740 ms cublas 40.9 ms GPU 18x GPU 18"), "{text}");
}

#[test]
fn an_inconclusive_speed_up_has_a_question_mark() {
    let text = screen(&example::of(example::both_sides("fft", 100, 1.0005e-3, 1e-3)), false);
    assert!(
        text.contains("GPU 1.00x? ") && text.contains("\n?: the 95 % interval includes 1x: a tie.\n"),
        "{text}"
    );
    assert!(!text.contains("!:"), "{text}");
}

#[test]
fn colours_mark_winners_only() {
    let text = screen(&example::full(), true);
    let [cpu, gpu] = [terminal::CPU, terminal::GPU].map(|code| format!("\x1b[{code}m"));
    assert!(text.contains(&format!("{cpu}CPU ")) && text.contains(&format!("{gpu}GPU ")), "{text}");
    let wrong = format!("\x1b[{}mINCORRECT: ", terminal::WRONG);
    assert!(text.starts_with(&wrong), "{text}");
    assert_eq!(text.matches("\x1b[0m").count(), 1 + 6, "{text}");
}

/// The marks are independent of each other, and a tie has no side's colour.
#[test]
fn a_tie_of_a_time_of_grade_d_has_both_marks_and_no_colour() {
    use gpubench_report::measure::grade::{Grade, WarningKind};
    let mut report = example::of(example::both_sides("fft", 100, 1.0005e-3, 1e-3));
    example::warn(&mut report.rows[0], WarningKind::Drift, Grade::D, "something", "do something");
    let text = screen(&report, true);
    assert!(text.contains(" GPU 1.00x?! "), "{text}");
    assert!(text.contains("\n?: the 95 % interval includes 1x: a tie. !: unreliable.\n"), "{text}");
}

#[test]
fn a_report_of_one_side_says_why_there_is_no_comparison() {
    let mut report = example::of([example::measured("fft", 100, "cpu", "realfft", 1e-3)]);
    let text = screen(&report, false);
    assert!(text.starts_with("CPU times only: no GPU variant was selected."), "{text}");
    let line = text.lines().find(|line| line.contains("realfft")).unwrap();
    assert_eq!(words(line), "fft 100 realfft 1.000 ms A");
    let settings = report.environment.settings.clone();
    report.environment.settings["backends"] = serde_json::json!(["cpu", "cuda"]);
    report.environment.planned_rows = Some(4);
    let early = screen(&report, false);
    assert!(early.contains("CPU times only: the run ended before any cell of another backend."), "{early}");
    (report.environment.settings, report.environment.planned_rows) = (settings, None);
    report.rows.push(example::without_time("fft", 100, "cuda", "r2c", Outcome::Skipped, "no driver", None));
    assert!(screen(&report, false).starts_with("No GPU cell was measured: CPU times only."));
    report.environment.backends[1].available = false;
    let text = screen(&report, false);
    assert!(
        text.starts_with("No GPU found: CPU times only (gpubench doctor lists what is missing)."),
        "{text}"
    );
    assert!(text.contains("1 of 2 cells skipped (reasons: --tables)."), "{text}");
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
    assert!(screen(&report, false).starts_with("No cell of cuda was measured.\ncpu times only: "));
    report.rows.push(example::without_time(
        "fft",
        100,
        "cuda",
        "r2c",
        Outcome::Skipped,
        "no driver",
        Some("install it"),
    ));
    let text = words(&screen(&report, false));
    let expected = "No cell of cuda was measured: no driver (fix: install it); gpubench doctor lists what is missing. cpu times only: ";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn slower_gpu_variants_are_listed_by_their_resident_times() {
    let mut report = example::of([
        example::measured("host-loop", 100, "cpu", "parallel", 10e-6),
        example::measured("host-loop", 100, "cuda", "fused", 5e-6),
        example::measured("host-loop", 100, "cuda", "launch-per-element", 29.995e-3),
        example::measured("transfer", 8, "cuda", "h2d-pinned", 2e-6),
    ]);
    report.rows[3].work = gpubench_ops::Work { flop: 0.0, bytes: 4e3 };
    let text = screen(&report, false);
    assert!(
        words(&text).contains(
            "Slower GPU variants at the largest N, resident time over the best: host-loop launch-per-element 3000x."
        ),
        "{text}"
    );
    assert!(text.contains("transfer N=8: h2d-pinned 2.00 µs (2.00 GB/s)."), "{text}");
}

#[test]
fn a_gpu_backend_that_ties_with_the_best_is_named() {
    let mut report = example::of([
        example::measured("matmul", 100, "cpu", "openblas", 1e-3),
        example::measured("matmul", 100, "cuda", "cublas", 100e-6),
        example::measured("matmul", 100, "cuda", "tiled", 100.01e-6),
        example::measured("matmul", 100, "cupy", "matmul", 100.02e-6),
        example::measured("matmul", 100, "torch", "out", 150e-6),
    ]);
    let text = words(&screen(&report, false));
    let expected = "Slower or equal GPU variants at the largest N, resident time over the best (?: a tie): matmul \
                    cupy/matmul 1.00x?, torch/out 1.48x.";
    assert!(text.contains(expected), "{text}");
    report.rows.remove(3);
    let text = words(&screen(&report, false));
    assert!(
        text.contains("Slower GPU variants at the largest N, resident time over the best: matmul torch"),
        "{text}"
    );
}

#[test]
fn a_backend_that_is_the_best_nowhere_is_on_the_screen() {
    let cpu = [
        example::measured("matmul", 100, "cpu", "openblas", 1e-3),
        example::measured("matmul", 100, "mine", "lists", 30e-3),
        example::measured("matmul", 100, "mine", "slower", 40e-3),
    ];
    let mut report = example::of(cpu);
    report.rows[1..].iter_mut().for_each(|row| row.side = Side::Cpu);
    let expected =
        "Slower backends at the largest N, time over the best of their side: matmul mine/lists 30.0x.";
    let text = words(&screen(&report, false));
    assert!(text.contains(expected), "{text}");
    report.rows.push(example::measured("matmul", 100, "cuda", "cublas", 1e-4));
    let text = words(&screen(&report, false));
    assert!(text.contains(expected), "{text}");
    report.rows[1].execute = None;
    report.rows[2].execute = None;
    let text = words(&screen(&report, false));
    assert!(!text.contains("Slower backends"), "{text}");
    let mut alone = report.clone();
    alone.rows.retain(|row| row.backend == "cuda");
    assert!(!screen(&alone, false).contains("Slower backends"));
}

/// Both sides take the same time at every size, so that there is no winner and no break-even.
#[test]
fn equal_sides_name_no_winner_anywhere() {
    let sizes = [50, 100, 150, 200, 300];
    let found = example::of(sizes.map(|n| example::both_sides("matmul", n, 1.0, 1.0)).concat());
    let text = screen(&found, false);
    let expected =
        "matmul: neither side is measurably faster at any size from 50 to 300, with or without copies.";
    assert!(words(&text).contains(expected), "{text}");
    assert_eq!(text.matches("x? ").count() + text.matches("x?\n").count(), 5 * 3, "{text}");
    assert!(!text.contains("faster from N") && !text.contains("Calls needed"), "{text}");
    let paragraph = gpubench_document::report::sentences::paragraph(&found);
    let paragraph = paragraph.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(!paragraph.contains("x faster") && paragraph.contains("in 1 neither side is"), "{paragraph}");
}
