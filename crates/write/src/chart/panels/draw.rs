//! Draws a chart of panels on a canvas, the same for every format.

use crate::palette::Role;

use super::super::canvas::{Align, Canvas, Paint, SIZE};
use super::super::draw::{baseline, captions, kind, medium};
use super::super::geometry::corners;
use super::super::layout::{MARGIN, TEXT, TITLE, picture};
use super::super::series::{Point, Stroke};
use super::layout::{LABEL, PanelAreas, PanelsLayout, SMALL};
use super::{MarkKind, Panel, PanelChart};

/// Shapes of the markers: a disc, and triangles that point beyond the axis.
const DISC: usize = 0;
const UP: usize = 2;
const DOWN: usize = 4;

impl PanelChart {
    pub(super) fn file(&self) -> (&str, Canvas) {
        let (layout, canvas) = (PanelsLayout::of(self), Canvas::new(SIZE));
        let drawing = PanelDrawing { canvas: &canvas, layout: &layout };
        canvas.rectangle(picture().corners(), Role::Ground);
        drawing.titles(self);
        for (panel, place) in self.panels.iter().zip(&layout.panels) {
            drawing.grid(panel, place);
            drawing.marks(panel, place);
            panel.points.iter().for_each(|point| drawing.point(panel, place, point));
            drawing.levels(panel, place);
            drawing.gaps(panel, place);
            drawing.heading(panel, place);
        }
        drawing.below();
        (&self.name, canvas)
    }
}

struct PanelDrawing<'a> {
    canvas: &'a Canvas,
    layout: &'a PanelsLayout,
}

fn role(mark: MarkKind) -> Role {
    match mark {
        MarkKind::Worse => Role::Worse,
        MarkKind::Better => Role::Better,
        MarkKind::Open => Role::Soft,
    }
}

impl PanelDrawing<'_> {
    /// Radius of the points: the smaller, the more there are.
    fn radius(&self) -> f64 {
        (0.32 * self.layout.spacing).clamp(2.0, 6.5)
    }

    fn titles(&self, chart: &PanelChart) {
        self.canvas.text(&chart.title, (MARGIN, 62.0), medium(TITLE, Role::Ink, Align::Left));
        self.canvas.text(&chart.subtitle, (MARGIN, 100.0), kind(TEXT, Role::Soft, Align::Left));
        if let Some(last) = self.layout.panels.last() {
            let place = (last.plot.middle().0, last.plot.bottom + 76.0);
            self.canvas.text(&chart.x_title, place, kind(LABEL, Role::Ink, Align::Center));
        }
        captions(self.canvas, &chart.captions)
    }

    fn grid(&self, panel: &Panel, place: &PanelAreas) {
        let plot = &place.plot;
        let mut last = f64::INFINITY;
        for tick in &panel.y.ticks {
            let y = place.y(panel, tick.value);
            self.canvas.rule([(plot.left, y), (plot.right, y)], Role::Line, 1.2);
            // A low panel has no room for every label of a logarithmic axis.
            if last - y > SMALL {
                last = y;
                let at = (plot.left - 12.0, baseline(y, SMALL));
                self.canvas.text(&tick.label, at, kind(SMALL, Role::Ink, Align::Right));
            }
        }
        for label in &self.layout.below {
            self.canvas.rule([(label.x, plot.top), (label.x, plot.bottom)], Role::Line, 1.0);
        }
        let frame = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)];
        self.canvas.stroke(&frame, Role::Axis, 2.0, Stroke::Solid)
    }

    fn marks(&self, panel: &Panel, place: &PanelAreas) {
        for (mark, &x) in panel.marks.iter().zip(&place.marks) {
            let flag = place.flags.iter().find(|flag| flag.x == x);
            let top = flag.map_or(place.plot.top, |flag| flag.area.bottom);
            let stroke = if mark.kind == MarkKind::Open { Stroke::Dotted } else { Stroke::Dashed };
            self.canvas.stroke(&[(x, top), (x, place.plot.bottom)], role(mark.kind), 2.2, stroke);
        }
        for flag in &place.flags {
            let at = (flag.area.left, baseline(flag.area.middle().1, LABEL));
            self.canvas.text(&flag.text, at, medium(LABEL, role(flag.kind), Align::Left));
        }
    }

    fn gaps(&self, panel: &Panel, place: &PanelAreas) {
        let arm = self.radius().min(5.0);
        for position in &panel.gaps {
            let (x, y) = (self.layout.x(*position), place.plot.bottom - 9.0);
            self.canvas.fill(&corners(DISC, (x, y), arm + 2.5), Role::Ground);
            for slope in [-1.0, 1.0] {
                let arms = [(x - arm, y - slope * arm), (x + arm, y + slope * arm)];
                self.canvas.rule(arms, Role::Worse, 2.0);
            }
        }
    }

    fn point(&self, panel: &Panel, place: &PanelAreas, point: &Point) {
        let (x, radius) = (self.layout.x(point.x), self.radius());
        let fraction = panel.y.fraction(point.y);
        if !(0.0..=1.0).contains(&fraction) {
            let (shape, inwards) = if fraction > 1.0 { (UP, 8.0) } else { (DOWN, -8.0) };
            let at = (x, place.y(panel, point.y) + inwards);
            return self.canvas.fill(&corners(shape, at, radius.max(4.0)), panel.hue);
        }
        let bar = [(x - 1.2, place.y(panel, point.high)), (x + 1.2, place.y(panel, point.low))];
        self.canvas.rectangle(bar, Paint::Clear(panel.hue, 0.4));
        let at = (x, place.y(panel, point.y));
        self.canvas.fill(&corners(DISC, at, radius), panel.hue);
        if panel.open_from.is_some_and(|from| point.x >= from) {
            self.canvas.fill(&corners(DISC, at, radius * 0.55), Role::Ground);
        }
    }

    fn levels(&self, panel: &Panel, place: &PanelAreas) {
        for &(first, last, value) in &panel.levels {
            let y = place.y(panel, value);
            let ends = [(self.layout.x(first - 0.5), y), (self.layout.x(last + 0.5), y)];
            self.canvas.rule(ends, Role::Ink, 2.6);
        }
    }

    fn heading(&self, panel: &Panel, place: &PanelAreas) {
        let y = baseline(place.heading, LABEL);
        self.canvas.text(&place.name, (place.plot.left, y), medium(LABEL, panel.hue.text(), Align::Left));
        let (remark, left) = &place.remark;
        self.canvas.text(remark, (*left, y), kind(LABEL, Role::Soft, Align::Left))
    }

    fn below(&self) {
        let Some(last) = self.layout.panels.last() else { return };
        for label in &self.layout.below {
            let bottom = last.plot.bottom;
            self.canvas.rule([(label.x, bottom), (label.x, bottom + 8.0)], Role::Axis, 2.0);
            let place = (label.middle, bottom + 34.0);
            self.canvas.text(&label.text, place, kind(SMALL, Role::Ink, Align::Center));
        }
    }
}
