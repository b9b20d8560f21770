//! Arithmetic on one number or on a vector of numbers, so that a formula is written once for both.

use std::ops::{Add, Mul, Sub};

/// One number, or a vector register of numbers.
pub(crate) trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    type Element: Copy;

    /// Returns `x` in every lane.
    fn splat(x: Self::Element) -> Self;

    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;

    fn magnitude(self) -> Self;

    /// Returns the larger of both; `other` if `self` is NaN.
    fn larger(self, other: Self) -> Self;

    /// `self`, negated where the lowest bit of `parity` is set.
    fn negate_if_odd(self, parity: Self) -> Self;
}

pub(crate) trait Vector: Number {
    const LANES: usize;

    /// Loads the first numbers of a slice, which must be long enough.
    fn load(from: &[Self::Element]) -> Self;

    /// Stores to the beginning of a slice, which must be long enough.
    fn store(self, to: &mut [Self::Element]);

    /// Stores as [`Vector::store`], but past the caches if the CPU can and the slice is aligned to the size of the
    /// vector. A fence of `stream` must follow before another thread reads the data.
    fn stream(self, to: &mut [Self::Element]);
}

macro_rules! number {
    ($t:ident) => {
        impl Number for $t {
            type Element = $t;

            #[inline(always)]
            fn splat(x: $t) -> $t {
                x
            }

            #[inline(always)]
            fn fused(self, factor: $t, term: $t) -> $t {
                self.mul_add(factor, term)
            }

            #[inline(always)]
            fn magnitude(self) -> $t {
                self.abs()
            }

            #[inline(always)]
            fn larger(self, other: $t) -> $t {
                if self > other { self } else { other }
            }

            #[inline(always)]
            fn negate_if_odd(self, parity: $t) -> $t {
                const TO_SIGN: u32 = 8 * size_of::<$t>() as u32 - 1;
                $t::from_bits(self.to_bits() ^ (parity.to_bits() << TO_SIGN))
            }
        }
    };
}

number!(f32);
number!(f64);

/// Defines a vector register type from its intrinsics, given by name or as expressions of the registers named before
/// them.
macro_rules! vector {
    ($(#[$doc:meta])* $name:ident($register:ident): [$t:ident; $lanes:literal],
     splat $splat:ident, load $load:ident, store $store:ident, stream $stream:ident,
     add $add:ident, sub $sub:ident, mul $mul:ident, larger $larger:ident,
     fused |$a:ident, $b:ident, $c:ident| $fused:expr,
     magnitude |$of:ident| $magnitude:expr,
     negate_if_odd |$x:ident, $parity:ident| $negated:expr $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        impl std::ops::Add for $name {
            type Output = $name;

            #[inline(always)]
            fn add(self, other: $name) -> $name {
                // SAFETY: there are such vectors only where the CPU has their instructions.
                $name(unsafe { $add(self.0, other.0) })
            }
        }

        impl std::ops::Sub for $name {
            type Output = $name;

            #[inline(always)]
            fn sub(self, other: $name) -> $name {
                // SAFETY: as for the sum.
                $name(unsafe { $sub(self.0, other.0) })
            }
        }

        impl std::ops::Mul for $name {
            type Output = $name;

            #[inline(always)]
            fn mul(self, other: $name) -> $name {
                // SAFETY: as for the sum.
                $name(unsafe { $mul(self.0, other.0) })
            }
        }

        impl super::Number for $name {
            type Element = $t;

            #[inline(always)]
            fn splat(x: $t) -> $name {
                // SAFETY: the type can be named only where the CPU has its instructions.
                $name(unsafe { $splat(x) })
            }

            #[inline(always)]
            fn fused(self, factor: $name, term: $name) -> $name {
                let ($a, $b, $c) = (self.0, factor.0, term.0);
                // SAFETY: as for the sum.
                $name(unsafe { $fused })
            }

            #[inline(always)]
            fn magnitude(self) -> $name {
                let $of = self.0;
                // SAFETY: as for the sum.
                $name(unsafe { $magnitude })
            }

            #[inline(always)]
            fn larger(self, other: $name) -> $name {
                // SAFETY: as for the sum.
                $name(unsafe { $larger(self.0, other.0) })
            }

            #[inline(always)]
            fn negate_if_odd(self, parity: $name) -> $name {
                let ($x, $parity) = (self.0, parity.0);
                // SAFETY: as for the sum.
                $name(unsafe { $negated })
            }
        }

        impl super::Vector for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn load(from: &[$t]) -> $name {
                assert!(from.len() >= $lanes);
                // SAFETY: there are enough numbers, at any address; otherwise as for `splat`.
                $name(unsafe { $load(from.as_ptr()) })
            }

            #[inline(always)]
            fn store(self, to: &mut [$t]) {
                assert!(to.len() >= $lanes);
                // SAFETY: there is room, at any address; otherwise as for the sum.
                unsafe { $store(to.as_mut_ptr(), self.0) }
            }

            #[inline(always)]
            fn stream(self, to: &mut [$t]) {
                assert!(to.len() >= $lanes);
                if to.as_ptr().cast::<$name>().is_aligned() {
                    // SAFETY: there is room, at an address that is a multiple of the size; otherwise as for the sum.
                    unsafe { $stream(to.as_mut_ptr(), self.0) }
                } else {
                    self.store(to);
                }
            }
        }
    };
}

pub(super) use vector;
