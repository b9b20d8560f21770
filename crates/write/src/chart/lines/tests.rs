//! Line charts: what they show, and that nothing covers data.

use gpubench_analysis::answer::Versus;
use gpubench_report::case::Cache;
use gpubench_report::report::example::{self, full, measured};
use gpubench_report::report::{Report, Row};
use gpubench_report::{Accuracy, Side};

use super::labels::Labels;
use super::*;
use crate::chart::geometry::Rect;
use crate::chart::layout::{Extent, FrameLayout, TEXT, below};
use crate::chart::{Chart, Selection, charts};

/// The line charts of reports: speed-up, then time, of each op.
fn lines(reports: &[(&str, &Report)]) -> Vec<LineChart> {
    let kinds = [ChartKind::SpeedUp, ChartKind::Time].map(|kind| kind as usize);
    let found = charts(reports, Selection::of(kinds)).into_iter();
    found.filter_map(|chart| if let Chart::Lines(chart) = chart { Some(chart) } else { None }).collect()
}

fn of(rows: Vec<Row>) -> Vec<LineChart> {
    lines(&[("", &example::of(rows))])
}

fn notes(chart: &LineChart) -> Vec<&str> {
    chart.frame.legend.iter().map(LegendRow::text).collect()
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
fn charts_of_both_cache_states_are_separate_and_named() {
    let pair = |cache, n| example::both_sides("fft", n, 1e-3, 1e-3).map(|row| Row { cache, ..row });
    let of_cache = |cache| [8, 16].map(|n| pair(cache, n)).concat();
    let mut rows = Cache::ALL.map(of_cache).concat();
    let charts = of(rows.clone());
    let names: Vec<&str> = charts.iter().map(|chart| chart.frame.name.as_str()).collect();
    let expected = ["speedup-fft-f32-cold", "time-fft-f32-cold", "speedup-fft-f32-hot", "time-fft-f32-hot"];
    assert_eq!(names, expected);
    assert_eq!(charts[3].frame.title, "fft, float32, hot cache: time by size");
    assert!(charts.iter().flat_map(|chart| &chart.series).all(|series| series.points.len() == 2));
    let hot = of(rows.split_off(4));
    assert_eq!(hot[1].frame.name, "time-fft-f32");
    assert!(hot[0].frame.captions.last().unwrap().contains("Cache: hot."));
}

#[test]
fn lines_of_speed_ups_pass_through_the_marks_of_their_crossovers() {
    let chart = &lines(&[("", &full())])[0];
    assert_eq!(chart.crossings.len(), 3);
    for (crossing, series) in chart.crossings.iter().zip(&chart.series) {
        assert_eq!(series.path()[1], (crossing.size, 1.0));
    }
}

#[test]
fn contenders_with_names_title_the_charts_and_have_them_alone() {
    let rows = [100, 1000].into_iter().flat_map(|n| {
        let size = n as f64;
        let mut numpy = measured("matmul", n, "numpy", "matmul", 2e-12 * size.powi(3));
        numpy.side = Side::Cpu;
        let cupy = measured("matmul", n, "cupy", "matmul", 1e-4);
        [measured("matmul", n, "cpu", "mkl", 1e-12 * size.powi(3)), numpy, cupy]
    });
    let mut report = example::of(rows);
    Versus::choose(&mut report, "numpy:cupy").unwrap();
    let [speed_up, time] = &lines(&[("", &report)])[..] else { panic!("two charts") };
    assert_eq!(speed_up.frame.title, "matmul, float32: is cupy faster than numpy?");
    let regions = speed_up.reference.as_ref().map(|found| [found.above.as_str(), found.below.as_str()]);
    assert_eq!(regions, Some(["cupy faster", "numpy faster"]));
    assert!(
        notes(speed_up).contains(&"cupy faster from N")
            && notes(speed_up).contains(&"Best cupy / best numpy at 1000")
    );
    let labels: Vec<&str> = time.series.iter().map(|series| series.label.as_str()).collect();
    assert_eq!(labels, ["numpy/matmul", "matmul"], "without cpu/mkl");
    let captions = &speed_up.frame.captions;
    assert!(
        captions[1].starts_with("Points: ratios of medians. Rings: cupy faster from this N."),
        "{captions:?}"
    );
    assert!(captions[0].starts_with("cupy: device clock · numpy: "), "{captions:?}");
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
    let chart = &of(rows)[0];
    let labels: Vec<&str> = chart.series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["density 0.01", "density 0.1"]);
    assert!(chart.frame.subtitle.contains("resident"));
}

#[test]
fn several_reports_share_charts_under_their_names() {
    let report = full();
    let charts = lines(&[("before", &report), ("after", &report)]);
    let labels: Vec<&str> = charts[1].series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["before, openblas", "after, openblas", "before, cublas", "after, cublas"]);
    let hues: Vec<Role> = charts[1].series.iter().map(|one| one.style.hue).collect();
    assert_eq!(hues, [Role::Vermilion, Role::Vermilion, Role::Green, Role::Green], "by variant");
    let labels: Vec<&str> = charts[0].series.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["before", "after"]);
}

#[test]
fn the_legend_covers_no_data_and_stays_in_the_picture() {
    let many: Vec<_> = (0..140)
        .map(|i| measured("svd", 10 + i / 70, "cpu", &format!("a-variant-{}", i % 70), 1e-3))
        .collect();
    let long = [10, 20].map(|n| measured("svd", n, "cpu", &"long-name-".repeat(20), 1e-3)).to_vec();
    let all = wide().into_iter().chain(lines(&[("", &full())])).chain(of(many)).chain(of(long));
    for chart in all {
        let layout = FrameLayout::of(&chart.frame, Extent::File);
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
    let chart = &wide()[1];
    let plane = FrameLayout::of(&chart.frame, Extent::File).plane(&chart.frame);
    let labels: Vec<String> = below(&plane, TEXT).into_iter().map(|label| label.text).collect();
    assert_eq!(labels, ["100", "500, 512", "1024", "2048"]);
}

#[test]
fn labels_in_the_plot_cover_neither_points_nor_each_other() {
    let chart = &wide()[0];
    let layout = FrameLayout::of(&chart.frame, Extent::File);
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

#[test]
fn a_variant_that_picks_has_one_line_and_its_picks_in_the_legend() {
    let row = |n, pick: &str| {
        let mut row = measured("matmul", n, "cuda", "auto", 1e-12 * (n as f64).powi(3));
        row.picked = Some(pick.to_owned());
        row
    };
    let chart = &of(vec![row(100, "dmma"), row(1000, "dmma"), row(5000, "cublas")])[0];
    assert_eq!(chart.series.len(), 1);
    assert_eq!((chart.series[0].label.as_str(), chart.series[0].points.len()), ("auto", 3));
    assert_eq!(notes(chart)[2..], ["Chosen by auto, at N", "dmma: 100, 1000", "cublas: 5000"]);
    let chart = &of(vec![row(100, "dmma"), row(1000, "dmma")])[0];
    assert_eq!(chart.series[0].label, "auto (dmma)");
}

#[test]
fn ops_have_the_unit_of_what_limits_them() {
    use super::quantity::Quantity;
    let unit = |op: &str| Quantity::throughput(op, &[]);
    for op in ["matmul", "solve", "svd"] {
        assert_eq!(unit(op), Some(Quantity::Flops), "{op}");
    }
    for op in ["elementwise", "sin", "reduction", "fft", "spgemm", "spmv", "transfer"] {
        assert_eq!(unit(op), Some(Quantity::Bytes), "{op}");
    }
    assert_eq!(unit("overhead"), None);
}

#[test]
fn ties_and_points_of_grade_d_have_a_mark_that_the_legend_explains() {
    let rows =
        [10, 100, 1000].map(|n| example::both_sides("fft", n, 1e-3, if n == 10 { 1e-3 } else { 1e-4 }));
    let mut rows = rows.concat();
    rows[5].execute.as_mut().unwrap().grade = Some(gpubench_report::measure::grade::Grade::D);
    let chart = &of(rows)[0];
    let marks: Vec<[bool; 2]> =
        chart.series[0].points.iter().map(|point| [point.marks.is_tie, point.marks.grade_d]).collect();
    assert_eq!(marks, [[true, false], [false, false], [false, true]]);
    let notes = notes(chart);
    assert!(
        notes.contains(&"?: interval includes 1x") && notes.contains(&"!: unreliable, without a band"),
        "{notes:?}"
    );
}

#[test]
fn the_band_of_a_crossover_ends_with_the_sizes_measured() {
    let chart = &wide()[0];
    assert!(!chart.crossings.is_empty());
    for crossing in &chart.crossings {
        assert!(crossing.interval[0] >= 100.0 && crossing.interval[1] <= 2048.0, "{crossing:?}");
    }
}
