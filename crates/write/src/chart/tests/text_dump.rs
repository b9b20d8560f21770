//! Charts as lines of text, for tests: what a chart says, without its looks in pixels.

use crate::chart::Chart;
use crate::chart::axis::Axis;
use crate::chart::frame::{Frame, LegendRow};
use crate::chart::layout::Axes;
use crate::chart::lines::{CrossingMark, LineChart};
use crate::chart::overview::Overview;
use crate::chart::roofline::Roofline;
use crate::chart::series::{ChartSeries, Style};

/// Every chart, with a blank line between.
pub(crate) fn text_dump(charts: &[Chart]) -> String {
    let one = |chart: &Chart| match chart {
        Chart::Lines(chart) => lines(chart),
        Chart::Grid(chart) => frame(&chart.frame, &chart.axes),
        Chart::Roofline(chart) => roofline(chart),
        Chart::Overview(chart) => overview(chart),
    };
    charts.iter().map(|chart| one(chart).join("\n") + "\n").collect::<Vec<_>>().join("\n")
}

fn lines(chart: &LineChart) -> Vec<String> {
    let mut text = frame(&chart.frame, &chart.axes);
    text.extend(chart.lines.series.iter().map(series));
    text.extend(chart.lines.crossings.iter().map(crossing));
    text.extend(chart.lines.levels.iter().map(|level| format!("level {:.3e} {}", level.value, level.label)));
    text
}

fn roofline(chart: &Roofline) -> Vec<String> {
    let mut text = frame(&chart.frame, &chart.axes);
    for roof in &chart.roofs {
        let [from, to] = roof.path.map(|(x, y)| format!("({x:.3e}, {y:.3e})"));
        text.push(format!("roof {} [{}]: {from} to {to}", roof.label, style(&roof.style)));
    }
    for dot in &chart.dots {
        let label = dot.label.as_deref().unwrap_or("-");
        let looks = format!("{}, {:.2}", style(&dot.style), dot.scale);
        text.push(format!("dot [{looks}] ({:.3e}, {:.3e}) {label}", dot.x, dot.y));
    }
    text
}

fn overview(chart: &Overview) -> Vec<String> {
    let mut text = vec![format!("{}: {}", chart.frame.name, chart.frame.title), axis("y", &chart.y)];
    text.extend(chart.notice.clone());
    text.extend(chart.frame.legend.iter().map(|row| match row {
        LegendRow::Entry(sample, words) => format!("legend {sample:?} {words}"),
        other => panic!("{other:?}"),
    }));
    for panel in &chart.panels {
        text.push(format!("panel {}", panel.heading));
        text.push(axis("x", &panel.x));
        text.extend(panel.lines.series.iter().map(series));
        text.extend(panel.lines.crossings.iter().map(crossing));
    }
    text.extend(chart.frame.captions.iter().map(|caption| format!("caption {caption}")));
    text
}

fn frame(frame: &Frame, axes: &Axes) -> Vec<String> {
    let mut text = vec![format!("{}: {}", frame.name, frame.title), frame.subtitle.clone()];
    text.extend([axis("x", &axes.x), axis("y", &axes.y)]);
    text.extend(frame.legend.iter().map(|row| match row {
        LegendRow::Heading(heading) => format!("legend # {heading}"),
        LegendRow::Entry(_, words) => format!("legend * {words}"),
        LegendRow::Note(note) => format!("legend {note}"),
    }));
    text.extend(frame.captions.iter().map(|caption| format!("caption {caption}")));
    text
}

fn axis(name: &str, axis: &Axis) -> String {
    format!("{name} {}: {:.3e} to {:.3e}: {}", axis.title, axis.low, axis.high, labels(axis).join(" | "))
}

pub(crate) fn labels(axis: &Axis) -> Vec<&str> {
    axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
}

fn series(series: &ChartSeries) -> String {
    let points = series.points.iter().map(|point| {
        let label = point.label.as_ref().map(|label| format!(" {label:?}")).unwrap_or_default();
        let marks = [(point.marks.is_tie, " tie"), (point.marks.grade_d, " grade D")];
        let marks: String = marks.into_iter().filter_map(|(is_set, name)| is_set.then_some(name)).collect();
        format!("{} {:.3e} ({:.3e} to {:.3e}){label}{marks}", point.x, point.y, point.low, point.high)
    });
    let points: Vec<String> = points.collect();
    format!("{} [{}]: {}", series.label, style(&series.style), points.join("; "))
}

fn crossing(crossing: &CrossingMark) -> String {
    let [low, high] = crossing.interval;
    format!("crossing {:?} {:.1} ({low:.1} to {high:.1}) {:?}", crossing.hue, crossing.size, crossing.label)
}

fn style(style: &Style) -> String {
    let fill = if style.filled { "filled" } else { "open" };
    format!("{:?} {:?} {} {fill}", style.hue, style.stroke, style.marker)
}
