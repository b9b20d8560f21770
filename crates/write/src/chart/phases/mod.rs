//! The phases of one GPU call as stacked bars, one per size, made from the rows of a report.
//!
//! Bars are shares of their own total: sizes whose times are decades apart stay legible side by side. A call of the CPU
//! has one part alone, so its time is a text above the bar.

use gpubench_analysis::answer::cost::estimate;
use gpubench_analysis::answer::first_use::{FirstUse, calls_to_repay, condition};
use gpubench_analysis::answer::{Comparison, Contender, Estimate, Kind, Kinds};
use gpubench_document::report::copies_clause;
use gpubench_document::report::sentences::largest;
use gpubench_ops as op;
use gpubench_report::measure::stats::median;
use gpubench_report::report::Row;
use gpubench_report::report::quantity::time_text;

use crate::chart::axis::Axis;
use crate::chart::canvas::{Align, Canvas};
use crate::chart::draw::{FrameDrawing, baseline, medium};
use crate::chart::font::{Weight, width};
use crate::chart::frame::{Frame, LegendRow, LegendSample};
use crate::chart::geometry::Rect;
use crate::chart::layout::{Axes, Extent, ROW_ABOVE, TEXT};
use crate::chart::sheet::{Part, Sheet};
use crate::chart::text::name;
use crate::palette::Role;

/// A part of a call of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The operands to the device.
    Upload,
    /// The host's time minus the device's.
    Launch,
    /// The work by the device's clock.
    Kernel,
    /// The answer back.
    Download,
}

impl Phase {
    /// Every part, in the order in which they happen.
    const ALL: [Phase; 4] = [Phase::Upload, Phase::Launch, Phase::Kernel, Phase::Download];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Upload => "upload",
            Phase::Launch => "launch and wait",
            Phase::Kernel => "kernel",
            Phase::Download => "download",
        }
    }

    fn hue(self) -> Role {
        match self {
            Phase::Upload => Role::Sky,
            Phase::Launch => Role::Orange,
            Phase::Kernel => Role::Blue,
            Phase::Download => Role::Purple,
        }
    }

    /// The colour of a text on the part's area.
    fn text(self) -> Role {
        if self == Phase::Kernel { Role::Ground } else { Role::OnArea }
    }
}

/// One call of the GPU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseBar {
    /// The whole, in words: `12.4 µs`.
    pub(crate) total: String,
    /// The parts from the bottom, as shares of the whole.
    pub parts: Vec<(Phase, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseBars {
    /// The time of A's best variant in words, where there is one.
    pub a: Option<String>,
    pub b: PhaseBar,
    /// The time of B's best variant with pinned memory in words, where the bar is one with pageable memory.
    pub pinned: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseChart {
    pub(crate) frame: Frame,
    /// Positions on the x axis are indices of `groups`.
    pub(crate) axes: Axes,
    pub groups: Vec<PhaseBars>,
    /// The names of A and B.
    pub(crate) names: [String; 2],
}

/// The charts of a sheet of one report, one per family; none without phases of a GPU, or where the op has its copies in
/// its executions.
pub(super) fn charts(sheet: &Sheet<'_>, captions: &[String]) -> Vec<PhaseChart> {
    let op = sheet.subject.op;
    if op::copies_itself(op) || !op::compares_sides(op) {
        return vec![];
    }
    let part = |part| Part::by_family(part).filter_map(move |some| chart(sheet, part, some, captions));
    sheet.parts.iter().flat_map(part).collect()
}

fn chart(
    sheet: &Sheet<'_>,
    part: &Part<'_>,
    comparisons: &[Comparison<'_>],
    captions: &[String],
) -> Option<PhaseChart> {
    let found = comparisons.iter().filter_map(|one| Some((one.n.to_string(), group(one)?)));
    let (labels, groups): (Vec<String>, Vec<PhaseBars>) = found.unzip();
    let versus = part.section.versus;
    let mut legend = vec![LegendRow::Heading("Parts of a call".into())];
    let entry = |phase: Phase| LegendRow::Entry(LegendSample::Swatch(phase.hue()), phase.name().into());
    legend.extend(Phase::ALL.into_iter().rev().map(entry));
    legend.extend(first_use(part, comparisons));
    let family = part.shown(comparisons.first()?.family);
    // Rows above the plot: the contenders, and B with pinned memory where that was measured too.
    let rows_above = 2 + usize::from(groups.iter().any(|group| group.pinned.is_some()));
    let frame = Frame {
        name: sheet.name("phases") + &family.suffix(),
        title: format!(
            "{}{}: where does the time of {} go?",
            sheet.heading(),
            family.clause(),
            name(versus, Contender::B)
        ),
        subtitle: format!(
            "One call end to end with {}; above the bars: the time of the best variant of each{}{}",
            copies_clause(comparisons.iter().flat_map(|one| &one.rows).copied(), &[Kind::EndToEnd]),
            if versus.is_named() { "" } else { " side" },
            if rows_above > 2 { ", also with pinned memory" } else { "" }
        ),
        captions: captions.to_vec(),
        legend,
    };
    let axes = Axes {
        x: Axis::positions(&sheet.size_title(false), labels),
        y: Axis::shares("Share of the call"),
        rows_above,
    };
    let names = Contender::BOTH.map(|one| versus.label(one).to_owned());
    (!groups.is_empty()).then_some(PhaseChart { frame, axes, groups, names })
}

/// The bar of B at a size; without a time of A that of its fastest kernel.
fn group(comparison: &Comparison<'_>) -> Option<PhaseBars> {
    let pair = comparison.pair(Kind::EndToEnd);
    let a = pair.as_ref().map_or(comparison.a, |pair| Some(pair.a));
    let b = gpu_bar(pair.as_ref().map_or(comparison.b, |pair| Some(pair.b))?)?;
    let a = a.and_then(|row| Some(time_text(estimate(row, Kind::EndToEnd)?.value)));
    let pinned = best_with_pinned(comparison).map(|time| time_text(time.value));
    Some(PhaseBars { a, b, pinned })
}

/// The time of a call of B's best variant with pinned memory; without a time of A, of its fastest kernel.
fn best_with_pinned(comparison: &Comparison<'_>) -> Option<Estimate> {
    match comparison.pair(Kind::EndToEndPinned) {
        Some(pair) => Some(pair.b_s),
        None => estimate(comparison.b?, Kind::EndToEndPinned),
    }
}

/// The bar of a row; `None` without copies or time, and where the host's clock alone timed the work with its launch.
fn gpu_bar(row: &Row) -> Option<PhaseBar> {
    let (phases, execute) = (row.phases.as_ref()?, row.execute.as_ref()?);
    estimate(row, Kind::Kernel)?;
    let upload = median(&phases.upload.as_ref()?.host_s)?;
    let download = median(&phases.download.as_ref()?.host_s)?;
    // A kernel that takes longer by the device's clock than by the host's leaves nothing to wait for.
    let kernel = execute.median_s.min(execute.host_median_s);
    let seconds = [upload, execute.host_median_s - kernel, kernel, download];
    let total: f64 = seconds.iter().sum();
    let parts = Phase::ALL.into_iter().zip(seconds.map(|seconds| seconds / total)).collect();
    (total.is_finite() && total > 0.0).then(|| PhaseBar { total: time_text(total), parts })
}

/// The cost of the first use at the largest size, and the number of calls that repay it.
fn first_use(part: &Part<'_>, comparisons: &[Comparison<'_>]) -> Vec<LegendRow> {
    let Some((n, pair)) = largest(comparisons, Kind::Resident) else { return vec![] };
    let Some(first) = FirstUse::of(part.report, pair.b) else { return vec![] };
    let named = [
        ("context", first.context_s),
        ("compiling", first.compile_s),
        ("compiling, from cache", first.compile_cached_s),
        ("planning", first.plan_s),
        ("first call, extra", Some(first.first_call_s).filter(|seconds| *seconds > 0.0)),
    ];
    let costs =
        named.into_iter().filter_map(|(name, seconds)| Some(format!("{name}: {}", time_text(seconds?))));
    let mut rows = LegendRow::notes(&format!("First use at {n}"), costs.collect());
    let kinds = [Kind::Resident].iter().chain(Kinds::of(&part.report.rows).end_to_end());
    let calls = kinds.filter_map(|&kind| {
        let (_, pair) = largest(comparisons, kind)?;
        let calls = calls_to_repay(part.report, &pair)?;
        Some([format!("{}:", condition(kind)), format!("\u{a0}\u{a0}\u{a0}{calls}")])
    });
    rows.extend(LegendRow::notes("Calls needed to repay it", calls.flatten().collect()));
    rows
}

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

#[cfg(test)]
mod tests;
