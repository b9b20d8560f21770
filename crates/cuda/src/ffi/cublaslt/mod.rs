//! cuBLASLt: products of floating point, and exact sums of products of 8-bit integers, by whichever of its algorithms is the fastest
//! for the shape.

mod calls;
mod dense;
mod describe;
mod plan;
mod residues;
mod slices;

pub(crate) use dense::{DenseProduct, ProductReal};
pub(crate) use residues::ResidueProducts;
pub(crate) use slices::{SLICES, SliceProducts};
