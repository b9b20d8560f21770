//! Tests that every format must pass for any comparison.

mod hostile;
mod junit;
mod table;

use gpubench_analysis::compare::{Change, Difference, Severity, Verdict, example};

use super::*;

fn text(format: &str, comparison: &Comparison) -> String {
    FORMATS.find(format).unwrap().text(comparison, &View::default()).unwrap()
}

/// The formats that the page about them names in its table.
fn explained() -> Vec<&'static str> {
    const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compare-formats.md"));
    let rows = PAGE.lines().skip_while(|line| !line.starts_with("| `--format` |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with("| `"));
    rows.filter_map(|row| row.split('`').nth(1)).collect()
}

#[test]
fn a_disturbance_is_in_every_format() {
    let mut comparison = example::full();
    comparison.environment.push(Difference {
        fact: "other-programs".into(),
        severity: Severity::Inconclusive,
        old: "5 %".into(),
        new: "95 %".into(),
        disturbed: vec!["NEW".into()],
    });
    for format in ["table", "md", "json", "junit", "github"] {
        let text = text(format, &comparison);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["other-programs", "95 %"] {
            assert!(words.contains(part), "{format} lacks {part}: {text}");
        }
    }
}

#[test]
fn formats_are_documented_and_have_files_of_their_own() {
    let names = FORMATS.names();
    assert_eq!(names, explained(), "every format has a row in docs/compare-formats.md, in order");
    assert!(FORMATS.find("html").is_none());
    let made = |format: &&ComparisonFormat| format.files(&example::full(), &View::default()).unwrap();
    let mut files: Vec<String> = FORMATS.all.iter().flat_map(made).map(|file| file.name).collect();
    files.sort_unstable();
    files.dedup();
    assert_eq!(files.len(), FORMATS.all.len());
}

#[test]
fn every_format_handles_a_comparison_of_nothing() {
    let mut comparison = example::with_cells(example::full(), vec![]);
    comparison.environment.clear();
    (comparison.old, comparison.new, comparison.means, comparison.notes) = (vec![], vec![], vec![], vec![]);
    comparison.mean_changes = vec![];
    for format in FORMATS.all {
        for all_cells in [false, true] {
            let text = format.text(&comparison, &View { all_cells, color: true }).unwrap();
            assert!(text.ends_with('\n') && !text.contains("inf") && !text.contains("NaN"), "{text}");
        }
    }
    assert!(text("table", &comparison).contains("\n  Cells  none\n"));
}

#[test]
fn json_reads_back_as_the_same_comparison() {
    for comparison in [example::full(), example::passing(), example::across_machines(true)] {
        let read: Comparison = serde_json::from_str(&text("json", &comparison)).unwrap();
        assert_eq!(read, comparison);
    }
}

/// The document is that of the table, which has a test of all its text.
#[test]
fn markdown_has_the_conclusion_the_worst_cells_and_the_rest_folded() {
    let text = text("md", &example::full());
    let start = "\
# gpubench compare

**Result: regression (exit code 1).**

- Cells: 11 compared: 1 newly incorrect, ";
    assert!(text.starts_with(start), "{text}");
    let rest = "
Not in the table above: 1 not slower, 1 new, 2 same, 1 not measured, 1 not judged

<details>
<summary>6 more cells</summary>

All cells in this table: f32, threshold 5%.

| verdict | op | N | variant | cache | old | new | change | interval | p | smallest detectable |
|---|---|---:|---|---|---:|---:|---|---|---:|---:|
| not slower | sin | 4096 | cpu/simd | hot | 3.1 µs | 3.0 µs | 1.04x faster | 1.00–1.08 | 1.00 | 3% |
";
    assert!(text.contains(rest), "{text}");
    for (line, count) in [
        ("\n| newly incorrect | spgemm | 512 | f32 | cuda/hash | 90 µs | - | - | - | - |\n", 1),
        ("\n- ignore: os: Linux 6.8, now Linux 6.9\n", 1),
        ("\n| slower | all 6 cells | 1.021x slower | 1.017–1.025 | 0.004 | 1.1% | 2% |\n", 2),
        ("\n| inconclusive | 3 cells of cpu | 1.010x slower | 0.980–1.040 |", 1),
    ] {
        assert_eq!(text.matches(line).count(), count, "{line}: {text}");
    }
    assert_eq!(super::job_summary(&example::full()), text);
}

#[test]
fn csv_has_every_figure_of_a_cell() {
    let records = gpubench_text::csv::records(&text("csv", &example::full())).unwrap();
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
