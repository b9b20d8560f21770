//! Problems that are not square: what is run, shown, written and compared.

use super::{Folder, assert_contains};

const SWEEP: &str = "--samples 3 --rounds 1 --warmup 1 --no-peaks --quiet --format json";

#[test]
fn every_variant_of_the_cpu_computes_every_shape_that_it_takes() {
    let folder = Folder::new();
    for (name, line) in [
        ("products", "--ops matmul --shape 40x24xN --sizes 33 --batch 1,5 --layout nn,nt,tn,tt --variants *"),
        ("rows", "--ops elementwise,reduction --shape 300x7,1xN,Nx1 --sizes 70000"),
        ("sums", "--ops reduction --shape rows=300,cols=7,axis=0,rows=7,cols=300,axis=1"),
        ("systems", "--ops solve --shape n=24,rhs=3 --batch 1,100 --variants *"),
        ("transforms", "--ops fft --shape Nx7,7xN,N,4x6xN --sizes 1,30 --batch 1,9 --variants *"),
        ("decompositions", "--ops svd --shape 60x7,7x60,1x1 --batch 1,9 --variants *"),
    ] {
        folder.succeeds(&format!("run {line} --dtypes all --backends cpu {SWEEP} --out {name}"));
        let rows = folder.rows(name);
        for row in &rows {
            let is_right = row["outcome"] == "measured" && row["unaltered"].is_null();
            let is_missing =
                row["reason"].as_str().is_some_and(|reason| reason.contains("library was found"));
            assert!(is_right || is_missing, "{row}");
            assert!(name == "squares" || row["shape"].is_object() || row["n"] == 1, "{row}");
        }
        assert!(rows.iter().any(|row| row["outcome"] == "measured"), "{name}");
    }
}

#[test]
fn shapes_are_shown_written_and_told_apart() {
    let folder = Folder::new();
    let sweep = "--ops matmul --shape 8x4xN,8x8x8 --sizes 2,16 --layout nt";
    folder.fair(sweep, "one");
    let screen = folder.succeeds("show one").prints(&["matmul 8x4xN nt", "matmul 8x8x8 nt"]).stdout;
    let of_problem = screen.lines().find(|line| line.starts_with("matmul 8x8x8 nt")).unwrap();
    assert!(!of_problem.contains('≤'), "{screen}");
    folder.succeeds("show one --tables").prints(&["shape", "8x4xN nt", "8x8x8 nt"]);
    let csv = folder.succeeds("show one --format csv").stdout;
    assert_contains(&csv, &["op,n,dtype,shape,density,matrix,", "matmul,16,f32,8x4xN nt,,,"]);
    let row = &folder.rows("one")[0];
    assert_eq!(row["shape"], serde_json::json!({ "m": 8, "n": 4, "k": "N", "layout": "nt" }));
    folder.succeeds("plot one --out charts --format svg");
    assert_contains(&folder.read("charts/overview.svg"), &["8x4xN nt"]);
    // The same cells are compared, those of another shape are not.
    folder.fair(sweep, "two");
    let compared = folder.run_line("compare one two --format json");
    let cells = compared.json()["cells"].as_array().unwrap().len();
    assert_eq!(cells, folder.rows("one").len(), "{}", compared.stdout);
    folder.fair("--ops matmul --shape 8x4xN --sizes 2,16", "plain");
    assert_eq!(folder.run_line("compare one plain").code, 2);
    // A whole run is resumed without measuring.
    let resumed = folder.succeeds("run --resume one --quiet");
    assert_eq!(folder.rows("one").len(), cells, "{}", resumed.stderr);
}

#[test]
fn a_list_of_problems_is_measured_in_its_types() {
    let folder = Folder::new();
    folder.write(
        "calls.jsonl",
        "{\"op\":\"matmul\",\"m\":4,\"n\":5,\"k\":6}\n{\"op\":\"matmul\",\"m\":6,\"n\":6,\"k\":6}\n\
         {\"op\":\"solve\",\"n\":7,\"batch\":3,\"dtype\":\"f64\"}\n",
    );
    folder.fair("--problems calls.jsonl", "out");
    let found: Vec<String> =
        folder.rows("out").iter().map(|row| format!("{} {} {}", row["op"], row["n"], row["dtype"])).collect();
    for problem in ["\"matmul\" 6 \"f32\"", "\"solve\" 7 \"f64\""] {
        assert!(found.contains(&problem.to_owned()), "{found:?}");
    }
    folder.succeeds("show out").prints(&["4x5x6", "7 batch 3"]);
    folder.refuses("run --problems calls.jsonl --sizes 5", "omit --sizes");
    // The type of a line holds for it, --dtypes for the others.
    let planned =
        folder.succeeds("run --problems calls.jsonl --dtypes f32,f64 --backends cpu --dry-run").stdout;
    let types = |op: &str| -> Vec<&str> {
        let of_op = planned.lines().filter(|line| line.starts_with(op));
        let mut types: Vec<&str> = of_op.filter_map(|line| line.split_whitespace().nth(2)).collect();
        types.dedup();
        types
    };
    assert_eq!((types("matmul"), types("solve")), (vec!["f32", "f64"], vec!["f64"]), "{planned}");
    folder.write("typed.jsonl", "{\"op\":\"solve\",\"n\":7,\"dtype\":\"f64\"}\n");
    folder.refuses(
        "run --problems typed.jsonl --dtypes f32",
        "every line of 'typed.jsonl' has a dtype; omit --dtypes",
    );
    // What is finished stays if the list has changed.
    folder.write("calls.jsonl", "{\"op\":\"matmul\",\"m\":4,\"n\":5,\"k\":6}\n");
    let before = folder.rows("out").len();
    folder.refuses("run --resume out", "finished cells are no longer in the plan");
    assert_eq!(folder.rows("out").len(), before);
    folder.succeeds("run --resume out --force --quiet");
    assert!(folder.rows("out").len() < before);
    folder.refuses("run --problems absent.jsonl", "cannot read 'absent.jsonl'");
}

#[test]
fn what_is_no_shape_of_the_op_is_refused_in_one_line() {
    let folder = Folder::new();
    folder.write("sweep.toml", "shape = '4x4'\n[[sweep]]\nops = 'matmul'\n");
    folder.refuses_each(
        "run --backends cpu ",
        "--config sweep.toml => sweep.toml: shape: matmul has the dimensions
        --ops fft --shape 4x4x4x4 => fft has the dimensions nx x ny x nz, but 4 are given
        --ops matmul --shape 4x4xz => k cannot be z: give a number of at least 1, or a multiple of N
        --ops matmul --shape 4x4x4,batch=3 => write all dimensions by name
        --ops matmul --shape m=4,n=4,n=5,k=4 => n is given twice
        --ops matmul --shape 4x4x64..1024:x2 => has a range: write the dimensions by name
        --ops matmul --batch 0 => sizes start at 1
        --ops svd --shape 4x4 --layout nt => svd has no layout: its dimensions are m, n, batch
        --shape 4x4x4 => add --ops with one of matmul
        --ops matmul --shape 9999999x9999999x9999999 --require cuda => --require cuda",
    );
    // Too large for any memory: skipped with the figures, not tried.
    let line = "run --ops matmul --backends cpu --variants faer --shape 9999999x9999999x2 --no-peaks --quiet --format json --out big";
    let ended = folder.run_line(line);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert_contains(folder.rows("big")[0]["reason"].as_str().unwrap(), &["TiB of host memory"]);
}
