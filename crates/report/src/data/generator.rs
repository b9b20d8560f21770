//! The counter-based generator of operands: SplitMix64 with random access.
//!
//! Element `index` of operand `operand` under `seed` comes from the 64 bits
//!
//! ```text
//! key  = mix(seed + G * (operand + 1))
//! bits = mix(key + G * (index + 1))          G = 0x9E3779B97F4A7C15, all arithmetic modulo 2^64
//! mix(z): z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
//!         z = (z ^ (z >> 27)) * 0x94D049BB133111EB
//!         z ^ (z >> 31)
//! ```
//!
//! `index` counts row-major. Uniform values in [0, 1) are the leading 53 bits times 2^-53 (f64), the leading 24 bits times
//! 2^-24 (f32), 11 times 2^-11 (f16) or 8 times 2^-8 (bf16). The parts of a complex element are the real values at `2 index` and
//! `2 index + 1`. A matrix of density `p` stores entry `index` when the leading 32
//! bits of operand `2 * operand` lie below `floor(p * 2^32)` (always when `p = 1`); its value is the
//! uniform value at the same index of operand `2 * operand + 1`. Source of the mixer: Steele, Lea and
//! Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; constants by Stafford.

use rayon::prelude::*;

use super::{Csr, Element, Real};

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
/// Elements one task makes: long enough to hide the cost of a task, short enough to balance.
const CHUNK: usize = 1 << 15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The stream of one operand.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// Returns the stream of operand number `operand` under `seed`.
    pub fn new(seed: u64, operand: u64) -> Self {
        Stream { key: mix(seed.wrapping_add(GAMMA.wrapping_mul(operand.wrapping_add(1)))) }
    }

    /// Returns the 64 bits at `index`.
    pub fn bits(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(GAMMA.wrapping_mul(index.wrapping_add(1))))
    }

    /// Returns the uniform value in [0, 1) at `index`.
    pub fn uniform<T: Element>(self, index: u64) -> T {
        T::uniform(|index| self.bits(index), index)
    }

    /// Returns the first `len` uniform values.
    pub fn uniforms<T: Element>(self, len: usize) -> Vec<T> {
        let mut values = vec![T::default(); len];
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, part)| {
            let first = (chunk * CHUNK) as u64;
            for (offset, value) in part.iter_mut().enumerate() {
                *value = self.uniform(first + offset as u64);
            }
        });
        values
    }
}

/// Returns a sparse matrix of the given density with uniform stored values; rows are sorted by column.
///
/// The caller keeps `rows * cols * density` below `i32::MAX`.
pub fn sparse<T: Real>(seed: u64, operand: u64, rows: usize, cols: usize, density: f64) -> Csr {
    let (pattern, values) = (Stream::new(seed, 2 * operand), Stream::new(seed, 2 * operand + 1));
    let threshold = (density * 4_294_967_296.0).floor().min(4_294_967_296.0) as u64;
    let stored: Vec<(Vec<i32>, Vec<T>)> = (0..rows)
        .into_par_iter()
        .map(|row| {
            let first = (row * cols) as u64;
            let columns: Vec<i32> = (0..cols as u64)
                .filter(|j| pattern.bits(first + j) >> 32 < threshold)
                .map(|j| j as i32)
                .collect();
            let row_values = columns.iter().map(|&j| values.uniform(first + j as u64)).collect();
            (columns, row_values)
        })
        .collect();
    let mut indptr = vec![0i32];
    let mut indices = Vec::new();
    let mut flat = Vec::new();
    for (columns, row_values) in stored {
        indices.extend(columns);
        flat.extend(row_values);
        indptr.push(indices.len() as i32);
    }
    Csr { rows, cols, indptr, indices, values: T::into_values(flat) }
}

/// Returns a standard normal value from two uniform ones in [0, 1). Box and Muller, "A note on the generation of random
/// normal deviates", Annals of Mathematical Statistics 29 (1958). 1 - u keeps the logarithm's argument above zero.
pub fn normal(u: f64, v: f64) -> f64 {
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published test vectors (docs/worker-protocol.md): seed, operand, index, bits.
    const VECTORS: &[(u64, u64, u64, u64)] = &[
        (0, 0, 0, 0xA706DD2F4D197E6F),
        (0, 0, 1, 0xB382A305F4414F5E),
        (0, 0, 1000000, 0x2623754E3559D98B),
        (0, 1, 0, 0x46B73E79F0C37C00),
        (0, 1, 1, 0x374327C63D0CC8A6),
        (0, 1, 1000000, 0xAD13FCE09C5486AD),
        (42, 0, 0, 0x57E1FABA65107204),
        (42, 0, 1, 0xF4ABD143FEB24055),
        (42, 0, 1000000, 0x8505DA9E8A915C81),
        (42, 1, 0, 0xFC991BCA1A1AA1AE),
        (42, 1, 1, 0x4F0482A72B57EE7D),
        (42, 1, 1000000, 0x835785DCB1D52839),
    ];

    #[test]
    fn the_published_vectors_hold() {
        for &(seed, operand, index, bits) in VECTORS {
            assert_eq!(Stream::new(seed, operand).bits(index), bits, "{seed} {operand} {index}");
        }
    }

    #[test]
    fn uniforms_agree_with_single_values_and_lie_in_range() {
        let stream = Stream::new(7, 1);
        let values: Vec<f32> = stream.uniforms(CHUNK + 5);
        assert_eq!(values[CHUNK + 4], stream.uniform::<f32>((CHUNK + 4) as u64));
        assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
    }

    #[test]
    fn density_is_kept_and_rows_are_sorted() {
        let m = sparse::<f64>(3, 0, 200, 300, 0.05);
        assert!((m.nnz() as f64 / 60_000.0 - 0.05).abs() < 0.005);
        for row in m.indptr.windows(2) {
            assert!(m.indices[row[0] as usize..row[1] as usize].windows(2).all(|p| p[0] < p[1]));
        }
        assert_eq!(sparse::<f64>(3, 0, 20, 30, 1.0).nnz(), 600);
    }

    proptest::proptest! {
        #[test]
        fn any_value_is_uniform_and_holds_its_leading_bits(seed: u64, operand: u64, index: u64) {
            let stream = Stream::new(seed, operand);
            let (single, double) = (stream.uniform::<f32>(index), stream.uniform::<f64>(index));
            proptest::prop_assert!((0.0..1.0).contains(&single) && (0.0..1.0).contains(&double));
            proptest::prop_assert!(f64::from(single) <= double && double - f64::from(single) < 0.5f64.powi(24));
        }

        #[test]
        fn neighbours_differ_in_every_direction(seed: u64, operand in 0u64..1000, index: u64) {
            let bits = Stream::new(seed, operand).bits(index);
            proptest::prop_assert_ne!(bits, Stream::new(seed, operand).bits(index.wrapping_add(1)));
            proptest::prop_assert_ne!(bits, Stream::new(seed, operand + 1).bits(index));
            proptest::prop_assert_ne!(bits, Stream::new(seed.wrapping_add(1), operand).bits(index));
        }

        #[test]
        fn sparse_entries_are_those_of_the_pattern(
            seed: u64, operand in 0u64..4, rows in 1usize..40, cols in 1usize..40, density in 0.0f64..=1.0,
        ) {
            let m = sparse::<f64>(seed, operand, rows, cols, density);
            let (pattern, values) = (Stream::new(seed, 2 * operand), Stream::new(seed, 2 * operand + 1));
            let stored = f64::slice(&m.values).unwrap();
            proptest::prop_assert_eq!(m.indptr.len(), rows + 1);
            let mut next = 0;
            for row in 0..rows {
                proptest::prop_assert_eq!(m.indptr[row] as usize, next);
                for col in 0..cols {
                    let index = (row * cols + col) as u64;
                    if (pattern.bits(index) >> 32) < (density * 4_294_967_296.0) as u64 {
                        proptest::prop_assert_eq!(m.indices[next] as usize, col);
                        proptest::prop_assert_eq!(stored[next], values.uniform::<f64>(index));
                        next += 1;
                    }
                }
            }
            proptest::prop_assert_eq!(m.nnz(), next);
        }
    }
}
