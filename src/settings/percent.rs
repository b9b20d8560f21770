//! Shares as people write them: `0.5%`.

use anyhow::{Result, bail, ensure};

/// The share, such as 0.005 for `0.5%`: above 0 and at most 1. The sign is asked for, so that nobody has to guess
/// whether 0.5 is half a percent or a half.
pub fn parse(text: &str) -> Result<f64> {
    let text = text.trim();
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let Some(percent) = percent else {
        bail!("share '{text}' is not understood: write it with a percent sign, as 0.5%");
    };
    ensure!(percent > 0.0 && percent <= 100.0, "share '{text}' is not above 0% and at most 100%");
    Ok(percent / 100.0)
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

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,12}") {
            let _ = parse(&text);
        }
    }
}
