//! Reduces arguments of any size by multiples of pi, without branches.
//!
//! The method is that of Payne and Hanek ("Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983):
//! for `x = m 2^e` only those digits of `2^e / pi` count whose value is below two half-turns. A table has them by
//! exponent, as floating-point numbers whose products with `m` are exact or have a known error.

/// Digits of 1 / pi after the point, in words.
pub(super) const INVERSE_PI: [u64; 20] = [
    0x517c_c1b7_2722_0a94,
    0xfe13_abe8_fa9a_6ee0,
    0x6db1_4acc_9e21_c820,
    0xff28_b1d5_ef5d_e2b0,
    0xdb92_371d_2126_e970,
    0x0324_9775_04e8_c90e,
    0x7f0e_f58e_5894_d39f,
    0x7441_1afa_975d_a242,
    0x74ce_3813_5a2f_bf20,
    0x9cc8_eb1c_c1a9_9cfa,
    0x4e42_2fc5_defc_941d,
    0x8ffc_4bff_ef02_cc07,
    0xf797_88c5_ad05_368f,
    0xb69b_3f67_93e5_84db,
    0xa7a3_1fb3_4f2f_f516,
    0xba93_dd63_f5f2_f8bd,
    0x9e83_9cfb_c529_4975,
    0x35fd_afd8_8fc6_ae84,
    0x2b01_9823_7e3d_b5d5,
    0xf867_de10_4d7a_1b0e,
];

/// Exponents below which no argument is looked up.
pub(super) const MIN_EXPONENT_32: u32 = 12;
pub(super) const MIN_EXPONENT_64: u32 = 26;

/// `2^e / pi` modulo 2 by the argument's exponent: 29 digits, and 53 more.
static TURNS_32: [[f64; 2]; 128 - MIN_EXPONENT_32 as usize] = {
    let mut turns = [[0.0; 2]; 128 - MIN_EXPONENT_32 as usize];
    let mut at = 0;
    while at < turns.len() {
        let unit = at as i32 + MIN_EXPONENT_32 as i32 - 23;
        turns[at] = [digits(unit, 0, 29), digits(unit, 29, 53)];
        at += 1;
    }
    turns
};

/// `2^e / pi` modulo 2 by the argument's exponent: four times 53 digits.
static TURNS_64: [[f64; 4]; 1024 - MIN_EXPONENT_64 as usize] = {
    let mut turns = [[0.0; 4]; 1024 - MIN_EXPONENT_64 as usize];
    let mut at = 0;
    while at < turns.len() {
        let unit = at as i32 + MIN_EXPONENT_64 as i32 - 52;
        turns[at] = [digits(unit, 0, 53), digits(unit, 53, 53), digits(unit, 106, 53), digits(unit, 159, 53)];
        at += 1;
    }
    turns
};

/// Returns `count` binary digits of `2^unit / pi`, after skipping the first `skipped` digits from the digit of value
/// 1.
const fn digits(unit: i32, skipped: i32, count: i32) -> f64 {
    // Digits behind the point are numbered from 0; those before it are zeros.
    let first = unit + skipped - 1;
    let (start, kept) = if first < 0 { (0, count + first) } else { (first as usize, count) };
    if kept <= 0 {
        return 0.0;
    }
    let words = (INVERSE_PI[start / 64] as u128) << 64 | INVERSE_PI[start / 64 + 1] as u128;
    let window = ((words << (start % 64)) >> (128 - kept)) as u64;
    let last = skipped + count - 1;
    window as f64 * f64::from_bits(((1023 - last) as u64) << 52)
}

/// Adding this rounds a number to an integer, and leaves its parity in the lowest bit.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The row of the table for `x`, or any row for numbers that are not in it.
#[inline(always)]
pub(super) fn turns_32(x: f32) -> [f64; 2] {
    let at = ((x.to_bits() >> 23) & 0xff).wrapping_sub(127 + MIN_EXPONENT_32) as usize;
    TURNS_32[at.min(TURNS_32.len() - 1)]
}

/// Returns as [`turns_32`].
#[inline(always)]
pub(super) fn turns_64(x: f64) -> [f64; 4] {
    let at = ((x.to_bits() >> 52) & 0x7ff).wrapping_sub(u64::from(1023 + MIN_EXPONENT_64)) as usize;
    TURNS_64[at.min(TURNS_64.len() - 1)]
}

/// For `|x| = turns pi + d`, with `turns` an integer more than `shift` and `|d|` at most about pi / 2: `d`, and a
/// number whose lowest bit is that of the integer. `|x|` is at least 2^[`MIN_EXPONENT_32`] and finite, and the
/// other numbers are its row of the table.
#[inline(always)]
pub(super) fn reduced_32(x: f32, [high, low]: [f64; 2], shift: f32) -> (f32, f32) {
    let (bits, shift) = (x.to_bits(), f64::from(shift));
    let m = f64::from((bits & 0x7f_ffff | 0x80_0000) as i32);
    // Exact, a multiple of 2^-28 less than 2^25, as is its difference from a number close to it.
    let whole = m * high;
    let rounded = (m.mul_add(low, whole) - shift) + ROUNDER;
    let part = whole - ((rounded - ROUNDER) + shift);
    let d = m.mul_add(low, part) * std::f64::consts::PI;
    (d as f32, f32::from_bits(rounded.to_bits() as u32))
}

/// Returns as [`reduced_32`], for magnitudes >= 2^[`MIN_EXPONENT_64`].
#[inline(always)]
pub(super) fn reduced_64(x: f64, [t1, t2, t3, t4]: [f64; 4], shift: f64) -> (f64, f64) {
    const PI: [f64; 2] = [std::f64::consts::PI, 1.224_646_799_147_353_2e-16];
    let bits = x.to_bits();
    let m = f64::from_bits(bits & 0xf_ffff_ffff_ffff | 0x433 << 52);
    let ((h1, l1), (h2, l2), (h3, l3)) = (product(m, t1), product(m, t2), product(m, t3));
    // Exact: a multiple of 2^-52 of magnitude 2 at most.
    let first = modulo_2(h1) + modulo_2(l1);
    let (whole, v) = sum(first, h2);
    let rounded = (whole - shift) + ROUNDER;
    let (part, g) = sum(whole, -((rounded - ROUNDER) + shift));
    // Next to a multiple of pi / 2 all of `part` may cancel, so that every error before counts.
    let (w, e) = sum(v, l2);
    let (w, f) = sum(w, h3);
    let (high, rest) = sum(part, w);
    let low = rest + (g + (e + (f + m.mul_add(t4, l3))));
    let (d, error) = product(high, PI[0]);
    (d + high.mul_add(PI[1], low.mul_add(PI[0], error)), rounded)
}

/// Returns the exact remainder of the nearest multiple of 2.
#[inline(always)]
fn modulo_2(x: f64) -> f64 {
    (x * 0.5).round_ties_even().mul_add(-2.0, x)
}

/// A product and its rounding error.
#[inline(always)]
pub(super) fn product(a: f64, b: f64) -> (f64, f64) {
    let high = a * b;
    (high, a.mul_add(b, -high))
}

/// A sum and its rounding error (D. E. Knuth, "The Art of Computer Programming" 2, 4.2.2).
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let high = a + b;
    let of_b = high - a;
    (high, (a - (high - of_b)) + (b - of_b))
}
