//! The branch-free sine and cosine of one number or of a vector of numbers.
//!
//! An argument is reduced by the nearest multiple of pi in three parts (Cody and Waite, "Software Manual for the
//! Elementary Functions", 1980), each subtracted by one fused multiply-add, or beyond [`Trig::LIMIT`] by the method of
//! [`wide`]. An odd polynomial follows. The float64 coefficients are the minimax coefficients of SLEEF's 3.5-ulp
//! functions (Boost licence); the float32 ones were searched so that rounding errors near pi / 2 stay below 2 units in
//! the last place. Arguments up to [`Trig::NEAR`] need no reduction: there each function has its own polynomial
//! through the Chebyshev nodes of the interval.

use gpubench_model::data::Real;

use super::super::{Instructions, Number, Vector};
use super::wide;

/// A real type with the constants of the vectorised sine.
pub(crate) trait Trig: Real + Number<Element = Self> {
    type In<I: Instructions>: Vector<Element = Self>;

    /// Largest magnitude for the short reduction: a power of two, where the table of the long reduction begins. Beyond
    /// it, the last step would round once more where sines have one digit less than their arguments.
    const LIMIT: Self;
    const INVERSE_PI: Self;
    /// Minus pi in three parts, each the rest of those before it. All are negative (rounded towards
    /// zero), so that -0 stays -0.
    const MINUS_PI: [Self; 3];
    /// Adding this rounds to an integer, and leaves its parity in the lowest bit.
    const ROUNDER: Self;
    /// Largest magnitude that needs no reduction.
    const NEAR: Self;
    /// Whether the rounding of `d^2` near pi / 2 must be compensated.
    const MENDS_SQUARE: bool;
    /// The approximate slope of `sin(d) / d` in `d^2`, for `|d|` between 1 and pi / 2.
    const SLOPE: Self;
    const HALF: Self;
    const ONE: Self;
    const ZERO: Self;

    fn std_sin(self) -> Self;

    fn std_cos(self) -> Self;

    /// `self`, negated when `other` is negative.
    fn negate_like(self, other: Self) -> Self;

    /// The table entry for the reduction of numbers beyond the limit.
    type Turns: Copy;
    /// An arbitrary entry.
    const NO_TURNS: Self::Turns;

    /// Returns the table entry of this number.
    fn turns(self) -> Self::Turns;

    /// For `|self| = turns pi + d`, beyond the limit and finite, with `turns` an integer more than `shift`: `d`, and a
    /// number with the integer's parity in its lowest bit.
    fn reduced_wide(self, turns: Self::Turns, shift: Self) -> (Self, Self);

    /// The polynomial `(sin(d) - d) / d^3` of `d^2`, for `|d|` up to pi / 2: its coefficients, that of the highest power
    /// first, at most [`MAX_COEFFICIENTS`].
    const SINE: &[Self];

    /// The same for `|d|` up to [`Trig::NEAR`].
    const NEAR_SINE: &[Self];

    /// `(cos(d) - 1 + d^2 / 2) / d^4`, for `|d|` up to [`Trig::NEAR`].
    const NEAR_COSINE: &[Self];
}

macro_rules! trig {
    ($t:ident, $vector:ident, $words:literal, $turns:path, $wide:path, $limit:expr, $rounder:expr, $mends:literal, $pi:expr,
     $sine:tt, $near_sine:tt, $near_cosine:tt) => {
        impl Trig for $t {
            type In<I: Instructions> = I::$vector;

            const LIMIT: $t = $limit;
            const INVERSE_PI: $t = std::$t::consts::FRAC_1_PI;
            const MINUS_PI: [$t; 3] = $pi;
            const ROUNDER: $t = $rounder;
            const NEAR: $t = 1.0;
            const MENDS_SQUARE: bool = $mends;
            const SLOPE: $t = 0.14;
            const HALF: $t = 0.5;
            const ONE: $t = 1.0;
            const ZERO: $t = 0.0;
            const SINE: &[$t] = &$sine;
            const NEAR_SINE: &[$t] = &$near_sine;
            const NEAR_COSINE: &[$t] = &$near_cosine;

            #[inline(always)]
            fn std_sin(self) -> $t {
                self.sin()
            }

            #[inline(always)]
            fn std_cos(self) -> $t {
                self.cos()
            }

            #[inline(always)]
            fn negate_like(self, other: $t) -> $t {
                $t::from_bits(self.to_bits() ^ (other.to_bits() & (-0.0 as $t).to_bits()))
            }

            type Turns = [f64; $words];
            const NO_TURNS: [f64; $words] = [0.0; $words];

            #[inline(always)]
            fn turns(self) -> [f64; $words] {
                $turns(self)
            }

            #[inline(always)]
            fn reduced_wide(self, turns: [f64; $words], shift: $t) -> ($t, $t) {
                $wide(self, turns, shift)
            }
        }
    };
}

trig!(
    f32,
    F32,
    2,
    wide::turns_32,
    wide::reduced_32,
    4_096.0,
    12_582_912.0,
    false,
    [-3.141_592_5, -1.509_957_9e-7, -1.078_060_5e-14],
    [2.607_738_7e-6, -0.000_198_107_75, 0.008_333_082, -0.166_666_6],
    [2.706_067e-6, -0.000_198_381_75, 0.008_333_327, -0.166_666_67],
    [2.439_173e-5, -0.001_388_735_6, 0.041_666_657]
);
trig!(
    f64,
    F64,
    4,
    wide::turns_64,
    wide::reduced_64,
    67_108_864.0,
    6_755_399_441_055_744.0,
    true,
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
    ],
    [
        -7.549_371_704_181_243e-13,
        1.605_770_192_257_978_6e-10,
        -2.505_209_924_491_411_4e-8,
        2.755_731_919_201_122e-6,
        -0.000_198_412_698_412_165_66,
        0.008_333_333_333_333_3,
        -0.166_666_666_666_666_66
    ],
    [
        4.725_114_706_476_614_5e-14,
        -1.146_999_947_542_746_4e-11,
        2.087_675_190_511_727e-9,
        -2.755_731_920_620_485_6e-7,
        2.480_158_730_155_767_6e-5,
        -0.001_388_888_888_888_887,
        0.041_666_666_666_666_664
    ]
);

/// Maximum number of coefficients of a polynomial.
const MAX_COEFFICIENTS: usize = 9;

/// The functions of one number or of a vector, and their constants, broadcast in memory: a loop that loads them keeps
/// its registers for the computation.
pub(super) struct Functions<N> {
    sine: [N; MAX_COEFFICIENTS],
    near_sine: [N; MAX_COEFFICIENTS],
    near_cosine: [N; MAX_COEFFICIENTS],
    inverse_pi: N,
    minus_pi: [N; 3],
    rounder: N,
    slope: N,
    half: N,
    minus_half: N,
    one: N,
    zero: N,
}

impl<T: Trig, N: Number<Element = T>> Functions<N> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        let [high, middle, low] = T::MINUS_PI;
        Functions {
            sine: splat_all(T::SINE),
            near_sine: splat_all(T::NEAR_SINE),
            near_cosine: splat_all(T::NEAR_COSINE),
            inverse_pi: N::splat(T::INVERSE_PI),
            minus_pi: [N::splat(high), N::splat(middle), N::splat(low)],
            rounder: N::splat(T::ROUNDER),
            slope: N::splat(T::SLOPE),
            half: N::splat(T::HALF),
            minus_half: N::splat(T::ZERO - T::HALF),
            one: N::splat(T::ONE),
            zero: N::splat(T::ZERO),
        }
    }

    /// `x - turns * pi`, for `turns` an integer or an integer and a half.
    #[inline(always)]
    fn reduced(&self, x: N, turns: N) -> N {
        let [high, middle, low] = self.minus_pi;
        turns.fused(low, turns.fused(middle, turns.fused(high, x)))
    }

    /// The sine of a reduced argument.
    #[inline(always)]
    fn reduced_sin(&self, d: N) -> N {
        let square = d * d;
        // Adds back the rounding error of the square, times the slope of sin(d) / d. For d = -0 each is +0, which
        // turns the product -0 into +0, so that -0 stays -0.
        let lost = if T::MENDS_SQUARE { (self.zero - d).fused(d, square) * self.slope } else { self.zero };
        let factor = square.fused(polynomial(square, &self.sine[..T::SINE.len()]), lost);
        factor.fused(d, d)
    }

    /// The sine of an argument up to [`Trig::LIMIT`].
    #[inline(always)]
    pub(super) fn sin(&self, x: N) -> N {
        let rounded = x.fused(self.inverse_pi, self.rounder);
        let d = self.reduced(x, rounded - self.rounder);
        self.reduced_sin(d.negate_if_odd(rounded))
    }

    /// The cosine of an argument up to [`Trig::LIMIT`].
    #[inline(always)]
    pub(super) fn cos(&self, x: N) -> N {
        // With h = m - 1/2 half-turns taken off, cos(x) = (-1)^m sin(x - h pi).
        let rounded = x.fused(self.inverse_pi, self.half) + self.rounder;
        let d = self.reduced(x, (rounded - self.rounder) - self.half);
        self.reduced_sin(d.negate_if_odd(rounded))
    }

    /// The sine of an argument up to [`Trig::NEAR`].
    #[inline(always)]
    pub(super) fn sin_near(&self, x: N) -> N {
        let square = x * x;
        let tail = polynomial(square, &self.near_sine[..T::NEAR_SINE.len()]);
        square.fused(tail, self.zero).fused(x, x)
    }

    /// The cosine of an argument up to [`Trig::NEAR`].
    #[inline(always)]
    pub(super) fn cos_near(&self, x: N) -> N {
        let square = x * x;
        let tail = polynomial(square, &self.near_cosine[..T::NEAR_COSINE.len()]);
        square.fused(square.fused(tail, self.minus_half), self.one)
    }
}

impl<T: Trig> Functions<T> {
    /// The sine of an argument of any size.
    #[inline(always)]
    pub(super) fn sin_wide(&self, x: T, turns: T::Turns) -> T {
        let (d, parity) = x.reduced_wide(turns, T::ZERO);
        let far = self.reduced_sin(d.negate_if_odd(parity)).negate_like(x);
        // An infinite argument makes the product NaN.
        if x.magnitude() <= T::LIMIT { self.sin(x) } else { far + x * T::ZERO }
    }

    /// The cosine of an argument of any size.
    #[inline(always)]
    pub(super) fn cos_wide(&self, x: T, turns: T::Turns) -> T {
        let (d, parity) = x.reduced_wide(turns, T::HALF);
        let far = self.reduced_sin((T::ZERO - d).negate_if_odd(parity));
        if x.magnitude() <= T::LIMIT { self.cos(x) } else { far + x * T::ZERO }
    }
}

#[inline(always)]
fn splat_all<N: Number<Element: Trig>>(coefficients: &[N::Element]) -> [N; MAX_COEFFICIENTS] {
    let mut splatted = [N::splat(N::Element::ZERO); MAX_COEFFICIENTS];
    for (splatted, coefficient) in splatted.iter_mut().zip(coefficients) {
        *splatted = N::splat(*coefficient);
    }
    splatted
}

/// A polynomial by its coefficients, that of the highest power first.
#[inline(always)]
fn polynomial<N: Number>(at: N, coefficients: &[N]) -> N {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = at.fused(sum, *coefficient);
    }
    sum
}
