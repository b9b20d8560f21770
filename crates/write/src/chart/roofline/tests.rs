//! Rooflines: which cells and peaks they show, and that nothing covers data.

use gpubench_ops::Work;
use gpubench_report::Accuracy;
use gpubench_report::report::example::{self, measured, without_time};

use super::*;
use crate::chart::layout::{Extent, FrameLayout};

fn with_peaks(rows: Vec<Row>) -> Report {
    example::with_peaks(example::of(rows))
}

fn chart(report: &Report) -> Option<Roofline> {
    charts(report, |_| vec![]).pop()
}

#[test]
fn a_backend_without_peaks_has_no_chart() {
    let rows = vec![measured("matmul", 100, "cpu", "faer", 1e-3)];
    assert_eq!(chart(&with_peaks(rows)), None);
}

#[test]
fn measured_cells_with_work_are_dots_and_others_are_not() {
    let mut idle = measured("fft", 100, "cuda", "idle", 1e-3);
    idle.work.flop = 0.0;
    let rows = vec![
        measured("matmul", 100, "cuda", "cublas", 1e-6),
        measured("matmul", 100, "cuda", "tiled", 2e-6),
        without_time("matmul", 100, "cuda", "wrong", Outcome::Incorrect, "wrong", None),
        idle,
    ];
    let chart = chart(&with_peaks(rows)).unwrap();
    assert_eq!(chart.frame.name, "roofline-cuda-f32");
    assert_eq!(chart.dots.len(), 2);
    // 2 N³ FLOP over 12 N² bytes, in a microsecond; the best lies on top.
    let (best, other) = (&chart.dots[1], &chart.dots[0]);
    assert!((best.x - 100.0 / 6.0).abs() < 1e-9 && (best.y - 2e12).abs() < 1.0, "{best:?}");
    assert!(best.style.filled && best.label.as_deref() == Some("100"));
    assert!(!other.style.filled && other.label.is_none());
}

#[test]
fn each_precision_has_one_roof() {
    let of = |rows: &[Row]| {
        let roofs = chart(&with_peaks(rows.to_vec())).unwrap().roofs;
        roofs.into_iter().map(|roof| roof.label).collect::<Vec<_>>()
    };
    let mut rows = vec![measured("matmul", 100, "cuda", "cublas", 1e-6)];
    rows.push(Row { accuracy: Accuracy::F16, ..measured("matmul", 100, "cuda", "f16", 1e-6) });
    let once = of(&rows);
    assert_eq!(once.len(), 4, "{once:?}");
    let others: Vec<Row> = rows.iter().map(|row| Row { variant: "other".into(), ..row.clone() }).collect();
    assert_eq!(of(&[rows, others].concat()), once);
}

#[test]
fn dots_and_peaks_lie_in_the_plot_and_labels_cover_nothing() {
    let mut rows = vec![];
    for (index, op) in ["matmul", "elementwise", "fft", "solve", "svd"].into_iter().enumerate() {
        for n in [100, 1000, 10_000] {
            let work =
                Work { flop: (n * n) as f64 * (index * index) as f64 + 1.0, bytes: 8.0 * (n * n) as f64 };
            let median_s = 1e-5 + work.flop / 3e12 + work.bytes / 1e12;
            rows.push(Row { work, ..measured(op, n, "cuda", "v", median_s) });
        }
    }
    let chart = chart(&with_peaks(rows)).unwrap();
    let layout = FrameLayout::of(&chart.frame, &chart.axes, Extent::File);
    let plane = layout.plane;
    let roofs = chart.roofs.iter().flat_map(|roof| roof.path);
    let places = chart.dots.iter().map(|dot| (dot.x, dot.y)).chain(roofs);
    assert!(places.clone().all(|(x, y)| plane.area.has(plane.place(x, y))));
    let labels = labels(&chart, &plane);
    assert!(labels.len() >= 6, "{labels:?}");
    for (index, (_, label)) in labels.iter().enumerate() {
        assert!(plane.area.holds(&label.area));
        assert!(labels[..index].iter().all(|(_, other)| !other.area.intersects(&label.area)));
        assert!(chart.dots.iter().all(|dot| !label.area.has(plane.place(dot.x, dot.y))));
    }
}
