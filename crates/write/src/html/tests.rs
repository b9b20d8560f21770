//! Tests the whole page: well-formed, deterministic, and safe with any text in a report.

use gpubench_report::Finding;
use gpubench_report::report::{Outcome, Report, RunWarning, example};

use super::page;

/// The tags of a page, checked: every one that opens closes, in order, and attributes are quoted. Returns all texts
/// between tags, and every attribute value, raw.
fn read(html: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut open, mut texts, mut values) = (vec![], vec![], vec![]);
    let mut rest = html.strip_prefix("<!DOCTYPE html>\n").expect("a page begins with its type");
    while let Some(start) = rest.find('<') {
        texts.push(&rest[..start]);
        let tag_end = end_of_tag(&rest[start..]) + start;
        let tag = &rest[start + 1..tag_end];
        rest = &rest[tag_end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes what is not open: {name}");
            continue;
        }
        let name = tag.split([' ', '/', '\n']).next().unwrap();
        assert!(name.bytes().all(|c| c.is_ascii_alphanumeric()), "no name of a tag: {tag}");
        values.extend(tag.split('"').skip(1).step_by(2));
        if ["script", "style"].contains(&name) {
            let end = rest.find(&format!("</{name}>")).expect("it ends");
            rest = &rest[end + name.len() + 3..];
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    assert_eq!(rest.trim(), "");
    (texts, values)
}

/// The end of the tag at the start of `text`, ignoring quoted values.
fn end_of_tag(text: &str) -> usize {
    let mut quoted = false;
    text.char_indices()
        .find(|(_, c)| {
            quoted ^= *c == '"';
            *c == '>' && !quoted
        })
        .map(|(end, _)| end)
        .expect("a tag ends")
}

/// Text that would be markup, script, style or the end of any of them, if it were not escaped.
const HOSTILE: &str = "<script>window.hit=1</script>--><!--<img src=x onerror=\"window.hit=1\"> ' \" & ]]> </style></title>{}\u{2028}\u{202e}\0";

/// [`example::full`] with that text in every place a report may hold text in.
fn hostile() -> Report {
    let mut report = example::full();
    let text = || HOSTILE.to_owned();
    for (index, row) in report.rows.iter_mut().enumerate() {
        row.variant = format!("{HOSTILE}{index}");
        row.inputs = Some(text());
        if row.outcome != Outcome::Measured {
            (row.reason, row.fix) = (Some(text()), Some(text()));
        }
        for warning in row.execute.iter_mut().flat_map(|execute| &mut execute.warnings) {
            (warning.text, warning.next) = (text(), text());
        }
    }
    report.rows[8].case.op = text();
    report.rows[7].backend = text();
    let environment = &mut report.environment;
    environment.warnings.push(RunWarning { text: text(), next: text() });
    environment.argv.push(text());
    environment.variables.insert(text(), text());
    environment.gpubench_version = text();
    (environment.gpubench_revision, environment.git_revision) = (Some(text()), Some(text()));
    environment.settings[HOSTILE] = text().into();
    environment.started = text();
    let host = &mut environment.host;
    (host.name, host.os, host.cpu, host.governor) = (text(), text(), text(), Some(text()));
    let backend = &mut environment.backends[1];
    backend.description[HOSTILE] = text().into();
    backend.description["name"] = text().into();
    let mut peaks = example::peaks();
    peaks.matmul.insert(text(), 1e12);
    peaks.measured = text();
    backend.peaks = Some(peaks);
    let finding = Finding {
        name: text(),
        path: Some(text()),
        version: Some(text()),
        serves: vec![text()],
        problem: Some(text()),
        fix: Some(text()),
    };
    backend.libraries.push(finding);
    (environment.backends[0].available, environment.backends[0].reason) = (false, Some(text()));
    report
}

#[test]
fn no_text_of_a_report_becomes_markup() {
    let (report, plain, empty) = (hostile(), example::full(), example::empty());
    for report in [&plain, &empty] {
        read(&page(&[("", report)]));
    }
    for members in [&[("", &report)][..], &[(HOSTILE, &report), ("b", &plain), ("c", &empty)]] {
        let html = page(members);
        let (texts, values) = read(&html);
        assert_eq!(html.matches("<script").count(), 2, "the page's own scripts alone");
        assert_eq!(html.matches("<style").count(), 1);
        assert!(!html.contains("<img") && !html.contains("<!--") && !html.contains('\0'));
        assert!(values.iter().all(|value| !value.contains(['<', '\n'])));
        assert!(texts.iter().any(|text| text.contains("&lt;script&gt;window.hit=1")));
    }
}

#[test]
fn a_page_loads_nothing() {
    let html = page(&[("", &example::full())]);
    assert!(html.contains("content=\"default-src &#39;none&#39;;"));
    let (_, values) = read(&html);
    for value in values {
        let is_own = value.starts_with("http://www.w3.org/");
        assert!(is_own || !(value.contains("://") || value.starts_with("//")), "{value}");
    }
    assert!(super::STYLES.iter().all(|style| !style.contains("url(") && !style.contains("@import")));
    for asset in super::STYLES.into_iter().chain([super::SCRIPT, super::THEME]) {
        assert!(!asset.contains("</") && !asset.contains("<!--"), "it would end its own element");
    }
}

#[test]
fn identifiers_are_unique_also_among_reports() {
    let full = example::full();
    let html = page(&[("a", &full), ("b", &full)]);
    let mut found: Vec<&str> =
        html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = found.len();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), count);
    for link in html.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(found.contains(&link), "no place is called {link}");
    }
}

#[test]
fn several_reports_are_shown_side_by_side_and_one_by_one() {
    let full = example::full();
    let html = page(&[("node-a", &full), ("node-b", &full)]);
    assert_eq!(html, page(&[("node-a", &full.clone()), ("node-b", &full)]), "equal reports make equal bytes");
    for expected in ["2 reports", "href=\"#m1\"", "<article class=\"member\" id=\"m2\"", "data-chooser"] {
        assert!(html.contains(expected), "{expected}");
    }
    assert_eq!(html.matches("@font-face").count(), 2, "fonts are there once");
}

#[test]
fn of_many_reports_the_newest_are_shown_in_full() {
    let reports: Vec<Report> = (0..50)
        .map(|minute| {
            let mut report = example::full();
            report.environment.started = format!("2026-11-20T10:{minute:02}:00Z");
            report
        })
        .collect();
    let names: Vec<String> = (0..50).map(|index| format!("run-{index}")).collect();
    let members: Vec<(&str, &Report)> = names.iter().map(String::as_str).zip(&reports).collect();
    let html = page(&members);
    read(&html);
    assert_eq!(html.matches("<article class=\"member\"").count(), 40);
    assert!(!html.contains("id=\"m10\"") && html.contains("id=\"m11\"") && html.contains("id=\"m50\""));
    assert!(html.contains("the newest 40 of 50 reports"));
    assert!(html.contains(">run-0<"), "the overview has every report");
    assert!(!page(&members[..40]).contains("the newest"));
}
