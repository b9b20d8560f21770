//! `journal.jsonl`, from which a run is resumed.

use gpubench::executor::journal;
use gpubench::report::file;

use super::{Formats, accepted, reports};

/// Reads a journal, and writes the report that it amounts to.
pub fn read(bytes: &[u8], formats: Formats) {
    if let Some(Some((report, _))) = accepted(journal::parse(bytes).map_err(file::one_line)) {
        reports::write(&report, formats);
    }
}
