//! `report`: makes one page from one or several reports, in a file or on stdout.

use super::{Folder, assert_contains};

fn with_report() -> Folder {
    let folder = Folder::new();
    folder.fair("--ops matmul --sizes 4,8", "made");
    folder
}

#[test]
fn a_report_becomes_a_page_in_a_file_or_on_stdout() {
    let folder = with_report();
    for report in ["made", "made/report.json"] {
        let ended = folder.succeeds(&format!("report {report} -o page.html --force"));
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    }
    let page = folder.read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
    assert_contains(&page, &["accelerator", "id=\"row-3\""]);
    assert_eq!(folder.succeeds("report made -o -").stdout, page);
    assert_eq!(folder.succeeds("show made --format html").stdout, page);
    // A run writes the page when asked to.
    folder.succeeds(
        "run --ops matmul --sizes 4,8 --backends sim --sim fair.toml --quiet --format json,html --out other",
    );
    folder.succeeds("report other -o other.html");
    assert_eq!(folder.read("other/report.html"), folder.read("other.html"));
    folder.succeeds("report made other --out both.html");
    assert_contains(&folder.read("both.html"), &["<h1>2 reports</h1>", "id=\"m2-row-3\""]);
}

#[test]
fn what_cannot_be_a_page_is_refused_in_one_line() {
    let folder = with_report();
    folder.write("taken.html", "old");
    folder.refuses_each(
        "report",
        "made -o taken.html => taken.html exists: name another file with --out, or
        nowhere -o page.html => cannot read nowhere
        fair.toml -o page.html => fair.toml
        made nowhere -o page.html => cannot read nowhere
        made -o made => made is a folder
        made -o absent/page.html => cannot write absent/page.html
        made => --out <FILE>",
    );
    assert_eq!(folder.read("taken.html"), "old");
    folder.refuses("plot made --out charts --format html", "valid: png, svg");
    folder.succeeds("report made -o taken.html --force");
    assert!(folder.read("taken.html").starts_with("<!DOCTYPE"));
}
