//! Vectorised sine and cosine of slices, accurate to 2 units in the last place for every input.

use self::elements::{Formula, apply, apply_in_place, apply_past_caches};
use self::functions::Functions;
use super::Number;

pub(crate) use self::functions::Trig;

mod elements;
mod functions;
mod wide;

/// `sin(x)`.
struct Sine;

impl<T: Trig> Formula<T, 1> for Sine {
    #[inline(always)]
    fn near<N: Number<Element = T>>(by: &Functions<N>, [x]: [N; 1]) -> N {
        by.sin_near(x)
    }

    #[inline(always)]
    fn in_range<N: Number<Element = T>>(by: &Functions<N>, [x]: [N; 1]) -> N {
        by.sin(x)
    }

    #[inline(always)]
    fn wide(by: &Functions<T>, [x]: [T; 1], [turns]: [T::Turns; 1]) -> T {
        by.sin_wide(x, turns)
    }

    fn standard([x]: [T; 1]) -> T {
        x.std_sin()
    }
}

/// `a * b + sin(a) + cos(b)`.
struct Sum;

impl<T: Trig> Formula<T, 2> for Sum {
    #[inline(always)]
    fn near<N: Number<Element = T>>(by: &Functions<N>, [a, b]: [N; 2]) -> N {
        a.fused(b, by.sin_near(a) + by.cos_near(b))
    }

    #[inline(always)]
    fn in_range<N: Number<Element = T>>(by: &Functions<N>, [a, b]: [N; 2]) -> N {
        a.fused(b, by.sin(a) + by.cos(b))
    }

    #[inline(always)]
    fn wide(by: &Functions<T>, [a, b]: [T; 2], [of_a, of_b]: [T::Turns; 2]) -> T {
        Number::fused(a, b, by.sin_wide(a, of_a) + by.cos_wide(b, of_b))
    }

    fn standard([a, b]: [T; 2]) -> T {
        a * b + a.std_sin() + b.std_cos()
    }
}

/// Computes `y = sin(x)`, element by element; both have the same length.
pub(crate) fn sin_into<T: Trig>(x: &[T], y: &mut [T]) {
    apply::<Sine, T, 1>([x], y);
}

/// Computes `x = sin(x)`, element by element.
pub(crate) fn sin_in_place<T: Trig>(x: &mut [T]) {
    apply_in_place::<Sine, T>(x);
}

/// Computes `y = a * b + sin(a) + cos(b)`, element by element; all have the same length.
pub(crate) fn elementwise_into<T: Trig>(a: &[T], b: &[T], y: &mut [T]) {
    apply::<Sum, T, 2>([a, b], y);
}

/// Computes `y = sin(x)` with stores past the caches; both have the same length.
pub(crate) fn sin_past_caches<T: Trig>(x: &[T], y: &mut [T]) {
    apply_past_caches::<Sine, T, 1>([x], y);
}

/// Computes as [`elementwise_into`], with stores past the caches.
pub(crate) fn elementwise_past_caches<T: Trig>(a: &[T], b: &[T], y: &mut [T]) {
    apply_past_caches::<Sum, T, 2>([a, b], y);
}

#[cfg(test)]
mod tests;
