//! The overview of several reports on one page, with one column per report.

use gpubench_analysis::answer::{Contender, Kind, Kinds, Versus};
use gpubench_report::report::Report;
use gpubench_text::words::capitalised;

use super::answer::{crossover_cell, kinds_note, largest_n, row_heading, speed_up_cell};
use super::markup::{Html, classed, element};
use super::table::{self, below, framed};
use gpubench_document::fleet::other_libraries;
use gpubench_document::report::sweeps::{Sweep, Sweeps};

/// Speed-ups at the largest size and crossovers of every report, resident and end to end; empty where no report has both
/// contenders.
pub(crate) fn comparison(members: &[(&str, &Report)]) -> Html {
    let of_each: Vec<Vec<Sweep<'_>>> = members.iter().map(|(_, report)| Sweeps::of(report).all).collect();
    let mut lines: Vec<&Sweep<'_>> = vec![];
    for sweep in of_each.iter().flatten().filter(|sweep| !sweep.crossovers.is_empty()) {
        if !lines.iter().any(|line| line.is_like(sweep)) {
            lines.push(sweep);
        }
    }
    if lines.is_empty() {
        return Html::new();
    }
    let rows = members.iter().flat_map(|(_, report)| &report.rows);
    let versus = shared_versus(members);
    let kinds = Kinds::of(members.iter().flat_map(|(_, report)| &report.rows));
    let shown = [Kind::Resident].into_iter().chain(kinds.end_to_end().iter().copied());
    let tables = shown.map(|kind| {
        let title = match kind {
            Kind::Kernel | Kind::Resident => "With the data on the device".to_owned(),
            Kind::EndToEnd | Kind::EndToEndPinned => {
                format!("{}, copies both ways included", capitalised(kinds.name(kind)))
            }
        };
        of_kind(kind, &title, members, &of_each, &lines)
    });
    let html = tables.collect::<Html>().and(classed("p", "note").holding(kinds_note(rows, versus)));
    match other_libraries(members) {
        Some(text) => html.and(classed("p", "note").holding(text)),
        None => html,
    }
}

/// The contenders, which all members share.
fn shared_versus<'a>(members: &[(&str, &'a Report)]) -> Versus<'a> {
    members.first().map_or(Versus::SIDES, |(_, report)| Versus::of(report))
}

fn of_kind(
    kind: Kind,
    title: &str,
    members: &[(&str, &Report)],
    of_each: &[Vec<Sweep<'_>>],
    lines: &[&Sweep<'_>],
) -> Html {
    let name = |(name, report): &(&str, &Report)| {
        let heading = classed("th", "group").with("colspan", "2").with("scope", "colgroup").holding(*name);
        let device = Versus::of(report).device(report, Contender::B).unwrap_or_default();
        heading.holding(below(device))
    };
    let versus = shared_versus(members);
    let pair = ["speed-up".to_owned(), format!("{} faster from N", versus.label(Contender::B))]
        .map(|text| classed("th", "figure").with("scope", "col").holding(text));
    let first = element("th").with("rowspan", "2").with("scope", "col").holding("op");
    let head = element("thead")
        .holding(element("tr").holding(first).holding_all(members.iter().map(name)))
        .holding(element("tr").holding_all(members.iter().flat_map(|_| pair.clone())));
    let row = |line: &&Sweep<'_>| {
        let cells = of_each.iter().flat_map(|sweeps| {
            let sweep = sweeps.iter().find(|sweep| sweep.is_like(line));
            [
                speed_up_cell(sweep.and_then(|sweep| sweep.largest(kind)), largest_n(line)),
                crossover_cell(sweep, kind),
            ]
        });
        let labels: Vec<String> =
            members.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("{name}, from N")]).collect();
        let cells = table::labelled(cells, labels.iter().map(String::as_str));
        element("tr").holding(row_heading(line, true)).holding_all(cells)
    };
    let body = element("tbody").holding_all(lines.iter().map(row));
    let table = classed("table", "overview cards pairs").holding(head).holding(body);
    Html::from(element("h3").holding(title)).and(framed(title, table))
}
