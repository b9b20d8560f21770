//! The devices that a run is asked to measure: one, several, or all there are.

use std::fmt;

use anyhow::{Result, bail};

/// What `--device` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// One, by its ordinal.
    One(u32),
    /// Several, by their ordinals, ascending, each once.
    Several(Vec<u32>),
    /// Every one that the machine has.
    All,
}

/// Parses `0`, `0,2` or `all`.
///
/// # Errors
/// It is none of these, or names a device twice.
pub fn parse(text: &str) -> Result<Devices> {
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items == ["all"] {
        return Ok(Devices::All);
    }
    let ordinals: Option<Vec<u32>> = items.iter().map(|item| item.parse().ok()).collect();
    let Some(mut ordinals) = ordinals.filter(|ordinals| !ordinals.is_empty()) else {
        bail!("it must be the number of a device such as 0, several such as 0,2, or all");
    };
    ordinals.sort_unstable();
    if let Some(twice) = ordinals.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("device {} is named twice: name each device once", twice[0]);
    }
    Ok(match ordinals.as_slice() {
        [one] => Devices::One(*one),
        _ => Devices::Several(ordinals),
    })
}

/// As on the command line.
impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Devices::One(one) => one.fmt(f),
            Devices::Several(several) => {
                f.write_str(&several.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
            }
            Devices::All => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_several_and_all_are_told_apart() {
        for (text, expected) in [
            ("0", Devices::One(0)),
            (" 3 ", Devices::One(3)),
            ("2,0", Devices::Several(vec![0, 2])),
            ("all", Devices::All),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
            assert_eq!(parse(&expected.to_string()).unwrap(), expected);
        }
        for text in ["", ",", "x", "-1", "0,all", "1.5", "4294967296"] {
            assert!(parse(text).is_err_and(|error| error.to_string().contains("0,2, or all")), "{text}");
        }
    }

    #[test]
    fn a_device_that_is_named_twice_is_refused() {
        for (text, device) in [("0,0", 0), ("2,0,2", 2)] {
            let refused = parse(text).unwrap_err().to_string();
            assert_eq!(refused, format!("device {device} is named twice: name each device once"));
        }
    }
}
