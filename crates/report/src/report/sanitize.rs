//! Removes control characters, line feeds and marks of text direction from a report, so that none can drive a terminal, mislead a
//! reader, or begin a line that another program takes for a command.

use gpubench_text::control::single_line;
use serde_json::Value;

use super::{Execute, Report, Row};

/// Puts every text on a [single line](single_line), also the keys of objects.
pub fn sanitize(report: &mut Report) -> serde_json::Result<()> {
    report.rows.iter_mut().flat_map(texts).for_each(|text| *text = single_line(text));
    let mut environment = serde_json::to_value(&report.environment)?;
    sanitize_texts(&mut environment);
    report.environment = serde_json::from_value(environment)?;
    Ok(())
}

fn texts(row: &mut Row) -> impl Iterator<Item = &mut String> {
    let Row { case, backend, variant, picked, reason, fix, unaltered, inputs, execute, .. } = row;
    let optional = [picked, reason, fix, unaltered, inputs].into_iter().flatten();
    let of_execute = execute.iter_mut().flat_map(|Execute { warnings, conditions, .. }| {
        let warnings = warnings.iter_mut().flat_map(|warning| [&mut warning.text, &mut warning.next]);
        let states = conditions.iter_mut().flatten();
        warnings.chain(states.flat_map(|state| state.throttle.iter_mut().chain(&mut state.others)))
    });
    [&mut case.op, backend, variant].into_iter().chain(&mut case.matrix).chain(optional).chain(of_execute)
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
            let mut cleaned = report.clone();
            sanitize(&mut cleaned).unwrap();
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
            report.rows[0].reason = Some(hostile.into());
            let bytes = serde_json::to_vec(&report).unwrap();
            let text = format!("{:?}", file::parse(&file::Content::of(bytes)).unwrap());
            for c in hostile.chars().filter(|c| is_invisible(*c)) {
                assert!(!text.contains(c) && !text.contains(&c.escape_debug().to_string()), "{c:?}: {text}");
            }
        }
    }
}
