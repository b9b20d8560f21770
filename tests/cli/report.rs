//! `report`: makes one page from one or several reports, in a file or on stdout.

use super::Folder;

const RUN: &str = "run --ops matmul --sizes 4,8 --samples 6 --backends sim --sim fair.toml --quiet";

fn with_report() -> Folder {
    let folder = Folder::new();
    folder.succeeds(&format!("{RUN} --out made --format json"));
    folder
}

#[test]
fn a_report_becomes_a_page_in_a_file_or_on_stdout() {
    let folder = with_report();
    for report in ["made", "made/report.json"] {
        let ended = folder.run_line(&format!("report {report} -o page.html --force"));
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    }
    let page = folder.read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
    assert!(page.contains("accelerator") && page.contains("id=\"row-3\""));
    let ended = folder.run_line("report made -o -");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, page);
    assert_eq!(folder.run_line("show made --format html").stdout, page);
}

#[test]
fn a_run_writes_the_page_when_asked_to() {
    let folder = Folder::new();
    folder.succeeds(&format!("{RUN} --out made --format html"));
    let kept = folder.read("made/report.html");
    folder.refuses(&format!("{RUN} --out made --format html"), "made already contains a report.json");
    folder.succeeds("report made -o again.html");
    assert_eq!(folder.read("again.html"), kept);
}

#[test]
fn several_reports_become_one_page() {
    let folder = with_report();
    folder.succeeds(&format!("{RUN} --out other --format json"));
    folder.succeeds("report made other --out both.html");
    let page = folder.read("both.html");
    assert!(page.contains("<h1>2 reports</h1>") && page.contains("id=\"m2-row-3\""), "both are in it");
}

#[test]
fn what_cannot_be_a_page_is_refused_in_one_line() {
    let folder = with_report();
    folder.write("taken.html", "old");
    folder.refuses("report made -o taken.html", "taken.html exists: name another file with --out, or");
    assert_eq!(folder.read("taken.html"), "old");
    folder.refuses("report nowhere -o page.html", "cannot read nowhere");
    folder.refuses("report fair.toml -o page.html", "fair.toml");
    folder.refuses("report made nowhere -o page.html", "cannot read nowhere");
    folder.refuses("report made -o made", "made is a folder");
    folder.refuses("report made -o absent/page.html", "cannot write absent/page.html");
    folder.refuses("report made", "--out <FILE>");
    folder.refuses("report -o page.html", "there is no report below results");
    folder.refuses("trend made --format html", "a trend has no HTML page");
    folder.refuses("plot made --out charts --format html", "name png or svg");
    folder.succeeds("report made -o taken.html --force");
    assert!(folder.read("taken.html").starts_with("<!DOCTYPE"));
}
