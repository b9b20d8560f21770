//! The first screen: it fits terminals of 80 and of 120 columns, and says first what a reader must know first.

use super::{Ended, Folder, assert_contains, flat};

/// Laws by which matmul crosses over between 32 and 64, fft is a tie, and spgemm has CPU times of grade D.
const LAWS: &str = "
seed = 1
variant = [{ name = 'host', side = 'cpu' }, { name = 'accelerator' }]
rule = [
    { variant = 'host', noise = 0.01, time = { per_element = '1ns', exponent = 3.0 } },
    { variant = 'accelerator', noise = 0.01, time = { base = '100us', per_element = '1ns', exponent = 2.0 } },
    { op = 'fft', time = '80us', noise = 0.05 },
    { op = 'spgemm', variant = 'host', noise = 1.5 },
]
";

const RUN: &str = "run --ops matmul,fft,spgemm --density 0.8 --sizes 16,32,64 --backends sim --sim laws.toml --quiet --format json --out made";

/// Returns a folder with a run of these laws, which copies with that kind of memory.
fn made(memory: &str) -> Folder {
    let folder = Folder::new();
    folder.write("laws.toml", LAWS);
    folder.succeeds(&format!("{RUN} --transfer {memory}"));
    folder
}

/// Returns the screen, whose lines fit the terminal.
fn shown(folder: &Folder, columns: usize) -> String {
    let text = Ended::of(folder.command("show made").env("COLUMNS", columns.to_string())).good().stdout;
    assert!(text.lines().all(|line| line.chars().count() <= columns.min(120)), "{columns}: {text}");
    text
}

#[test]
fn no_line_is_longer_than_the_terminal_and_columns_are_left_out_by_rank() {
    let folder = made("pageable");
    for columns in [50, 60, 70, 80, 100, 120, 200] {
        let text = shown(&folder, columns);
        let heads = text.lines().find(|line| line.contains("copied each call")).unwrap();
        assert!(heads.contains("data stays on the GPU"), "{text}");
        assert_eq!(heads.ends_with("calls"), columns >= 60, "{columns}: {text}");
        assert_eq!(text.contains("No room here for calls: repay copies"), columns < 60, "{text}");
    }
}

/// The memory of each kind of copy has a column, and the legend is the same for every report.
#[test]
fn both_kinds_of_memory_are_under_one_heading() {
    let folder = made("both");
    for columns in [80, 120] {
        let text = shown(&folder, columns);
        let head = text.lines().find(|line| line.trim_start().starts_with("op ")).unwrap();
        assert_eq!(flat(head), "op N pageable from N pinned or plain from N copies", "{text}");
        assert!(text.ends_with("More: gpubench show made --tables (or --legend)\n"), "{text}");
    }
    let legend = folder.succeeds("show --legend").stdout;
    for word in ["copied each call", "library or plain", "wins from N", "calls repay copies", "grades"] {
        assert!(legend.contains(&format!("\n  {word} ")), "{word}: {legend}");
    }
}

#[test]
fn incorrect_answers_come_first_then_a_run_that_ended_early() {
    let folder = Folder::new();
    let wrong = "[[rule]]\nvariant = 'accelerator'\nanswer = 'wrong'\n";
    folder.write("wrong.toml", &(super::FAIR.to_owned() + wrong));
    let run =
        "run --ops fft --sizes 4,8 --backends sim --sim wrong.toml --quiet --format table,json --out made";
    let screen = folder.run_line(run).exits(1).stdout;
    let first = flat(screen.split("\n\n").next().unwrap());
    assert!(first.starts_with("INCORRECT: fft N=") && first.ends_with(" (1 more: --tables)"), "{first}");
    assert_contains(&first, &["sim/accelerator: error ", ", bound "]);
    folder.succeeds("report made --out page.html");
    let html = folder.read("page.html");
    let (notice, lead) = (html.find("INCORRECT: fft N=").unwrap(), html.find("class=\"lead\"").unwrap());
    assert!(notice < lead, "the page says it before the answer");

    let mut report = folder.report("made");
    report["environment"]["planned_rows"] = 9.into();
    folder.write("made/report.json", &report.to_string());
    let text = folder.succeeds("show made").stdout;
    let (early, resume) =
        ("The run ended early: 4 of 9 cells finished.\n", "\nGo on with: gpubench run --resume made\n");
    assert_contains(&text, &[early, resume]);
    assert!(text.find(early) < text.find("CPU only"), "{text}");
    // The folder of the file; a copy is no run.
    folder.succeeds("show made/report.json").prints(&[" --resume made\n"]);
    folder.write("copy.json", &report.to_string());
    folder.succeeds("show copy.json").prints(&[" --resume DIR\n"]);
}

#[test]
fn without_a_device_one_line_says_why_and_what_to_do() {
    let folder = Folder::new();
    let mut command = folder.command("run --backends cuda --ops matmul --sizes 4 --quiet --out made");
    // No driver is found: this folder is the only one that is searched.
    let ended = Ended::of(command.env("LD_LIBRARY_PATH", folder.path()));
    if ended.code == 0 {
        return; // A machine with a GPU.
    }
    let expected = ["gpubench: nothing was measured: ", "gpubench doctor lists what is missing"];
    let ended = ended.exits(2).complains(&expected);
    assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{}", ended.stderr);
}
