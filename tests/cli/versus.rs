//! `--versus`: the contenders of the answer, in a run, in what is shown of it, and in bad input.

use super::{Folder, assert_contains, assert_lacks};

/// Two variants on either side, of which the second of the GPU is twice as fast and the second of the CPU half as fast.
const LAWS: &str = "
seed = 1
variant = [{ name = 'one', side = 'cpu' }, { name = 'two', side = 'cpu' }, { name = 'gpu1' }, { name = 'gpu2' }]
rule = [
    { variant = 'one', time = { per_element = '1ns', exponent = 3.0 } },
    { variant = 'two', time = { per_element = '2ns', exponent = 3.0 } },
    { variant = 'gpu1', time = { base = '20us', per_element = '1ns', exponent = 2.0 } },
    { variant = 'gpu2', time = { base = '10us', per_element = '1ns', exponent = 2.0 } },
]
";

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
    let shown = |options: &str| folder.succeeds(&format!("show made {options}")).stdout;
    assert!(shown("").starts_with("sim/gpu2 against sim/gpu1 on "), "{}", shown(""));
    assert_contains(&shown(""), &["sim/gpu2 1."]);
    assert_lacks(&shown(""), &["CPU"]);
    assert_contains(&shown("--versus sides"), &[" against ", "copied each call"]);
    let of_cpu = shown("--versus sim/one:sim/two");
    assert_contains(&of_cpu, &["sim/one 2.0", "faster"]);
    assert_lacks(&of_cpu, &["data stays on the GPU"]);
    assert_contains(&shown("--versus sim/two:sim/gpu1"), &["sim/gpu1"]);
    let report = folder.report("made");
    assert_eq!(report["environment"]["settings"]["versus"], "sim/gpu1:sim/gpu2");
    assert_eq!(report["answer"]["versus"]["b"], "sim/gpu2");
}

#[test]
fn reports_shown_together_have_the_same_contenders() {
    let folder = made("--versus sim/two:sim/gpu2");
    folder.succeeds(&format!("{RUN}-2"));
    // The runs have different contenders.
    folder.succeeds("report made made-2 --out page.html");
    assert_contains(&folder.read("page.html"), &["GPU faster from N"]);
    folder.succeeds("report made made-2 --versus sim/two:sim/gpu2 --out page.html --force");
    let page = folder.read("page.html");
    assert_contains(&page, &["sim/gpu2 faster from N"]);
    assert_lacks(&page, &["GPU faster from N"]);
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
