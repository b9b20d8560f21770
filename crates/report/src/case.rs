//! Defines element types, cases and cells: plain data that identifies what a run measures.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::shape::{BATCH, RHS, Shape};

/// Element type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// bfloat16: the leading half of a binary32.
    Bf16,
    /// IEEE binary16.
    F16,
    /// Complex, with two binary32 parts.
    C64,
    /// Complex, with two binary64 parts.
    C128,
}

names!(DType { F32: "f32", F64: "f64", Bf16: "bf16", F16: "f16", C64: "c64", C128: "c128" });

impl DType {
    /// Every element type, in the order reports use.
    pub const ALL: &'static [DType] =
        &[DType::F32, DType::F64, DType::Bf16, DType::F16, DType::C64, DType::C128];

    /// The real types that CPUs compute in.
    pub const REAL: &'static [DType] = &[DType::F32, DType::F64];

    /// The real types, those of 16 bits too.
    pub const REAL_AND_HALF: &'static [DType] = &[DType::F32, DType::F64, DType::Bf16, DType::F16];

    /// The types whose parts CPUs compute in.
    pub const REAL_AND_COMPLEX: &'static [DType] = &[DType::F32, DType::F64, DType::C64, DType::C128];

    /// Returns the name used in the literature: `float32`, `bfloat16`, `complex64`.
    pub fn words(self) -> &'static str {
        match self {
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::Bf16 => "bfloat16",
            DType::F16 => "float16",
            DType::C64 => "complex64",
            DType::C128 => "complex128",
        }
    }

    /// Returns the type that arithmetic on elements is done in, part by part: float32 for 16-bit types.
    pub fn working(self) -> DType {
        match self {
            DType::F32 | DType::Bf16 | DType::F16 | DType::C64 => DType::F32,
            DType::F64 | DType::C128 => DType::F64,
        }
    }

    /// Returns whether elements have a real and an imaginary part.
    pub fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }

    /// Unit roundoff of an element, or of its parts: half the distance from 1 to the next larger number.
    pub fn unit_roundoff(self) -> f64 {
        match self {
            DType::Bf16 => 2f64.powi(-8),
            DType::F16 => 2f64.powi(-11),
            DType::F32 | DType::C64 => f64::from(f32::EPSILON) / 2.0,
            DType::F64 | DType::C128 => f64::EPSILON / 2.0,
        }
    }

    /// Returns the number of bytes of one element.
    pub fn bytes(self) -> u64 {
        match self {
            DType::Bf16 | DType::F16 => 2,
            DType::F32 => 4,
            DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// State of the caches when an execution begins. A ratio of times never mixes the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The operands were flushed from every cache before the execution.
    Cold,
    /// The caches are as the previous execution left them. Layout 1 of reports has such times only.
    #[default]
    Hot,
}

names!(Cache { Cold: "cold", Hot: "hot" });

impl Cache {
    /// Both states, in the order reports use.
    pub const ALL: [Cache; 2] = [Cache::Cold, Cache::Hot];
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One problem: an op at one size or shape, element type and density, or on the matrix of a file, on any backend.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Name of the op in the ops' list.
    pub op: String,
    /// Size N, at least 1: rows and columns of square operands; else what `N` stands for in the shape, or the shape's largest dimension.
    pub n: u64,
    /// Shape of the operands; `None` if they are square and there is one problem.
    pub shape: Option<Shape>,
    /// Element type of the operands.
    pub dtype: DType,
    /// Share of stored entries, in (0, 1]; `None` for ops on dense operands.
    pub density: Option<f64>,
    /// Matrix of a file, by name and fingerprint: `bcsstk13@1f3a5c7e90b2d4f6`; `None` for generated operands.
    pub matrix: Option<String>,
    /// Seed of the operands (see [`crate::data::generator`]).
    pub seed: u64,
}

impl Case {
    /// Returns the case of one problem on square and dense operands.
    pub fn square(op: &str, n: u64, dtype: DType, seed: u64) -> Case {
        Case { op: op.into(), n, shape: None, dtype, density: None, matrix: None, seed }
    }

    /// Returns `n` as an index. It fits because callers have checked it against memory.
    pub fn side(&self) -> usize {
        usize::try_from(self.n).unwrap_or(usize::MAX)
    }

    /// Returns the extent of a dimension, at least 1: without a shape N, and 1 for the batch and right-hand
    /// sides.
    pub fn extent(&self, name: &str) -> u64 {
        match &self.shape {
            Some(shape) => shape.extent(name, self.n).unwrap_or(1),
            None if [BATCH, RHS].contains(&name) => 1,
            None => self.n,
        }
    }

    /// Returns the extents of dimensions as indices. They fit because callers have checked them against memory.
    pub fn extents<const COUNT: usize>(&self, names: [&str; COUNT]) -> [usize; COUNT] {
        names.map(|name| usize::try_from(self.extent(name)).unwrap_or(usize::MAX))
    }

    /// Returns the family of the case.
    pub fn family(&self) -> Family<'_> {
        Family { shape: self.shape.as_ref(), density: self.density, matrix: self.matrix.as_deref() }
    }

    /// Returns the displayed text without the op: `N=1000 f32 density 0.05`, `4096x512x64 f32`.
    pub fn without_op(&self) -> String {
        let size = self.shape.as_ref().map_or_else(|| format!("N={}", self.n), |shape| shape.at(self.n));
        let of_shape = Family { shape: None, ..self.family() };
        let words = of_shape.words().map(|words| format!(" {words}")).unwrap_or_default();
        format!("{size} {}{words}", self.dtype)
    }

    /// Returns a text that is equal for equal cases alone: the displayed one omits the seed, the
    /// fingerprint of a matrix and what varies in a shape.
    pub fn key(&self) -> String {
        let parts = [self.shape.as_ref().map(Shape::to_string), self.matrix.clone()];
        let parts: String = parts.into_iter().flatten().map(|part| format!(" {part}")).collect();
        format!("{self}{parts} seed {}", self.seed)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.op, self.without_op())
    }
}

/// Returns the shortest text that reads back as the same density, below 10⁻⁴ with an exponent: `0.05`, `2.5e-5`.
pub fn density_text(density: f64) -> String {
    if density < 1e-4 { format!("{density:e}") } else { density.to_string() }
}

/// What distinguishes the sweeps over sizes of one op and element type: the shape, and the density or the matrix of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Family<'a> {
    /// Shape of the operands; `None` for square ones.
    pub shape: Option<&'a Shape>,
    /// Share of stored entries; `None` for dense operands.
    pub density: Option<f64>,
    /// Name and fingerprint of the matrix of a file.
    pub matrix: Option<&'a str>,
}

impl Family<'_> {
    /// Returns the heading of [`Family::text`]: `shape`, `density` or `matrix`.
    pub fn heading(self) -> &'static str {
        match self {
            Family { shape: Some(_), .. } => "shape",
            Family { matrix: Some(_), .. } => "matrix",
            _ => "density",
        }
    }

    /// Returns size N as it is shown next to the family: `-` for a shape that does not vary with it.
    pub fn size_text(self, n: u64) -> String {
        match self.shape {
            Some(shape) if !shape.varies() => "-".into(),
            _ => n.to_string(),
        }
    }

    /// Returns the heading of a column with the texts of some families: `shape` if one has a shape, else `matrix` if one has a matrix.
    pub fn column<'a>(families: impl IntoIterator<Item = Family<'a>>) -> &'static str {
        let headings = families.into_iter().map(Family::heading);
        headings
            .max_by_key(|heading| ["density", "matrix", "shape"].iter().position(|known| known == heading))
            .unwrap_or("density")
    }

    /// Returns the shape, the density or the name of the matrix: `4096x512xN`, `0.05` or `bcsstk13`, a density next to a shape with
    /// its heading; `None` for generated square dense operands.
    pub fn text(self) -> Option<String> {
        let name = |matrix: &str| matrix.split_once('@').map_or(matrix, |(name, _)| name).to_owned();
        match self.shape {
            Some(shape) => Some(format!("{shape}{}", Family { shape: None, ..self }.clause())),
            None => self.matrix.map(name).or_else(|| self.density.map(density_text)),
        }
    }

    /// Returns [`Family::text`] after its heading: `density 0.05` or `matrix bcsstk13`.
    pub fn words(self) -> Option<String> {
        self.text().map(|text| format!("{} {text}", self.heading()))
    }

    /// Returns [`Family::words`] as a clause, `, density 0.05`; empty for generated square dense operands.
    pub fn clause(self) -> String {
        self.words().map(|words| format!(", {words}")).unwrap_or_default()
    }

    /// Returns the suffix of names of files, `-4096x512xN`, `-d0.05` or `-bcsstk13-1f3a5c7e90b2d4f6`; empty for generated square dense
    /// operands.
    pub fn suffix(self) -> String {
        let shape =
            self.shape.map(|shape| format!("-{}", shape.to_string().replace(' ', "-"))).unwrap_or_default();
        let entries = match (self.matrix, self.density) {
            (Some(matrix), _) => format!("-{}", matrix.replace('@', "-")),
            (None, density) => {
                density.map(|density| format!("-d{}", density_text(density))).unwrap_or_default()
            }
        };
        shape + &entries
    }
}

/// One case on one backend by one variant: the subject of one row of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The problem.
    pub case: Case,
    /// Name of the backend.
    pub backend: String,
    /// Name of the variant among the backend's variants of the op.
    pub variant: String,
    /// State of the caches before each execution.
    #[serde(default)]
    pub cache: Cache,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{} {}", self.case, self.backend, self.variant, self.cache)
    }
}

impl Cell {
    /// Returns a text that is equal for equal cells alone, see [`Case::key`].
    pub fn key(&self) -> String {
        format!("{} {}/{} {}", self.case.key(), self.backend, self.variant, self.cache)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(density: f64, matrix: Option<&str>) -> Case {
        let (density, matrix) = (Some(density), matrix.map(str::to_owned));
        Case { density, matrix, ..Case::square("spmv", 8, DType::F32, 1) }
    }

    #[test]
    fn small_densities_are_written_with_an_exponent() {
        for (density, text) in [(0.05, "0.05"), (1e-4, "0.0001"), (2.5e-5, "2.5e-5"), (1e-300, "1e-300")] {
            assert_eq!(sparse(density, None).to_string(), format!("spmv N=8 f32 density {text}"));
        }
    }

    #[test]
    fn matrices_are_shown_by_name_and_distinguished_by_fingerprint() {
        let [one, other] = ["a@0", "a@1"].map(|matrix| sparse(0.5, Some(matrix)));
        assert_eq!((one.to_string(), other.to_string()), ("spmv N=8 f32 matrix a".into(), one.to_string()));
        assert_ne!(one.key(), other.key());
        assert_eq!((one.family().clause(), one.family().suffix()), (", matrix a".into(), "-a-0".into()));
    }
}
