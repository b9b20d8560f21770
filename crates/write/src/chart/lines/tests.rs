//! Line charts: what they show, and that nothing covers data.

use gpubench_analysis::answer::Versus;
use gpubench_report::case::Cache;
use gpubench_report::report::example::{self, full, measured};
use gpubench_report::report::{Report, Row};
use gpubench_report::{Accuracy, Side};

use super::*;
use crate::chart::geometry::{Rect, SHAPES};
use crate::chart::layout::{Extent, FrameLayout};
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

fn labels(chart: &LineChart) -> Vec<&str> {
    chart.lines.series.iter().map(|series| series.label.as_str()).collect()
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
            let time = 1e-5 + 1e-14 * size.powi(3) / (index + 1) as f64;
            let accuracy = if variant.contains('-') { Accuracy::Tf32 } else { Accuracy::Ieee };
            rows.push(Row { accuracy, ..measured("matmul", n, "cuda", variant, time) });
        }
    }
    of(rows)
}

#[test]
fn many_lines_of_several_shapes_are_a_chart_for_each_shape() {
    let of_shapes = |count: usize| {
        let mut rows = vec![];
        for (index, n) in (1..=count).flat_map(|index| [8, 16].map(|n| (index, n))) {
            let shape = serde_json::from_str(&format!(r#"{{"m": {index}, "n": "N", "k": "N"}}"#)).ok();
            rows.extend(example::both_sides("matmul", n, 1e-3, 1e-3).map(|mut row| {
                row.case.shape = shape.clone();
                row
            }));
        }
        of(rows).into_iter().filter(|chart| chart.kind == ChartKind::Time).collect::<Vec<_>>()
    };
    assert_eq!(of_shapes(6)[..].iter().map(|chart| chart.lines.series.len()).collect::<Vec<_>>(), [12]);
    let charts = of_shapes(22);
    assert_eq!((charts.len(), charts[0].lines.series.len()), (20, 2));
    assert_eq!(charts[1].frame.name, "time-matmul-f32-2xNxN");
    assert_eq!(charts[1].frame.title, "matmul, float32, shape 2xNxN: time by size");
    let caption = charts[1].frame.captions.last().unwrap();
    assert!(caption.ends_with("The first 20 of 22 shapes have charts."), "{caption}");
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
    assert!(charts.iter().flat_map(|chart| &chart.lines.series).all(|series| series.points.len() == 2));
    let hot = of(rows.split_off(4));
    assert_eq!(hot[1].frame.name, "time-fft-f32");
    assert!(hot[0].frame.captions.last().unwrap().contains("Cache: hot."));
}

#[test]
fn lines_of_speed_ups_pass_through_the_marks_of_their_crossovers() {
    let chart = &lines(&[("", &full())])[0];
    assert_eq!(chart.lines.crossings.len(), 3);
    for (crossing, series) in chart.lines.crossings.iter().zip(&chart.lines.series) {
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
    assert_eq!(speed_up.frame.title, "matmul, float32: numpy against cupy");
    assert!(notes(speed_up).contains(&"cupy faster from N"));
    assert_eq!(labels(time), ["numpy/matmul", "matmul"], "without cpu/mkl");
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
    for (density, n) in [(0.01, 100), (0.01, 1000), (0.1, 100), (0.1, 1000)] {
        rows.extend(example::both_sides("spgemm", n, 1e-6 * n as f64, 1e-6 * n as f64));
        rows.iter_mut().rev().take(2).for_each(|row| row.case.density = Some(density));
    }
    let chart = &of(rows)[0];
    assert_eq!(labels(chart), ["density 0.01", "density 0.1"]);
    assert!(chart.frame.subtitle.contains("resident"));
}

#[test]
fn several_reports_share_charts_under_their_names() {
    let report = full();
    let charts = lines(&[("before", &report), ("after", &report)]);
    assert_eq!(
        labels(&charts[1]),
        ["before, openblas", "after, openblas", "before, cublas", "after, cublas"]
    );
    let hues: Vec<Role> = charts[1].lines.series.iter().map(|one| one.style.hue).collect();
    assert_eq!(hues, [Role::Vermilion, Role::Vermilion, Role::Blue, Role::Blue], "by variant");
    assert_eq!(labels(&charts[0]), ["before", "after"]);
}

#[test]
fn the_legend_covers_no_data_and_stays_in_the_picture() {
    let many: Vec<_> = (0..140)
        .map(|i| measured("svd", 10 + i / 70, "cpu", &format!("a-variant-{}", i % 70), 1e-3))
        .collect();
    let long = [10, 20].map(|n| measured("svd", n, "cpu", &"long-name-".repeat(20), 1e-3)).to_vec();
    let all = wide().into_iter().chain(lines(&[("", &full())])).chain(of(many)).chain(of(long));
    for chart in all {
        let layout = FrameLayout::of(&chart.frame, &chart.axes, Extent::File);
        assert!(!layout.legend.intersects(&layout.plane.area));
        assert!(layout.picture.holds(&layout.legend) && layout.picture.holds(&layout.plane.area));
        assert!(layout.plane.area.width() > 700.0 && layout.plane.area.height() > 500.0);
        assert!(layout.entries.iter().all(|entry| entry.middle < layout.legend.bottom));
        for point in chart.lines.series.iter().flat_map(|series| &series.points) {
            for y in [point.low, point.y, point.high] {
                assert!(layout.plane.area.has(layout.plane.place(point.x, y)));
            }
        }
    }
}

#[test]
fn labels_in_the_plot_cover_neither_points_nor_each_other() {
    for (extent, chart) in [(Extent::File, &wide()[0]), (Extent::Page, &lines(&[("", &full())])[0])] {
        let canvas = Canvas::new(extent.size());
        let plane = FrameLayout::of(&chart.frame, &chart.axes, extent).plane;
        let strokes = Strokes { canvas: &canvas, plane, lines: &chart.lines, marker: MARKER, em: POINT_TEXT };
        let labels = strokes.labels();
        assert!(labels.len() >= 5, "{labels:?}");
        let areas: Vec<Rect> = labels.iter().map(|(label, _)| label.area).collect();
        for (index, area) in areas.iter().enumerate() {
            assert!(plane.area.holds(area));
            assert!(areas[..index].iter().all(|other| !other.intersects(area)));
            for point in chart.lines.series.iter().flat_map(|series| &series.points) {
                assert!(!area.has(plane.place(point.x, point.y)));
            }
        }
    }
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
        chart.lines.series[0].points.iter().map(|point| [point.marks.is_tie, point.marks.grade_d]).collect();
    assert_eq!(marks, [[true, false], [false, false], [false, true]]);
    let notes = notes(chart);
    assert!(notes.contains(&"?: interval includes 1x") && notes.contains(&"!: unreliable"), "{notes:?}");
}

#[test]
fn the_band_of_a_crossover_ends_with_the_sizes_measured() {
    let chart = &wide()[0];
    assert!(!chart.lines.crossings.is_empty());
    for crossing in &chart.lines.crossings {
        assert!(crossing.interval[0] >= 100.0 && crossing.interval[1] <= 2048.0, "{crossing:?}");
    }
}

#[test]
fn an_unreliable_point_is_on_its_line_and_has_no_band() {
    let rows = [10, 100, 105, 1000].map(|n| example::both_sides("fft", n, 1e-3, 1e-4));
    let mut rows = rows.concat();
    let execute = rows[5].execute.as_mut().unwrap();
    (execute.grade, execute.ci95_s) = (Some(gpubench_report::measure::grade::Grade::D), [1e-9, 1.0]);
    let chart = &of(rows)[0];
    let kernel = &chart.lines.series[0];
    assert_eq!(kernel.path().iter().map(|place| place.0).collect::<Vec<_>>(), [10.0, 100.0, 105.0, 1000.0]);
    assert_eq!(kernel.bands().map(<[Point]>::len).collect::<Vec<_>>(), [2, 1]);
    assert!(chart.axes.y.high < 1e3, "an interval that is not drawn does not stretch the axis");
}

/// The throughput of a matrix product at two sizes, at that rate in FLOP per second.
fn throughput(rate: f64, change: fn(&mut Report)) -> LineChart {
    let rows = [100, 1000].map(|n| measured("matmul", n, "cuda", "cublas", 2.0 * (n as f64).powi(3) / rate));
    let mut report = example::with_peaks(example::of(rows));
    change(&mut report);
    let found = charts(&[("", &report)], Selection::of([ChartKind::Throughput as usize]));
    let [Chart::Lines(chart)] = found.as_slice() else { panic!("{found:?}") };
    chart.clone()
}

#[test]
fn no_peak_is_below_a_rate_of_its_side() {
    let peaks =
        |chart: &LineChart| chart.lines.levels.iter().map(|level| level.label.clone()).collect::<Vec<_>>();
    assert_eq!(peaks(&throughput(49e12, |_| {})), ["GPU float32 50000 GFLOP/s"]);
    assert!(peaks(&throughput(60e12, |_| {})).is_empty());
    let wider = |report: &mut Report| {
        let peaks = report.environment.backends[1].peaks.as_mut().unwrap();
        peaks.matmul.insert("f64".into(), 61e12);
    };
    assert_eq!(peaks(&throughput(60e12, wider)), ["GPU float64 61000 GFLOP/s"]);
    assert_eq!(peaks(&throughput(49e12, wider)), ["GPU float32 50000 GFLOP/s"]);
}

#[test]
fn a_lone_point_is_left_out_where_its_side_has_a_line() {
    let mut rows = [100, 1000].map(|n| measured("matmul", n, "cuda", "dmma", 1e-4)).to_vec();
    rows.push(measured("matmul", 100, "cuda", "slow", 1e-2));
    rows.push(measured("matmul", 100, "cpu", "faer", 1e-2));
    let chart = of(rows).pop().unwrap();
    assert_eq!(labels(&chart), ["faer", "dmma"], "the CPU has no line, and keeps its point");
}

#[test]
fn several_contenders_are_the_others_of_one() {
    let rows = [100, 1000].into_iter().flat_map(|n| {
        ["cuda", "cupy", "torch", "jax"].map(|backend| measured("fft", n, backend, "fft", 1e-4))
    });
    let mut report = example::of(rows);
    Versus::choose(&mut report, "cuda:cupy,torch,jax").unwrap();
    let chart = &lines(&[("", &report)])[0];
    assert_eq!(chart.frame.title, "fft, float32: cuda against cupy, torch and jax");
    assert!(chart.axes.y.ticks.iter().any(|tick| tick.label == "others 2x"), "{:?}", chart.axes.y);
    assert!(
        chart.frame.captions[0].starts_with("others (cupy, torch and jax): "),
        "{:?}",
        chart.frame.captions
    );
}

#[test]
fn many_variants_of_one_side_all_differ() {
    let variants = (0..40).map(|index| format!("v{index}"));
    let chart =
        of(variants.flat_map(|name| [10, 20].map(|n| measured("svd", n, "cpu", &name, 1e-3))).collect());
    let styles: Vec<Style> = chart[0].lines.series.iter().map(|series| series.style).collect();
    let shape = |style: &Style| (style.hue, style.marker % SHAPES);
    assert!(
        (1..40).all(|index| styles[..index].iter().all(|other| shape(other) != shape(&styles[index]))),
        "{styles:?}"
    );
}
