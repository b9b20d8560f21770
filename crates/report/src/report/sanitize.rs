//! Removes control characters, line feeds and marks of text direction from a report, so that none can drive a terminal, mislead a
//! reader, or begin a line that another program takes for a command.

use std::io::{self, Read, Write};

use gpubench_text::control::single_line;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Report;

/// Passes JSON on, to a writer or from a reader, and notes whether its strings may hold what [`single_line`] changes.
///
/// JSON may write them as escapes or as they are. Of the second kind, only the first bytes of their UTF-8 are looked at, so
/// that some harmless characters are noted too.
#[derive(Debug)]
pub struct ControlScan<T> {
    inner: T,
    state: ScanState,
}

/// What the last bytes may be the beginning of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanState {
    Text,
    /// This byte, with which an escape or an invisible character may begin.
    Begun(u8),
    Found,
}

impl<T> ControlScan<T> {
    /// Starts a scan of what passes `inner`.
    pub fn of(inner: T) -> ControlScan<T> {
        ControlScan { inner, state: ScanState::Text }
    }

    /// Returns whether strings so far may hold control characters.
    pub fn found(&self) -> bool {
        self.state == ScanState::Found
    }

    fn scan(&mut self, bytes: &[u8]) {
        self.state = bytes.iter().fold(self.state, |state, byte| state.after(*byte));
    }
}

impl ScanState {
    fn after(self, byte: u8) -> ScanState {
        match (self, byte) {
            (ScanState::Found, _)
            | (_, 0x7f)
            | (ScanState::Begun(b'\\'), b'u' | b'b' | b'f' | b'n' | b'r' | b't')
            // U+0080 to U+009F, U+061C, U+2000 to U+207F, and U+FEC0 to U+FEFF with U+FFC0 to U+FFFF.
            | (ScanState::Begun(0xc2), 0x80..=0x9f)
            | (ScanState::Begun(0xd8), 0x9c)
            | (ScanState::Begun(0xe2), 0x80 | 0x81)
            | (ScanState::Begun(0xef), 0xbb | 0xbf) => ScanState::Found,
            // Two of these begin a command where a word begins: after a space, or the quotation mark of a string.
            (ScanState::Begun(b':'), b':') | (ScanState::Begun(b'#'), b'#') => ScanState::Found,
            (ScanState::Begun(b' ' | b'"'), b':' | b'#') => ScanState::Begun(byte),
            (ScanState::Begun(b'\\'), _) => ScanState::Text,
            (_, b' ' | b'"' | b'\\' | 0xc2 | 0xd8 | 0xe2 | 0xef) => ScanState::Begun(byte),
            _ => ScanState::Text,
        }
    }
}

impl<R: Read> Read for ControlScan<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.scan(&buffer[..count]);
        Ok(count)
    }
}

impl<W: Write> Write for ControlScan<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.scan(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Returns a report from this process as a reader of its file gets it: without control characters.
pub fn sanitized(report: Report) -> Report {
    let mut scan = ControlScan::of(io::sink());
    let is_clean = serde_json::to_writer(&mut scan, &report).is_ok() && !scan.found();
    if is_clean { report } else { sanitize(&report).unwrap_or(report) }
}

/// Puts every text on a [single line](single_line), also the keys of objects.
pub fn sanitize(report: &Report) -> serde_json::Result<Report> {
    let rows = report.rows.iter().map(sanitized_part).collect::<serde_json::Result<_>>()?;
    Ok(Report {
        schema_version: report.schema_version,
        environment: sanitized_part(&report.environment)?,
        rows,
    })
}

fn sanitized_part<T: Serialize + DeserializeOwned>(part: &T) -> serde_json::Result<T> {
    let mut value = serde_json::to_value(part)?;
    sanitize_texts(&mut value);
    serde_json::from_value(value)
}

fn sanitize_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = single_line(text),
        Value::Array(items) => items.iter_mut().for_each(sanitize_texts),
        Value::Object(fields) => {
            *fields =
                std::mem::take(fields).into_iter().map(|(key, item)| (single_line(&key), item)).collect();
            fields.values_mut().for_each(sanitize_texts);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{example, file};
    use gpubench_text::control::is_invisible;

    fn may_hold_controls(json: &[u8], piece: usize) -> bool {
        let mut scan = ControlScan::of(io::sink());
        json.chunks(piece).for_each(|bytes| scan.write_all(bytes).unwrap());
        scan.found()
    }

    #[test]
    fn every_control_character_is_noticed_in_pieces_of_any_size() {
        let controls = (0..=0xffff).filter_map(char::from_u32).filter(|c| is_invisible(*c));
        for control in controls {
            let text = format!("é\\{control}µ");
            let escaped = format!("\"\\\\\\u{:04x}\"", u32::from(control));
            for json in [serde_json::to_vec(&text).unwrap(), escaped.into_bytes()] {
                assert!((1..6).all(|piece| may_hold_controls(&json, piece)), "{control:?}");
            }
        }
        for command in ["::error::x", "a ::error::x", "##vso[x]", "a ##b"] {
            let json = serde_json::to_vec(command).unwrap();
            assert!((1..6).all(|piece| may_hold_controls(&json, piece)), "{command}");
        }
        for clean in ["a::b :c #d e##f", "\\\\b \\u001b", "é µ € ü \\u", "u0000", "\\\\u 00", "\u{a0}\u{c2}"]
        {
            assert!(!may_hold_controls(&serde_json::to_vec(clean).unwrap(), 3), "{clean:?}");
        }
    }

    #[test]
    fn escape_sequences_in_texts_are_replaced_and_other_text_is_kept() {
        for (harmful, sanitized_text) in [
            ("a\u{1b}[31mb\n::c", "a\u{fffd}[31mb :c"),
            ("::error::x", ":error::x"),
            ("a\u{9b}31mb", "a\u{fffd}31mb"),
        ] {
            let mut report = example::full();
            report.environment.host.name = harmful.into();
            report.environment.settings["x"] = harmful.into();
            let cleaned = sanitize(&report).unwrap();
            assert_eq!(sanitized(report.clone()), cleaned);
            assert_eq!(cleaned.environment.host.name, sanitized_text);
            assert_eq!(cleaned.environment.settings["x"], sanitized_text);
            (report.environment.host, report.environment.settings) =
                (cleaned.environment.host.clone(), cleaned.environment.settings.clone());
            assert_eq!(cleaned, report);
        }
    }

    #[test]
    fn characters_that_json_writes_as_they_are_and_keys_of_objects_count_too() {
        for hostile in ["\u{9b}31m", "\u{7f}", "\u{202e}gnp.exe", "\u{1b}]0;x\u{7}", "GPU\n::error::x\ty"] {
            let mut report = example::full();
            report.environment.host.name = hostile.into();
            report.environment.variables.insert(hostile.into(), hostile.into());
            report.environment.settings[hostile] = 1.into();
            let bytes = serde_json::to_vec(&report).unwrap();
            assert!(may_hold_controls(&bytes, 7), "{hostile:?}");
            let text = format!("{:?}", file::parse(&file::Content::of(bytes)).unwrap());
            for c in hostile.chars().filter(|c| is_invisible(*c)) {
                assert!(!text.contains(c) && !text.contains(&c.escape_debug().to_string()), "{c:?}: {text}");
            }
        }
    }

    #[test]
    fn a_report_without_them_is_as_it_was() {
        let report = example::full();
        assert!(!may_hold_controls(&serde_json::to_vec(&report).unwrap(), 1 << 16));
        assert_eq!(sanitize(&report).unwrap(), report);
    }
}
