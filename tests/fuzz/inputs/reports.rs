//! `report.json`, and every text that is made from it.

use gpubench::compare::{self, Policy};
use gpubench::fleet;
use gpubench::report::file::{self, Content};
use gpubench::report::{Report, example};
use gpubench::write::chart::{Selection, Theme};
use gpubench::write::report::{FORMATS, View};

use super::{Formats, accepted, side, write_comparison};

/// Reads a report, and writes it.
pub fn read(bytes: &[u8], formats: Formats) {
    if let Some(report) = accepted(file::parse(&Content::of(bytes)).map_err(file::one_line)) {
        write(&report, formats);
    }
}

/// Writes a report, except as PNG, which would take most of the time, and compares it with another one.
pub(super) fn write(report: &Report, formats: Formats) {
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
