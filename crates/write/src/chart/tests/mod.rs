//! Charts as a whole: what they say, and that files and fragments are sound and repeatable.

pub(crate) mod text_dump;

use crate::palette::Role;
use gpubench_report::Accuracy;
use gpubench_report::report::Row;
use gpubench_report::report::example::{self, empty, measured, peaks};

use super::*;
use text_dump::text_dump;

/// Two ops at three sizes on a machine with peaks; the GPU wins at large sizes, one kind of speed-up after the other.
fn two_ops() -> Report {
    let mut report = empty();
    report.environment.backends.iter_mut().for_each(|backend| backend.peaks = Some(peaks()));
    report.environment.backends[1].description["context_s"] = 0.15.into();
    for n in [100, 400, 1600] {
        let cube = (n as f64).powi(3);
        report.rows.extend([
            measured("matmul", n, "cpu", "openblas", 3e-12 * cube),
            measured("matmul", n, "cpu", "faer", 4e-12 * cube),
            measured("matmul", n, "cuda", "cublas", 4e-6 + 5e-14 * cube),
            measured("matmul", n, "cuda", "cublas-tf32", 4e-6 + 1e-14 * cube),
        ]);
        report.rows.last_mut().unwrap().accuracy = Accuracy::Tf32;
    }
    for n in [100, 400, 1600] {
        let square = (n as f64).powi(2);
        let work = gpubench_ops::Work { flop: square, bytes: 4.0 * square };
        let [cpu, gpu] = [1e-6 + 2e-11 * square, 5e-6 + 1e-12 * square];
        report.rows.extend([
            Row { work, ..measured("reduction", n, "cpu", "rayon", cpu) },
            Row { work, ..measured("reduction", n, "cuda", "cub", gpu) },
        ]);
    }
    report
}

/// Every chart as SVG.
fn vectors(theme: Theme) -> Drawing<'static> {
    Drawing { formats: &[Format::Svg], theme, selection: Selection::ALL }
}

/// Compares the text of every kind of chart with the stored one. When a change is meant, `GPUBENCH_BLESS=1 cargo test
/// charts_say` keeps the new text, which is then read before it is committed.
#[test]
fn charts_match_their_stored_texts() {
    let report = example::with_pinned(two_ops(), 5.0);
    let found = text_dump(&charts(&[("", &report)], Selection::ALL));
    if std::env::var_os("GPUBENCH_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/chart/testdata/charts.txt");
        std::fs::write(path, &found).unwrap();
    }
    let kept = include_str!("../testdata/charts.txt");
    for (number, (found, kept)) in found.lines().zip(kept.lines()).enumerate() {
        assert_eq!(found, kept, "line {} of charts.txt", number + 1);
    }
    assert_eq!(found.lines().count(), kept.lines().count());
}

/// The names of the charts of reports.
fn names(reports: &[(&str, &Report)], selection: Selection) -> String {
    charts(reports, selection).iter().map(|chart| chart.frame().name.clone()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_charts_that_say_something_are_drawn_unless_others_are_named() {
    let report = two_ops();
    let usual = "overview speedup-matmul-f32 throughput-matmul-f32 \
                 speedup-reduction-f32 throughput-reduction-f32";
    assert_eq!(names(&[("", &report)], Selection::Default), usual);
    let all = "overview speedup-matmul-f32 throughput-matmul-f32 time-matmul-f32 \
               speedup-reduction-f32 throughput-reduction-f32 time-reduction-f32 \
               roofline-cpu-f32 roofline-cuda-f32";
    assert_eq!(names(&[("", &report)], Selection::ALL), all);
    assert!(
        all.split(' ').all(is_name) && !is_name("overviews") && !is_name("report") && is_name("overview-2")
    );
    let named = Selection::of([ChartKind::Time as usize]);
    assert_eq!(names(&[("", &report)], named), "time-matmul-f32 time-reduction-f32");
    let shared = "speedup-matmul-f32 throughput-matmul-f32 speedup-reduction-f32 throughput-reduction-f32";
    assert_eq!(names(&[("before", &report), ("after", &report)], Selection::Default), shared);
}

#[test]
fn ops_without_two_sizes_two_sides_or_a_throughput_lack_charts() {
    let of = |op, backend, sizes: &[u64]| {
        example::of(sizes.iter().map(|n| measured(op, *n, backend, "one", 1e-5)).collect::<Vec<_>>())
    };
    let mut own = of("blur", "cpu", &[1, 10]);
    own.rows.iter_mut().for_each(|row| row.work = Default::default());
    for (report, expected) in [
        (empty(), ""),
        (example::of(example::both_sides("fft", 8, 1e-3, 1e-4)), ""),
        (of("fft", "cpu", &[8, 16]), "throughput-fft-f32"),
        (of("overhead", "cuda", &[1, 10]), "time-overhead-f32"),
        (own, "time-blur-f32"),
    ] {
        assert_eq!(names(&[("", &report)], Selection::Default), expected);
    }
}

#[test]
fn an_overview_says_that_the_run_ended_early() {
    let mut report = two_ops();
    let notice = |report: &Report| match &charts(&[("", report)], Selection::Default)[0] {
        Chart::Overview(overview) => overview.notice.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(notice(&report), None);
    report.environment.planned_rows = Some(40);
    let fact = "The run ended early: 18 of 40 cells finished.";
    assert_eq!(notice(&report).as_deref(), Some(fact), "a picture has no use for a command");
}

#[test]
fn charts_with_end_to_end_times_name_the_host_memory_of_the_copies() {
    let mut report = two_ops();
    let text = |report: &Report| text_dump(&charts(&[("", report)], Selection::ALL));
    assert_eq!(text(&report).matches("copies (pageable host memory)").count(), 3);
    for copy in report.rows.iter_mut().flat_map(|row| row.phases.as_mut()?.upload.as_mut()) {
        copy.memory = gpubench_report::HostMemory::Pinned;
    }
    assert!(!text(&report).contains("pageable") && text(&report).contains("copies (pinned host memory)"));
}

#[test]
fn a_picture_decodes_is_not_blank_and_repeats_byte_for_byte() {
    let report = two_ops();
    let overview = &charts(&[("", &report)], Selection::Default)[..1];
    for theme in Theme::ALL {
        let files = pictures(overview, &[Format::Png], theme).unwrap();
        let picture = ::image::load_from_memory(&files[0].bytes).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), SIZE);
        let (red, green, blue) = Role::Ink.rgb(theme);
        let near = |pixel: [u8; 3]| pixel.iter().zip([red, green, blue]).all(|(a, b)| a.abs_diff(b) < 0x40);
        let ink = picture.pixels().filter(|pixel| near(pixel.0)).count();
        assert!(ink > 2000, "{}: {ink} pixels of ink, so text is missing", theme.name());
        let ground = Role::Ground.rgb(theme);
        assert_eq!(picture.get_pixel(1, 1).0, [ground.0, ground.1, ground.2]);
        if theme == Theme::Dark {
            assert_eq!(files, pictures(overview, &[Format::Png], theme).unwrap());
        }
    }
}

#[test]
fn vectors_carry_their_font_their_text_and_repeat_byte_for_byte() {
    let report = two_ops();
    let first = files(&[("", &report)], &vectors(Theme::Light)).unwrap();
    assert_eq!(first.len(), 9);
    assert_eq!(first, files(&[("", &report)], &vectors(Theme::Light)).unwrap());
    assert_ne!(first, files(&[("", &report)], &vectors(Theme::Dark)).unwrap());
    for file in &first {
        let text = std::str::from_utf8(&file.bytes).unwrap();
        assert!(text.starts_with("<svg width=\"1600\" height=\"1000\" viewBox=\"0 0 4800 3000\""));
        assert_eq!(text.matches("@font-face").count(), 2);
        assert!(text.contains("NVIDIA H200") && text.contains("2026-11-21"), "{}", file.name);
    }
    let text = std::str::from_utf8(&first[1].bytes).unwrap();
    for part in ["matmul, float32", "kernel", "end to end", "GPU 10x"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn a_page_has_plots_without_a_font_and_their_texts_next_to_them() {
    let report = two_ops();
    let page = page_charts(&report);
    let plots = |kind| page.iter().filter(move |chart| chart.kind() == kind).flat_map(Chart::plots);
    assert_eq!(plots(ChartKind::Overview).count(), 2, "a drawing per op");
    assert_eq!(plots(ChartKind::Throughput).count(), 2);
    for chart in &page {
        let Frame { title, legend, captions, .. } = chart.frame();
        assert!(!title.is_empty() && !legend.is_empty() && !captions.is_empty());
        for (_, svg) in chart.plots() {
            assert!(svg.starts_with("<svg width=\"") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("@font-face") && !svg.contains("<style") && !svg.contains(title.as_str()));
        }
    }
    assert_eq!(font_faces().matches("@font-face").count(), 2);
}

#[test]
fn figures_at_the_ends_of_float64_are_drawn() {
    for (cpu, gpu) in [(1e308, 1e308), (5e-324, 5e-324), (1e308, 1e-308), (1e-308, 1e308), (5e-324, 1.0)] {
        let mut report = two_ops();
        report.rows = example::both_sides("fft", 8, cpu, gpu).to_vec();
        assert!(!files(&[("", &report)], &vectors(Theme::Dark)).unwrap().is_empty());
        for (flop, bytes) in [(1e308, 5e-324), (5e-324, 1e308), (f64::MAX, f64::MAX)] {
            report.rows.iter_mut().for_each(|row| row.work = gpubench_ops::Work { flop, bytes });
            files(&[("", &report)], &vectors(Theme::Light)).unwrap();
        }
    }
}

#[test]
fn names_of_files_stay_short_and_distinct() {
    assert_eq!(short("speedup-matmul-f32"), "speedup-matmul-f32");
    let [one, other] =
        ["a", "b"].map(|end| short(&format!("roofline-{}{end}", "µ".repeat(10_000))).into_owned());
    assert!(one.len() <= 150 && one != other && one.starts_with("roofline-µ"), "{one}");
}
