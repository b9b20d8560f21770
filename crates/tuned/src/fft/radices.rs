//! Factors of a transform's length, roots of unity, and strides that avoid bank conflicts in shared memory.

use gpubench_report::case::DType;
use rustfft::num_complex::Complex;

/// Lengths for which the source has a transform in registers, besides 1.
const RADICES: [usize; 25] =
    [43, 41, 37, 31, 29, 26, 23, 22, 19, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2];

/// The largest prime factor for which there is a radix.
pub(super) const LARGEST_PRIME: usize = RADICES[0];

/// Larger radices take many registers, and the last stage transforms two blocks at the same time. So they come last only if
/// there are no others.
const SMALL: usize = 16;

/// What a stage of `hermitian` costs besides its elements and butterflies: a barrier, and the latency of shared memory. The
/// unit is half the cost of one element of a stage.
const PER_STAGE: usize = 900;

/// What butterflies of a radix cost. If a transform is short, other threads have nothing to do while one computes its
/// butterfly. So the cost grows with the square of the radix, and it is higher in float64.
fn butterfly_cost(radix: usize, dtype: DType) -> usize {
    radix * radix * if dtype == DType::F32 { 6 } else { 9 }
}

/// Returns the factors of `n` for `hermitian` in the order of the stages. Returns `None` for prime factors above
/// [`LARGEST_PRIME`].
pub(super) fn radices(n: usize, dtype: DType) -> Option<Vec<usize>> {
    cheapest(n, dtype, PER_STAGE).map(|(_, found)| in_order(merge_two(n, dtype, found), dtype))
}

/// Returns the ascending factors of `n` whose stages cost least, and that cost, if each stage costs `per_stage` besides its
/// elements and butterflies. Returns `None` for prime factors above [`LARGEST_PRIME`].
pub(super) fn cheapest(n: usize, dtype: DType, per_stage: usize) -> Option<(usize, Vec<usize>)> {
    if n <= 1 {
        return Some((0, vec![1]));
    }
    factors(n, RADICES[0], dtype, per_stage + 2 * n)
}

/// Orders the factors for the stages.
///
/// Small radices ascend: large ones were fastest at the end, except for a leading 16, because blocks 16 apart are in
/// different banks. Radices above [`SMALL`] come first; in float64 a single one of them is the second of
/// three or more.
pub(super) fn in_order(factors: Vec<usize>, dtype: DType) -> Vec<usize> {
    let (mut small, mut large): (Vec<_>, Vec<_>) = factors.into_iter().partition(|&radix| radix <= SMALL);
    small.sort_unstable();
    large.sort_unstable_by(|a, b| b.cmp(a));
    let sixteens = small.iter().filter(|&&radix| radix == 16).count();
    if sixteens > usize::from(dtype == DType::F64) {
        small.rotate_right(1);
    }
    let before = usize::from(dtype == DType::F64 && large.len() == 1 && small.len() > 1);
    small.splice(before..before, large);
    small
}

/// Replaces the factors 2 and 11 or 13 of a float64 length by 22 or 26 if the third factor is a large prime.
///
/// That was measured to be faster at lengths from 418 to 962: a stage of radix 2 has many butterflies and therefore many
/// threads, all of which hold the registers that few of them need in the stage of the prime.
fn merge_two(n: usize, dtype: DType, factors: Vec<usize>) -> Vec<usize> {
    match factors[..] {
        [2, other @ (11 | 13), large] if dtype == DType::F64 && n < 1000 && large > 17 => {
            vec![2 * other, large]
        }
        _ => factors,
    }
}

/// Returns whether no prime factor of `n` exceeds `most`.
pub(crate) fn has_primes_up_to(n: usize, most: usize) -> bool {
    (2..=most).fold(n, |mut rest, factor| {
        while rest > 1 && rest.is_multiple_of(factor) {
            rest /= factor;
        }
        rest
    }) == 1
}

/// Returns the factors of `n`, each at most `most`, with the least total cost, and that cost before them. Each costs
/// `stage_cost` and its butterflies.
fn factors(n: usize, most: usize, dtype: DType, stage_cost: usize) -> Option<(usize, Vec<usize>)> {
    if n == 1 {
        return Some((0, vec![]));
    }
    let splits = RADICES.into_iter().filter(|&radix| radix <= most && n.is_multiple_of(radix));
    let found = splits.filter_map(|radix| {
        let (cost, mut rest) = factors(n / radix, radix, dtype, stage_cost)?;
        rest.push(radix);
        Some((cost + stage_cost + butterfly_cost(radix, dtype), rest))
    });
    found.min()
}

pub(super) fn common(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common(b, a % b) }
}

/// Returns the next stride from `stride` upward whose `count` multiples spread over `places` of shared memory.
pub(super) fn padded(stride: usize, count: usize, places: usize) -> usize {
    let apart = if places > count && places.is_multiple_of(count) { places / count } else { 1 };
    (stride..).find(|padded| padded % places == apart % places).unwrap_or(stride)
}

/// Returns `exp(-2 pi i k / n)`, computed from an angle of at most an eighth of a turn for accuracy.
pub(super) fn root(k: usize, n: usize) -> Complex<f64> {
    // The nearest quarter turn; the rest is in units of 1 / (4 n) of a turn.
    let quarter = (8 * k / n).div_ceil(2);
    let rest = (4 * k) as f64 - (quarter * n) as f64;
    let (sin, cos) = (std::f64::consts::TAU * rest / (4 * n) as f64).sin_cos();
    match quarter % 4 {
        0 => Complex::new(cos, -sin),
        1 => Complex::new(-sin, -cos),
        2 => Complex::new(-cos, sin),
        _ => Complex::new(sin, cos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radices_are_in_the_order_that_avoids_bank_conflicts() {
        let of = |n, dtype| radices(n, dtype).unwrap();
        assert_eq!(of(500, DType::F32), [5, 10, 10]);
        assert_eq!(of(1024, DType::F32), [16, 8, 8]);
        assert_eq!(of(1024, DType::F64), [8, 8, 16]);
        assert_eq!(of(2048, DType::F64), [16, 8, 16]);
        assert_eq!(of(1, DType::F32), [1]);
        assert_eq!(of(440, DType::F32), [5, 8, 11]);
        assert_eq!(of(2662, DType::F32), [22, 11, 11]);
        assert_eq!(of(952, DType::F32), [17, 7, 8]);
        assert_eq!(of(952, DType::F64), [7, 17, 8]);
        assert_eq!(of(1426, DType::F64), [31, 23, 2]);
        assert_eq!(radices(2 * 47, DType::F32), None);
    }

    #[test]
    fn a_short_transform_has_one_stage_more_instead_of_large_radices() {
        let of = |n, dtype| radices(n, dtype).unwrap();
        assert_eq!((of(12, DType::F32), of(16, DType::F32)), (vec![12], vec![4, 4]));
        assert_eq!((of(100, DType::F32), of(100, DType::F64)), (vec![10, 10], vec![4, 5, 5]));
        assert_eq!((of(256, DType::F32), of(256, DType::F64)), (vec![4, 8, 8], vec![4, 8, 8]));
        assert_eq!(of(31 * 16, DType::F64), [4, 31, 4]);
    }

    #[test]
    fn the_factor_2_is_merged_where_another_is_a_large_prime_in_float64() {
        let of = |n, dtype| radices(n, dtype).unwrap();
        assert_eq!((of(418, DType::F64), of(962, DType::F64)), (vec![22, 19], vec![37, 26]));
        assert_eq!((of(374, DType::F64), of(1066, DType::F64)), (vec![2, 17, 11], vec![2, 41, 13]));
        assert_eq!(of(418, DType::F32), [19, 2, 11]);
    }

    #[test]
    fn merging_two_radices_never_costs_less() {
        for n in (1..=4096).filter(|&n| has_primes_up_to(n, LARGEST_PRIME)) {
            for &dtype in DType::REAL {
                let cost = |radices: &[usize]| -> usize {
                    radices.iter().map(|&radix| PER_STAGE + 2 * n + butterfly_cost(radix, dtype)).sum()
                };
                let (found_cost, found) = cheapest(n, dtype, PER_STAGE).unwrap();
                assert!(n == 1 || found_cost == cost(&found), "{n}: {found:?}");
                for (i, j) in (0..found.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
                    let mut merged = found.clone();
                    merged[i] *= merged.remove(j);
                    let exists = RADICES.contains(&merged[i]);
                    assert!(!exists || found_cost <= cost(&merged), "{n}: {found:?}, {merged:?}");
                }
            }
        }
    }

    #[test]
    fn roots_are_right_in_every_octant() {
        for n in [1, 2, 3, 7, 8, 12, 100, 2048] {
            for k in 0..n {
                let (sin, cos) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
                assert!((root(k, n) - Complex::new(cos, -sin)).norm() < 1e-15, "{k} of {n}");
            }
        }
        assert_eq!(root(1, 4), Complex::new(0.0, -1.0));
    }

    #[test]
    fn strides_have_the_least_padding_that_avoids_bank_conflicts() {
        assert_eq!(padded(128, 16, 16), 129);
        assert_eq!(padded(64, 8, 16), 66);
        assert_eq!(padded(4, 3, 1), 4);
    }
}
