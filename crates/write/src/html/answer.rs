//! The answer of one report: sentences, a table of crossovers and speed-ups, and the cost of the first use.

use gpubench_analysis::answer::first_use::{FirstUse, Repayment, calls_to_repay};
use gpubench_analysis::answer::peak_share::ShareWords;
use gpubench_analysis::answer::{Contender, Kind, Kinds, Names, Pair, Place, Versus, peak_share};
use gpubench_document::report::crossover_text::{interval_text, place_text, ranges_below};
use gpubench_document::report::sentences::{Line, paragraph};
use gpubench_report::case::density_clause;
use gpubench_report::report::quantity::time_text;
use gpubench_report::report::{Report, Row};
use gpubench_text::count::counted;
use gpubench_text::words::capitalised;

use super::markup::{Element, Html, classed, element};
use super::table::{self, Heading, NONE, below, cell, figures, framed, words};
use gpubench_document::report::problems::first_lines;
use gpubench_document::report::sweeps::notes::title;
use gpubench_document::report::sweeps::{Sweep, Sweeps};
use gpubench_document::report::{PEAK_SHARE_TEXT, copies_clause};

/// The note below the overview, for the copies of some rows.
pub(crate) fn kinds_note<'a>(rows: impl Iterator<Item = &'a Row>, versus: Versus<'_>) -> String {
    let each = if versus.is_named() { "each" } else { "each side" };
    format!(
        "Kernel: the work alone, on a GPU by its own clock. Resident: by the host's clock, launch and wait included, with \
         the data on the device. End to end: also with {}, both ways. Best correct variant of {each} in full \
         precision; small figures are 95 % intervals. ?: the interval includes 1x, a tie; !: unreliable. {}: {}. \
         Calls needed to repay the first use count by the host's clock; none are given where the time saved is within \
         noise.",
        copies_clause(rows, &Kind::ALL),
        capitalised(PEAK_SHARE_TEXT),
        peak_share::MEANING,
    )
}

/// Incorrect answers, that the run ended early, the sentence about all ops, and the overview.
pub(crate) fn answer(report: &Report) -> Html {
    let paragraphs = |class, texts: Vec<String>| {
        texts.into_iter().map(|text| Html::from(classed("p", class).holding(text))).collect::<Html>()
    };
    let first = paragraph(report).into_iter().next();
    let lead = first.map_or_else(|| no_speed_up(report), |first| sentence(&first.text, Versus::of(report)));
    let memory = Sweeps::of(report).memory_decides(false);
    paragraphs("early", first_lines(report, "see Warnings", None))
        .and(classed("p", "lead").holding(lead))
        .and(paragraphs("memory", Vec::from_iter(memory)))
        .and(overview(report))
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

/// One row per op, element type, cache state and density: crossovers, speed-ups, shares of the peaks, and the cost of the
/// first use. Empty where no case has both contenders.
pub(crate) fn overview(report: &Report) -> Html {
    let names = Names::of(report);
    let mut sweeps = Sweeps::of(report).all;
    sweeps.retain(|sweep| !sweep.crossovers.is_empty());
    if sweeps.is_empty() {
        return Html::new();
    }
    let span = |columns: &str, text: &str| {
        classed("th", "group").with("colspan", columns).with("scope", "colgroup").holding(text)
    };
    let versus = Versus::of(report);
    let [a, b] = Contender::BOTH.map(|one| versus.label(one));
    let names_of_kinds = Kinds::of(&report.rows);
    let occurs = |kind: &Kind| sweeps.iter().any(|sweep| sweep.crossover(*kind).is_some());
    let kinds: Vec<Kind> = names_of_kinds.all().iter().copied().filter(occurs).collect();
    let has_tuned = sweeps.iter().any(|sweep| sweep.largest_tuned().is_some());
    let shown = OverviewColumns { report, names: &names, names_of_kinds, kinds, has_tuned };
    let count = shown.kinds.len().to_string();
    let speed_ups = (shown.kinds.len() + usize::from(has_tuned)).to_string();
    let groups = element("tr")
        .holding(element("th").with("rowspan", "2").with("scope", "col").holding("op"))
        .holding(span(&count, &format!("{b} faster from N =")))
        .holding(span(&speed_ups, "speed-up at the largest size"))
        .holding(span("2", &format!("best variant there, {PEAK_SHARE_TEXT}")))
        .holding(span("3", "first use, calls to repay it (host clock)"));
    let kinds: Vec<Heading<'_>> =
        shown.kinds.iter().map(|kind| figures(shown.names_of_kinds.name(*kind))).collect();
    let [resident, whole] = REPAID.map(|kind| figures(shown.names_of_kinds.name(kind)));
    let rest = [words(a), words(b), figures("once"), resident, whole];
    let tuned = has_tuned.then(|| figures(TUNED));
    let headings = kinds.iter().chain(&kinds).chain(&tuned).chain(&rest);
    let head =
        element("thead").holding(groups).holding(element("tr").holding_all(headings.map(Heading::cell)));
    let rows = sweeps.iter().map(|sweep| overview_row(&shown, sweep));
    let body = element("tbody").holding_all(rows);
    let table = framed("overview of all ops", classed("table", "overview cards").holding(head).holding(body));
    let tuned = if has_tuned { " Tuned: resident, both sides with gpubench's own code." } else { "" };
    let note = kinds_note(report.rows.iter(), versus) + tuned;
    Html::from(table).and(classed("p", "note").holding(note))
}

/// The kinds for which the overview has the number of calls that repay the first use.
const REPAID: [Kind; 2] = [Kind::Resident, Kind::EndToEnd];

/// What the rows of the overview have in common.
struct OverviewColumns<'a> {
    report: &'a Report,
    names: &'a Names,
    names_of_kinds: Kinds,
    /// The kinds of speed-up that some row has.
    kinds: Vec<Kind>,
    /// Whether a column has gpubench's tuned code on both sides.
    has_tuned: bool,
}

/// The heading of the column with gpubench's tuned code on both sides.
const TUNED: &str = "tuned";

fn overview_row(shown: &OverviewColumns<'_>, sweep: &Sweep<'_>) -> Element {
    let all = || shown.kinds.iter().copied();
    let report = shown.report;
    let mut cells: Vec<Element> = all().map(|kind| crossover_cell(Some(sweep), kind)).collect();
    cells.extend(all().map(|kind| speed_up_cell(sweep.largest(kind), largest_n(sweep))));
    cells.extend(shown.has_tuned.then(|| speed_up_cell(sweep.largest_tuned(), largest_n(sweep))));
    match sweep.largest(Kind::Resident) {
        None => cells.extend([(); 5].map(|()| cell(NONE))),
        Some((_, pair)) => {
            let first = FirstUse::of(report, pair.b);
            let calls = |kind| table::figure(calls(report, sweep.largest(kind).map(|found| found.1)));
            cells.extend([pair.a, pair.b].map(|row| variant_cell(report, row, shown.names)));
            cells.push(table::figure(
                first.map_or(NONE.into(), |first| time_text(first.total_s()).replace(' ', "\u{a0}")),
            ));
            cells.extend(REPAID.map(calls));
        }
    }
    let labels = labels(shown);
    element("tr")
        .holding(row_heading(sweep, true))
        .holding_all(table::labelled(cells, labels.iter().map(String::as_str)))
}

/// The largest size of the table: that of the resident speed-up.
pub(crate) fn largest_n(sweep: &Sweep<'_>) -> Option<u64> {
    sweep.largest(Kind::Resident).map(|found| found.0)
}

/// The heading of a sweep's row: `matmul` over `f32, cold` and, `with_sizes`, `N = 100 to 10000`.
pub(crate) fn row_heading(sweep: &Sweep<'_>, with_sizes: bool) -> Element {
    let section = &sweep.section;
    let what = format!("{}{}, {}", section.dtype, density_clause(section.common_density()), section.cache);
    let heading = classed("th", "op").with("scope", "row").holding(element("b").holding(section.op));
    let heading = heading.holding(below(what));
    match section.comparisons.as_slice() {
        [first, .., last] if with_sizes => heading.holding(below(format!("N = {} to {}", first.n, last.n))),
        [only] if with_sizes => heading.holding(below(format!("N = {}", only.n))),
        _ => heading,
    }
}

/// The labels of an overview's cells where its headings have no room.
fn labels(shown: &OverviewColumns<'_>) -> Vec<String> {
    let name = |kind| shown.names_of_kinds.name(kind);
    let of_kinds = |after: &str| shown.kinds.iter().map(|kind| format!("{}{after}", name(*kind))).collect();
    let versus = Versus::of(shown.report);
    let crossovers: Vec<String> = of_kinds(" from N");
    let bests = Contender::BOTH.map(|one| format!("best {}", versus.label(one)));
    let calls = REPAID.map(|kind| format!("calls, {}", name(kind)));
    let tuned: Vec<String> = shown.has_tuned.then(|| TUNED.into()).into_iter().collect();
    [crossovers, of_kinds(""), tuned, bests.to_vec(), vec!["first use".into()], calls.to_vec()].concat()
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

/// The name of a variant over its share of the peak.
fn variant_cell(report: &Report, row: &Row, names: &Names) -> Element {
    let share = peak_share::share(report, row);
    let share = share.map(|found| format!("{} of the peak {}", found.in_words(), found.rate()));
    cell(names.name(row)).holding_all(share.map(below))
}

/// The number of calls that repay the first use; nothing where the time saved is within noise.
fn calls(report: &Report, pair: Option<Pair<'_>>) -> String {
    let Some(pair) = pair else { return NONE.into() };
    let mark = if pair.is_unreliable() { "!" } else { "" };
    match calls_to_repay(report, &pair) {
        Some(Repayment::After(calls)) => counted(calls, "call") + mark,
        Some(found) => format!("{found}{mark}"),
        None => NONE.into(),
    }
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
    fn the_overview_has_three_crossovers_three_speed_ups_and_first_use() {
        let report = example::with_peaks(example::full());
        let html = overview(&report).into_string();
        for expected in
            ["<b>matmul</b>", "GPU 18.2x", "98 % of the peak FLOP rate", "openblas", "1 call</td>"]
        {
            assert!(html.contains(expected), "{expected}\n{html}");
        }
        assert!(!html.contains("spgemm"), "no case of spgemm has both sides");
        assert!(first_use(&report).into_string().contains("210 ms"));
    }

    #[test]
    fn both_kinds_of_memory_have_columns_and_a_note_where_they_decide() {
        let report = example::of(example::both_sides("fft", 2048, 100e-6, 50e-6));
        assert!(!answer(&report).into_string().contains("pinned"));
        let html = answer(&example::with_pinned(report, 10.0)).into_string();
        for expected in [
            "End to end depends on the host memory: fft 2048 CPU 1.2x pageable, GPU 1.6x pinned.",
            "colspan=\"4\"",
            "data-label=\"end to end, pinned from N\"",
            "data-label=\"end to end, pageable\"",
            "data-label=\"calls, end to end, pageable\"",
            "copies (pageable or pinned host memory), both ways",
        ] {
            assert!(html.contains(expected), "{expected}\n{html}");
        }
        let count = |sweep: &str| html.split("<tbody").nth(1).unwrap().matches(sweep).count();
        assert_eq!(count("data-label"), 2 * 4 + 5, "each cell has its label");
    }

    #[test]
    fn a_report_of_one_side_says_that_there_is_no_speed_up() {
        let mut report = example::full();
        report.rows.retain(|row| row.backend == "cpu");
        assert!(answer(&report).into_string().contains("CPU only: no GPU variant was selected."));
        assert!(in_words(&report).is_empty());
        assert!(overview(&report).is_empty() && first_use(&report).is_empty());
    }
}
