//! Short floating-point formats, and operands rounded to them.

use super::{Operand, change_all};

/// A format of fewer bits.
#[derive(Clone, Copy)]
pub(crate) struct ShortFloat {
    /// Name in messages.
    pub name: &'static str,
    /// Bits of the significand, the leading one included.
    bits: u32,
    /// Smallest exponent of a normal number.
    least: i32,
    /// Whether extra digits are truncated rather than rounded.
    truncates: bool,
}

pub(crate) const FLOAT32: ShortFloat =
    ShortFloat { name: "float32", bits: 24, least: -126, truncates: false };
pub(crate) const TF32: ShortFloat = ShortFloat { name: "TF32", bits: 11, least: -126, truncates: false };
pub(crate) const TRUNCATED: ShortFloat =
    ShortFloat { name: "truncated TF32", bits: 11, least: -126, truncates: true };
pub(crate) const FLOAT16: ShortFloat = ShortFloat { name: "float16", bits: 11, least: -14, truncates: false };
pub(crate) const BF16: ShortFloat = ShortFloat { name: "bfloat16", bits: 8, least: -126, truncates: false };

impl ShortFloat {
    /// Returns the nearest number of the format, or the next one towards zero.
    fn round(self, x: f64) -> f64 {
        let least = 2f64.powi(self.least);
        if x.abs() < least {
            let unit = least * 0.5f64.powi(self.bits as i32 - 1);
            return if self.truncates { (x / unit).trunc() } else { (x / unit).round_ties_even() } * unit;
        }
        let dropped = f64::MANTISSA_DIGITS - self.bits;
        let (bits, half) = (x.to_bits(), 1u64 << (dropped - 1));
        let up = if self.truncates { 0 } else { half - 1 + (bits >> dropped & 1) };
        f64::from_bits((bits + up) >> dropped << dropped)
    }
}

/// Returns the operands with every element in that format.
pub(crate) fn in_format(inputs: &[Operand], format: ShortFloat) -> Vec<Operand> {
    let mut inputs = inputs.to_vec();
    inputs.iter_mut().for_each(|operand| change_all(operand, |_, x| format.round(x)));
    inputs
}

#[test]
fn numbers_are_rounded_to_nearest_even_and_below_the_normal_ones_too() {
    assert_eq!(BF16.round(1.0 + 1.0 / 256.0), 1.0);
    assert_eq!(BF16.round(1.0 + 3.0 / 256.0), 1.0 + 4.0 / 256.0);
    assert_eq!(TF32.round(-(2.0 - 1e-9)), -2.0);
    assert_eq!(TRUNCATED.round(2.0 - 1e-9), 2.0 - 1.0 / 1024.0);
    assert_eq!(FLOAT16.round(2f64.powi(-25)), 0.0);
    assert_eq!(FLOAT16.round(1.6 * 2f64.powi(-24)), 2f64.powi(-23));
    assert_eq!(FLOAT32.round(0.1), f64::from(0.1f32));
}
