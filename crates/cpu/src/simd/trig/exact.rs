//! Sines and cosines to more than a hundred binary digits, slow and simple: by integers, and by numbers of two parts.

use super::wide::{INVERSE_PI, product, sum};

/// A number as the sum of a float64 and its remainder.
pub(super) type Pair = (f64, f64);

fn plus(a: Pair, b: Pair) -> Pair {
    let (high, low) = sum(a.0, b.0);
    sum(high, low + (a.1 + b.1))
}

fn times(a: Pair, b: Pair) -> Pair {
    let (high, low) = product(a.0, b.0);
    sum(high, low + (a.0 * b.1 + a.1 * b.0))
}

fn over(a: Pair, divisor: f64) -> Pair {
    let high = a.0 / divisor;
    let (back, lost) = product(high, divisor);
    sum(high, ((a.0 - back) - lost + a.1) / divisor)
}

/// Returns the word of 1 / pi whose first digit has the value `2^first` after multiplication by `2^e`.
fn word(e: i32, first: i32) -> u64 {
    let digit = |worth: i32| {
        let at = e - 1 - worth;
        let word = usize::try_from(at / 64).ok().filter(|_| at >= 0).and_then(|at| INVERSE_PI.get(at));
        word.map_or(0, |word| word >> (63 - at % 64) & 1)
    };
    (0..64).fold(0, |word, bit| word << 1 | digit(first - bit))
}

/// `|x| / pi` less `halves / 2`: the parity of the nearest integer, and the difference from it.
fn turns(x: f64, halves: u64) -> (bool, Pair) {
    let (bits, exponent) = (x.to_bits() & u64::MAX >> 12, (x.to_bits() >> 52 & 0x7ff) as i32);
    let (m, e) = if exponent == 0 { (bits, -1074) } else { (bits | 1 << 52, exponent - 1075) };
    // The first word is whole turns, the others are their fraction.
    let mut words: [u64; 6] = std::array::from_fn(|at| word(e, 63 - 64 * at as i32));
    let mut carry = 0u128;
    for word in words.iter_mut().rev() {
        let whole = u128::from(*word) * u128::from(m) + carry;
        (*word, carry) = (whole as u64, whole >> 64);
    }
    let (fraction, borrow) = words[1].overflowing_sub(halves << 63);
    words[1] = fraction;
    let mut whole = words[0].wrapping_sub(u64::from(borrow));
    let above = fraction >> 63 == 1;
    if above {
        whole = whole.wrapping_add(1);
        words.iter_mut().for_each(|word| *word = !*word);
    }
    let mut worth = 1.0;
    let mut difference = (0.0, 0.0);
    for word in &words[1..] {
        for half in [word >> 32, word & u64::from(u32::MAX)] {
            worth /= 4_294_967_296.0;
            difference = plus(difference, (half as f64 * worth, 0.0));
        }
    }
    (whole & 1 == 1, if above { (-difference.0, -difference.1) } else { difference })
}

/// The sine of `d`, at most about pi / 2, by its series.
fn series(d: Pair) -> Pair {
    let square = times(d, d);
    let mut tail = (1.0, 0.0);
    for k in (1..=17).rev() {
        let (high, low) = over(times(square, tail), f64::from(2 * k * (2 * k + 1)));
        tail = plus((1.0, 0.0), (-high, -low));
    }
    times(d, tail)
}

/// The sine, or the cosine, of a finite argument.
fn of(x: f64, cosine: bool) -> Pair {
    const PI: Pair = (std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
    let (odd, turns) = turns(x, u64::from(cosine));
    let (high, low) = series(times(turns, PI));
    // cos(x) = -(-1)^m sin(x - (m + 1/2) pi), and the sine is odd.
    if odd ^ cosine ^ (!cosine && x.is_sign_negative()) { (-high, -low) } else { (high, low) }
}

/// The sine of a finite argument.
pub(super) fn sin(x: f64) -> Pair {
    if x.abs() < 0.5 { series((x, 0.0)) } else { of(x, false) }
}

/// The cosine of a finite argument.
pub(super) fn cos(x: f64) -> Pair {
    of(x, true)
}

#[test]
fn the_exact_functions_are_the_rounded_ones_of_the_standard_library() {
    for x in [1e-300, 0.3, -0.7, 1.0, -2.0, 3.15, 100.5, -1e5, 1e9, 2e22, -1e100, 1.7e308, 5e-324] {
        for ((high, low), rounded) in [(sin(x), x.sin()), (cos(x), x.cos())] {
            assert!(
                (high - rounded + low).abs() <= 1.2e-16 * rounded.abs() + 5e-324,
                "{x}: {high} {rounded}"
            );
        }
    }
}
