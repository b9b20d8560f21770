//! The report on the terminal: the first screen, then on request tables, notes, and the cells without a time.

use gpubench_document::report::parts;
use gpubench_document::report::screen::first_screen;
use gpubench_document::table::Tone;
use gpubench_report::format::Makes;
use gpubench_report::report::Report;

use super::{Format, View};
use crate::terminal::{
    MAX_PROSE, Screen, TERMINAL_WIDTH, blocks, hanging_within, leave_out, painted, table_text,
};

/// The report as aligned text.
pub static TABLE: Format = Format {
    name: "table",
    summary: "the answer in one screen of text; with --tables every case",
    by_default: true,
    makes: Makes::Screen(|report, view| Ok(text(report, view))),
};

/// The first screen, and the tables where the view asks for them.
fn text(report: &Report, view: &View) -> String {
    let answer = screen(report, view);
    let has_tables = view.tables || view.all_variants;
    if has_tables { format!("{answer}\n{}", tables_text(report, view)) } else { answer }
}

/// The first screen for a terminal as wide as the view says.
pub(super) fn screen(report: &Report, view: &View) -> String {
    let width = view.width.unwrap_or(TERMINAL_WIDTH);
    let lines = |texts: &[String]| -> String {
        let lines = texts.iter().flat_map(|text| text.lines());
        lines.map(|line| hanging_within(width.min(MAX_PROSE), line, 0) + "\n").collect()
    };
    let found =
        first_screen(report, view.folder.as_deref(), view.shown.as_deref(), view.tables || view.all_variants);
    let alert = |line: &str| if view.color { painted(line, Tone::Wrong) } else { line.to_owned() } + "\n";
    let alerts: String = lines(&found.alerts).lines().map(alert).collect();
    let blank = if alerts.is_empty() { "" } else { "\n" };
    let mut text = alerts + blank + &lines(&found.title);
    let mut notes = vec![];
    if let Some(table) = found.table {
        let mut table = table.within(width);
        let removed = leave_out(std::slice::from_mut(&mut table));
        text += &format!("{}\n", table_text(&table, view.color));
        notes.extend((!removed.is_empty()).then(|| {
            format!("No room here for {} (widen the terminal, or see --tables).", removed.join("; "))
        }));
    }
    notes.extend(found.notes);
    text + &lines(&notes)
}

fn tables_text(report: &Report, view: &View) -> String {
    let screen = Screen { color: view.color, ..Screen::default() };
    blocks(&parts::all_tables(report, view.all_variants), screen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::table::WIDTH;
    use gpubench_report::report::example;

    /// The table without the summaries of ops, which belong to the ops.
    fn shown(report: &Report, all_variants: bool) -> String {
        let mut text = tables_text(report, &View { tables: true, all_variants, ..View::default() });
        for op in gpubench_ops::OPS {
            text = text.replace(&format!(": {}\n", op.about().summary), "\n");
        }
        text
    }

    #[test]
    fn the_table_shows_the_best_of_each_side_and_why_cells_are_missing() {
        let expected = "\
NVIDIA H200 against Intel Xeon Platinum 8480C, 16 threads: at the largest size
measured, the GPU is faster in 1 of 1 sweep with the data on the device; with
copies both ways in 1 of 1.
matmul (float32, cold cache): with the data on the device the GPU is faster from
N = 280 (140 to 1200); at N = 10000 the GPU is 18.2x faster (cublas against
openblas; kernel alone GPU 18x). End to end the GPU is faster from N = 540 (260
to 1900); at N = 10000 the GPU is 18.1x faster.

First use of the GPU: compiling and planning matmul 214 ms. Calls at the largest
N to repay it (host clock, data on the GPU): matmul 1.

matmul f32, cold cache
      N  best CPU     time     ±  grade  best GPU      time     ±  grade  speed-up           error
    100  openblas  7.68 µs  0.1%  A      cublas    12.4 µs*  0.1%  B      CPU 1.62x  3.1e-7 (2.6%)
  10000  openblas   740 ms  5.0%  C      cublas    40.9 ms   0.1%  A      GPU 18x    3.1e-7 (2.6%)

spgemm f32, density 0.01, cold cache
    N  best CPU  time  ±  grade  best GPU  time  ±  grade  speed-up  error
  512  -            -  -  -      -            -  -  -      -             -

* launch-bound: less than three times the timer overhead.
Best correct variant per side. ±: half the 95 % interval of the median.
Error: the larger of both sides, relative to its bound (share in parentheses).
Grades: A precise and undisturbed, B comparable, C an estimate, D not reliable.
Kernel speed-up: each side's own clock, no launch, no copies. !: unreliable.
Cold cache: gpubench flushes the operands from the caches before each sample.

2 of 4 times of the fastest variants have a grade below A:
  spread        1 cell  half the 95 % interval is 5.0 % of the median; 1.0 % was
                        requested
                        next: close other programs, or raise --max-time
                        matmul N=10000 f32 cpu/openblas
  launch-bound  1 cell  the time is 2.8 times the timer overhead
                        next: choose a larger size, or --cache hot, which times
                        batches
                        matmul N=100 f32 cuda/cublas

Warnings about the whole run:
  mkl: not found: the CPU could be faster than it is here (matmul)
    next: pip install mkl
  other programs were using the CPU when the run started (load 0.4 per core)
    next: close other programs and run again

1 incorrect, 1 failed, 2 skipped of 9 cells:
  incorrect   1 cell  error 0.5 above 1.2e-5
                      spgemm cuda/hash (N=512 f32 density 0.01)
  failed      1 cell  cusparseSpGEMM_compute: internal
                      spgemm cuda/cusparse (N=512 f32 density 0.01)
  skipped    2 cells  mkl: not found
                      next: pip install mkl
                      matmul cpu/mkl (2)
";
        assert_eq!(shown(&example::full(), false), expected);
    }

    #[test]
    fn every_variant_has_its_line_the_fastest_first() {
        let text = shown(&example::full(), true);
        let expected = "\
matmul f32, cold cache
     N side variant  type     time    ± grade samples    host GFLOP/s         error outcome
   100 CPU  openblas f32  7.68 µs  0.1% A          12 7.68 µs     260 3.1e-7 (2.6%) measured
   100 GPU  cublas   f32  12.4 µs* 0.1% B          12 17.4 µs     161 3.1e-7 (2.6%) measured
   100 CPU  mkl      f32        -     - -           -       -       -             - skipped
 10000 GPU  cublas   f32  40.9 ms  0.1% A          12 40.9 ms   48876 3.1e-7 (2.6%) measured
 10000 CPU  openblas f32   740 ms  5.0% C          12  744 ms    2689 3.1e-7 (2.6%) measured
 10000 CPU  mkl      f32        -     - -           -       -       -             - skipped

spgemm f32, density 0.01, cold cache
   N side variant   type    time    ± grade samples    host GFLOP/s           error outcome
 512 CPU  gustavson f32  90.1 µs 0.1% A          12 90.1 µs    2981   3.1e-7 (2.6%) measured
 512 GPU  cusparse  f32        -    - -           -       -       -               - failed
 512 GPU  hash      f32        -    - -           -       -       - 5.0e-1 (41667x) incorrect
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn lines_stay_within_a_hundred_columns() {
        let mut report = example::full();
        let reason = "a reason that goes on and on, as some libraries will have it, ".repeat(5);
        report.rows[2].reason = Some(reason);
        for line in shown(&report, false).lines().chain(shown(&report, true).lines()) {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
