//! Parses durations such as `250ns`, `100us`, `1.5ms`, `30s`, `5m`, `1.5h`; a bare number is seconds.

use anyhow::{Result, anyhow, ensure};

/// Maximum duration: 30 days.
const LONGEST_S: f64 = 30.0 * 86_400.0;

/// Parses a duration in seconds, above 0 and at most 30 days.
pub fn parse(text: &str) -> Result<f64> {
    let text = text.trim();
    // An `e` is part of the number: 3e2ns.
    let unit_at = text.find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let refused = |why: &str| anyhow!("duration '{text}' {why}: write it like 100us, 30s, 5m or 1.5h");
    let scale = match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(refused("is not valid")),
    };
    let seconds = scale * number.trim().parse::<f64>().map_err(|_| refused("is not valid"))?;
    ensure!(seconds > 0.0, refused("is not above zero"));
    ensure!(seconds <= LONGEST_S, refused("is longer than 30 days"));
    Ok(seconds)
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
        ] {
            assert_eq!(parse(text).ok(), Some(seconds), "{text}");
        }
    }

    #[test]
    fn invalid_durations_are_refused() {
        for text in ["", "s", "5 minutes", "0s", "-1s", "1e9h", "inf", "NaN", "nan", "5d"] {
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
