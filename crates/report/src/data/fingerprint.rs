//! Computes a fingerprint of operands, so that the parent can verify that two backends used the same ones.

use rayon::prelude::*;

use super::{Operand, Values};

/// Returns a 64-bit fingerprint of shapes, structure and bit patterns of `operands`, in order.
///
/// Each element adds `(bits + 1) * (2 * position + 1)` modulo 2^64, so that it can be summed in any order.
pub fn fingerprint(operands: &[Operand]) -> u64 {
    let mut state = 0u64;
    for operand in operands {
        let (rows, cols, structure) = match operand {
            Operand::Dense(d) => (d.rows, d.cols, 0),
            Operand::Csr(c) => {
                let [offsets, columns] = [&c.indptr, &c.indices].map(|whole| sum(whole, |i| *i as u64));
                (c.rows, c.cols, offsets.wrapping_add(columns.rotate_left(1)))
            }
        };
        let elements = match operand.values() {
            Values::F32(v) => sum(v, |x| x.to_bits().into()),
            Values::F64(v) => sum(v, |x| x.to_bits()),
            Values::Bf16(v) => sum(v, |x| x.to_bits().into()),
            Values::F16(v) => sum(v, |x| x.to_bits().into()),
            Values::C64(v) => sum(v, |z| u64::from(z.re.to_bits()) | u64::from(z.im.to_bits()) << 32),
            // A complex number is two elements.
            Values::C128(v) => add(v
                .par_iter()
                .enumerate()
                .map(|(i, z)| weigh(2 * i, z.re.to_bits()).wrapping_add(weigh(2 * i + 1, z.im.to_bits())))),
        };
        state = [rows as u64, cols as u64, structure, elements].into_iter().fold(state, join);
    }
    state
}

/// Adds the fingerprint of one more part to that of the parts before it.
pub fn join(state: u64, part: u64) -> u64 {
    state.rotate_left(13).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(part)
}

/// Returns the fingerprint of bytes, eight at a time as little-endian numbers, the last ones filled up with zeros.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let of = |(position, word): (usize, &[u8; 8])| weigh(position, u64::from_le_bytes(*word));
    let whole = words.par_iter().enumerate().with_min_len(SERIAL).map(of).reduce(|| 0, u64::wrapping_add);
    whole.wrapping_add(of((words.len(), &last)))
}

/// Words below which threads cost more than they save.
const SERIAL: usize = 1 << 13;

fn weigh(position: usize, bits: u64) -> u64 {
    bits.wrapping_add(1).wrapping_mul(2 * position as u64 + 1)
}

fn sum<T: Sync>(values: &[T], bits: impl Fn(&T) -> u64 + Sync) -> u64 {
    add(values.par_iter().enumerate().map(|(i, v)| weigh(i, bits(v))))
}

fn add(terms: impl ParallelIterator<Item = u64>) -> u64 {
    terms.reduce(|| 0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::Dense;
    use super::*;

    #[test]
    fn complex_numbers_count_by_position_and_part() {
        let of = |values: [(f64, f64); 3]| {
            let double = values.map(|(re, im)| Complex { re, im }).to_vec();
            let single = values.map(|(re, im)| Complex { re: re as f32, im: im as f32 }).to_vec();
            let column = |values| Operand::Dense(Dense { rows: 3, cols: 1, values });
            [Values::C64(single), Values::C128(double)].map(|values| fingerprint(&[column(values)]))
        };
        let base = of([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]);
        for other in [
            [(3.0, 4.0), (1.0, 2.0), (5.0, 6.0)],
            [(2.0, 1.0), (3.0, 4.0), (5.0, 6.0)],
            [(1.0, 4.0), (3.0, 2.0), (5.0, 6.0)],
            [(1.0, 2.0), (3.0, 4.0), (5.0, -6.0)],
        ] {
            let other = of(other);
            assert!(base[0] != other[0] && base[1] != other[1], "{base:?} {other:?}");
        }
    }
}
