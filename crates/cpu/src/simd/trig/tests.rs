//! Compares sines and cosines with exact ones, to 2 units in the last place.

use proptest::prelude::*;
use rayon::prelude::*;

use super::*;
use exact::Pair;

#[path = "exact.rs"]
mod exact;

/// Largest permitted error in units in the last place.
const MAX_ULPS: f64 = 2.0;

/// The error of `found` in units of the last place of an exact value rounded to `T`.
fn ulps<T: Trig>(found: T, (high, low): Pair) -> f64 {
    let (least, digits) = if size_of::<T>() == 4 { (-126, 23) } else { (-1022, 52) };
    let place = ((high.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    // Two steps, as a unit of the last place of subnormal numbers has no normal reciprocal.
    ((found.to_f64() - high) - low).abs() * f64::from(-place).exp2() * f64::from(digits).exp2()
}

fn sines<T: Trig>(x: &[T]) -> Vec<T> {
    let mut y = vec![T::ZERO; x.len()];
    sin_into(x, &mut y);
    y
}

/// Cosines, from the elementwise sum with a zero product and a zero sine.
fn cosines<T: Trig>(x: &[T]) -> Vec<T> {
    let mut y = vec![T::ZERO; x.len()];
    elementwise_into(&vec![T::ZERO; x.len()], x, &mut y);
    y
}

/// The sine and the cosine to as many digits as it takes to judge those of type `T`.
fn exact_pairs<T: Trig>(x: T) -> [Pair; 2] {
    let x = x.to_f64();
    if size_of::<T>() == 4 { [(x.sin(), 0.0), (x.cos(), 0.0)] } else { [exact::sin(x), exact::cos(x)] }
}

fn worst<T: Trig>(x: &[T]) -> f64 {
    let found = sines(x).into_iter().zip(cosines(x));
    let errors = found.zip(x).map(|((sine, cosine), &x)| {
        let [exact_sine, exact_cosine] = exact_pairs(x);
        ulps(sine, exact_sine).max(ulps(cosine, exact_cosine))
    });
    // NaN counts as the worst result.
    errors.fold(0.0, |worst, error| if worst.is_nan() || error <= worst { worst } else { error })
}

/// Arguments at and next to multiples of a quarter turn, where a poor reduction loses every digit.
fn near_quarter_turns<T: Trig>() -> Vec<T> {
    let turns = (0..3_000).map(|k| f64::from(k - 1_000) * std::f64::consts::FRAC_PI_2);
    turns.flat_map(|x| [x, x * (1.0 + 1e-7), x * (1.0 - 3e-16)]).map(T::from_f64).collect()
}

#[test]
fn sines_and_cosines_are_right_to_two_places_between_0_and_2() {
    let x32: Vec<f32> = (0..1 << 18).map(|i| i as f32 / (1 << 17) as f32).collect();
    let x64: Vec<f64> = (0..1 << 13).map(|i| f64::from(i) / 4_099.0).collect();
    assert!(worst(&x32) <= MAX_ULPS, "{}", worst(&x32));
    assert!(worst(&x64) <= MAX_ULPS, "{}", worst(&x64));
}

#[test]
fn the_reduction_keeps_its_digits_near_multiples_of_pi() {
    let (x32, x64) = (near_quarter_turns::<f32>(), near_quarter_turns::<f64>());
    assert!(worst(&x32) <= MAX_ULPS, "{}", worst(&x32));
    assert!(worst(&x64) <= MAX_ULPS, "{}", worst(&x64));
    // The float64 next to a multiple of pi / 2, of all (J.-M. Muller, "Elementary Functions", 11).
    let closest = 6_381_956_970_095_103.0 * 797f64.exp2();
    assert!(worst(&[closest, -closest]) <= MAX_ULPS);
}

#[test]
fn both_reductions_are_right_about_the_limit() {
    let x32: Vec<f32> = (0..5000).map(|i| f32::from_bits(f32::LIMIT.to_bits() - 2500 + i)).collect();
    let x64: Vec<f64> = (0..2000).map(|i| f64::from_bits(f64::LIMIT.to_bits() - 1000 + i)).collect();
    assert!(worst(&x32) <= MAX_ULPS && worst(&x64) <= MAX_ULPS);
}

#[test]
#[ignore = "takes minutes: cargo test --release --lib every_float32 -- --ignored"]
fn every_float32_is_right() {
    let worst = (0..1u32 << 16).into_par_iter().map(|high| {
        let x: Vec<f32> = (0..1u32 << 16).map(|low| f32::from_bits(high << 16 | low)).collect();
        let finite: Vec<f32> = x.into_iter().filter(|x| x.is_finite()).collect();
        worst(&finite)
    });
    let worst = worst.reduce(|| 0.0, f64::max);
    assert!(worst <= MAX_ULPS, "{worst}");
}

#[test]
fn special_arguments_are_as_the_standard_library_has_them() {
    let x = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -2e9, 5e-324, 0.5];
    for (found, x) in sines(&x).into_iter().zip(x) {
        assert!(found.is_nan() == x.sin().is_nan(), "sin({x}) = {found}");
        assert!(found.is_nan() || ulps(found, (x.sin(), 0.0)) <= 2.5, "sin({x}) = {found}");
    }
    let x = [f32::INFINITY, f32::NAN, 3e38, -1e6, 1e-45, 0.5];
    for (found, x) in cosines(&x).into_iter().zip(x) {
        assert!(found.is_nan() == x.cos().is_nan(), "cos({x}) = {found}");
        assert!(found.is_nan() || ulps(found, (f64::from(x).cos(), 0.0)) <= MAX_ULPS, "cos({x}) = {found}");
    }
    assert!(sines(&[-0.0f32])[0].is_sign_negative() && sines(&[-0.0f64])[0].is_sign_negative());
}

#[test]
fn sines_in_place_equal_sines_in_another_slice() {
    for odd_one in [0.5, 1e30, f32::NAN] {
        let mut x: Vec<f32> = (0..3000).map(|i| i as f32 * 0.01).collect();
        x[1500] = odd_one;
        let next_to = sines(&x);
        sin_in_place(&mut x);
        assert!(x.iter().zip(&next_to).all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()));
    }
}

#[test]
fn one_argument_out_of_range_spoils_none_of_its_neighbours() {
    let x: Vec<f32> = (0..3000).map(|i| if i == 1500 { 1e30 } else { i as f32 * 0.01 }).collect();
    assert!(worst(&x) <= MAX_ULPS);
}

#[test]
fn results_depend_on_their_own_chunk_alone() {
    // Chunks that need each way of reduction, one after another in every order.
    let scales = [0.9, 1e3, 1e6, 0.9, 1e6, 1e3, 0.9];
    let x: Vec<f64> =
        scales.iter().flat_map(|scale| (0..256).map(move |i| scale * f64::from(i) / 256.0)).collect();
    let together = sines(&x);
    for (x, together) in x.chunks(256).zip(together.chunks(256)) {
        assert_eq!(sines(x), together);
    }
}

proptest! {
    #[test]
    fn every_argument_is_right(
        x32 in any::<f32>(), x64 in any::<f64>(), unit in 0f64..1.0, near in -1e5f64..1e5, far in 26f64..1023.9,
    ) {
        for x in [x32, unit as f32, near as f32].into_iter().filter(|x| x.is_finite()) {
            prop_assert!(worst(&[x]) <= MAX_ULPS, "{x}: {}", worst(&[x]));
        }
        for x in [x64, unit, near, near * 1e3, far.exp2()].into_iter().filter(|x| x.is_finite()) {
            prop_assert!(worst(&[x]) <= MAX_ULPS, "{x}: {}", worst(&[x]));
        }
    }

    #[test]
    fn results_past_the_caches_are_those_in_them(x in prop::collection::vec(-10f32..1e6, 0..3000)) {
        let mut y = vec![0.0; x.len()];
        sin_past_caches(&x, &mut y);
        prop_assert_eq!(&y, &sines(&x));
        elementwise_past_caches(&vec![0.0; x.len()], &x, &mut y);
        prop_assert_eq!(&y, &cosines(&x));
    }
}
