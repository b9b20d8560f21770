//! The answer of one report: incorrect answers, the sentence about all ops, and the table of the first screen.

use gpubench_analysis::answer::Versus;
use gpubench_document::blocks::Block;
use gpubench_document::report::problems::first_lines;
use gpubench_document::report::screen::legend;
use gpubench_document::report::sentences::paragraph;
use gpubench_document::report::sweeps::Sweeps;
use gpubench_document::report::sweeps::notes::title;
use gpubench_report::report::Report;
use gpubench_text::words::capitalised;

use super::blocks::blocks;
use super::markup::{Html, classed};

/// Incorrect answers, that the run ended early, the sentence about all ops, and the table of the first screen with its legend.
pub(crate) fn answer(report: &Report) -> Html {
    let early = first_lines(report, "see Warnings", None);
    let early = early.into_iter().map(|text| classed("p", "early").holding(text)).collect::<Html>();
    let lead = paragraph(report).into_iter().next().unwrap_or_else(|| title(report));
    // The name of a contender stays as it is.
    let lead = if Versus::of(report).is_named() { lead } else { capitalised(&lead) };
    let table = Sweeps::of(report).table(false).map(Block::Table);
    let legend = Block::folded("What the columns mean", table.is_some().then(legend));
    let shown: Vec<Block> = table.into_iter().chain(legend).collect();
    early.and(classed("p", "lead").holding(lead)).and(blocks(&shown, 2, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

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
    }
}
