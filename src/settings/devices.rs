//! Parses `--device`: one device, several, or all.

use std::fmt;

use anyhow::{Result, bail};

/// The devices that `--device` selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSelection {
    /// These ordinals: ascending, each once, at least one.
    Named(Vec<u32>),
    /// All devices of the machine.
    All,
}

impl DeviceSelection {
    /// Returns the device if the option names exactly one.
    pub fn single(&self) -> Option<u32> {
        match self {
            DeviceSelection::Named(ordinals) if ordinals.len() == 1 => ordinals.first().copied(),
            _ => None,
        }
    }
}

/// Parses `0`, `0,2` or `all`.
pub(super) fn parse(text: &str) -> Result<DeviceSelection> {
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items == ["all"] {
        return Ok(DeviceSelection::All);
    }
    let ordinals: Option<Vec<u32>> = items.iter().map(|item| item.parse().ok()).collect();
    let Some(mut ordinals) = ordinals.filter(|ordinals| !ordinals.is_empty()) else {
        bail!("it must be a device number such as 0, several such as 0,2, or all");
    };
    ordinals.sort_unstable();
    ordinals.dedup();
    Ok(DeviceSelection::Named(ordinals))
}

/// Formats as on the command line.
impl fmt::Display for DeviceSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceSelection::Named(ordinals) => {
                f.write_str(&ordinals.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
            }
            DeviceSelection::All => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_several_and_all_are_distinguished() {
        for (text, expected) in [
            ("0", DeviceSelection::Named(vec![0])),
            (" 3 ", DeviceSelection::Named(vec![3])),
            ("2,0,2", DeviceSelection::Named(vec![0, 2])),
            ("all", DeviceSelection::All),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
            assert_eq!(parse(&expected.to_string()).unwrap(), expected);
        }
        for text in ["", ",", "x", "-1", "0,all", "1.5", "4294967296"] {
            assert!(parse(text).is_err_and(|error| error.to_string().contains("0,2, or all")), "{text}");
        }
    }
}
