//! `report.json`, `journal.jsonl` and `baseline.json`, and every text that is made from them.

use gpubench::baseline;
use gpubench::compare::{self, Policy, Runs};
use gpubench::executor::journal;
use gpubench::fleet;
use gpubench::report::file::{self, Content};
use gpubench::report::{Report, example};
use gpubench::write::chart::{Selection, Theme};
use gpubench::write::report::{FORMATS, View};

use super::{Formats, NEW, OLD, accepted, side, write_comparison};

/// Reads a report, and writes it.
pub fn read(bytes: &[u8], formats: Formats) {
    if let Some(report) = accepted(file::parse(&Content::of(bytes)).map_err(file::one_line)) {
        write(&report, formats);
    }
}

/// Reads a journal, from which a run is resumed, and writes the report that it amounts to.
pub fn read_journal(bytes: &[u8], formats: Formats) {
    if let Some(Some((report, _))) = accepted(journal::parse(bytes).map_err(file::one_line)) {
        write(&report, formats);
    }
}

/// Reads a baseline, or a report for a history, and compares two reports with it.
pub fn read_baseline(bytes: &[u8], formats: Formats) {
    if let Some(baseline) = accepted(baseline::parse(bytes)) {
        let text = accepted(file::to_json(&baseline)).expect("it can be written");
        assert_eq!(baseline::parse(&text).expect("what was written can be read"), baseline);
        let old = Runs { baseline_variation: baseline.variations().collect(), ..OLD.clone() };
        write_comparison(&compare::compare(&old, &NEW, &Policy::default()), formats);
    }
    if let Some(report) = accepted(file::parse(&Content::of(bytes)).map_err(file::one_line)) {
        let history = side("history", report);
        write_comparison(&compare::compare_with_history(&OLD, &NEW, &history, &Policy::default()), formats);
    }
}

/// Writes a report, except as PNG, which would take most of the time, and compares it with another one.
fn write(report: &Report, formats: Formats) {
    let all = View { tables: true, all_variants: true, color: true, ..View::default() };
    let narrow =
        View { width: Some(20), theme: Theme::Dark, charts: Selection::default(), ..View::default() };
    let texts: Vec<_> =
        FORMATS.all.iter().filter(|format| !["png", "json.gz"].contains(&format.name)).collect();
    for format in formats.of(&texts) {
        accepted(format.screen(report, &all));
        accepted(format.files(report, &narrow));
    }
    let text = accepted(file::to_json(report)).expect("it can be written");
    assert_eq!(file::parse(&Content::of(&*text)).expect("what was written can be read"), *report);
    write_fleet(report);
    let (old, new) = (side("old", example::full()), side("new", report.clone()));
    write_comparison(&compare::compare(&old, &new, &Policy::default()), formats);
}

/// Writes the report as the member of a fleet, and reads that again.
fn write_fleet(report: &Report) {
    let source = fleet::Source { origin: "a".into(), name: Some("member".into()), report: report.clone() };
    let Some(fleet) = accepted(fleet::merge(vec![source], None)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(fleet::file::FILE_NAME);
    fleet::file::save(&fleet, &path).expect("it can be written");
    assert_eq!(fleet::file::load(&path).expect("what was written can be read"), fleet);
}
