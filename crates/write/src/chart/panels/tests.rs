//! Charts of panels: nothing overlaps or leaves the picture, and files are sound and repeatable.

use proptest::prelude::*;

use super::draw::{PanelsLayout, SMALL};
use super::*;
use crate::chart::font::{Weight, width};
use crate::chart::layout::picture;

/// A chart of `panels` equal panels over `positions` positions with a mark before each of `marks`.
fn chart(panels: usize, positions: usize, marks: &[usize]) -> PanelChart {
    let times: Vec<f64> = (0..positions).map(|at| 1e-3 * (1.0 + 0.02 * (at as f64).sin())).collect();
    let point = |(at, &y): (usize, &f64)| Point {
        x: at as f64,
        y,
        low: 0.99 * y,
        high: 1.01 * y,
        label: None,
        marks: Marks::default(),
        note: String::new(),
    };
    let mark = |&at: &usize| Mark {
        position: at as f64 - 0.5,
        texts: ["1.31x slower, 2026-11-21, abcdef012", "1.31x slower", "1.31x"].map(String::from).into(),
        kind: if at % 2 == 0 { MarkKind::Worse } else { MarkKind::Better },
    };
    let panel = Panel {
        heading: "cuda/cublas".into(),
        remark: "now 1.00 ms, at the best level of 1.00 ms".repeat(4),
        hue: Role::Blue,
        y: panel_axis(&times, &[1e-3], 4),
        points: times.iter().enumerate().map(point).collect(),
        open_from: Some(positions as f64 - 1.0),
        levels: vec![(0.0, positions as f64 - 1.0, 1e-3)],
        marks: marks.iter().map(mark).collect(),
        gaps: vec![0.0],
    };
    PanelChart {
        name: "trend-matmul-f32-n512".into(),
        title: "matmul N=512, float32: time by report".into(),
        subtitle: "reports".into(),
        captions: vec!["GPU: NVIDIA H200".into(), "Points: medians.".into()],
        x_title: "Reports in order of time".into(),
        positions,
        ticks: (0..positions)
            .map(|at| (at, format!("2026-{:02}-{:02}", 1 + at / 28 % 12, 1 + at % 28)))
            .collect(),
        panels: vec![panel; panels],
    }
}

fn sound(chart: &PanelChart) {
    let layout = PanelsLayout::of(chart);
    let picture = picture();
    for (index, (panel, place)) in chart.panels.iter().zip(&layout.panels).enumerate() {
        assert!(picture.holds(&place.plot) && place.plot.bottom - place.plot.top > 50.0, "{:?}", place.plot);
        assert!(layout.panels[..index].iter().all(|above| above.plot.bottom < place.heading - 15.0));
        for point in &panel.points {
            assert!(place.plot.has((layout.x(point.x), place.y(panel, point.y))));
        }
        for (at, flag) in place.flags.iter().enumerate() {
            let is_between = flag.area.bottom <= place.plot.top && flag.area.top > place.heading;
            assert!(is_between, "{flag:?} {place:?}");
            assert!(place.plot.left <= flag.area.left && flag.area.right <= place.plot.right, "{flag:?}");
            for other in &place.flags[..at] {
                assert!(!flag.area.intersects(&other.area), "{flag:?} {other:?}");
                let (upper, lower) =
                    if flag.area.top < other.area.top { (flag, other) } else { (other, flag) };
                let crossed =
                    upper.area.top < lower.area.top && (lower.area.left..lower.area.right).contains(&upper.x);
                assert!(!crossed, "{flag:?} {other:?}");
            }
        }
    }
    let half = |text: &str| width(text, SMALL, Weight::Regular) / 2.0;
    for pair in layout.below.windows(2) {
        assert!(pair[0].middle + half(&pair[0].text) < pair[1].middle - half(&pair[1].text));
    }
    for label in &layout.below {
        assert!(label.middle - half(&label.text) > 0.0 && label.middle + half(&label.text) < picture.right);
    }
}

#[test]
fn a_lone_mark_has_its_whole_text_and_the_newest_date_is_shown() {
    let chart = chart(1, 40, &[20]);
    let layout = PanelsLayout::of(&chart);
    assert_eq!(layout.panels[0].flags[0].text, chart.panels[0].marks[0].texts[0]);
    assert_eq!(layout.below.last().map(|label| &label.text), chart.ticks.last().map(|(_, text)| text));
}

#[test]
fn marks_side_by_side_have_short_texts() {
    let layout = PanelsLayout::of(&chart(4, 40, &[20, 21]));
    let texts: Vec<&str> = layout.panels[0].flags.iter().map(|flag| flag.text.as_str()).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
}

#[test]
fn points_beyond_the_axis_are_known_and_stand_at_its_edge() {
    let mut chart = chart(1, 40, &[]);
    assert!(!chart.panels[0].has_points_beyond());
    chart.panels[0].points[3].y = 1.0;
    assert!(chart.panels[0].has_points_beyond());
    sound(&chart);
}

#[test]
fn files_have_their_names_and_texts_and_repeat_byte_for_byte() {
    let charts = [chart(3, 60, &[10, 40])];
    for format in Format::ALL {
        let files = super::files(&charts, format, Theme::Light).unwrap();
        assert_eq!(files, super::files(&charts, format, Theme::Light).unwrap());
        assert_eq!(files[0].name, format!("trend-matmul-f32-n512.{}", format.extension()));
    }
    let svg = &super::files(&charts, Format::Svg, Theme::Light).unwrap()[0];
    let text = std::str::from_utf8(&svg.bytes).unwrap();
    for part in ["matmul N=512", "cuda/cublas", "1.31x slower", "2026-01-01", "NVIDIA H200"] {
        assert!(text.contains(part), "{part}");
    }
}

proptest! {
    #[test]
    fn nothing_overlaps_or_leaves_the_picture(
        panels in 1usize..=MOST_PANELS, positions in 1usize..500,
        marks in proptest::collection::vec(0.0..1.0f64, 0..8),
    ) {
        let place = |share: f64| 1 + (share * positions as f64) as usize;
        let mut marks: Vec<usize> = marks.into_iter().map(place).collect();
        marks.sort_unstable();
        marks.dedup();
        sound(&chart(panels, positions, &marks));
    }
}
