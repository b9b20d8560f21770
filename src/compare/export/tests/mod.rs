//! What every format must do, whatever the comparison holds.

mod hostile;
mod junit;
mod schema;
mod xml;

use super::*;
use crate::compare::{Change, Verdict, example};
use crate::export::grid::WIDTH;

fn text(format: &str, comparison: &Comparison) -> String {
    find(format).unwrap().text(comparison, &View::default())
}

#[test]
fn formats_have_unique_names_by_which_they_are_found_and_files_of_their_own() {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    let expected = ["table", "json", "md", "junit", "github", "bmf", "github-action-benchmark", "csv"];
    assert_eq!(names, expected);
    assert!(names.iter().all(|name| find(name).is_some_and(|found| found.name() == *name)));
    assert!(find("html").is_none());
    let mut files: Vec<&str> = FORMATS.iter().map(|format| format.file_name()).collect();
    files.sort_unstable();
    files.dedup();
    assert_eq!(files.len(), FORMATS.len());
}

#[test]
fn every_format_handles_a_comparison_of_nothing() {
    let mut comparison = example::with_cells(example::full(), vec![]);
    comparison.environment.clear();
    (comparison.old, comparison.new, comparison.means, comparison.notes) = (vec![], vec![], vec![], vec![]);
    for format in FORMATS {
        for all_cells in [false, true] {
            let text = format.text(&comparison, &View { all_cells, color: true });
            assert!(text.ends_with('\n') && !text.contains("inf") && !text.contains("NaN"), "{text}");
        }
    }
    assert!(text("table", &comparison).contains("\nNo cell is on either side.\n"));
}

#[test]
fn the_table_begins_with_the_conclusion_and_shows_the_worst_cells_first() {
    let expected = "\
regression (exit code 1): 4 of 15 cells are worse: 1 incorrect, 1 failed, 1 slower, 1 less accurate;
next: look at what changed between both revisions
OLD  3 runs: base/1, base/2, base/3 (0123abc on node)
NEW  3 runs: head/1, head/2, head/3 (4567def on node)

Differences between OLD and NEW: 1 to mind, 1 of no concern
  warn   driver: 580.65.06, now 580.82.07

11 cells of 15, the worst first; limit 5%
 verdict         op                N type variant       cache     old    new change       interval      p sees
 newly-incorrect spgemm          512 f32  cuda/hash     cold  90.1 µs      - -            -             -    -
 newly-failed    svd            1024 f64  cuda/gesvdj   cold   412 ms      - -            -             -    -
 slower          matmul         4096 f32  cuda/cublas   cold   2.7 ms 3.6 ms 1.31x slower 1.28–1.34  2e-6   3%
 less-accurate   fft           65536 f32  cpu/realfft   cold   250 µs 250 µs 1.00x        0.99–1.01  1.00   3%
 missing         solve          2048 f64  cpu/mkl       cold  31.2 ms      - -            -             -    -
 unsure          reduction   1048576 f32  cpu/parallel  cold    98 µs 104 µs 1.06x slower 0.99–1.13  0.60   3%
 unsure (clock)  matmul         8192 f32  cuda/cublas   cold    21 ms  23 ms 1.08x slower 1.07–1.09  1e-4   3%
 unsure          fft            1024 f32  cuda/r2c      cold   7.7 µs 7.2 µs 1.06x faster 1.05–1.08 0.003   3%
 unsure          sin            4096 f32  cpu/simd      hot    3.1 µs 3.0 µs 1.04x faster 1.00–1.08  1.00   3%
 faster          elementwise    4096 f32  cuda/fused    cold    41 µs  35 µs 1.20x faster 1.18–1.22  1e-6   3%
 new             spmv           4096 f32  cuda/cusparse cold        - 310 µs -            -             -    -
2 cells unchanged, 1 measured on neither side, 1 not judged

  newly-incorrect           1 cell  error 5.0e-1 is above the bound 1.2e-5; it was right
                                    next: run it alone with `gpubench run --ops spgemm --sizes 512`
";
    let text = text("table", &example::full());
    assert!(text.starts_with(expected), "{text}");
    let end = "
Geometric means
  op      backend  type  cells  change
  matmul  cuda     f32       2  1.19x slower
  matmul  cpu      f32       2  1.00x

Note: 3 runs a side see changes of 3 % at best; next: give 5 runs a side

Time of NEW over time of OLD, 95% interval; counts when all of it is beyond the limit of 5%.
p: corrected for 10 cells tested (holm); 1% chance of any false alarm.
Sees: smallest slowdown found 4 times of 5. Spread between runs: from 3 runs a side, at least 1 %.
";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn unchanged_cells_have_lines_when_all_are_asked_for_and_ratios_where_nothing_is_judged() {
    let comparison = example::full();
    let all = find("table").unwrap().text(&comparison, &View { all_cells: true, color: false });
    let lines = |text: &str, verdict: &str| text.lines().filter(|line| line.starts_with(verdict)).count();
    assert_eq!(
        (lines(&all, " same "), lines(&all, " not-measured "), lines(&all, " not-judged ")),
        (2, 1, 1)
    );
    assert!(all.contains("\n15 cells, the worst first") && !all.contains("unchanged"), "{all}");
    let ratios = text("table", &example::across_machines(true));
    assert_eq!(lines(&ratios, " not-judged "), 9, "{ratios}");
    assert!(ratios.contains("\n6 cells not judged\n"), "{ratios}");
    let blocked = text("table", &example::across_machines(false));
    assert!(blocked.contains("\n  block  gpu-model: NVIDIA H100, now NVIDIA H200\n"), "{blocked}");
    assert!(blocked.contains("\n15 cells not judged\n"), "{blocked}");
}

#[test]
fn many_worse_cells_are_counted_and_their_reasons_told_once() {
    let slower = example::full().cells[2].clone();
    let cells = (0..500).map(|n| {
        let mut cell = slower.clone();
        cell.case.n = 16 + n;
        cell
    });
    let comparison = example::with_cells(example::full(), cells.collect());
    let text = text("table", &comparison);
    assert!(text.lines().count() < 70, "{text}");
    assert!(text.contains("\n  and 476 more; --all-cells shows them\n"), "{text}");
    assert_eq!(text.matches("look at what changed").count(), 2, "{text}");
    let markdown = super::job_summary(&comparison);
    // What a comment on GitHub may have.
    assert!(markdown.chars().count() < 65_536, "{}", markdown.len());
    assert!(markdown.contains("<summary>480 more cells</summary>") && markdown.contains("\nAnd 280 more; "));
}

#[test]
fn lines_of_cells_of_one_type_and_cache_fit_a_hundred_columns() {
    let mut comparison = example::full();
    for cell in &mut comparison.cells {
        (cell.case.dtype, cell.cache) = (crate::case::DType::F32, crate::case::Cache::Cold);
    }
    let text = text("table", &comparison);
    assert!(text.contains("the worst first; f32, cold cache, limit 5%\n"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{} {line}", line.chars().count());
    }
}

#[test]
fn thresholds_that_differ_have_a_column() {
    let mut comparison = example::full();
    comparison.cells[0].threshold = 0.025;
    let text = text("table", &comparison);
    assert!(text.contains("sees limit\n") && text.contains(" of 2.5% to 5%."), "{text}");
}

#[test]
fn colours_mark_better_worse_and_untold_only() {
    let colored = |cells: Vec<Change>| {
        let comparison = example::with_cells(example::full(), cells);
        let text = find("table").unwrap().text(&comparison, &View { all_cells: true, color: true });
        // The line of the conclusion is coloured too.
        let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        lines.join("\n")
    };
    for change in example::full().cells {
        let code = match change.verdict {
            verdict if verdict.is_regression() => Some("\x1b[31m"),
            Verdict::Missing | Verdict::Unsure => Some("\x1b[33m"),
            Verdict::Faster => Some("\x1b[32m"),
            _ => None,
        };
        let text = colored(vec![change]);
        assert_eq!(code.is_some(), text.contains('\x1b'), "{text}");
        assert!(
            code.is_none_or(|code| text.matches("\x1b[").count() == 2 * text.matches(code).count()),
            "{text}"
        );
    }
    assert!(!text("table", &example::full()).contains('\x1b'));
}

#[test]
fn markdown_has_the_conclusion_the_worst_cells_and_the_rest_folded() {
    let text = text("md", &example::full());
    let start = "\
## gpubench compare: regression

4 of 15 cells are worse: 1 incorrect, 1 failed, 1 slower, 1 less accurate (exit code 1). Next: look at what changed \
between both revisions.

- OLD: 3 runs: base/1, base/2, base/3 (0123abc on node)
- NEW: 3 runs: head/1, head/2, head/3 (4567def on node)

| verdict | op | N | type | variant | cache | old | new | change | interval | p | sees |
|---|---|---:|---|---|---|---:|---:|---|---|---:|---:|
| newly-incorrect | spgemm | 512 | f32 | cuda/hash | cold | 90.1 µs | - | - | - | - | - |
";
    assert!(text.starts_with(start), "{text}");
    let rest = "
2 cells unchanged, 1 measured on neither side, 1 not judged.

<details><summary>4 more cells</summary>

| verdict | op | N | variant | old | new | change | interval | p | sees |
|---|---|---:|---|---:|---:|---|---|---:|---:|
| same | matmul | 1024 | cpu/openblas | 1.07 ms | 1.08 ms | 1.00x | 0.99–1.02 | 1.00 | 3% |
";
    assert!(text.contains(rest), "{text}");
    assert!(text.contains("\n| warn | driver | 580.65.06 | 580.82.07 |\n"), "{text}");
    assert_eq!(super::job_summary(&example::full()), text);
}

#[test]
fn csv_has_every_figure_of_a_cell() {
    let records = crate::export::csv::tests::read(&text("csv", &example::full()));
    assert_eq!(records.len(), 16);
    let field = |heading: &str| {
        let place = records[0].iter().position(|name| name == heading).unwrap();
        records[3][place].as_str()
    };
    let found = ["cell", "verdict", "ratio", "ratio_low", "p_corrected", "p_rounds", "threshold"].map(field);
    let name = "matmul/N=4096/f32/cuda/cublas/cold";
    assert_eq!(found, [name, "slower", "1.31", "1.28", "0.0000024", "0.0022", "0.05"]);
    assert_eq!(["old_median_s", "new_sm_mhz", "new_grade"].map(field), ["0.00271", "1980", "A"]);
}
