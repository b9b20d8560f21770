//! Charts as a whole: what they show, that nothing covers data, and that files are sound and repeatable.

use super::labels::{below, inside};
use super::layout::{Layout, Rect};
use super::series::Stroke;
use super::*;
use crate::backend::Accuracy;
use crate::case::Cache;
use crate::report::example::{empty, full, measured};

fn of(rows: Vec<crate::report::Row>) -> Vec<ChartModel> {
    charts(&[("", &Report { rows, ..empty() })])
}

/// A sweep in which the GPU loses at first, with eight variants and two sizes that almost coincide.
fn wide() -> Vec<ChartModel> {
    let mut rows = vec![];
    for n in [100, 500, 512, 1024, 2048] {
        let size = n as f64;
        for (index, variant) in ["openblas", "mkl", "faer", "ndarray"].into_iter().enumerate() {
            rows.push(measured("matmul", n, "cpu", variant, 1e-12 * size.powi(3) * (index + 1) as f64));
        }
        for (index, variant) in ["cublas", "tiled", "cublas-tf32", "cublas-f16"].into_iter().enumerate() {
            let mut row =
                measured("matmul", n, "cuda", variant, 1e-5 + 1e-14 * size.powi(3) / (index + 1) as f64);
            if variant.contains('-') {
                row.accuracy = Accuracy::Tf32;
            }
            rows.push(row);
        }
    }
    of(rows)
}

#[test]
fn the_time_chart_has_a_series_a_variant_grouped_by_side() {
    let charts = charts(&[("", &full())]);
    let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
    assert_eq!(names, ["time-matmul-f32", "speedup-matmul-f32", "time-spgemm-f32"]);
    let time = &charts[0];
    let series: Vec<(&str, &str, Stroke)> =
        time.series.iter().map(|one| (one.group, one.label.as_str(), one.style.stroke)).collect();
    assert_eq!(series, [("CPU", "openblas", Stroke::Dashed), ("GPU", "cublas", Stroke::Solid)]);
    let labels: Vec<&str> = time.x.ticks.iter().map(|tick| tick.label.as_str()).collect();
    assert_eq!(labels, ["100", "10000"]);
    assert_eq!(time.series[0].points[0].y, 7.68e-6);
    assert_eq!(
        (time.series[0].points[0].low, time.series[0].points[0].high),
        (7.68e-6 * 0.999, 7.68e-6 * 1.001)
    );
    assert_eq!(time.title, "matmul, float32: time by size");
}

#[test]
fn a_report_of_both_states_of_the_caches_has_charts_of_each_and_says_which() {
    let mut rows = vec![];
    for cache in Cache::ALL {
        for (backend, variant) in [("cpu", "realfft"), ("cuda", "r2c")] {
            rows.push(crate::report::Row { cache, ..measured("fft", 8, backend, variant, 1e-3) });
        }
    }
    let charts = of(rows.clone());
    let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
    assert_eq!(
        names,
        ["time-fft-f32-cold", "speedup-fft-f32-cold", "time-fft-f32-hot", "speedup-fft-f32-hot"]
    );
    assert_eq!(charts[2].title, "fft, float32, hot cache: time by size");
    assert!(charts[2].captions.last().unwrap().contains("hot cache"));
    assert!(charts.iter().all(|chart| chart.series.iter().all(|series| series.points.len() == 1)));
    let hot = of(rows.split_off(2));
    assert_eq!(hot[0].name, "time-fft-f32");
    assert!(hot[0].captions.last().unwrap().contains("hot cache"));
}

#[test]
fn the_speed_up_chart_names_winners_and_pairs() {
    let chart = &charts(&[("", &full())])[1];
    let labels: Vec<Option<&str>> =
        chart.series[0].points.iter().map(|point| point.label.as_deref()).collect();
    assert_eq!(labels, [Some("CPU 1.6x"), Some("18x")]);
    assert_eq!(
        chart.notes.as_ref().unwrap().lines,
        ["N = 100–10000:", "\u{a0}\u{a0}\u{a0}cublas / openblas"]
    );
    assert_eq!(chart.reference.as_ref().map(|reference| reference.value), Some(1.0));
}

#[test]
fn reduced_precision_is_drawn_apart_and_takes_no_part_in_the_speed_up() {
    let charts = wide();
    let reduced: Vec<&str> = charts[0]
        .series
        .iter()
        .filter(|one| one.style.stroke == Stroke::Dotted)
        .map(|one| one.label.as_str())
        .collect();
    assert_eq!(reduced, ["cublas-tf32", "cublas-f16"]);
    assert!(charts[1].notes.as_ref().unwrap().lines.iter().all(|line| !line.contains("cublas-")));
}

#[test]
fn series_of_one_chart_differ_in_their_looks() {
    let styles: Vec<_> = wide()[0].series.iter().map(|one| one.style).collect();
    assert!((1..styles.len()).all(|index| !styles[..index].contains(&styles[index])), "{styles:?}");
}

#[test]
fn several_reports_share_charts_under_their_names() {
    let report = full();
    let charts = charts(&[("before", &report), ("after", &report)]);
    let labels: Vec<&str> = charts[0].series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["before, openblas", "after, openblas", "before, cublas", "after, cublas"]);
    let labels: Vec<&str> = charts[1].series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["before", "after"]);
}

#[test]
fn nothing_measured_makes_no_chart() {
    assert!(of(vec![]).is_empty());
    assert_eq!(of(vec![measured("fft", 8, "cpu", "realfft", 1e-6)]).len(), 1);
}

#[test]
fn the_legend_covers_no_data_and_stays_in_the_picture() {
    let many: Vec<_> =
        (0..70).map(|index| measured("svd", 10, "cpu", &format!("a-variant-{index}"), 1e-3)).collect();
    let long = vec![measured("svd", 10, "cpu", &"long-name-".repeat(20), 1e-3)];
    let all = wide().into_iter().chain(charts(&[("", &full())])).chain(of(many)).chain(of(long));
    for chart in all {
        let layout = Layout::of(&chart);
        assert!(!layout.legend.intersects(&layout.plot));
        assert!(layout.picture.holds(&layout.legend) && layout.picture.holds(&layout.plot));
        assert!(layout.plot.right - layout.plot.left > 700.0 && layout.plot.bottom - layout.plot.top > 500.0);
        assert!(layout.entries.iter().all(|entry| entry.middle < layout.legend.bottom));
        for point in chart.series.iter().flat_map(|series| &series.points) {
            for y in [point.low, point.y, point.high] {
                assert!(layout.plot.has(layout.place(&chart, point.x, y)));
            }
        }
    }
}

#[test]
fn sizes_that_almost_coincide_share_a_label() {
    let chart = &wide()[0];
    let labels: Vec<String> = below(chart, &Layout::of(chart)).into_iter().map(|label| label.text).collect();
    assert_eq!(labels, ["100", "500, 512", "1024", "2048"]);
}

#[test]
fn labels_in_the_plot_cover_neither_points_nor_each_other() {
    let chart = &wide()[1];
    let layout = Layout::of(chart);
    let (regions, points) = inside(chart, &layout);
    assert_eq!(regions.len(), 2);
    assert!(points.len() >= 4, "{points:?}");
    let areas: Vec<Rect> = regions.iter().chain(&points).map(|label| label.area).collect();
    for (index, area) in areas.iter().enumerate() {
        assert!(layout.plot.holds(area));
        assert!(areas[..index].iter().all(|other| !other.intersects(area)));
        for point in &chart.series[0].points {
            assert!(!area.has(layout.place(chart, point.x, point.y)));
        }
    }
}

#[test]
fn pictures_decode_at_the_right_size_are_not_blank_and_repeat_byte_for_byte() {
    let report = full();
    let first = files(&[("", &report)], &[Format::Png], Theme::Light).unwrap();
    assert_eq!(first.len(), 3);
    assert_eq!(first, files(&[("", &report)], &[Format::Png], Theme::Light).unwrap());
    for file in first {
        let picture = ::image::load_from_memory(&file.bytes).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), SIZE);
        let dark = picture.pixels().filter(|pixel| pixel.0.iter().all(|&channel| channel < 0x60)).count();
        assert!(dark > 2000, "{}: {dark} dark pixels, so text is missing", file.name);
    }
}

#[test]
fn vectors_carry_their_font_their_text_and_repeat_byte_for_byte() {
    let report = full();
    let first = files(&[("", &report)], &[Format::Svg], Theme::Light).unwrap();
    assert_eq!(first, files(&[("", &report)], &[Format::Svg], Theme::Light).unwrap());
    let text = std::str::from_utf8(&first[0].bytes).unwrap();
    assert!(text.starts_with("<svg width=\"1600\" height=\"1000\" viewBox=\"0 0 4800 3000\""));
    assert_eq!(text.matches("@font-face").count(), 2);
    for part in ["matmul, float32", "cublas", "openblas", "100 µs", "NVIDIA H200"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn times_at_the_ends_of_float64_are_drawn_within_the_plot() {
    for (cpu, gpu) in [(1e308, 1e308), (5e-324, 5e-324), (1e308, 1e-308), (1e-308, 1e308), (5e-324, 1.0)] {
        let rows = vec![measured("fft", 8, "cpu", "realfft", cpu), measured("fft", 8, "cuda", "r2c", gpu)];
        for chart in of(rows.clone()) {
            let layout = Layout::of(&chart);
            assert!(layout.plot.right - layout.plot.left > 700.0, "{chart:?}");
            for point in chart.series.iter().flat_map(|series| &series.points) {
                assert!(layout.plot.has(layout.place(&chart, point.x, point.y)), "{chart:?}");
            }
        }
        let report = Report { rows, ..empty() };
        assert!(!files(&[("", &report)], &Format::ALL, Theme::Dark).unwrap().is_empty());
    }
}

#[test]
fn plot_reads_reports_and_writes_charts_but_replaces_none_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("run");
    std::fs::create_dir(&source).unwrap();
    crate::report::file::save(&full(), &source.join("report.json")).unwrap();
    let out = folder.path().join("new/charts");
    let reports = [source.clone()];
    let written = plot(&reports, &out, &[Format::Svg], Theme::Light, false).unwrap();
    assert_eq!(written.len(), 3);
    assert!(written.iter().all(|path| path.is_file()));
    assert!(
        plot(&reports, &out, &[Format::Svg], Theme::Light, false)
            .unwrap_err()
            .to_string()
            .contains("--force")
    );
    plot(&reports, &out, &[Format::Svg], Theme::Light, true).unwrap();
    crate::report::file::save(&empty(), &source.join("report.json")).unwrap();
    assert!(
        plot(&reports, &out, &[Format::Svg], Theme::Light, true)
            .unwrap_err()
            .to_string()
            .contains("nothing to draw")
    );
}

#[test]
fn plot_leaves_nothing_behind_where_it_cannot_write_and_takes_no_dash_for_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("report.json");
    let long = measured(&"o".repeat(300), 8, "cpu", "v", 1e-3);
    let short = measured("fft", 8, "cpu", "v", 1e-3);
    crate::report::file::save(&Report { rows: vec![short, long], ..empty() }, &source).unwrap();
    let reports = [source];
    assert!(plot(&reports, &folder.path().join("new/charts"), &[Format::Svg], Theme::Light, false).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let message =
        plot(&reports, Path::new("-"), &[Format::Svg], Theme::Light, false).unwrap_err().to_string();
    assert!(message.contains("stdout") && message.contains("--out"), "{message}");
}

#[test]
fn reports_are_called_after_their_folder_or_file_and_by_path_when_names_collide() {
    let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(names(&paths(&["a/h200/report.json", "b/before.json"])), ["h200", "before"]);
    assert_eq!(names(&paths(&["a/x.json", "b/x.json"])), ["a/x.json", "b/x.json"]);
}

#[test]
fn fragments_are_the_charts_without_a_font_and_the_page_has_it_once() {
    let report = full();
    let fragments = svg_fragments(&report, Theme::Light).unwrap();
    let files = files(&[("", &report)], &[Format::Svg], Theme::Light).unwrap();
    assert_eq!(fragments.len(), files.len());
    for (fragment, file) in fragments.iter().zip(files) {
        assert_eq!(format!("{}.svg", fragment.name), file.name);
        assert!(
            fragment.svg.starts_with("<svg width=\"1600\"") && fragment.svg.trim_end().ends_with("</svg>")
        );
        assert!(!fragment.svg.contains("@font-face") && !fragment.svg.contains("<style"));
        assert!(fragment.svg.contains(&fragment.title));
    }
    assert_eq!(font_faces().matches("@font-face").count(), 2);
}
