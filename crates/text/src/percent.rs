//! Shares as people write them: `0.5%`.

use anyhow::{Result, bail, ensure};

/// The share, such as 0.005 for `0.5%`: above 0 and at most 1. The sign is asked for, so that nobody has to guess
/// whether 0.5 is half a percent or a half.
pub fn parse(text: &str) -> Result<f64> {
    let share = written(text)?;
    ensure!(share > 0.0 && share <= 1.0, "share '{}' is not above 0% and at most 100%", text.trim());
    Ok(share)
}

/// The same where none at all is allowed too: from 0 to 1.
pub fn parse_from_zero(text: &str) -> Result<f64> {
    let share = written(text)?;
    ensure!((0.0..=1.0).contains(&share), "share '{}' is not between 0% and 100%", text.trim());
    // A minus sign before the zero means nothing.
    Ok(share.abs())
}

/// The share, whatever its size.
fn written(text: &str) -> Result<f64> {
    let text = text.trim();
    match text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok()) {
        Some(percent) => Ok(percent / 100.0),
        None => bail!("share '{text}' is not understood: write it with a percent sign, as 0.5%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_have_a_percent_sign() {
        assert_eq!(parse("0.5%").ok(), Some(0.005));
        assert_eq!(parse(" 100 % ").ok(), Some(1.0));
        for text in ["", "%", "0.5", "0%", "-1%", "101%", "nan%", "inf%", "1%%"] {
            assert!(parse(text).is_err_and(|error| error.to_string().contains(text.trim())), "{text}");
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

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,12}") {
            let _ = (parse(&text), parse_from_zero(&text));
        }
    }
}
