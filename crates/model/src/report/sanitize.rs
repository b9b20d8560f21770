//! Removes control characters from a report, so that none can drive a terminal.

use gpubench_text::control::{is_harmful, replaced};
use serde_json::Value;

use super::Report;

/// Returns whether strings of that JSON may hold control characters, which JSON writes as escapes.
pub fn may_hold_controls(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|four| four == b"\\u00")
}

/// Returns a report from this process as a reader of its file gets it: without control characters.
pub fn sanitized(report: Report) -> Report {
    let is_clean = serde_json::to_vec(&report).is_ok_and(|bytes| !may_hold_controls(&bytes));
    if is_clean { report } else { sanitize(&report).unwrap_or(report) }
}

/// Replaces every control character except line feeds and tabs by U+FFFD.
pub fn sanitize(report: &Report) -> serde_json::Result<Report> {
    let mut value = serde_json::to_value(report)?;
    tame_texts(&mut value);
    serde_json::from_value(value)
}

fn tame_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().any(is_harmful) => *text = replaced(text),
        Value::Array(items) => items.iter_mut().for_each(tame_texts),
        Value::Object(fields) => fields.values_mut().for_each(tame_texts),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn escape_sequences_in_texts_are_replaced_and_other_text_is_kept() {
        let mut report = example::full();
        report.environment.host.name = "a\u{1b}[31mb\nc".into();
        report.environment.settings["x"] = "\u{7}".into();
        let bytes = serde_json::to_vec(&report).unwrap();
        assert!(may_hold_controls(&bytes));
        let tamed = sanitize(&report).unwrap();
        assert_eq!(sanitized(report.clone()), tamed);
        assert_eq!(tamed.environment.host.name, "a\u{fffd}[31mb\nc");
        assert_eq!(tamed.environment.settings["x"], "\u{fffd}");
        (report.environment.host, report.environment.settings) =
            (tamed.environment.host.clone(), tamed.environment.settings.clone());
        assert_eq!(tamed, report);
    }

    #[test]
    fn a_report_without_them_is_as_it_was() {
        let report = example::full();
        let bytes = serde_json::to_vec(&report).unwrap();
        assert!(!may_hold_controls(&bytes));
        assert_eq!(sanitize(&report).unwrap(), report);
    }
}
