//! The text on the terminal: what it says first, which cells have lines, and that it fits a screen.

use gpubench_document::table::{Tone, WIDTH};
use gpubench_report::case::{Cache, DType};

use super::*;
use crate::terminal::painted;
use gpubench_analysis::compare::InconclusiveReason;
use gpubench_analysis::compare::result::Conclusion;

#[test]
fn the_table_begins_with_the_result_and_shows_the_worst_cells_first() {
    let expected = "\
Result: regression (exit code 1)

  Cells  11 compared: 1 newly incorrect, 1 newly failed, 1 slower, 1 less accurate, 1 inconclusive,
         1 not slower, 1 lower clock, 1 not comparable, 1 faster, 2 same; 1 missing, 1 new, 1 not
         measured, 1 not judged
  Worst  spgemm N=512 f32 density 0.01 cuda/hash cold: error 5.0e-1 is above the bound 1.2e-5; it
         was right
  Means  3 compared: 1 slower, 1 inconclusive, 1 same; all 6 cells 1.021x slower (1.017 to 1.025)
  Next   look at what changed between both revisions
  OLD    3 runs: base/1, base/2, base/3 (gpubench 0123abc on node)
  NEW    3 runs: head/1, head/2, head/3 (gpubench 4567def on node)

Differences between OLD and NEW (1 with a warning, 1 ignored):
  warn  driver: 580.65.06, now 580.82.07

  Note: 3 runs per side see changes of 3 % at best
    next: give 5 runs per side

change: NEW / OLD, the median over all pairs of runs (it can differ from the ratio of the medians
shown); interval: 95%; smallest detectable: slowdown detected in 4 of 5 comparisons

9 cells of 15, worst first; cold cache, threshold 5%
                                                                                             smallest
verdict         op                N type variant         old    new change       interval  detectable
newly incorrect spgemm          512 f32  cuda/hash     90 µs      - -            -                  -
newly failed    svd            1024 f64  cuda/gesvdj  410 ms      - -            -                  -
slower          matmul         4096 f32  cuda/cublas  2.7 ms 3.6 ms 1.31x slower 1.28–1.34         3%
less accurate   fft           65536 f32  cpu/realfft  250 µs 250 µs 1.00x        0.99–1.01         3%
missing         solve          2048 f64  cpu/mkl       31 ms      - -            -                  -
inconclusive    reduction   1048576 f32  cpu/parallel  98 µs 104 µs 1.06x slower 0.99–1.13         3%
lower clock     matmul         8192 f32  cuda/cublas   21 ms  23 ms 1.08x slower 1.07–1.09         3%
not comparable  fft            1024 f32  cuda/r2c     7.7 µs 7.2 µs 1.06x faster 1.05–1.08         3%
faster          elementwise    4096 f32  cuda/fused    41 µs  35 µs 1.20x faster 1.18–1.22         3%

  newly incorrect  1 cell  error 5.0e-1 is above the bound 1.2e-5; it was right
                           next: run it alone with `gpubench run --ops spgemm --sizes 512`
";
    let text = text("table", &example::full());
    assert!(text.starts_with(expected), "{text}");
    let end = "
Not shown: 1 not slower, 1 new, 2 same, 1 not measured, 1 not judged; --all-cells shows every cell

Geometric means
                                                             smallest
  verdict  group        change         interval         p  detectable  threshold
  slower   all 6 cells  1.021x slower  1.017–1.025  0.004        1.1%         2%

A cell changed if its 95% interval is beyond the threshold (5%) and p (holm, 10 cells) <= 1%.
A mean changed if p (holm, 3 means) <= 1% and its interval reaches 2%.
Variation between runs: measured between 3 runs of OLD and 3 runs of NEW.
";
    assert!(text.ends_with(end), "{text}");
}

/// Lines of cells with that verdict, between the title of their table and the means.
fn rows(text: &str, verdict: &str) -> usize {
    let cells = text.split(", worst first").nth(1).unwrap_or_default();
    let cells = cells.split("\nGeometric means\n").next().unwrap_or_default();
    cells.lines().filter(|line| line.trim_start().starts_with(&format!("{verdict} "))).count()
}

#[test]
fn all_cells_have_lines_if_requested_and_ratios_if_nothing_is_judged() {
    let comparison = example::full();
    let all = TABLE.text(&comparison, &View { all_cells: true, color: false }).unwrap();
    assert_eq!((rows(&all, "same"), rows(&all, "not measured"), rows(&all, "not judged")), (2, 1, 1));
    assert_eq!(all.matches("  3 cells of ").count(), 2, "{all}");
    assert!(all.contains("\n15 cells, worst first") && !all.contains("Not shown"), "{all}");
    assert!(
        all.contains(" p detectable\n") && all.contains("\nGeometric means of the ratios\n  op "),
        "{all}"
    );
    let ratios = text("table", &example::across_machines(true));
    assert_eq!(rows(&ratios, "not judged"), 9, "{ratios}");
    assert!(ratios.contains("\nNot shown: 6 not judged; "), "{ratios}");
    let blocked = text("table", &example::across_machines(false));
    assert!(blocked.starts_with("Result: not comparable (exit code 2): gpu-model differs\n"), "{blocked}");
    assert!(blocked.contains("\n  block  gpu-model: NVIDIA H100, now NVIDIA H200\n"), "{blocked}");
    assert!(blocked.contains("\n  Cells  15 not judged\n") && rows(&blocked, "not judged") == 0, "{blocked}");
}

#[test]
fn many_worse_cells_are_counted_and_their_next_step_is_shown_once() {
    let slower = example::full().cells[2].clone();
    let comparison = example::with_cells(example::full(), copies(&slower, 500));
    let text = text("table", &comparison);
    assert!(text.lines().count() < 60, "{text}");
    assert!(text.contains("\nNot shown: 476 slower; --all-cells shows every cell\n"), "{text}");
    assert_eq!(text.matches("look at what changed").count(), 1, "{text}");
    let markdown = job_summary(&comparison);
    // What a comment on GitHub may have.
    assert!(markdown.chars().count() < 65_536, "{}", markdown.len());
    assert!(
        markdown.contains("<summary>476 more cells</summary>")
            && markdown.contains("\n276 more cells not shown; --format json lists them.")
    );
}

/// Cells like that one, of other sizes and of intervals whose upper ends grow.
fn copies(cell: &Change, count: u64) -> Vec<Change> {
    let copy = |n: u64| {
        let mut copy = cell.clone();
        copy.subject.cell.case.n = 1000 + n;
        copy.interval = copy.interval.map(|[low, high]| [low, high + 1e-4 * n as f64]);
        copy.reason = copy.change().unwrap().with_interval();
        copy
    };
    (0..count).map(copy).collect()
}

/// A comparison with one run per side and the given numbers of slower, inconclusive and unchanged cells.
fn one_run(slower: u64, inconclusive: u64, same: u64) -> Comparison {
    let mut comparison = example::full();
    let parts = [(2, slower), (5, inconclusive), (11, same)];
    let cells = parts.iter().flat_map(|&(place, count)| copies(&comparison.cells[place], count)).collect();
    (comparison.environment, comparison.gate.next) = (vec![], None);
    comparison.old.truncate(1);
    comparison.new.truncate(1);
    comparison.notes[0].text = "one run per side detects only large changes of few cells".into();
    comparison.notes[0].next =
        "6 runs per side would decide every cell (--old A B C --new D E F), or earlier runs as \
        --history"
            .into();
    comparison.method.variation_source =
        "estimated from the changes of all cells: 0.4% for work paced by the device, 1.3% on \
        the CPU"
            .into();
    if slower > 0 {
        comparison.gate.next =
            Some("look at what changed between both revisions; run it again if you doubt it".into());
    } else {
        (comparison.gate.conclusion, comparison.gate.exit_code) = (Conclusion::Pass, 0);
        comparison.mean_changes.retain(|mean| !mean.is_regression());
    }
    example::with_cells(comparison, cells)
}

#[test]
fn a_pass_takes_at_most_sixteen_lines_and_two_regressions_forty() {
    let right = text("table", &one_run(0, 0, 43));
    assert!(right.lines().count() <= 16, "{right}");
    for (slower, inconclusive) in [(2, 0), (2, 18)] {
        let worse = text("table", &one_run(slower, inconclusive, 20));
        assert!(worse.lines().count() <= 40, "{worse}");
    }
}

#[test]
fn inconclusive_cells_are_sorted_by_the_upper_end_and_at_most_ten() {
    let mut comparison = one_run(0, 30, 1);
    (comparison.gate.conclusion, comparison.gate.exit_code) = (Conclusion::Inconclusive, 3);
    let text = text("table", &comparison);
    assert!(
        text.starts_with("Result: inconclusive (exit code 3)\n\n  Cells  31 compared: 0 slower, 30 "),
        "{text}"
    );
    let first = text.lines().position(|line| line.contains("1029  cpu/parallel")).unwrap();
    assert!(text.lines().nth(first + 9).unwrap().contains("1020  cpu/parallel"), "{text}");
    assert_eq!(rows(&text, "inconclusive"), 10, "{text}");
    assert!(text.contains("\nNot shown: 20 inconclusive, 1 same; --all-cells shows every cell\n"), "{text}");
}

#[test]
fn accepted_cells_have_no_line_and_are_counted_as_accepted() {
    let mut comparison = example::full();
    comparison.gate.accepted = vec![Verdict::Missing, Verdict::Inconclusive];
    let text = text("table", &comparison);
    let verdicts = ["missing", "inconclusive", "lower clock", "not comparable", "slower", "faster"];
    assert_eq!(verdicts.map(|verdict| rows(&text, verdict)), [0, 0, 0, 2, 1, 1], "{text}");
    let folded =
        "Not shown: 1 missing (accepted), 1 inconclusive (accepted), 1 not slower, 1 lower clock (accepted)";
    assert!(text.replace('\n', " ").contains(folded), "{text}");
    assert!(!text.contains("pip install mkl"), "{text}");
    assert_eq!(comparison.cells[7].inconclusive_reason, Some(InconclusiveReason::NotComparable));
}

#[test]
fn lines_of_cells_of_one_type_and_cache_fit_a_hundred_columns() {
    let mut comparison = example::full();
    for cell in &mut comparison.cells {
        (cell.subject.cell.case.dtype, cell.subject.cell.cache) = (DType::F32, Cache::Cold);
        cell.smallest_detectable_change = Some(12.0);
    }
    let title = text("table", &comparison);
    assert!(title.contains("worst first; f32, cold cache, threshold 5%\n"), "{title}");
    assert!(title.contains(" >1000%\n"), "{title}");
    comparison.cells[0].threshold = 0.025;
    for text in [title, text("table", &comparison)] {
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{} {line}", line.chars().count());
        }
    }
}

#[test]
fn colours_mark_better_worse_and_inconclusive_only() {
    let text = |color| TABLE.text(&example::full(), &View { all_cells: true, color }).unwrap();
    let begun = |word, tone| painted(word, tone).replace("\x1b[0m", "");
    for (word, tone) in [("slower", Tone::Worse), ("missing", Tone::Inconclusive), ("faster", Tone::Better)] {
        assert!(text(true).contains(&begun(word, tone)), "{word}");
    }
    assert!(text(true).lines().any(|line| line.trim_start().starts_with("same ")), "{}", text(true));
    assert!(!text(false).contains('\x1b'));
}
