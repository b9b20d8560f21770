//! Matrices of the user's own, from Matrix Market files.

use serde_json::Value;

use super::python::python_with_numpy;
use super::{Folder, assert_contains};

/// Symmetric and positive definite, with rows of one to five entries, some negative, and an entry that is given twice.
const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n% irregular\n5 5 10\n1 1 8\n2 2 3\n3 3 7.5\n4 4 1e3\n\
                         5 5 2\n2 1 -1.5\n3 1 2\n4 1 -3\n5 1 0.1\n5 1 0.2\n";

const GENERAL: &str =
    "%%MatrixMarket matrix coordinate integer general\n4 4 5\n1 1 -2\n1 4 1\n3 1 5\n3 2 -5\n3 3 1\n";

const SWEEP: &str = "--samples 3 --rounds 1 --warmup 1 --no-peaks --quiet --format json";

/// Returns the text of a key.
fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("sym.mtx", SYMMETRIC);
    folder.write("gen.mtx", GENERAL);
    folder
}

#[test]
fn every_variant_computes_on_the_matrices_of_files() {
    let folder = folder();
    let python = python_with_numpy();
    let backends = python.map(|python| format!("cpu,numpy --python {python}"));
    let backends = backends.unwrap_or_else(|| "cpu".into());
    folder.write("empty.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n");
    folder.write("one.mtx", "%%MatrixMarket matrix array real general\n1 1\n3\n");
    folder.write("indefinite.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 5\n");
    let files = "--matrix gen.mtx,sym.mtx,one.mtx";
    folder
        .succeeds(&format!("run {files} --dtypes all --variants * --backends {backends} {SWEEP} --out all"));
    for row in folder.rows("all") {
        let is_right = text(&row, "outcome") == "measured" && row["unaltered"].is_null();
        assert!(is_right || text(&row, "reason").contains("library was found"), "{row}");
        let (matrix, op) = (text(&row, "matrix"), text(&row, "op"));
        assert!(matrix.split_once('@').is_some_and(|(_, digits)| digits.len() == 16), "{row}");
        assert!(op != "solve" || !matrix.starts_with("gen@"), "{row}");
        assert_eq!(row["density"].is_null(), op == "solve", "{row}");
        if op == "spgemm" && matrix.starts_with("gen@") {
            // The entries of A at (1, 1), (1, 4), (3, 1), (3, 2) and (3, 3) meet rows of 2, 0, 2, 0 and 3 entries.
            assert_eq!(
                (row["work"]["flop"].as_f64(), row["density"].as_f64()),
                (Some(14.0), Some(5.0 / 16.0))
            );
        }
    }
    let ended = folder.run_line(&format!(
        "run --matrix empty.mtx --ops spmv,spgemm --backends {backends} {SWEEP} --out empty"
    ));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(folder.rows("empty").iter().all(|row| text(row, "reason").contains("no entries")));
    let run = "run --matrix indefinite.mtx --ops solve --backends cpu --variants faer";
    assert_eq!(folder.run_line(&format!("{run} {SWEEP} --out indefinite")).code, 1);
    assert_contains(text(&folder.rows("indefinite")[0], "reason"), &["faer Cholesky"]);
    assert_contains(&folder.succeeds("show all --tables").stdout, &["matrix", "gen", "sym"]);
}

#[test]
fn what_does_not_go_with_a_matrix_is_refused_in_one_line() {
    let folder = folder();
    folder.write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 x 2\n");
    folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 0\n");
    folder.write("sweep.toml", "matrix = 'sym.mtx'\n[[sweep]]\nops = 'fft'\n");
    folder.refuses_each(
        "run --backends cpu",
        "--matrix sym.mtx --sizes 5 => takes sizes, densities and shapes from its files: omit --sizes
        --matrix sym.mtx --ops spmv,fft => fft takes no matrix from a file: choose --ops from spmv, spgemm, solve
        --config sweep.toml => --matrix: fft takes no matrix
        --matrix gen.mtx --ops solve => --matrix: gen.mtx is not symmetric, as solve needs it
        --matrix bad.mtx => --matrix: bad.mtx:4: '1 x 2' is no list of numbers
        --matrix wide.mtx => it must be square
        --matrix below/absent.mtx.gz => cannot read 'below/absent.mtx.gz': No such file or directory
        --matrix . => --matrix: cannot read '.': it is not a file; name a Matrix Market file
        --matrix , => no file is named",
    );
}

#[test]
fn a_sweep_file_names_matrices_relative_to_itself() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("below")).unwrap();
    folder.write("below/mine.mtx", GENERAL);
    folder.write("below/sweep.toml", "backends = 'cpu'\n[[sweep]]\nmatrix = ['mine.mtx']\n");
    let plan = folder.succeeds("run --config below/sweep.toml --dry-run").stdout;
    assert_contains(&plan, &["spmv", "spgemm", "matrix", "mine"]);
    assert!(!plan.contains("solve"), "{plan}");
}

#[test]
fn a_run_on_a_matrix_is_resumed_only_on_the_same_one() {
    let folder = folder();
    folder.succeeds(&format!("run --matrix sym.mtx --ops spmv --backends cpu {SWEEP} --out out"));
    let resumed = folder.run_line("run --resume out --dry-run");
    assert_contains(&resumed.stdout, &["All cells of the run are finished"]);
    folder.write("sym.mtx", &SYMMETRIC.replace("1e3", "2e3"));
    let changed = folder.run_line("run --resume out");
    assert_eq!(changed.code, 2, "{}", changed.stderr);
    assert_contains(
        &changed.stderr,
        &["finished cells are no longer in the plan, because a sweep file, a list of problems, a matrix"],
    );
    std::fs::remove_file(folder.path().join("sym.mtx")).unwrap();
    let absent = folder.run_line("run --resume out");
    assert_contains(&absent.stderr, &["sym.mtx"]);
}

#[test]
fn runs_on_different_matrices_of_one_name_have_no_common_cells() {
    let folder = folder();
    let run = format!("run --matrix sym.mtx --ops spmv --backends cpu {SWEEP}");
    folder.succeeds(&format!("{run} --out old"));
    folder.write("sym.mtx", &SYMMETRIC.replace("1e3", "2e3"));
    folder.succeeds(&format!("{run} --out new"));
    let compared = folder.run_line("compare old new");
    assert_eq!(compared.code, 2, "{}", compared.stdout);
    assert_contains(&compared.stdout, &["no cell has a time on both sides"]);
    let names =
        |out: &str| folder.rows(out).iter().map(|row| text(row, "matrix").to_owned()).collect::<Vec<_>>();
    assert_ne!(names("old")[0], names("new")[0]);
    assert!(names("new").iter().all(|name| name.starts_with("sym@")));
}
