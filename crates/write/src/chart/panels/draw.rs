//! Draws a chart of panels on a canvas, the same for every format.

use super::{MarkKind, Panel, PanelChart};
use crate::chart::canvas::{Align, Canvas, Paint, SIZE};
use crate::chart::draw::{baseline, captions, kind, medium};
use crate::chart::font::{Weight, fitted, fitted_inside, width};
use crate::chart::geometry::{Rect, corners};
use crate::chart::layout::{MARGIN, TEXT, TITLE, above_captions, picture, thinned, tick_labels};
use crate::chart::series::{Point, Stroke};
use crate::palette::Role;

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

pub(crate) const SMALL: f64 = 21.0;
/// Em of the panels' names and of the marks' texts.
pub(crate) const LABEL: f64 = 22.0;
/// Top of the first panel's heading.
const TOP: f64 = 122.0;
/// Height of a panel's heading.
const HEADING: f64 = 34.0;
/// Height of a row of marks' texts.
const ROW: f64 = 27.0;
/// Room between panels.
const GAP: f64 = 14.0;
/// Room under the panels for tick labels and the axis' title.
const FOOT: f64 = 92.0;
/// Room between texts in a row.
const APART: f64 = 16.0;

/// A text in a row of marks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flag {
    pub(crate) area: Rect,
    pub text: String,
    /// x of the mark.
    pub x: f64,
    pub kind: MarkKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PanelAreas {
    /// The heading, as far as it fits.
    pub name: String,
    /// Middle of the heading, from the top.
    pub heading: f64,
    /// The remark, cut to the room it has, and its left edge.
    pub remark: (String, f64),
    pub plot: Rect,
    pub marks: Vec<f64>,
    /// The texts of the marks that there is room for.
    pub flags: Vec<Flag>,
}

/// A label of the x axis.
pub(crate) struct PanelTick {
    pub x: f64,
    /// x of the label's middle, which keeps within the picture.
    pub middle: f64,
    pub text: String,
}

pub(crate) struct PanelsLayout {
    pub panels: Vec<PanelAreas>,
    pub below: Vec<PanelTick>,
    /// Pixels from one position to the next.
    pub(crate) spacing: f64,
}

impl PanelsLayout {
    pub(crate) fn of(chart: &PanelChart) -> PanelsLayout {
        let wide = picture().right;
        let widest = chart.panels.iter().fold(60.0, |least, panel| tick_labels(&panel.y, SMALL, least));
        let (left, right) = (MARGIN + widest + 16.0, wide - MARGIN);
        let bottom = above_captions(&chart.captions) - FOOT;
        let spacing = (right - left) / chart.positions.max(1) as f64;
        let each = (bottom - TOP) / chart.panels.len().max(1) as f64;
        let place = |(index, panel): (usize, &Panel)| {
            let top = TOP + index as f64 * each;
            let area = Rect { left, right, top, bottom: top + each - GAP };
            place(panel, area, |position| left + (position + 0.5) * spacing)
        };
        PanelsLayout {
            panels: chart.panels.iter().enumerate().map(place).collect(),
            below: below(chart, left, spacing, wide),
            spacing,
        }
    }

    pub(crate) fn x(&self, position: f64) -> f64 {
        self.panels.first().map_or(0.0, |place| place.plot.left) + (position + 0.5) * self.spacing
    }
}

impl PanelAreas {
    /// The y of a value; values beyond the axis are at its end.
    pub(crate) fn y(&self, panel: &Panel, value: f64) -> f64 {
        let fraction = panel.y.fraction(value).clamp(0.0, 1.0);
        self.plot.bottom - fraction * (self.plot.bottom - self.plot.top)
    }
}

fn place(panel: &Panel, area: Rect, x: impl Fn(f64) -> f64) -> PanelAreas {
    // A third of the panel at most is for the marks' texts.
    let room = (((area.bottom - area.top) / 3.0 / ROW) as usize).clamp(2, 4);
    let strip = Rect { top: area.top + HEADING, bottom: area.top + HEADING + ROW, ..area };
    let marks: Vec<f64> = panel.marks.iter().map(|mark| x(mark.position)).collect();
    let mut flags = flags(panel, &marks, &strip, room);
    let highest = flags.iter().map(|flag| flag.area.top).fold(strip.top, f64::min);
    // Rows were stacked upwards from the lowest: move them down so that the highest touches the heading.
    let down = strip.top - highest;
    for flag in &mut flags {
        flag.area.top += down;
        flag.area.bottom += down;
    }
    let rows = if panel.marks.is_empty() { 0.0 } else { ROW + down };
    let plot = Rect { top: area.top + HEADING + rows, ..area };
    let name = fitted_inside(&panel.heading, LABEL, Weight::Medium, area.right - area.left);
    let after_name = area.left + width(&name, LABEL, Weight::Medium) + 18.0;
    let remark = fitted(&panel.remark, LABEL, Weight::Regular, (area.right - after_name).max(0.0));
    PanelAreas { name, heading: area.top + HEADING / 2.0, remark: (remark, after_name), plot, marks, flags }
}

/// Texts above their marks, the longest that fit, in at most `rows` rows from `strip` upwards; a mark's line crosses no
/// other mark's text.
fn flags(panel: &Panel, marks: &[f64], strip: &Rect, rows: usize) -> Vec<Flag> {
    let mut placed: Vec<Flag> = vec![];
    let most = panel.marks.iter().map(|mark| mark.texts.len()).max().unwrap_or(0);
    // Every mark has its shortest text before any has a longer one.
    for brevity in (0..most).rev() {
        for (index, (mark, &x)) in panel.marks.iter().zip(marks).enumerate() {
            let Some(text) = mark.texts.get(brevity) else { continue };
            let before = placed.iter().position(|flag| flag.x == x);
            let others: Vec<&Flag> = placed.iter().filter(|flag| flag.x != x).collect();
            let Some(area) = free(&others, marks, index, text, strip, rows) else { continue };
            let flag = Flag { area, text: text.clone(), x, kind: mark.kind };
            match before {
                Some(at) => placed[at] = flag,
                None => placed.push(flag),
            }
        }
    }
    placed
}

/// The lowest free area of a text over a mark: in its middle, or first on the side away from a mark that is near.
fn free(
    others: &[&Flag],
    marks: &[f64],
    index: usize,
    text: &str,
    strip: &Rect,
    rows: usize,
) -> Option<Rect> {
    let (x, wide) = (marks[index], width(text, LABEL, Weight::Medium));
    let before = index.checked_sub(1).map_or(f64::INFINITY, |before| x - marks[before]);
    let after = marks.get(index + 1).map_or(f64::INFINITY, |after| after - x);
    let (middle, right, left) = (x - wide / 2.0, x - 2.0, x + 2.0 - wide);
    let lefts = match () {
        () if before.min(after) > wide / 2.0 => [middle, right, left],
        () if before < after => [right, middle, left],
        () => [left, middle, right],
    };
    let lefts = lefts.map(|left| left.min(strip.right - wide).max(strip.left));
    let crosses = |area: &Rect, x: f64| area.left - 4.0 < x && x < area.right + 4.0;
    lefts.into_iter().flat_map(|left| (0..rows).map(move |row| (row, left))).find_map(|(row, left)| {
        let bottom = strip.bottom - row as f64 * ROW;
        let area = Rect { left, right: left + wide, top: bottom - ROW, bottom };
        let widened = Rect { left: left - APART, right: area.right + APART, ..area };
        let is_free = area.right <= strip.right
            && others.iter().all(|other| {
                let lies_under = other.area.top >= area.bottom && crosses(&other.area, x);
                let lies_over = other.area.bottom <= area.top && crosses(&area, other.x);
                !widened.intersects(&other.area) && !lies_under && !lies_over
            });
        is_free.then_some(area)
    })
}

/// The labels that there is room for, from the left; the last always is one.
fn below(chart: &PanelChart, left: f64, spacing: f64, wide: f64) -> Vec<PanelTick> {
    let label = |(position, text): &(usize, String)| {
        let x = left + (*position as f64 + 0.5) * spacing;
        let half = width(text, SMALL, Weight::Regular) / 2.0;
        PanelTick { x, middle: x.min(wide - 8.0 - half).max(8.0 + half), text: text.clone() }
    };
    let room = |before: &PanelTick, after: &PanelTick| {
        let both = width(&before.text, SMALL, Weight::Regular) + width(&after.text, SMALL, Weight::Regular);
        after.middle - before.middle > both / 2.0 + 2.0 * APART
    };
    thinned(chart.ticks.iter().map(label).collect(), room)
}
