use gpubench_report::report::{Report, example};

use super::*;
use crate::chart::{Chart, ChartKind, Selection, charts};

/// A report of products of m x n x 8, in which the GPU gains by both.
fn report(sides: &[(u64, u64)], times: impl Fn(u64, u64) -> f64) -> Report {
    let rows = sides.iter().flat_map(|&(m, n)| {
        let mut rows = example::both_sides("matmul", n, 1e-3, 1e-3 / times(m, n));
        let shape = format!(r#"{{"m":{m},"n":"N","k":8}}"#);
        rows.iter_mut().for_each(|row| row.case.shape = serde_json::from_str(&shape).ok());
        rows
    });
    example::of(rows.collect::<Vec<_>>())
}

fn grid(report: &Report) -> Option<GridChart> {
    let kinds = Selection::of([ChartKind::Grid as usize]);
    charts(&[("", report)], kinds).into_iter().find_map(|chart| match chart {
        Chart::Grid(grid) => Some(grid),
        _ => None,
    })
}

#[test]
fn problems_that_differ_in_two_dimensions_are_fields_of_a_grid() {
    let sides = [(16, 16), (16, 64), (64, 16), (64, 64), (256, 64)];
    let found = grid(&report(&sides, |m, n| m as f64 * n as f64 / 1024.0)).unwrap();
    let ticks = |axis: &Axis| axis.ticks.iter().map(|tick| tick.label.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!((ticks(&found.axes.x), ticks(&found.axes.y)), ("16 64 256".into(), "16 64".into()));
    assert!(found.frame.title.contains("k = 8"), "{}", found.frame.title);
    let field = |place| found.fields.iter().find(|field| field.place == place).unwrap();
    assert_eq!(field([2, 1]).winner.map(|(winner, _)| winner), Some(Contender::B));
    assert_eq!(field([0, 0]).winner.map(|(winner, _)| winner), Some(Contender::A));
    assert!(field([2, 1]).text.trim_end_matches('!').ends_with('x'), "{:?}", field([2, 1]));
    assert!(found.fields.iter().all(|field| field.place != [2, 0]), "not measured");
}

#[test]
fn fewer_or_more_dimensions_make_no_grid() {
    assert!(grid(&report(&[(16, 16), (16, 64), (16, 128), (16, 256)], |_, _| 2.0)).is_none());
    assert!(grid(&example::full()).is_none());
    let mut three = report(&[(16, 16), (16, 64), (64, 16), (64, 64)], |_, _| 2.0);
    let other = serde_json::from_str(r#"{"m":64,"n":"N","k":9}"#).ok();
    three.rows.iter_mut().rev().take(2).for_each(|row| row.case.shape.clone_from(&other));
    assert!(grid(&three).is_none());
}
