//! Tests that panels are on the right sheet and that nothing overlaps.

use gpubench_report::case::{Cache, DType};
use gpubench_report::report::{Row, example};

use super::draw::{OverviewLayout, SMALL};
use super::*;
use crate::chart::draw::labelled;
use crate::chart::geometry::{Plane, Rect};
use crate::chart::layout::picture;
use crate::chart::{Chart, Selection, charts};

/// The sheets of a report of `ops` ops, all with a crossover, in the given element types.
fn overviews(ops: usize, dtypes: &[DType]) -> Vec<Overview> {
    let mut rows: Vec<Row> = vec![];
    for op in 0..ops {
        for &dtype in dtypes {
            for n in [100, 500, 512, 2048] {
                let cube = 1e-12 * (n as f64).powi(3);
                let mut pair = example::both_sides(&format!("op{op}"), n, cube, 2e-5 + 0.02 * cube);
                pair.iter_mut().for_each(|row| row.case.dtype = dtype);
                rows.extend(pair);
            }
        }
    }
    let found = charts(&[("", &example::of(rows))], Selection::Default).into_iter();
    found.filter_map(|chart| if let Chart::Overview(chart) = chart { Some(chart) } else { None }).collect()
}

fn summaries(overviews: &[Overview]) -> Vec<(&str, usize, &str)> {
    fn one(sheet: &Overview) -> (&str, usize, &str) {
        let Overview { frame, panels, .. } = sheet;
        (frame.name.as_str(), panels.len(), panels[0].heading.as_str())
    }
    overviews.iter().map(one).collect()
}

#[test]
fn panels_that_one_sheet_cannot_hold_are_spread_over_several() {
    let both = overviews(3, DType::REAL);
    assert_eq!(summaries(&both), [("overview", 6, "op0, float32")]);
    assert!(both[0].frame.captions[1].contains(&format!("Cache: {}.", Cache::Cold)));
    let many = overviews(19, &[DType::F32]);
    let expected = [
        ("overview", 7, "op0, float32"),
        ("overview-2", 7, "op7, float32"),
        ("overview-3", 5, "op14, float32"),
    ];
    assert_eq!(summaries(&many), expected);
    assert!(overviews(0, &[]).is_empty());
}

#[test]
fn panels_stand_in_the_picture_and_apart_and_1x_is_always_labelled() {
    for count in 1..=MOST_PANELS {
        let overview = &overviews(count, &[DType::F32])[0];
        let layout = OverviewLayout::of(overview);
        assert_eq!(layout.plots.len(), count);
        for (index, plot) in layout.plots.iter().enumerate() {
            assert!(picture().holds(plot) && plot.width() > 250.0 && plot.height() > 120.0, "{plot:?}");
            let around = Rect { top: plot.top - 30.0, bottom: plot.bottom + 30.0, ..*plot };
            assert!(layout.plots[..index].iter().all(|other| !other.intersects(&around)));
        }
        let plane = Plane { area: layout.plots[0], x: &overview.panels[0].x, y: &overview.y };
        let labels = labelled(&plane, SMALL);
        let labels = labels.iter().map(|tick| tick.label.as_str());
        assert!(labels.clone().any(|label| label == "1x") && labels.count() >= 4);
    }
}
