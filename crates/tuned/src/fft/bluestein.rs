//! Transforms of any length as convolutions with a chirp (Bluestein, *A linear filtering approach to the computation of
//! discrete Fourier transform*, 1970): their length, and the tables that `kernels/fft/bluestein.cu` reads.

use gpubench_report::case::DType;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use super::radices::{self, root};

/// The largest prime factor of a convolution's length. There are enough such lengths.
const LARGEST_PRIME_OF_LENGTH: usize = 7;

/// What a stage costs besides its elements and butterflies, in the unit of [`radices::cheapest`]. It was fitted to times
/// apart from `hermitian`'s.
const PER_STAGE: usize = 400;

/// Returns the factors of the length of the convolution, at least `2 n - 1`: of the lengths whose radices do not end in
/// 16, that whose stages cost least.
///
/// The stage between the two transforms computes two butterflies of the last radix, for which 16 takes too many registers.
/// In float64 a single 16 is the last radix, so no length with it is chosen.
pub(super) fn radices(n: usize, dtype: DType) -> Vec<usize> {
    let shortest = 2 * n - 1;
    let lengths = shortest..=(4 * shortest / 3).max(32);
    let smooth = lengths.filter(|&length| radices::has_primes_up_to(length, LARGEST_PRIME_OF_LENGTH));
    let candidates = smooth
        .filter_map(|length| radices::cheapest(length, dtype, PER_STAGE))
        .map(|(cost, found)| (cost, radices::in_order(found, dtype)))
        .filter(|(_, found)| found.len() > 1 && found.last() != Some(&16));
    candidates.min().map(|(_, found)| found).unwrap_or_default()
}

/// Returns `exp(-pi i k^2 / n)` for `k` below `n`.
pub(super) fn chirp(n: usize) -> impl Iterator<Item = Complex<f64>> {
    (0..n).map(move |k| root(k * k % (2 * n), 2 * n))
}

/// Returns the transform of the conjugate chirp over the length of the convolution, divided by that length, in the
/// order in which stages of these radices leave a transform.
pub(super) fn filter(n: usize, radices: &[usize]) -> Vec<Complex<f64>> {
    let length = radices.iter().product();
    let mut values = vec![Complex::new(0.0, 0.0); length];
    for (k, value) in chirp(n).enumerate() {
        let value = value.conj() / length as f64;
        values[k] = value;
        values[(length - k) % length] = value;
    }
    FftPlanner::new().plan_fft_forward(length).process(&mut values);
    let mut ordered = values.clone();
    for (k, value) in values.into_iter().enumerate() {
        ordered[place(k, length, radices)] = value;
    }
    ordered
}

/// Returns where stages of these radices leave element `k` of a transform of `length` elements.
fn place(k: usize, length: usize, radices: &[usize]) -> usize {
    let (mut rest, mut below, mut place) = (k, length, 0);
    for radix in radices {
        below /= radix;
        place += rest % radix * below;
        rest /= radix;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convolutions_are_at_most_a_third_longer_than_they_need_to_be() {
        for n in (1..=4096).step_by(37) {
            let length: usize = radices(n, DType::F32).iter().product();
            assert!(length >= 2 * n - 1 && length <= (8 * n / 3).max(32), "{length} for {n}");
        }
    }

    #[test]
    fn the_last_radix_is_not_16() {
        let ends_well = |n| DType::REAL.iter().all(|&dtype| radices(n, dtype).last() != Some(&16));
        assert!((1..=4096).step_by(7).all(ends_well));
        assert_eq!((radices(101, DType::F32), radices(1699, DType::F32)), (vec![5, 6, 7], vec![16, 15, 15]));
    }

    #[test]
    fn places_are_those_of_the_digits_from_the_lowest() {
        let radices = [2, 3, 5];
        let mut places: Vec<usize> = (0..30).map(|k| place(k, 30, &radices)).collect();
        assert_eq!(places[..7], [0, 15, 5, 20, 10, 25, 1]);
        places.sort_unstable();
        assert_eq!(places, (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn chirp_and_filter_make_a_transform() {
        let (n, radices) = (7, [3, 5]);
        let element = |k: usize| Complex::new(1.0 + k as f64, 0.5 * (k * k) as f64);
        let chirp: Vec<_> = chirp(n).collect();
        let forward = FftPlanner::new().plan_fft_forward(15);
        let mut values: Vec<_> =
            (0..15).map(|k| if k < n { element(k) * chirp[k] } else { 0.0.into() }).collect();
        forward.process(&mut values);
        let filter = filter(n, &radices);
        for (k, value) in values.iter_mut().enumerate() {
            *value = (*value * filter[place(k, 15, &radices)]).conj();
        }
        forward.process(&mut values);
        for k in 0..n {
            let expected: Complex<f64> = (0..n).map(|j| element(j) * root(j * k % n, n)).sum();
            let found = values[k].conj() * chirp[k];
            assert!(
                (found - expected).norm() < 1e-12 * expected.norm().max(1.0),
                "{k}: {found} for {expected}"
            );
        }
    }
}
