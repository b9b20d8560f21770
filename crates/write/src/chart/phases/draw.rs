//! Draws stacked bars in their frame.

use crate::palette::Role;

use super::{PhaseBar, PhaseChart};
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{FrameDrawing, baseline, medium};
use crate::chart::font::{Weight, width};
use crate::chart::geometry::Rect;
use crate::chart::layout::{Extent, ROW_ABOVE, TEXT};

/// Width of a bar as a share of the room of a size.
const WIDTH: f64 = 0.6;
/// The widest that a bar becomes.
const MOST_WIDTH: f64 = 130.0;
/// Em of the shares inside the bars.
const SHARE_TEXT: f64 = 20.0;
/// Room between the parts of a bar.
const SEAM: f64 = 1.5;

pub(crate) fn draw(chart: &PhaseChart, extent: Extent, canvas: &Canvas) {
    let frame = FrameDrawing::begin(canvas, &chart.frame, &chart.axes, extent);
    frame.titles();
    frame.grid();
    frame.axis_labels();
    let drawing = Bars { chart, frame };
    drawing.bars();
    drawing.totals();
    drawing.frame.legend();
}

struct Bars<'a> {
    chart: &'a PhaseChart,
    frame: FrameDrawing<'a>,
}

impl Bars<'_> {
    /// Room of a size, and the middle of that of each.
    fn places(&self) -> (f64, Vec<f64>) {
        let plane = self.frame.layout.plane;
        let pitch = plane.area.width() / self.chart.groups.len() as f64;
        (pitch, (0..self.chart.groups.len()).map(|index| plane.across(index as f64)).collect())
    }

    fn bars(&self) {
        let (pitch, middles) = self.places();
        let half = (WIDTH * pitch).min(MOST_WIDTH) / 2.0;
        for (group, middle) in self.chart.groups.iter().zip(middles) {
            self.bar(&group.b, middle - half, middle + half);
        }
    }

    fn bar(&self, bar: &PhaseBar, left: f64, right: f64) {
        let (plane, canvas) = (self.frame.layout.plane, self.frame.canvas);
        let mut below = 0.0;
        for &(phase, share) in &bar.parts {
            let (bottom, top) = (plane.down(below), plane.down(below + share));
            below += share;
            // What is too thin to see must not look like a line of nothing either.
            let area = Rect { left, top, right, bottom: bottom - SEAM };
            if area.height() < 0.5 {
                continue;
            }
            canvas.rectangle(area.corners(), phase.hue());
            let text = format!("{:.0} %", 100.0 * share);
            let wide = width(&text, SHARE_TEXT, Weight::Medium);
            if area.height() > SHARE_TEXT + 4.0 && wide + 6.0 < area.width() {
                let (x, y) = area.middle();
                let kind = medium(SHARE_TEXT, phase.text(), Align::Center);
                canvas.text(&text, (x, baseline(y, SHARE_TEXT)), kind);
            }
        }
    }

    /// The time of each contender, in rows above the plot: the whole of each bar, and with pinned memory where there is such a
    /// time.
    fn totals(&self) {
        let (pitch, middles) = self.places();
        let [a, b] = &self.chart.names;
        // With both memories, their names say more than B's, which the title has.
        let b = if self.chart.axes.rows_above > 2 { "pageable" } else { b };
        let rows = [(a.as_str(), Role::Vermilion), (b, Role::Blue), ("pinned", Role::Blue)];
        let count = self.chart.axes.rows_above;
        let groups = self.chart.groups.iter();
        let texts = groups.map(|group| {
            let times = [group.a.as_deref(), Some(group.b.total.as_str()), group.pinned.as_deref()];
            times.map(|time| time.unwrap_or("–"))
        });
        let texts: Vec<[&str; 3]> = texts.collect();
        let widest = texts.iter().flatten().map(|text| width(text, TEXT, Weight::Medium)).fold(0.0, f64::max);
        let em = TEXT * ((pitch - 10.0) / widest).clamp(0.4, 1.0);
        let plot = self.frame.layout.plane.area;
        for (index, (name, hue)) in rows.into_iter().take(count).enumerate() {
            let middle = plot.top - ((count - index) as f64 - 0.5) * ROW_ABOVE - 13.0;
            let y = baseline(middle, em);
            // The names of sides fit; another name may be longer than the margin is wide.
            let room = plot.left - 16.0;
            let name_em = TEXT * (room / width(name, TEXT, Weight::Medium)).min(1.0);
            self.frame.canvas.text(name, (plot.left - 12.0, y), medium(name_em, hue.text(), Align::Right));
            for (text, x) in texts.iter().zip(&middles) {
                self.frame.canvas.text(text[index], (*x, y), medium(em, hue.text(), Align::Center));
            }
        }
    }
}
