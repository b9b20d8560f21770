//! Writes a report as one HTML page without network access or system fonts; it shows everything without its script too.
//!
//! `markup` escapes every text of a report; the page's own style and script are in `assets`.

mod answer;
mod blocks;
mod charts;
mod colors;
mod details;
pub(crate) mod markup;
mod rows;
mod table;

use self::markup::{Element, Html, classed, element};
use gpubench_analysis::answer::{Contender, Versus};
use gpubench_document::blocks::Block;
use gpubench_document::fleet::speed_ups;
use gpubench_document::report::parts;
use gpubench_document::report::sweeps::Sweeps;
use gpubench_report::report::Report;
use gpubench_report::report::machine::host;
use gpubench_report::report::quantity::time_text;
use gpubench_text::count::counted;
use gpubench_text::cut;

use crate::{chart, newest};

const STYLES: [&str; 5] = [
    include_str!("assets/page.css"),
    include_str!("assets/charts.css"),
    include_str!("assets/tables.css"),
    include_str!("assets/rows.css"),
    include_str!("assets/print.css"),
];
const SCRIPT: &str = include_str!("assets/page.js");
/// Chooses the theme before anything is painted.
const THEME: &str = include_str!("assets/theme.js");

/// Forbids the browser to load anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      font-src data:";

/// The page of one named report, or of several: then each has its part, under a table of all. Of very many reports, the
/// newest have a part, and the page says so.
///
/// Equal reports make equal bytes.
pub fn page(members: &[(&str, &Report)]) -> String {
    page_with(members, &[])
}

/// Returns the page of named reports as [`page`] does, with `blocks` about all of them before their table, or of one report before its parts.
pub fn page_with(members: &[(&str, &Report)], blocks: &[Block]) -> String {
    let in_full = newest(members);
    let (title, content) = match members {
        [(_, report)] => {
            let title = classed("header", "title").holding(heading(report, "h1"));
            let about = blocks::blocks(blocks, 1, "");
            (machines(report), Html::from(title).and(about).and(sections(report, "")))
        }
        _ => (format!("{} reports", members.len()), several(members, &in_full, blocks)),
    };
    let main = element("main").holding(content);
    let body = element("body").holding(bar(members, &in_full)).holding(main).holding(script(SCRIPT));
    let html = element("html").with("lang", "en").holding(head(&title)).holding(body);
    Html::trusted("<!DOCTYPE html>\n").and(html).and("\n").into_string()
}

fn head(title: &str) -> Element {
    let meta =
        |name: &'static str, content: &str| element("meta").with("name", name).with("content", content);
    let styles = STYLES.into_iter().map(str::to_owned);
    let styles = [chart::font_faces(), colors::style()].into_iter().chain(styles);
    element("head")
        .holding(element("meta").with("charset", "utf-8"))
        .holding(element("meta").with("http-equiv", "Content-Security-Policy").with("content", POLICY))
        .holding(meta("viewport", "width=device-width, initial-scale=1"))
        .holding(meta("color-scheme", "light dark"))
        .holding(meta("generator", concat!("gpubench ", env!("CARGO_PKG_VERSION"))))
        .holding(element("title").holding(format!("gpubench: {title}")))
        .holding(script(THEME))
        .holding(element("style").holding_all(styles.map(Html::trusted)))
}

fn script(source: &str) -> Element {
    element("script").holding(Html::trusted(source))
}

/// The parts of a report, in the order in which they are read.
const SECTIONS: [(&str, &str); 8] = [
    ("answer", "Answer"),
    ("warnings", "Warnings"),
    ("charts", "Charts"),
    ("rows", "Every row"),
    ("first-use", "First use"),
    ("environment", "Environment"),
    ("words", "In words"),
    ("method", "Method"),
];

/// The sections that a report with times of one side does not have.
const NEEDS_BOTH_SIDES: [&str; 2] = ["first-use", "words"];

/// The sections of a report.
fn sections_of(report: &Report) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has_both = Sweeps::of(report).comparisons() > 0;
    SECTIONS.into_iter().filter(move |(id, _)| has_both || !NEEDS_BOTH_SIDES.contains(id))
}

/// The bar at the top: name, ways to the parts or to the reports shown `in_full`, and the switch of the theme.
fn bar(members: &[(&str, &Report)], in_full: &[usize]) -> Element {
    let nav = element("nav").with("aria-label", "parts of the page");
    let nav = match members {
        [(_, report)] => nav.holding_all(ways(report, "")),
        _ => {
            let links = in_full.iter().map(|&index| link(&member_id(index), members[index].0));
            nav.with("data-chooser", "1").holding(link("all", "All")).holding_all(links)
        }
    };
    let switch = element("button").with("type", "button").with("id", "theme").with("hidden", "hidden");
    let name = classed("span", "brand").holding("gpubench");
    classed("div", "bar").holding(name).holding(nav).holding(switch.holding("Dark"))
}

fn link(to: &str, text: &str) -> Element {
    element("a").with("href", &format!("#{to}")).holding(text)
}

/// The ways to the parts of a report whose identifiers begin with `prefix`.
fn ways(report: &Report, prefix: &str) -> impl Iterator<Item = Element> {
    sections_of(report).map(move |(id, text)| link(&format!("{prefix}{id}"), text))
}

fn member_id(index: usize) -> String {
    format!("m{}", index + 1)
}

fn several(members: &[(&str, &Report)], in_full: &[usize], blocks: &[Block]) -> Html {
    let title = element("h1").holding(format!("{} reports", members.len()));
    let all = element("section").with("id", "all").holding(element("h2").holding("Overview"));
    let all = all.holding(blocks::blocks(&[blocks, &speed_ups(members)].concat(), 1, ""));
    let mut html = Html::from(classed("header", "title").holding(title));
    html = html.and(all.holding_all(omission(members, in_full)));
    for &index in in_full {
        let (name, report) = members[index];
        let (id, prefix) = (member_id(index), format!("{}-", member_id(index)));
        let list = classed("nav", "parts").with("aria-label", &format!("parts of {name}"));
        let title = classed("header", "title")
            .holding(classed("p", "name").holding(name))
            .holding(heading(report, "h2"))
            .holding(list.holding_all(ways(report, &prefix)));
        let member = classed("article", "member").with("id", &id);
        html = html.and(member.holding(title).holding(sections(report, &prefix)));
    }
    html
}

/// Says which reports have no charts and rows on the page, if any.
fn omission(members: &[(&str, &Report)], in_full: &[usize]) -> Option<Element> {
    let text = format!(
        "This page has the charts and rows of the newest {} of {} reports. To see those of another report, make a page \
         of that report.",
        in_full.len(),
        members.len()
    );
    (in_full.len() < members.len()).then(|| classed("p", "note").holding(text))
}

/// The machines compared, the date, and the version of the program.
fn heading(report: &Report, level: &'static str) -> Html {
    let environment = &report.environment;
    let revision = environment.gpubench_revision.as_deref().map(|text| cut::start(text, 12));
    let revision = revision.map(|revision| format!(" ({revision})")).unwrap_or_default();
    let started = environment.started.get(..16).unwrap_or(&environment.started).replace('T', ", ");
    let cells = counted(report.rows.len(), "cell");
    let line = format!(
        "{started} UTC · {cells} in {} · gpubench {}{revision}",
        time_text(environment.elapsed_s),
        environment.gpubench_version
    );
    Html::from(element(level).holding(machines(report))).and(classed("p", "when").holding(line))
}

/// `NVIDIA H200 against Intel Xeon, 16 threads`, or the one contender there is.
fn machines(report: &Report) -> String {
    let versus = Versus::of(report);
    let one = || Contender::BOTH.into_iter().find_map(|one| versus.machine(report, one));
    versus.machines(report).or_else(one).unwrap_or_else(|| host(report))
}

/// Warnings about times and the run, and cells without a time.
fn warnings(report: &Report, prefix: &str) -> Html {
    match [parts::notes(report, true), parts::problems(report)].concat() {
        found if found.is_empty() => {
            element("p").holding("None: every cell was measured, and nothing disturbed it.").into()
        }
        found => blocks::blocks(&found, 1, prefix),
    }
}

/// The parts of a report; identifiers begin with `prefix`.
fn sections(report: &Report, prefix: &str) -> Html {
    let contents = [
        answer::answer(report),
        warnings(report, prefix),
        charts::charts(report),
        rows::rows(report, prefix),
        blocks::blocks(&parts::first_use(report), 1, prefix),
        blocks::blocks(&parts::environment(report), 1, prefix),
        blocks::blocks(&Vec::from_iter(parts::in_words(report)), 1, prefix),
        blocks::blocks(&parts::method_items(report, true), 1, prefix),
    ];
    let section = |((id, title), content): ((&str, &str), Html)| {
        let nothing = content.is_empty().then(|| classed("p", "note").holding("Nothing to show."));
        let section = element("section").with("id", &format!("{prefix}{id}")).with("data-part", id);
        section.holding(element("h2").holding(title)).holding(content).holding_all(nothing)
    };
    let shown: Vec<(&str, &str)> = sections_of(report).collect();
    let sections = SECTIONS.into_iter().zip(contents).filter(|(one, _)| shown.contains(one));
    sections.map(section).collect()
}

#[cfg(test)]
mod tests;
