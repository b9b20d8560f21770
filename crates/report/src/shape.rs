//! Shapes: the dimensions of a problem by name, each a number or a multiple of the size N that a sweep varies.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The names of dimensions in the order in which texts and files have them; those that follow are words, such as a layout.
const ORDER: [&str; 12] = ["m", "n", "k", "rows", "cols", "nx", "ny", "nz", RHS, BATCH, LAYOUT, AXIS];

/// Name of the number of problems of one shape that one execution computes.
pub const BATCH: &str = "batch";

/// Name of the number of right-hand sides.
pub const RHS: &str = "rhs";

/// Name of the layout of the operands of a product: `nn`, `nt`, `tn` or `tt`, where `t` is an operand that is stored transposed.
pub const LAYOUT: &str = "layout";

/// Name of the axis along which a matrix is reduced, as NumPy counts: 0 leaves one result per column, 1 one per row.
pub const AXIS: &str = "axis";

/// The value of a dimension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "WrittenDimension")]
pub enum Dimension {
    /// A number, at least 1.
    Fixed(u64),
    /// A multiple of the size N: `N`, `16N`.
    OfSize(u64),
    /// A word that is no extent: a layout, or the number of an axis.
    Word(String),
}

impl Dimension {
    /// Returns the extent at size `n`, saturating; `None` for a word.
    fn at(&self, n: u64) -> Option<u64> {
        match self {
            Dimension::Fixed(extent) => Some(*extent),
            Dimension::OfSize(factor) => Some(factor.saturating_mul(n)),
            Dimension::Word(_) => None,
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dimension::Fixed(extent) => write!(f, "{extent}"),
            Dimension::OfSize(1) => f.write_str("N"),
            Dimension::OfSize(factor) => write!(f, "{factor}N"),
            Dimension::Word(word) => f.write_str(word),
        }
    }
}

impl FromStr for Dimension {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Dimension> {
        let number = |digits: &str| {
            ensure!(!digits.starts_with('0'), "'{text}' is no dimension: dimensions are at least 1");
            digits.parse::<u64>().with_context(|| format!("'{text}' is too large for any memory"))
        };
        let is_number = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        match text.strip_suffix('N') {
            Some("") => Ok(Dimension::OfSize(1)),
            Some(digits) if is_number(digits) => Ok(Dimension::OfSize(number(digits)?)),
            // The only number that is no extent: an axis.
            _ if text == "0" => Ok(Dimension::Word(text.to_owned())),
            _ if !text.is_empty() && is_number(text) => Ok(Dimension::Fixed(number(text)?)),
            _ if is_name(text) => Ok(Dimension::Word(text.to_owned())),
            _ => bail!(
                "'{text}' is no dimension: write a number such as 512, or N or 16N for the size that varies"
            ),
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// The dimensions of a problem by name. A batch of 1, one right-hand side and the layout `nn` are left out, so that equal shapes have
/// equal texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape(Vec<(String, Dimension)>);

impl Shape {
    /// Makes a shape of dimensions in any order.
    ///
    /// # Errors
    /// A name is missing, twice or no lower-case word; or a dimension that is an extent is a word, or the layout is none.
    pub fn of(dimensions: impl IntoIterator<Item = (String, Dimension)>) -> anyhow::Result<Shape> {
        let rank = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
        let mut all: Vec<(String, Dimension)> = dimensions.into_iter().collect();
        for (name, extent) in &mut all {
            if name == AXIS && *extent == Dimension::Fixed(1) {
                *extent = Dimension::Word("1".to_owned());
            }
            ensure!(
                is_name(name),
                "'{name}' is no name of a dimension: names are words such as m, rows or batch"
            );
            let has_word = matches!(extent, Dimension::Word(_));
            ensure!(
                has_word == [LAYOUT, AXIS].contains(&name.as_str()),
                "{name} cannot be {extent}: give {}",
                match (has_word, name.as_str()) {
                    (true, _) => "a number of at least 1, or a multiple of N",
                    (false, AXIS) => "0 or 1",
                    (false, _) => "a word",
                }
            );
        }
        all.sort_by(|(a, _), (b, _)| (rank(a), a).cmp(&(rank(b), b)));
        if let Some(twice) = all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            bail!("{} is given twice: give each dimension once", twice[0].0);
        }
        let is_usual = |name: &str, extent: &Dimension| match extent {
            Dimension::Fixed(1) => [BATCH, RHS].contains(&name),
            Dimension::Word(word) => name == LAYOUT && word == "nn",
            _ => false,
        };
        all.retain(|(name, extent)| !is_usual(name, extent));
        let extents = all.iter().filter(|(_, extent)| !matches!(extent, Dimension::Word(_))).count();
        ensure!(
            (1..=ORDER.len()).contains(&extents),
            "a shape has {extents} dimensions: give 1 to {}",
            ORDER.len()
        );
        Ok(Shape(all))
    }

    /// Returns the extent of a dimension at size `n`; `None` for one that the shape lacks.
    pub fn extent(&self, name: &str, n: u64) -> Option<u64> {
        self.get(name)?.at(n)
    }

    /// Returns the word of a name, such as the layout.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Dimension::Word(word) => Some(word),
            _ => None,
        }
    }

    fn get(&self, name: &str) -> Option<&Dimension> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, extent)| extent)
    }

    /// Returns the names of its dimensions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns whether a dimension is a multiple of N.
    pub fn varies(&self) -> bool {
        self.0.iter().any(|(_, extent)| matches!(extent, Dimension::OfSize(_)))
    }

    /// Returns whether all dimensions are N, or one number.
    pub fn is_square(&self) -> bool {
        let is_size = |extent: &Dimension| matches!(extent, Dimension::OfSize(1) | Dimension::Fixed(_));
        self.0.iter().all(|(_, extent)| is_size(extent) && *extent == self.0[0].1)
    }

    /// Returns the size of a problem whose shape does not vary: its largest dimension, the batch and the right-hand sides apart.
    pub fn largest(&self) -> u64 {
        let counted = self.0.iter().filter(|(name, _)| ![BATCH, RHS].contains(&name.as_str()));
        counted.filter_map(|(_, extent)| extent.at(1)).max().unwrap_or(1)
    }

    /// Returns the shape at size `n`: `4096x512x64 batch 10`.
    pub fn at(&self, n: u64) -> String {
        let at = |extent: &Dimension| extent.at(n).map_or_else(|| extent.clone(), Dimension::Fixed);
        Shape(self.0.iter().map(|(name, extent)| (name.clone(), at(extent))).collect()).to_string()
    }
}

/// `4096x512xN batch 64 nt`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (name, extent) in &self.0 {
            match (name.as_str(), extent) {
                (AXIS, axis) => write!(f, "{before}{name} {axis}")?,
                (_, Dimension::Word(word)) => write!(f, "{before}{word}")?,
                (BATCH | RHS, _) => write!(f, "{before}{name} {extent}")?,
                _ => write!(f, "{}{extent}", if before.is_empty() { "" } else { "x" })?,
            }
            before = " ";
        }
        Ok(())
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, extent)| (name, extent)))
    }
}

impl Serialize for Dimension {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Dimension::Fixed(extent) => serializer.serialize_u64(*extent),
            Dimension::Word(axis) if axis == "0" => serializer.serialize_u64(0),
            Dimension::Word(axis) if axis == "1" => serializer.serialize_u64(1),
            _ => serializer.collect_str(self),
        }
    }
}

/// A dimension as files have it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a whole number from 1, N or a multiple of it such as 16N, or a word")]
enum WrittenDimension {
    Number(u64),
    Text(String),
}

impl TryFrom<WrittenDimension> for Dimension {
    type Error = anyhow::Error;

    fn try_from(written: WrittenDimension) -> anyhow::Result<Dimension> {
        match written {
            WrittenDimension::Number(number) => number.to_string().parse(),
            WrittenDimension::Text(text) => text.parse(),
        }
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
        Shape::of(BTreeMap::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dimensions: &[(&str, &str)]) -> anyhow::Result<Shape> {
        Shape::of(dimensions.iter().map(|(name, text)| ((*name).to_owned(), text.parse().unwrap())))
    }

    #[test]
    fn a_shape_has_one_order_and_one_text_and_reads_back() {
        let one =
            shape(&[("layout", "nt"), ("k", "N"), ("batch", "64"), ("n", "512"), ("m", "4096")]).unwrap();
        assert_eq!(
            (one.to_string(), one.at(32)),
            ("4096x512xN batch 64 nt".into(), "4096x512x32 batch 64 nt".into())
        );
        let json = r#"{"m":4096,"n":512,"k":"N","batch":64,"layout":"nt"}"#;
        assert_eq!(
            (serde_json::to_string(&one).unwrap(), serde_json::from_str(json).ok()),
            (json.into(), Some(one))
        );
        let usual =
            shape(&[("m", "16N"), ("n", "16N"), ("k", "N"), ("batch", "1"), ("layout", "nn")]).unwrap();
        assert_eq!((usual.to_string().as_str(), usual.extent("m", 3)), ("16Nx16NxN", Some(48)));
        assert!(usual.varies() && usual.extent(BATCH, 3).is_none() && usual.word(LAYOUT).is_none());
    }

    #[test]
    fn right_hand_sides_and_batches_follow_the_dimensions() {
        let systems = shape(&[("batch", "8"), ("rhs", "N"), ("n", "50")]).unwrap();
        assert_eq!(
            (systems.to_string(), systems.at(4)),
            ("50 rhs N batch 8".into(), "50 rhs 4 batch 8".into())
        );
    }

    #[test]
    fn an_axis_is_a_number_in_files_and_follows_the_dimensions() {
        for axis in ["0", "1"] {
            let reduced = shape(&[("axis", axis), ("rows", "N"), ("cols", "32")]).unwrap();
            assert_eq!((reduced.to_string(), reduced.word(AXIS)), (format!("Nx32 axis {axis}"), Some(axis)));
            let json = serde_json::to_string(&reduced).unwrap();
            assert_eq!(json, format!(r#"{{"rows":"N","cols":32,"axis":{axis}}}"#));
            assert_eq!(serde_json::from_str(&json).ok(), Some(reduced));
        }
    }

    #[test]
    fn what_is_no_shape_is_refused() {
        for wrong in [
            &[("m", "4"), ("m", "5")][..],
            &[("m", "nt")],
            &[("layout", "4")],
            &[("m", "0")],
            &[("m", "4"), ("axis", "2")],
            &[],
            &[("Q", "4")],
        ] {
            assert!(shape(wrong).is_err(), "{wrong:?}");
        }
        for wrong in ["00", "0N", "-1", "1.5", "NN", "N16", "", "99999999999999999999", "\u{7}"] {
            assert!(wrong.parse::<Dimension>().is_err(), "{wrong:?}");
        }
    }
}
