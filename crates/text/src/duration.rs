//! Parses durations such as `250ns`, `100us`, `1.5ms`, `30s`, `1.5h` and `1m30s`; a bare number is seconds.

use anyhow::{Result, anyhow, ensure};

/// Maximum duration: 30 days.
const LONGEST_S: f64 = 30.0 * 86_400.0;

/// Parses a duration in seconds, above 0 and at most 30 days. Several parts, such as those of `1h30m`, go from the largest unit to the
/// smallest.
pub fn parse(text: &str) -> Result<f64> {
    let text = text.trim();
    let refused = |why: &str| anyhow!("duration '{text}' {why}: write it like 100us, 30s, 1m30s or 1.5h");
    let (mut seconds, mut last_scale, mut rest) = (0.0, f64::INFINITY, text);
    loop {
        let (number, unit, after) = first_part(rest);
        let is_whole = rest.len() == text.len() && after.is_empty();
        let scale = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "" if is_whole => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(refused("is not valid")),
        };
        let value = number.trim().parse::<f64>().map_err(|_| refused("is not valid"))?;
        // A sign belongs to no part of several, and neither does a unit that is not smaller than the one before.
        ensure!(is_whole || (value >= 0.0 && scale < last_scale), refused("is not valid"));
        seconds += scale * value;
        (last_scale, rest) = (scale, after);
        if rest.is_empty() {
            break;
        }
    }
    ensure!(seconds > 0.0, refused("is not above zero"));
    ensure!(seconds <= LONGEST_S, refused("is longer than 30 days"));
    Ok(seconds)
}

/// Splits off the first number and its unit.
fn first_part(text: &str) -> (&str, &str, &str) {
    // An `e` is part of the number: 3e2ns.
    let unit_at = text.find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit_end = unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len());
    let (unit, after) = unit.split_at(unit_end);
    (number, unit, after.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_unit_is_understood() {
        for (text, seconds) in [
            ("30s", 30.0),
            ("5m", 300.0),
            ("5min", 300.0),
            ("1.5h", 5400.0),
            ("500ms", 0.5),
            ("2us", 2e-6),
            ("2 µs", 2e-6),
            ("2μs", 2e-6),
            ("3e2ns", 3e2 * 1e-9),
            (" 2 s ", 2.0),
            ("7", 7.0),
            ("1m30s", 90.0),
            ("1h30m", 5400.0),
            ("1h 2min 3s", 3723.0),
            ("1s250ms", 1.25),
            ("1.5m0s", 90.0),
        ] {
            assert_eq!(parse(text).ok(), Some(seconds), "{text}");
        }
    }

    #[test]
    fn invalid_durations_are_refused() {
        let texts = "|s|5 minutes|0s|-1s|1e9h|inf|NaN|nan|5d|30s1m|1m1m|1m30|1m-30s|-1m30s|1mNaNs|0m0s|1 30s";
        for text in texts.split('|') {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_is_accepted_makes_a_duration(text in ".{0,12}") {
            if let Ok(seconds) = parse(&text) {
                prop_assert!(std::time::Duration::try_from_secs_f64(seconds).is_ok());
            }
        }
    }
}
