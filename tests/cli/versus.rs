//! `--versus`: the contenders of the answer, in a run, in what is shown of it, and in bad input.

use super::Folder;

/// Two variants on either side, of which the second of the GPU is twice as fast and the second of the CPU half as fast.
const LAWS: &str = r#"
seed = 1
[[variant]]
name = "one"
side = "cpu"
[[variant]]
name = "two"
side = "cpu"
[[variant]]
name = "gpu1"
[[variant]]
name = "gpu2"
[[rule]]
variant = "one"
time = { per_element = "1ns", exponent = 3.0 }
[[rule]]
variant = "two"
time = { per_element = "2ns", exponent = 3.0 }
[[rule]]
variant = "gpu1"
time = { base = "20us", per_element = "1ns", exponent = 2.0 }
[[rule]]
variant = "gpu2"
time = { base = "10us", per_element = "1ns", exponent = 2.0 }
"#;

const RUN: &str = "run --ops matmul --sizes 16,32,64,128 --backends sim --sim laws.toml --all-variants --quiet --format json --out made";

fn made(versus: &str) -> Folder {
    let folder = Folder::new();
    folder.write("laws.toml", LAWS);
    folder.succeeds(&format!("{RUN} {versus}"));
    folder
}

#[test]
fn a_run_keeps_its_contenders_and_show_can_choose_others() {
    let folder = made("--versus sim/gpu1:sim/gpu2");
    let found = folder.succeeds("show made").stdout;
    assert!(found.starts_with("sim/gpu2 against sim/gpu1 on "), "{found}");
    assert!(found.contains("sim/gpu2 1.") && !found.contains("CPU"), "{found}");
    let found = folder.succeeds("show made --versus sides").stdout;
    assert!(found.contains(" against ") && found.contains("copied each call"), "{found}");
    let found = folder.succeeds("show made --versus sim/one:sim/two").stdout;
    assert!(
        found.contains("sim/one 2.0") && found.contains("faster") && !found.contains("data stays on the GPU"),
        "{found}"
    );
    let found = folder.succeeds("show made --versus sim/two:sim/gpu1").stdout;
    assert!(found.contains("sim/gpu1"), "{found}");
    let report = folder.json("made/report.json");
    assert_eq!(report["environment"]["settings"]["versus"], "sim/gpu1:sim/gpu2");
    assert_eq!(report["answer"]["versus"]["b"], "sim/gpu2");
}

#[test]
fn a_sweep_file_may_name_the_contenders() {
    let folder = Folder::new();
    folder.write("laws.toml", LAWS);
    folder.write(
        "sweep.toml",
        "versus = \"sim/two:sim/gpu2\"\nbackends = [\"sim\"]\nops = [\"matmul\"]\nsizes = [16, 64]\n",
    );
    let found = folder
        .succeeds("run --config sweep.toml --sim laws.toml --quiet --format table,json --out made")
        .stdout;
    assert!(found.contains("sim/gpu2"), "{found}");
    assert_eq!(folder.json("made/report.json")["environment"]["settings"]["versus"], "sim/two:sim/gpu2");
}

#[test]
fn charts_and_pages_name_the_contenders() {
    let folder = made("");
    folder
        .succeeds("plot made --versus sim/two:sim/gpu2 --format svg --charts speedup,overview --out charts");
    let chart = folder.read("charts/speedup-matmul-f32.svg");
    assert!(chart.contains("sim/gpu2 faster") && !chart.contains("GPU faster"), "{chart}");
    folder.succeeds("report made --versus sim/two:sim/gpu2 --out page.html");
    let page = folder.read("page.html");
    assert!(page.contains("sim/gpu2 wins from N"), "no name");
}

#[test]
fn reports_shown_together_have_the_same_contenders() {
    let folder = made("--versus sim/two:sim/gpu2");
    folder.succeeds(&format!("{RUN}-2"));
    folder.succeeds("report made made-2 --out page.html");
    assert!(folder.read("page.html").contains("GPU faster from N"), "the runs have different contenders");
    folder.succeeds("report made made-2 --versus sim/two:sim/gpu2 --out page.html --force");
    let page = folder.read("page.html");
    assert!(page.contains("sim/gpu2 faster from N") && !page.contains("GPU faster from N"));
    folder.succeeds("merge made made-2 --out fleet.json");
    folder.refuses("show fleet.json --versus sim/two:sim/gpu2", "add --member NAME");
}

#[test]
fn bad_contenders_are_refused_in_one_line() {
    let folder = made("");
    for (versus, expected) in [
        ("sim", "'sim' does not name two contenders: write A:B"),
        ("sim:", "leaves a contender empty"),
        ("sim/one:sim/one", "compares sim/one with itself"),
        ("numpy:sim", "there are no cells of 'numpy': name one of sim"),
        ("sim/one:sim/three", "'sim/three': name one of sim/one, sim/two, sim/gpu1, sim/gpu2"),
    ] {
        for command in ["show made", "plot made --out charts", "report made --out page.html"] {
            folder.refuses(&format!("{command} --versus {versus}"), expected);
        }
        let run = "run --ops matmul --sizes 16 --backends sim --sim laws.toml --out other";
        folder.refuses(&format!("{run} --versus {versus}"), expected);
    }
}
