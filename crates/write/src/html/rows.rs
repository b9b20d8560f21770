//! The table of every row of a report, which a reader can sort, filter and open. It is a plain table without the script.

use std::collections::BTreeSet;

use gpubench_analysis::answer::cost::Kind;
use gpubench_analysis::answer::{Comparison, Section, has_both_caches, sections};
use gpubench_document::report::parts::row_id;
use gpubench_ops::{self as op, peak_share};
use gpubench_report::case::{Family, density_text};
use gpubench_report::report::quantity::{error_text, spread_text, three_digits};
use gpubench_report::report::{Execute, Outcome, Report, Row};
use gpubench_text::count::counted;

use super::details::details;
use super::markup::{Element, Html, classed, element};
use super::table::{Heading, NONE, below, cell, figure, figures, framed, sortable, words};
use gpubench_document::report::cautions::is_launch_bound;
use gpubench_document::report::{MARK, PEAK_SHARE_TEXT, resource_and_rate, share_text};

/// The columns that a phone has room for.
const NARROW: [&str; 5] = ["op", "N", "variant", "time", "grade"];

/// A cell of a column, marked where a phone leaves it out.
fn narrowed(cell: Element, column: &str) -> Element {
    if NARROW.contains(&column) { cell } else { cell.with("data-wide", "1") }
}

/// A column after the first: its heading, and the cell of a row, which may be the best of its case.
type RowsColumn<'a> = (Heading<'static>, RowsCell<'a>);

type RowsCell<'a> = Box<dyn Fn(&Row, bool) -> Element + 'a>;

/// The controls and the table. The identifiers of rows begin with `prefix`.
pub(crate) fn rows(report: &Report, prefix: &str) -> Html {
    let columns = columns(report);
    let has_families = sections(report).iter().any(Section::has_families);
    let op = words("op");
    let head = std::iter::once(&op).chain(columns.iter().map(|(heading, _)| heading)).map(|heading| {
        let cell = heading.cell().with("data-sort", if heading.figures { "number" } else { "text" });
        narrowed(cell, heading.text)
    });
    let head = element("thead").holding(element("tr").holding_all(head));
    // Each row becomes markup immediately: all of them as elements would take as much memory again.
    let (mut bodies, mut count) = (Html::default(), 0);
    for section in sections(report) {
        for comparison in &section.comparisons {
            let best = best(comparison);
            for row in comparison.fastest_first() {
                let is_best = best.iter().any(|other| std::ptr::eq(*other, row));
                bodies = bodies.and(body(report, row, is_best, &columns, has_families, prefix));
                count += 1;
            }
        }
    }
    let table = classed("table", "rows").holding(head).holding(bodies);
    let paper =
        "The best variants of each side. The page on a screen, report.csv and report.json have every row.";
    let paper = classed("p", "note on-paper").holding(paper);
    controls(report, count).and(paper).and(framed("every row", table))
}

/// The best rows of a case by any kind of speed-up; every row of an op that does not ask which side is faster.
fn best<'a>(comparison: &Comparison<'a>) -> Vec<&'a Row> {
    if comparison.rows.first().is_some_and(|row| !op::compares_sides(&row.case.op)) {
        return comparison.rows.clone();
    }
    let pairs = Kind::ALL.into_iter().filter_map(|kind| comparison.pair(kind));
    let pairs = pairs.flat_map(|pair| [pair.a, pair.b]);
    comparison.bests().into_iter().flatten().chain(pairs).collect()
}

/// The columns that a report needs.
fn columns<'a>(report: &'a Report) -> Vec<RowsColumn<'a>> {
    let mut columns: Vec<RowsColumn<'a>> = vec![];
    let mut add = |heading: Heading<'static>, cell: RowsCell<'a>| columns.push((heading, cell));
    add(
        figures("N", ""),
        Box::new(|row, _| sortable(Some(row.case.n as f64), |_| row.case.family().size_text(row.case.n))),
    );
    add(words("type"), Box::new(|row, _| cell(peak_share::precision(row))));
    if sections(report).iter().any(Section::has_families) {
        let heading = match Family::column(report.rows.iter().map(|row| row.case.family())) {
            "density" => figures("density", ""),
            heading => words(heading),
        };
        add(
            heading,
            Box::new(|row, _| {
                let text = row.case.family().text().filter(|_| row.case.family().heading() != "density");
                text.map_or_else(|| sortable(row.case.density, density_text), cell)
            }),
        );
    }
    if has_both_caches(report) {
        add(words("cache"), Box::new(|row, _| cell(row.cache.name())));
    }
    add(
        words("backend"),
        Box::new(|row, _| {
            cell(element("span").with("data-side", row.side.name()).holding(row.backend.as_str()))
        }),
    );
    add(
        words("variant"),
        Box::new(|row, is_best| {
            let mark = classed("span", "best").with("title", "best of its side or contender for this case");
            let variant = cell(row.variant_text());
            if is_best { variant.holding(" ").holding(mark.holding("best")) } else { variant }
        }),
    );
    add(
        figures("time", "median by the row's own clock"),
        Box::new(|row, _| {
            let mark = if is_launch_bound(row) { MARK } else { "" };
            let text = row.execute.as_ref().map(Execute::median_text).unwrap_or_default();
            sortable(row.median_s(), |_| format!("{text}{mark}"))
        }),
    );
    add(
        figures("±", "half the 95 % interval of the median, relative to it"),
        Box::new(|row, _| {
            let spread = row.execute.as_ref().filter(|execute| execute.samples_s.len() > 1);
            sortable(spread.map(|execute| execute.summary().relative_spread()), spread_text)
        }),
    );
    add(
        words("grade"),
        Box::new(|row, _| {
            let grade = row.execute.as_ref().and_then(|execute| execute.grade).map(|grade| grade.to_string());
            let badge = |grade: String| classed("span", "grade").with("data-grade", &grade).holding(grade);
            cell(grade.map_or(NONE.into(), |grade| Html::from(badge(grade))))
        }),
    );
    add(
        figures("host time", "median by the host's clock, launch and synchronization included"),
        Box::new(|row, _| {
            let text = |_| row.execute.as_ref().map(Execute::host_median_text).unwrap_or_default();
            sortable(row.execute.as_ref().map(|execute| execute.host_median_s), text)
        }),
    );
    let rate = |row: &Row, work: f64| {
        let median = row.median_s().filter(|median| *median > 0.0);
        sortable(median.map(|median| work / median / 1e9).filter(|rate| *rate > 0.0), three_digits)
    };
    add(
        figures("GFLOP/s", "the op's usual number of operations, over the time"),
        Box::new(move |row, _| rate(row, row.work.flop)),
    );
    add(
        figures("GB/s", "the minimum bytes to move, over the time"),
        Box::new(move |row, _| rate(row, row.work.bytes)),
    );
    if report.rows.iter().any(|row| peak_share::share(report, row).is_some()) {
        let help =
            "the achieved rate over the measured peak rate of what limits the op; not how busy the chip is";
        add(
            figures(PEAK_SHARE_TEXT, help),
            Box::new(|row, _| {
                let found = peak_share::share(report, row);
                // The table is as wide as the page: its cells have no words where a figure says the same.
                sortable(found.map(|found| found.share), |_| found.map_or(NONE.into(), share_text))
            }),
        );
        add(
            words("limited by"),
            Box::new(|row, _| {
                cell(
                    peak_share::share(report, row)
                        .map_or(NONE.into(), |found| resource_and_rate(found)[0].clone()),
                )
            }),
        );
    }
    add(
        figures("error", "against its bound in the details"),
        Box::new(|row, _| match row.error {
            Some(error) => sortable(Some(error.value), |_| error_text(error)),
            None => figure(NONE),
        }),
    );
    add(
        words("outcome"),
        Box::new(|row, _| {
            let name = row.outcome.name();
            let outcome = cell(classed("span", "outcome").with("data-outcome", name).holding(name));
            match row.reason.as_deref().filter(|_| row.outcome != Outcome::Measured) {
                Some(reason) => outcome.holding(below(reason)).with("class", "reason"),
                None => outcome,
            }
        }),
    );
    columns
}

/// A row and its details, which move together.
fn body(
    report: &Report,
    row: &Row,
    is_best: bool,
    columns: &[RowsColumn<'_>],
    has_families: bool,
    prefix: &str,
) -> Element {
    let name = format!("details of {}", row.cell());
    let summary = element("summary").with("aria-label", &name).holding(row.case.op.as_str());
    let opener = element("th").with("scope", "row").holding(element("details").holding(summary));
    let family = row.case.family().words().filter(|_| !has_families);
    let opener = opener.holding_all(family.map(below));
    let panel = element("td").with("colspan", &(columns.len() + 1).to_string()).holding(details(report, row));
    let body = element("tbody")
        .with("id", &format!("{prefix}{}", row_id(report, row)))
        .with("data-op", &row.case.op)
        .with("data-backend", &row.backend)
        .with("data-outcome", row.outcome.name());
    let body = if is_best { body.with("data-best", "1") } else { body };
    let cells = columns.iter().map(|(heading, cell)| narrowed(cell(row, is_best), heading.text));
    let first = element("tr").holding(opener).holding_all(cells);
    body.holding(first).holding(classed("tr", "more").holding(panel))
}

/// The filters of the table, hidden until the script runs.
fn controls(report: &Report, count: usize) -> Html {
    let choice = |name: &str, values: BTreeSet<&str>| {
        let option = |value: &str| element("option").with("value", value).holding(value);
        let any = element("option").with("value", "").holding(format!("any {name}"));
        let select = element("select").with("data-filter", name).with("aria-label", name);
        select.holding(any).holding_all(values.into_iter().map(option))
    };
    let rows = || report.rows.iter();
    let search = element("input")
        .with("type", "search")
        .with("data-filter", "text")
        .with("placeholder", "filter: matmul cublas 1000")
        .with("aria-label", "filter rows by text");
    let best = element("input").with("type", "checkbox").with("data-filter", "best");
    let controls = classed("div", "controls")
        .with("hidden", "hidden")
        .holding(search)
        .holding(choice("op", rows().map(|row| row.case.op.as_str()).collect()))
        .holding(choice("backend", rows().map(|row| row.backend.as_str()).collect()))
        .holding(choice("outcome", rows().map(|row| row.outcome.name()).collect()))
        .holding(element("label").holding(best).holding(" best variants only"));
    let count = counted(count, "row");
    Html::from(controls).and(classed("p", "count").with("aria-live", "polite").holding(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn every_row_is_in_the_table_with_its_reason() {
        let report = example::full();
        let html = rows(&report, "").into_string();
        for index in 0..report.rows.len() {
            assert_eq!(html.matches(&format!("id=\"row-{index}\"")).count(), 1, "{index}");
        }
        assert_eq!(html.matches("<tbody").count(), html.matches("class=\"more\"").count());
        assert!(html.contains("mkl: not found") && html.contains("12.4 µs*"), "{html}");
        let empty = html.contains(PEAK_SHARE_TEXT) || html.contains(">cache</th>");
        assert!(!empty, "empty columns are left out");
    }

    #[test]
    fn the_best_of_each_side_are_marked() {
        let mut report = example::full();
        report.rows.push(example::measured("matmul", 100, "cuda", "tiled", 1e-3));
        let html = rows(&report, "").into_string();
        let body = |index: usize| {
            html.split("<tbody").find(|body| body.contains(&format!("\"row-{index}\""))).unwrap()
        };
        assert!(body(0).contains("data-best") && body(1).contains("data-best"));
        assert!(!body(2).contains("data-best") && !body(9).contains("data-best"));
    }
}
