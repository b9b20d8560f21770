//! Parses and writes shares as percentages: `0.5%`, and in sentences `0.5 %`.

use anyhow::{Result, bail, ensure};

/// Parses a share such as 0.005 for `0.5%`: above 0 and at most 1. The percent sign is required, because 0.5 could mean
/// half a percent or a half.
pub fn parse(text: &str) -> Result<f64> {
    let share = written(text)?;
    ensure!(share > 0.0 && share <= 1.0, "percentage '{}' is not above 0% and at most 100%", text.trim());
    Ok(share)
}

/// Parses a share from 0 to 1, as [`parse`] does.
pub fn parse_from_zero(text: &str) -> Result<f64> {
    let share = written(text)?;
    ensure!((0.0..=1.0).contains(&share), "percentage '{}' is not between 0% and 100%", text.trim());
    // `abs` turns -0 into 0.
    Ok(share.abs())
}

/// Parses a share of any size.
fn written(text: &str) -> Result<f64> {
    let text = text.trim();
    match text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok()) {
        Some(percent) => Ok(percent / 100.0),
        None => bail!("'{text}' is not a percentage: write {}", with_sign(text)),
    }
}

/// Returns what a text without a percent sign may mean, with one: `5` is `5%`, but `0.05` may be either.
fn with_sign(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number < 1.0 => {
            format!("{}% or {text}%, with the percent sign", rounded(number, 6))
        }
        Ok(number) if (1.0..=100.0).contains(&number) => format!("{text}%, with the percent sign"),
        _ => "a number and a percent sign, such as 5%".to_owned(),
    }
}

/// Formats a measured share for tables: `94%`, `3.1%`, `0.0%`. It has one decimal below ten per cent.
pub fn short(share: f64) -> String {
    format!("{}%", figure(100.0 * share))
}

/// Formats a share as [`short`] does, but a small one as `<0.1%`.
pub fn above_tenth(share: f64) -> String {
    if is_small(share) { "<0.1%".into() } else { short(share) }
}

/// Formats a share for a sentence: `94 %`, `3.1 %`, `below 0.1 %`.
pub fn in_words(share: f64) -> String {
    if is_small(share) { "below 0.1 %".into() } else { format!("{} %", figure(100.0 * share)) }
}

/// Formats a share for a sentence: `0.50 %`. It has two decimals below 1 %, and all its digits below 0.01 %.
pub fn fine(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 1000.0 => "over 1000 %".into(),
        percent if percent >= 0.995 => format!("{} %", figure(percent)),
        percent if percent >= 0.01 => format!("{percent:.2} %"),
        percent => format!("{percent} %"),
    }
}

/// Returns a requested share in per cent, rounded to `decimals`: `2`, `0.5`.
///
/// The rounding hides that 0.07 * 100 is not 7.
pub fn rounded(share: f64, decimals: i32) -> f64 {
    (share * 10f64.powi(decimals + 2)).round() / 10f64.powi(decimals)
}

/// Returns whether a share rounds to less than a tenth of a per cent.
fn is_small(share: f64) -> bool {
    100.0 * share < 0.1 || share.is_nan()
}

fn figure(percent: f64) -> String {
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_show_two_digits_and_small_ones_say_that_they_are_small() {
        let shares = [0.943, 0.0312, 1.2, 1e-5, 0.0995];
        assert_eq!(shares.map(short), ["94%", "3.1%", "120%", "0.0%", "10%"]);
        assert_eq!(shares.map(above_tenth), ["94%", "3.1%", "120%", "<0.1%", "10%"]);
        assert_eq!(shares.map(in_words), ["94 %", "3.1 %", "120 %", "below 0.1 %", "10 %"]);
    }

    #[test]
    fn fine_shares_keep_the_digits_of_small_ones() {
        let shares = [11.0, 0.5, 0.025, 0.005, 0.0000125];
        assert_eq!(shares.map(fine), ["over 1000 %", "50 %", "2.5 %", "0.50 %", "0.00125 %"]);
    }

    #[test]
    fn requested_shares_are_shown_as_written() {
        assert_eq!([0.02, 0.005, 0.07].map(|share| rounded(share, 2).to_string()), ["2", "0.5", "7"]);
        assert_eq!(rounded(0.02549, 1), 2.5);
    }

    #[test]
    fn shares_have_a_percent_sign() {
        assert_eq!(parse("0.5%").ok(), Some(0.005));
        assert_eq!(parse(" 100 % ").ok(), Some(1.0));
        for text in ["", "%", "0.5", "0%", "-1%", "101%", "nan%", "inf%", "1%%"] {
            assert!(parse(text).is_err_and(|error| error.to_string().contains(text.trim())), "{text}");
        }
    }

    #[test]
    fn a_number_without_the_sign_is_refused_with_what_it_may_mean() {
        for (text, meant) in [
            ("5", "write 5%, with"),
            ("0.05", "write 5% or 0.05%, with"),
            ("five", "write a number and a percent sign, such as 5%"),
            ("-1", "such as 5%"),
        ] {
            assert!(parse(text).is_err_and(|error| error.to_string().contains(meant)), "{text}");
        }
    }

    #[test]
    fn no_share_at_all_is_one_where_it_is_allowed() {
        assert_eq!(parse_from_zero("0%").ok(), Some(0.0));
        assert_eq!(parse_from_zero("5%").ok(), Some(0.05));
        for text in ["0", "-1%", "101%", "nan%"] {
            assert!(parse_from_zero(text).is_err_and(|error| error.to_string().contains(text)), "{text}");
        }
    }
}
