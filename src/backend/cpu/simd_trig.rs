//! Sine and cosine of slices, vectorised, right for every input; knows no threads.
//!
//! An argument is reduced by the nearest multiple of pi in three parts (Cody and Waite, "Software Manual for
//! the Elementary Functions", 1980), each subtracted by one fused multiply-add, then an odd polynomial
//! follows (the minimax coefficients are those of SLEEF's 3.5-ulp functions, Boost licence). There is no
//! branch, so that the compiler vectorises the loops. Where an argument lies beyond [`Trig::LIMIT`], or is
//! NaN, its chunk is done again by the standard library.

use super::simd::{Vectorized, vectorize};
use crate::data::Real;

/// Elements whose arguments are tested together for being in range.
const CHUNK: usize = 1024;

/// A real type with the pieces of the vectorised sine.
pub(super) trait Trig: Real {
    /// Largest magnitude that the reduction serves.
    const LIMIT: Self;
    /// 1 / pi.
    const INVERSE_PI: Self;
    /// Minus pi in three parts, each the rest of those before it. All are negative (rounded towards
    /// zero), so that -0 stays -0.
    const MINUS_PI: [Self; 3];
    /// Adding this rounds to an integer, and leaves its parity in the lowest bit.
    const ROUNDER: Self;
    /// 1/2.
    const HALF: Self;
    /// 0.
    const ZERO: Self;

    /// The standard library's sine.
    fn std_sin(self) -> Self;

    /// The standard library's cosine.
    fn std_cos(self) -> Self;

    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;

    /// Whether the magnitude is at most [`Trig::LIMIT`]; false for NaN.
    fn in_range(self) -> bool;

    /// `self`, negated when the lowest bit of `parity` is set.
    fn negate_if_odd(self, parity: Self) -> Self;

    /// `(sin(d) - d) / d^3` at `square = d^2`, for `|d|` up to pi / 2.
    fn sine_tail(square: Self) -> Self;
}

macro_rules! trig {
    ($t:ident, $limit:expr, $rounder:expr, $pi:expr, [$first:expr $(, $next:expr)*]) => {
        impl Trig for $t {
            const LIMIT: $t = $limit;
            const INVERSE_PI: $t = std::$t::consts::FRAC_1_PI;
            const MINUS_PI: [$t; 3] = $pi;
            const ROUNDER: $t = $rounder;
            const HALF: $t = 0.5;
            const ZERO: $t = 0.0;

            #[inline(always)]
            fn std_sin(self) -> $t {
                self.sin()
            }

            #[inline(always)]
            fn std_cos(self) -> $t {
                self.cos()
            }

            #[inline(always)]
            fn fused(self, factor: $t, term: $t) -> $t {
                self.mul_add(factor, term)
            }

            #[inline(always)]
            fn in_range(self) -> bool {
                self.abs() <= Self::LIMIT
            }

            #[inline(always)]
            fn negate_if_odd(self, parity: $t) -> $t {
                const TO_SIGN: u32 = 8 * size_of::<$t>() as u32 - 1;
                $t::from_bits(self.to_bits() ^ (parity.to_bits() << TO_SIGN))
            }

            #[inline(always)]
            fn sine_tail(square: $t) -> $t {
                let tail = $first;
                $(let tail = square.mul_add(tail, $next);)*
                tail
            }
        }
    };
}

trig!(
    f32,
    65_536.0,
    12_582_912.0,
    [-3.141_592_5, -1.509_957_9e-7, -1.078_060_5e-14],
    [2.608_316e-6, -0.000_198_106_9, 0.008_333_079, -0.166_666_6]
);
trig!(
    f64,
    1e9,
    6_755_399_441_055_744.0,
    [-std::f64::consts::PI, -1.224_646_799_147_353e-16, -2.165_713_347_843_827_8e-32],
    [
        -7.972_559_590_090_378e-18,
        2.810_099_727_108_632e-15,
        -7.647_122_191_181_588e-13,
        1.605_904_306_056_645e-10,
        -2.505_210_837_635_020_5e-8,
        2.755_731_922_391_987_5e-6,
        -0.000_198_412_698_412_696_16,
        0.008_333_333_333_333_33,
        -0.166_666_666_666_666_66
    ]
);

/// `x - turns * pi`, for `turns` an integer or an integer and a half.
#[inline(always)]
fn reduced<T: Trig>(x: T, turns: T) -> T {
    let [high, middle, low] = T::MINUS_PI;
    turns.fused(low, turns.fused(middle, turns.fused(high, x)))
}

/// The sine of a reduced argument.
#[inline(always)]
fn reduced_sin<T: Trig>(d: T) -> T {
    let square = d * d;
    // The sum with zero turns -0 into +0, so that the sine of -0 is -0.
    let factor = square.fused(T::sine_tail(square), T::ZERO);
    factor.fused(d, d)
}

#[inline(always)]
fn sin<T: Trig>(x: T) -> T {
    let rounded = x.fused(T::INVERSE_PI, T::ROUNDER);
    let d = reduced(x, rounded - T::ROUNDER);
    reduced_sin(d.negate_if_odd(rounded))
}

#[inline(always)]
fn cos<T: Trig>(x: T) -> T {
    // With h = m + 1/2 half-turns taken off, cos(x) = -(-1)^m sin(x - h pi).
    let rounded = (x * T::INVERSE_PI - T::HALF) + T::ROUNDER;
    let d = reduced(x, (rounded - T::ROUNDER) + T::HALF);
    reduced_sin((T::ZERO - d).negate_if_odd(rounded))
}

struct Sines<'a, T> {
    x: &'a [T],
    y: &'a mut [T],
}

impl<T: Trig> Vectorized for Sines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (x, y) in self.x.chunks(CHUNK).zip(self.y.chunks_mut(CHUNK)) {
            let mut outside = false;
            for (x, y) in x.iter().zip(y.iter_mut()) {
                *y = sin(*x);
                outside |= !x.in_range();
            }
            if outside {
                Sines { x, y }.run_portable();
            }
        }
    }

    #[cold]
    fn run_portable(self) {
        for (x, y) in self.x.iter().zip(self.y) {
            *y = x.std_sin();
        }
    }
}

struct SinesInPlace<'a, T>(&'a mut [T]);

impl<T: Trig> Vectorized for SinesInPlace<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for x in self.0.chunks_mut(CHUNK) {
            // Before the arguments are gone.
            if x.iter().fold(false, |outside, x| outside | !x.in_range()) {
                SinesInPlace(x).run_portable();
            } else {
                x.iter_mut().for_each(|x| *x = sin(*x));
            }
        }
    }

    #[cold]
    fn run_portable(self) {
        self.0.iter_mut().for_each(|x| *x = x.std_sin());
    }
}

struct Sums<'a, T> {
    a: &'a [T],
    b: &'a [T],
    y: &'a mut [T],
}

impl<T: Trig> Vectorized for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let operands = self.a.chunks(CHUNK).zip(self.b.chunks(CHUNK));
        for ((a, b), y) in operands.zip(self.y.chunks_mut(CHUNK)) {
            let mut outside = false;
            for ((a, b), y) in a.iter().zip(b).zip(y.iter_mut()) {
                *y = a.fused(*b, sin(*a) + cos(*b));
                outside |= !a.in_range() | !b.in_range();
            }
            if outside {
                Sums { a, b, y }.run_portable();
            }
        }
    }

    #[cold]
    fn run_portable(self) {
        for ((a, b), y) in self.a.iter().zip(self.b).zip(self.y) {
            *y = *a * *b + a.std_sin() + b.std_cos();
        }
    }
}

/// `y = sin(x)`, element by element; both of one length.
pub(super) fn sin_into<T: Trig>(x: &[T], y: &mut [T]) {
    vectorize(Sines { x, y });
}

/// `x = sin(x)`, element by element.
pub(super) fn sin_in_place<T: Trig>(x: &mut [T]) {
    vectorize(SinesInPlace(x));
}

/// `y = a * b + sin(a) + cos(b)`, element by element; all of one length.
pub(super) fn elementwise_into<T: Trig>(a: &[T], b: &[T], y: &mut [T]) {
    vectorize(Sums { a, b, y });
}

#[cfg(test)]
mod tests;
