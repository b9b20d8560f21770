//! Removes control characters and marks of text direction from a report, so that none can drive a terminal or mislead a reader.

use gpubench_text::control::{is_harmful, replaced};
use serde_json::Value;

use super::Report;

/// Returns whether strings of that JSON may hold [harmful](is_harmful) characters. JSON writes some as escapes, and may contain
/// others as they are.
pub fn may_hold_controls(bytes: &[u8]) -> bool {
    let has_escape = bytes.windows(2).any(|two| two == b"\\u");
    // A carriage return between values is part of no string.
    has_escape || str::from_utf8(bytes).is_ok_and(|text| text.chars().any(|c| is_harmful(c) && c != '\r'))
}

/// Returns a report from this process as a reader of its file gets it: without control characters.
pub fn sanitized(report: Report) -> Report {
    let is_clean = serde_json::to_vec(&report).is_ok_and(|bytes| !may_hold_controls(&bytes));
    if is_clean { report } else { sanitize(&report).unwrap_or(report) }
}

/// Replaces every [harmful](is_harmful) character by U+FFFD, also in the keys of objects.
pub fn sanitize(report: &Report) -> serde_json::Result<Report> {
    let mut value = serde_json::to_value(report)?;
    tame_texts(&mut value);
    serde_json::from_value(value)
}

fn tame_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().any(is_harmful) => *text = replaced(text),
        Value::Array(items) => items.iter_mut().for_each(tame_texts),
        Value::Object(fields) => {
            if fields.keys().any(|key| key.chars().any(is_harmful)) {
                *fields =
                    std::mem::take(fields).into_iter().map(|(key, item)| (replaced(&key), item)).collect();
            }
            fields.values_mut().for_each(tame_texts);
        }
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
    fn characters_that_json_writes_as_they_are_and_keys_of_objects_count_too() {
        for hostile in ["\u{9b}31m", "\u{7f}", "\u{202e}gnp.exe", "\u{1b}]0;x\u{7}"] {
            let mut report = example::full();
            report.environment.host.name = hostile.into();
            report.environment.variables.insert(hostile.into(), hostile.into());
            report.environment.settings[hostile] = 1.into();
            let bytes = serde_json::to_vec(&report).unwrap();
            assert!(may_hold_controls(&bytes), "{hostile:?}");
            let text = format!("{:?}", crate::report::file::parse(&bytes).unwrap());
            for c in hostile.chars().filter(|c| is_harmful(*c)) {
                assert!(!text.contains(c) && !text.contains(&c.escape_debug().to_string()), "{c:?}: {text}");
            }
        }
    }

    #[test]
    fn a_report_without_them_is_as_it_was() {
        let report = example::full();
        let bytes = serde_json::to_vec(&report).unwrap();
        assert!(!may_hold_controls(&bytes));
        assert_eq!(sanitize(&report).unwrap(), report);
    }
}
