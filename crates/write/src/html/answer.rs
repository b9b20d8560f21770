//! The answer of one report: sentences, the table of the first screen, and the cost of the first use.

use gpubench_analysis::answer::first_use::FirstUse;
use gpubench_analysis::answer::{Contender, Kind, Names, Pair, Place, Versus};
use gpubench_document::blocks::{Block, DocumentSection};
use gpubench_document::report::copies_clause;
use gpubench_document::report::crossover_text::{interval_text, place_text, ranges_below};
use gpubench_document::report::sentences::{Line, paragraph};
use gpubench_report::report::quantity::time_text;
use gpubench_report::report::{Report, Row};
use gpubench_text::words::capitalised;

use super::blocks::blocks;
use super::markup::{Element, Html, classed, element};
use super::table::{self, NONE, below, cell, figures, words};
use gpubench_document::report::problems::first_lines;
use gpubench_document::report::screen::legend;
use gpubench_document::report::sweeps::notes::title;
use gpubench_document::report::sweeps::{Sweep, Sweeps};

/// The note below the overview, for the copies of some rows.
pub(crate) fn kinds_note<'a>(rows: impl Iterator<Item = &'a Row>, versus: Versus<'_>) -> String {
    let each = if versus.is_named() { "each" } else { "each side" };
    format!(
        "Kernel: the work alone, on a GPU by its own clock. Resident: by the host's clock, launch and wait included, with \
         the data on the device. End to end: also with {}, both ways. Best correct variant of {each} in full \
         precision; small figures are 95 % intervals. ?: the interval includes 1x, a tie; !: unreliable.",
        copies_clause(rows, &Kind::ALL),
    )
}

/// Incorrect answers, that the run ended early, the sentence about all ops, and the table of the first screen with its legend.
pub(crate) fn answer(report: &Report) -> Html {
    let paragraphs = |class, texts: Vec<String>| {
        texts.into_iter().map(|text| Html::from(classed("p", class).holding(text))).collect::<Html>()
    };
    let first = paragraph(report).into_iter().next();
    let lead = first.map_or_else(|| no_speed_up(report), |first| sentence(&first.text, Versus::of(report)));
    let sweeps = Sweeps::of(report);
    let table = sweeps.table(false);
    let legend =
        DocumentSection { is_folded: true, ..DocumentSection::new("What the columns mean", vec![legend()]) };
    let blocks = table.map(|table| blocks(&[Block::Table(table), Block::Section(legend)], 2, ""));
    let html = paragraphs("early", first_lines(report, "see Warnings", None))
        .and(classed("p", "lead").holding(lead));
    blocks.into_iter().fold(html, Html::and)
}

fn no_speed_up(report: &Report) -> String {
    let versus = Versus::of(report);
    if !versus.is_named() {
        return title(report);
    }
    let [a, b] = Contender::BOTH.map(|one| versus.name(one));
    format!("No case has a correct time of both {a} and {b}, so there is no speed-up.")
}

/// One sentence per op with its subject in bold; empty without speed-ups.
pub(crate) fn in_words(report: &Report) -> Html {
    let lines = paragraph(report).into_iter().filter_map(|Line { subject, text }| Some((subject?, text)));
    let versus = Versus::of(report);
    let item = |(subject, text): (String, String)| {
        element("li").holding(element("b").holding(subject)).holding(format!(" {}", sentence(&text, versus)))
    };
    let items: Vec<Element> = lines.map(item).collect();
    if items.is_empty() { Html::new() } else { classed("ul", "answers").holding_all(items).into() }
}

/// The text with a capital first, unless a contender's name is first.
fn sentence(text: &str, versus: Versus<'_>) -> String {
    let begins = |one: Contender| versus.is_named() && text.starts_with(versus.name(one));
    if Contender::BOTH.into_iter().any(begins) { text.to_owned() } else { capitalised(text) }
}

/// The largest size of the table: that of the resident speed-up.
pub(crate) fn largest_n(sweep: &Sweep<'_>) -> Option<u64> {
    sweep.largest(Kind::Resident).map(|found| found.0)
}

/// The heading of a sweep's row: `matmul` over `f32, cold` and, `with_sizes`, `N = 100 to 10000`.
pub(crate) fn row_heading(sweep: &Sweep<'_>, with_sizes: bool) -> Element {
    let section = &sweep.section;
    let what = format!("{}{}, {}", section.dtype, section.common_family().clause(), section.cache);
    let heading = classed("th", "op").with("scope", "row").holding(element("b").holding(section.op));
    let heading = heading.holding(below(what));
    match section.comparisons.as_slice() {
        [first, .., last] if with_sizes => heading.holding(below(format!("N = {} to {}", first.n, last.n))),
        [only] if with_sizes => heading.holding(below(format!("N = {}", only.n))),
        _ => heading,
    }
}

/// `310` over `290 to 335`.
pub(crate) fn crossover_cell(sweep: Option<&Sweep<'_>>, kind: Kind) -> Element {
    let Some(found) = sweep.and_then(|sweep| sweep.crossover(kind)) else { return table::figure(NONE) };
    let (place, also) = match (found.from, ranges_below(found)) {
        (Some(Place::Beyond), Some(ranges)) => {
            (format!("only {ranges}{}", if found.is_unreliable { "!" } else { "" }), None)
        }
        (_, also) => (place_text(found), also),
    };
    let also = also.map(|ranges| format!("and {ranges}"));
    table::figure(place).holding_all(interval_text(found).into_iter().chain(also).map(below))
}

/// `GPU 18.2x` at the largest size over its interval, with the size where it is not the `usual` one.
pub(crate) fn speed_up_cell(largest: Option<(u64, Pair<'_>)>, usual: Option<u64>) -> Element {
    let Some((n, pair)) = largest else { return table::figure(NONE) };
    let found = &pair.speed_up;
    let at = (usual != Some(n)).then(|| below(format!("at N = {n}")));
    table::figure(badge(&pair)).holding(below(found.interval_text())).holding_all(at)
}

/// The winner and its factor in the colour of the CPU for A, of the GPU for B, or as open where the interval holds 1.
fn badge(pair: &Pair<'_>) -> Element {
    let side = match pair.speed_up.winner() {
        Some(Contender::A) => "cpu",
        Some(Contender::B) => "gpu",
        None => "open",
    };
    classed("span", "badge").with("data-side", side).holding(pair.speed_up_text())
}

/// The parts of the first use of B's GPU at the largest size of each op; empty where no row has them.
pub(crate) fn first_use(report: &Report) -> Html {
    let names = Names::of(report);
    let costs = ["context", "compile", "from cache", "plan", "first call", "total", "copies once"];
    let mut headings = vec![words("op"), figures("N"), words("variant")];
    headings.extend(costs.map(figures));
    let row = |sweep: &Sweep<'_>| {
        let (n, pair) = sweep.largest(Kind::Resident)?;
        let first = FirstUse::of(report, pair.b)?;
        let time = |seconds: Option<f64>| table::figure(seconds.map_or(NONE.into(), time_text));
        let cells = [
            first.context_s,
            first.compile_s,
            first.compile_cached_s,
            first.plan_s,
            Some(first.first_call_s),
            Some(first.total_s()),
            first.copies_s,
        ];
        let mut cells: Vec<Element> = cells.map(time).into();
        cells.splice(0..0, [table::figure(n.to_string()), cell(names.name(pair.b))]);
        let labels = headings.iter().skip(1).map(|heading| heading.text);
        Some(element("tr").holding(row_heading(sweep, false)).holding_all(table::labelled(cells, labels)))
    };
    let rows: Vec<Element> = Sweeps::of(report).all.iter().filter_map(row).collect();
    if rows.is_empty() {
        return Html::new();
    }
    let note = "Host time paid once. Total: context, compiling without a cache, planning, and the extra time of the \
                first call. With the data on the device, one copy each way is paid once too.";
    Html::from(table::table(
        &format!("first use of {}", Versus::of(report).noun(Contender::B)),
        &headings,
        rows,
    ))
    .and(classed("p", "note").holding(note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    #[test]
    fn a_speed_up_without_a_winner_is_open() {
        let report = example::of(example::both_sides("fft", 100, 1.0005e-3, 1e-3));
        let pair = gpubench_analysis::answer::sections(&report)[0].comparisons[0].pair(Kind::Kernel).unwrap();
        let html = Html::from(badge(&pair)).into_string();
        assert!(html.contains("data-side=\"open\""), "{html}");
    }

    #[test]
    fn sentences_keep_their_figures_together() {
        let report = example::with_peaks(example::full());
        let html = in_words(&report).into_string();
        for figure in
            ["at N\u{a0}=\u{a0}10000 the", "kernel alone GPU\u{a0}18x)", "98\u{a0}% of its peak FLOP rate"]
        {
            assert!(html.contains(figure), "{figure}: {html}");
        }
        assert!(html.contains("</b> With the data on the device"), "{html}");
    }

    #[test]
    fn the_answer_has_the_table_of_the_first_screen_and_its_legend() {
        let report = example::of(example::both_sides("fft", 2048, 100e-6, 50e-6));
        let html = answer(&report).into_string();
        assert!(!html.contains("copied each call: pinned"), "{html}");
        let html = answer(&example::with_pinned(report, 10.0)).into_string();
        for expected in [
            "data-label=\"copied each call: pageable\"><span class=\"badge\" data-side=\"cpu\">CPU 1.2x</span>",
            "data-label=\"copied each call: pinned\"><span class=\"badge\" data-side=\"gpu\">GPU 1.6x</span>",
            "data-label=\"calls: repay copies\"",
            "What the columns mean",
        ] {
            assert!(html.contains(expected), "{expected}\n{html}");
        }
        assert!(first_use(&example::full()).into_string().contains("210 ms"));
    }

    #[test]
    fn a_report_of_one_side_says_that_there_is_no_speed_up() {
        let mut report = example::full();
        report.rows.retain(|row| row.backend == "cpu");
        assert!(answer(&report).into_string().contains("CPU only: no GPU variant was selected."));
        assert!(in_words(&report).is_empty());
        assert!(first_use(&report).is_empty());
        let html = answer(&report).into_string();
        assert!(html.contains("data-label=\"fastest\">openblas</td>"), "the libraries are compared: {html}");
    }
}
