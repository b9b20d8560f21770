//! Line charts: what they show, and that nothing covers data.

use gpubench_model::Accuracy;
use gpubench_model::case::Cache;
use gpubench_model::report::example::{self, full, measured};
use gpubench_model::report::{Report, Row as ReportRow};

use super::labels::Labels;
use super::*;
use crate::chart::geometry::Rect;
use crate::chart::layout::{Layout, TEXT};
use crate::chart::series::Stroke;
use crate::chart::ticks::below;
use crate::chart::{Chart, charts};

/// The line charts of reports: time, then speed-up, of each op.
fn lines(reports: &[(&str, &Report)]) -> Vec<LineChart> {
    let found = charts(reports).into_iter();
    found.filter_map(|chart| if let Chart::Lines(chart) = chart { Some(chart) } else { None }).collect()
}

fn of(rows: Vec<ReportRow>) -> Vec<LineChart> {
    lines(&[("", &example::of(rows))])
}

fn notes(chart: &LineChart) -> Vec<&str> {
    chart.frame.legend.iter().map(Row::text).collect()
}

/// A sweep in which the GPU loses at first, with eight variants and two sizes that almost coincide.
fn wide() -> Vec<LineChart> {
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
    let charts = lines(&[("", &full())]);
    let names: Vec<&str> = charts.iter().map(|chart| chart.frame.name.as_str()).collect();
    assert_eq!(names, ["time-matmul-f32", "speedup-matmul-f32", "time-spgemm-f32"]);
    let time = &charts[0];
    let series: Vec<(&str, &str, Stroke)> =
        time.series.iter().map(|one| (one.group, one.label.as_str(), one.style.stroke)).collect();
    assert_eq!(series, [("CPU", "openblas", Stroke::Dashed), ("GPU", "cublas", Stroke::Solid)]);
    assert_eq!(notes(time), ["CPU", "openblas", "GPU", "cublas"]);
    let point = &time.series[0].points[0];
    assert_eq!((point.y, point.low, point.high), (7.68e-6, 7.68e-6 * 0.999, 7.68e-6 * 1.001));
    assert_eq!(time.frame.title, "matmul, float32: time by size");
}

#[test]
fn charts_of_both_cache_states_are_separate_and_named() {
    let pair = |cache| example::both_sides("fft", 8, 1e-3, 1e-3).map(|row| ReportRow { cache, ..row });
    let mut rows = Cache::ALL.map(pair).concat();
    let charts = of(rows.clone());
    let names: Vec<&str> = charts.iter().map(|chart| chart.frame.name.as_str()).collect();
    let expected = ["time-fft-f32-cold", "speedup-fft-f32-cold", "time-fft-f32-hot", "speedup-fft-f32-hot"];
    assert_eq!(names, expected);
    assert_eq!(charts[2].frame.title, "fft, float32, hot cache: time by size");
    assert!(charts.iter().flat_map(|chart| &chart.series).all(|series| series.points.len() == 1));
    let hot = of(rows.split_off(2));
    assert_eq!(hot[0].frame.name, "time-fft-f32");
    assert!(hot[0].frame.captions.last().unwrap().contains("Cache: hot."));
}

#[test]
fn the_speed_up_chart_has_three_kinds_and_marks_where_each_crosses() {
    let chart = &lines(&[("", &full())])[1];
    let of_points = |one: &Series| one.points.iter().map(|point| point.label.clone()).collect();
    let labels: Vec<Vec<Option<String>>> = chart.series.iter().map(of_points).collect();
    let expected = [["CPU 1.6x", "18x"], ["CPU 2.3x", "18x"], ["CPU 10x", "18x"]];
    assert_eq!(labels, expected.map(|pair| pair.map(|label| Some(label.to_owned())).to_vec()));
    assert_eq!(chart.crossings.len(), 3);
    assert!(chart.crossings.is_sorted_by(|a, b| a.size < b.size), "{:?}", chart.crossings);
    for (crossing, series) in chart.crossings.iter().zip(&chart.series) {
        assert_eq!(crossing.hue, series.style.hue);
        assert!(crossing.interval[0] < crossing.size && crossing.size < crossing.interval[1]);
        assert_eq!(series.path()[1], (crossing.size, 1.0), "the line passes through the mark");
    }
    let notes = notes(chart);
    assert!(notes.contains(&"Best GPU / best CPU at 10000") && notes.contains(&"cublas / openblas"));
    assert!(notes.iter().any(|note| note.starts_with("end to end: ")), "{notes:?}");
    assert_eq!(chart.reference.as_ref().map(|reference| reference.value), Some(1.0));
}

#[test]
fn a_side_that_wins_everywhere_has_no_mark() {
    let chart = &of([10, 100].map(|n| example::both_sides("fft", n, 1.0, 1e-3)).concat())[1];
    assert!(chart.crossings.is_empty());
    assert!(notes(chart).contains(&"resident: 10 or less"), "{:?}", notes(chart));
}

#[test]
fn densities_share_a_chart_of_one_kind() {
    let mut rows = vec![];
    for density in [0.01, 0.1] {
        for n in [100, 1000] {
            let time = 1e-6 * n as f64;
            rows.extend(example::both_sides("spgemm", n, time, time).map(|mut row| {
                row.case.density = Some(density);
                row
            }));
        }
    }
    let chart = &of(rows)[1];
    let labels: Vec<&str> = chart.series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["density 0.01", "density 0.1"]);
    assert!(chart.frame.subtitle.contains("resident"));
}

#[test]
fn reduced_precision_is_drawn_apart_and_takes_no_part_in_the_speed_up() {
    let charts = wide();
    let reduced = charts[0].series.iter().filter(|one| one.style.stroke == Stroke::Dotted);
    let reduced: Vec<&str> = reduced.map(|one| one.label.as_str()).collect();
    assert_eq!(reduced, ["cublas-tf32", "cublas-f16"]);
    assert!(notes(&charts[1]).iter().all(|line| !line.contains("cublas-")));
}

#[test]
fn series_of_one_chart_differ_in_their_looks() {
    let styles: Vec<_> = wide()[0].series.iter().map(|one| one.style).collect();
    assert!((1..styles.len()).all(|index| !styles[..index].contains(&styles[index])), "{styles:?}");
}

#[test]
fn several_reports_share_charts_under_their_names() {
    let report = full();
    let charts = lines(&[("before", &report), ("after", &report)]);
    let labels: Vec<&str> = charts[0].series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["before, openblas", "after, openblas", "before, cublas", "after, cublas"]);
    let labels: Vec<&str> = charts[1].series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["before", "after"]);
}

#[test]
fn the_legend_covers_no_data_and_stays_in_the_picture() {
    let many: Vec<_> =
        (0..70).map(|index| measured("svd", 10, "cpu", &format!("a-variant-{index}"), 1e-3)).collect();
    let long = vec![measured("svd", 10, "cpu", &"long-name-".repeat(20), 1e-3)];
    let all = wide().into_iter().chain(lines(&[("", &full())])).chain(of(many)).chain(of(long));
    for chart in all {
        let layout = Layout::of(&chart.frame);
        assert!(!layout.legend.intersects(&layout.plot));
        assert!(layout.picture.holds(&layout.legend) && layout.picture.holds(&layout.plot));
        assert!(layout.plot.width() > 700.0 && layout.plot.height() > 500.0);
        assert!(layout.entries.iter().all(|entry| entry.middle < layout.legend.bottom));
        for point in chart.series.iter().flat_map(|series| &series.points) {
            for y in [point.low, point.y, point.high] {
                assert!(layout.plot.has(layout.plane(&chart.frame).place(point.x, y)));
            }
        }
    }
}

#[test]
fn sizes_that_almost_coincide_share_a_label() {
    let chart = &wide()[0];
    let plane = Layout::of(&chart.frame).plane(&chart.frame);
    let labels: Vec<String> = below(&plane, TEXT).into_iter().map(|label| label.text).collect();
    assert_eq!(labels, ["100", "500, 512", "1024", "2048"]);
}

#[test]
fn labels_in_the_plot_cover_neither_points_nor_each_other() {
    let chart = &wide()[1];
    let layout = Layout::of(&chart.frame);
    let labels = Labels::of(&chart.contents(&layout));
    assert_eq!((labels.regions.len(), labels.crossings.len()), (2, 3));
    assert!(labels.points.len() >= 5, "{labels:?}");
    let areas: Vec<Rect> = labels.all().map(|label| label.area).collect();
    for (index, area) in areas.iter().enumerate() {
        assert!(layout.plot.holds(area));
        assert!(areas[..index].iter().all(|other| !other.intersects(area)));
        for point in chart.series.iter().flat_map(|series| &series.points) {
            assert!(!area.has(layout.plane(&chart.frame).place(point.x, point.y)));
        }
    }
}
