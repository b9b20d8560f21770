//! Sines and cosines against those of the standard library in float64.

use proptest::prelude::*;

use super::*;

/// The error of `found` in units of the last place of an exact value rounded to `T`.
fn ulps<T: Trig>(found: T, exact: f64) -> f64 {
    let place = exact.abs().max(f64::MIN_POSITIVE).log2().floor();
    let digits = if size_of::<T>() == 4 { 23.0 } else { 52.0 };
    (found.to_f64() - exact).abs()
        / (place.max(if digits == 23.0 { -126.0 } else { -1022.0 }) - digits).exp2()
}

fn sines<T: Trig>(x: &[T]) -> Vec<T> {
    let mut y = vec![T::ZERO; x.len()];
    sin_into(x, &mut y);
    y
}

/// Cosines, as what the elementwise sum adds to a zero product and the sine of zero.
fn cosines<T: Trig>(x: &[T]) -> Vec<T> {
    let mut y = vec![T::ZERO; x.len()];
    elementwise_into(&vec![T::ZERO; x.len()], x, &mut y);
    y
}

fn worst<T: Trig>(x: &[T]) -> f64 {
    let sine = sines(x).into_iter().zip(x).map(|(y, x)| ulps(y, x.to_f64().sin()));
    let cosine = cosines(x).into_iter().zip(x).map(|(y, x)| ulps(y, x.to_f64().cos()));
    sine.chain(cosine).fold(0.0, f64::max)
}

/// Arguments at and beside multiples of a quarter turn, where a poor reduction loses every digit.
fn near_quarter_turns<T: Trig>() -> Vec<T> {
    let turns = (0..60_000).map(|k| f64::from(k - 20_000) * std::f64::consts::FRAC_PI_2);
    turns
        .flat_map(|x| [x, x * (1.0 + 1e-7), x * (1.0 - 3e-16)])
        .map(T::from_f64)
        .filter(|x| x.in_range())
        .collect()
}

#[test]
fn sines_and_cosines_are_right_to_two_and_a_half_places_between_0_and_1() {
    let x32: Vec<f32> = (0..1 << 20).map(|i| i as f32 / (1 << 20) as f32).collect();
    let x64: Vec<f64> = (0..1 << 20).map(|i| f64::from(i) / 1_048_583.0).collect();
    assert!(worst(&x32) <= 2.5, "{}", worst(&x32));
    assert!(worst(&x64) <= 2.5, "{}", worst(&x64));
}

#[test]
fn the_reduction_keeps_its_digits_beside_multiples_of_pi() {
    let (x32, x64) = (near_quarter_turns::<f32>(), near_quarter_turns::<f64>());
    assert!(worst(&x32) <= 2.5, "{}", worst(&x32));
    assert!(worst(&x64) <= 2.5, "{}", worst(&x64));
}

#[test]
fn special_arguments_are_as_the_standard_library_has_them() {
    let x = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -2e9, 5e-324, 0.5];
    for (found, x) in sines(&x).into_iter().zip(x) {
        assert!(found.is_nan() == x.sin().is_nan(), "sin({x}) = {found}");
        assert!(found.is_nan() || ulps(found, x.sin()) <= 2.0, "sin({x}) = {found}");
    }
    let x = [f32::INFINITY, f32::NAN, 3e38, -1e6, 1e-45, 0.5];
    for (found, x) in cosines(&x).into_iter().zip(x) {
        assert!(found.is_nan() == x.cos().is_nan(), "cos({x}) = {found}");
        assert!(found.is_nan() || ulps(found, f64::from(x).cos()) <= 2.0, "cos({x}) = {found}");
    }
    assert!(sines(&[-0.0f32])[0].is_sign_negative() && sines(&[-0.0f64])[0].is_sign_negative());
}

#[test]
fn sines_in_place_are_those_beside_the_arguments() {
    for odd_one in [0.5, 1e30, f32::NAN] {
        let mut x: Vec<f32> = (0..3000).map(|i| i as f32 * 0.01).collect();
        x[1500] = odd_one;
        let beside = sines(&x);
        sin_in_place(&mut x);
        assert!(x.iter().zip(&beside).all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()));
    }
}

#[test]
fn one_argument_out_of_range_spoils_none_of_its_neighbours() {
    let x: Vec<f32> = (0..3000).map(|i| if i == 1500 { 1e30 } else { i as f32 * 0.01 }).collect();
    assert!(worst(&x) <= 2.5);
}

proptest! {
    #[test]
    fn every_argument_is_right(x32 in any::<f32>(), x64 in any::<f64>(), near in -1e5f64..1e5) {
        for x in [x32, near as f32].into_iter().filter(|x| x.is_finite()) {
            prop_assert!(worst(&[x]) <= 2.5, "{x}: {}", worst(&[x]));
        }
        for x in [x64, near, near * 1e4].into_iter().filter(|x| x.is_finite()) {
            prop_assert!(worst(&[x]) <= 3.0, "{x}: {}", worst(&[x]));
        }
    }
}
