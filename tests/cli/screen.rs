//! The first screen: it fits the terminal, and says first what a reader must know first.

use super::{Ended, Folder, assert_contains, flat};

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
    let narrow = Ended::of(folder.command("show made").env("COLUMNS", "60")).good().stdout;
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
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
