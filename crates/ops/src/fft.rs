//! The Fourier transform of real or complex arrays of one to three dimensions. The judge checks every output by direct sums.

use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Element, Operand, Wide};
use gpubench_report::error::CellError;
use gpubench_report::shape::{BATCH, Shape};
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::judge::{self, relative, worst};
use super::volume::{bytes_of, element, product};
use super::{About, Checked, Given, Op, Work, uniform};

/// `F = DFT(a)` over all axes, unnormalised, all outputs.
pub(crate) struct Fft;

/// The dimensions of a batch; without a shape, arrays are N x N.
const ARRAY: [&str; 4] = [BATCH, "nx", "ny", "nz"];

/// The transforms of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transforms {
    /// Extents of an array, its contiguous axis last. Those of 1 are left out, as they change neither the transform nor the order of
    /// elements; a single element has one.
    pub sides: Vec<usize>,
    /// Number of arrays, which follow each other.
    pub batch: usize,
    /// Columns of the matrix that operand and answer are: the extent of the last axis.
    pub cols: usize,
}

impl Transforms {
    /// Returns the transform of one matrix of n x n.
    pub fn square(n: usize) -> Transforms {
        Transforms::new(vec![n, n], 1)
    }

    /// Returns transforms of arrays with these extents, of which there is at least one.
    fn new(mut sides: Vec<usize>, batch: usize) -> Transforms {
        let cols = sides.last().copied().unwrap_or(1);
        sides.retain(|side| *side != 1);
        if sides.is_empty() {
            sides.push(1);
        }
        Transforms { sides, batch, cols }
    }

    /// Returns the transforms of a case.
    pub fn of(case: &Case) -> Transforms {
        let Some(shape) = &case.shape else { return Transforms::square(case.side()) };
        let axes = ["nx", "ny", "nz"].into_iter().filter(|axis| shape.names().any(|name| name == *axis));
        let [batch] = case.extents([BATCH]);
        Transforms::new(axes.flat_map(|axis| case.extents([axis])).collect(), batch)
    }

    /// Returns the elements of one array.
    pub fn points(&self) -> usize {
        self.sides.iter().product()
    }

    /// Returns the elements of all arrays.
    pub fn elements(&self) -> usize {
        self.points() * self.batch
    }

    /// Returns the extent of the contiguous axis, and those of the others.
    pub fn last(&self) -> (usize, &[usize]) {
        self.sides.split_last().map_or((1, &[]), |(last, others)| (*last, others))
    }

    /// Returns the side of a square matrix with as many elements as all arrays.
    pub fn side(&self) -> usize {
        (self.elements() as f64).sqrt().round() as usize
    }
}

impl Op for Fft {
    fn about(&self) -> About {
        let about = About::new(
            "fft",
            "Fourier transform, full complex spectrum, 2-D without a shape",
            &[100, 500, 512, 1024, 2048],
        );
        let about = about.shaped(&["nx", "ny", "nz"], &[BATCH]).of_types(DType::REAL_AND_COMPLEX);
        About { needed: 1, ..about }
    }

    /// Counts `2.5 m log2 m` for `m` real inputs and twice as much for complex ones, as benchFFT does.
    fn work(&self, case: &Case) -> Work {
        let (points, elements) = (Transforms::of(case).points() as f64, product(case, &axes(case)));
        let (of_point, arrays) = if case.dtype.is_complex() { (5.0, 2.0) } else { (2.5, 3.0) };
        Work { flop: of_point * elements * points.log2(), bytes: arrays * elements * element(case.dtype) }
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        product(case, &axes(case)) * element(case.dtype)
    }

    fn footprint(&self, case: &Case) -> u128 {
        bytes_of(case, &[&axes(case)]).saturating_mul(if case.dtype.is_complex() { 2 } else { 3 })
    }

    fn refuse_shape(&self, shape: &Shape) -> Option<String> {
        let has = |name| shape.names().any(|known| known == name);
        (has("nz") && !has("ny")).then(|| "nz is given without ny".to_owned())
    }

    fn inputs(&self, case: &Case) -> Vec<Operand> {
        let transforms = Transforms::of(case);
        let cols = transforms.cols;
        vec![uniform(case, 0, [transforms.elements() / cols, cols])]
    }

    /// Checks every output. Each row of the spectrum, along the contiguous axis, is projected on random weights q, zero at column 0, and
    /// the projections are compared with the transform over the other axes of `sum_c a_rc Q_c`, where Q is the transform of q. Column 0
    /// is the transform of the row sums, and row 0 that of the column sums, if there are other axes: each of their entries is compared,
    /// relative to the largest output, `F[0, 0]`, whose rounding they carry. The error of another row is relative to the 2-norm of a
    /// typical row of F, `sqrt(p / r) |a|_F` for p elements in r rows, so it estimates the relative L2 error of the row. A share of the
    /// norm of row 0 is added: in a transform of the columns, rows `n / 2`, `n / 4` and similar ones are differences of sums as large as
    /// row 0, and carry their rounding (a transform of the rows spreads it over all rows). An array of one axis has row 0 alone.
    ///
    /// All transforms of the judge are direct sums, one axis after the other. Rounding grows with `log2 n` of the longest axis. In float64
    /// the bound also has the term of Gentleman and Sande (1966) for the prime factors p above 7 of each axis, `1.06 sum((2 p)^(3/2))` unit
    /// roundoffs: MKL 2025.3 transforms factors from 11 to 149 directly, with errors up to `7 p` unit roundoffs. In float32 no library needs
    /// it, and it would hide operands of fewer bits.
    fn judge(&self, given: &Given) -> Result<Checked, CellError> {
        match given.case.dtype {
            DType::C64 => check::<Complex<f32>, Complex<f32>>(given),
            DType::C128 => check::<Complex<f64>, Complex<f64>>(given),
            dtype => match dtype.working() {
                DType::F64 => check::<f64, Complex<f64>>(given),
                _ => check::<f32, Complex<f32>>(given),
            },
        }
    }
}

/// Returns the names of the dimensions whose product is the number of elements.
fn axes(case: &Case) -> Vec<&'static str> {
    match &case.shape {
        None => vec!["nx", "ny"],
        Some(shape) => ARRAY.into_iter().filter(|axis| shape.names().any(|name| name == *axis)).collect(),
    }
}

/// Checks a spectrum with elements `F` of arrays with elements `T`.
fn check<T: Element, F: Element<Wide = Complex<f64>>>(given: &Given) -> Result<Checked, CellError> {
    let Given { case, inputs, answer, rounding } = *given;
    let transforms = Transforms::of(case);
    let (points, rows) = (transforms.points(), transforms.elements() / transforms.cols);
    let a = judge::dense::<T>(inputs, 0, "a", (rows, transforms.cols))?;
    let f = judge::dense::<F>(answer, 0, "F", (rows, transforms.cols))?;
    let (n, others) = transforms.last();
    let probe = Probe::new(case.seed, n);
    let of_batch = a.par_chunks(points).zip(f.par_chunks(points));
    let longest = growth(transforms.sides.iter().copied().max().unwrap_or(1));
    let error = worst(of_batch.map(|(a, f)| {
        let sums = Sums::of(a, n);
        // The bound grows with n; the error carried from row 0 does not.
        let scale = match others {
            [] => typical_row(a, n),
            _ => typical_row(a, n) + sums.first_row() / longest,
        };
        edge_error(&sums, f, others).max(interior_error(&probe, a, f, others, scale))
    }));
    let primes = transforms.sides.iter().map(|side| of_primes(*side)).fold(0.0, f64::max);
    let primes = if case.dtype.working() == DType::F64 { primes } else { 0.0 };
    Ok(Checked::new(error, (4.0 * longest + primes) * rounding.sum))
}

/// Returns the growth of rounding errors, in units of one rounding.
fn growth(n: usize) -> f64 {
    2.0 + (n as f64).log2()
}

/// Returns the bound on the error of the direct transforms over the prime factors of `n` above 7, in unit roundoffs.
fn of_primes(mut n: usize) -> f64 {
    let mut sum = 0.0;
    let mut factor = 2;
    while n > 1 {
        if !n.is_multiple_of(factor) {
            // What is left has no smaller factor, so above its root it is prime.
            factor = if factor * factor > n { n } else { factor + 1 };
            continue;
        }
        n /= factor;
        if factor > 7 {
            sum += 1.06 * (2.0 * factor as f64).powf(1.5);
        }
    }
    sum
}

/// Returns the 2-norm of a typical row of the spectrum, of `n` elements.
fn typical_row<T: Element>(a: &[T], n: usize) -> f64 {
    (n as f64 * judge::sum(a, |x| x.magnitude() * x.magnitude())).sqrt()
}

/// The sums of the rows and of the columns of the operand.
struct Sums {
    rows: Vec<Complex<f64>>,
    columns: Vec<Complex<f64>>,
}

impl Sums {
    fn of<T: Element>(a: &[T], n: usize) -> Sums {
        let ones = |len| vec![[T::Wide::from(1.0)]; len];
        let complex = |sums: Vec<[T::Wide; 1]>| sums.into_iter().map(|[sum]| sum.complex()).collect();
        let (across, down) = (judge::rows_times(a, &ones(n)), judge::columns_times(a, &ones(a.len() / n)));
        Sums { rows: complex(across), columns: complex(down) }
    }

    /// The 2-norm of row 0 of the spectrum, by Parseval's theorem.
    fn first_row(&self) -> f64 {
        let squares: f64 = self.columns.iter().map(Complex::norm_sqr).sum();
        (self.columns.len() as f64 * squares).sqrt()
    }
}

/// Returns the largest error of row 0, if there are other axes than the row's, and of column 0, relative to the sum of all inputs.
fn edge_error<F: Element<Wide = Complex<f64>>>(sums: &Sums, f: &[F], others: &[usize]) -> f64 {
    let (total, n) = (sums.rows.iter().sum::<Complex<f64>>().norm(), sums.columns.len());
    let error = |found: F, expected: Complex<f64>| relative((found.widen() - expected).norm(), total);
    let down = judge::dft_of_axes(sums.rows.clone(), others);
    let column = worst(down.par_iter().enumerate().map(|(u, &expected)| error(f[u * n], expected)));
    if others.is_empty() {
        return column;
    }
    let across = judge::dft(&sums.columns);
    column.max(worst(across.par_iter().zip(f).map(|(&expected, &found)| error(found, expected))))
}

/// Random weights for the elements of a row, zero for the first, and their transform.
struct Probe {
    weights: Vec<[f64; 1]>,
    spectrum: Vec<[f64; 2]>,
}

impl Probe {
    fn new(seed: u64, n: usize) -> Probe {
        let mut weights = judge::weights::<1>(seed, n);
        weights[0] = [0.0];
        let complex: Vec<_> = weights.iter().map(|&[weight]| weight.complex()).collect();
        let spectrum = judge::dft(&complex).iter().map(|z| [z.re, z.im]).collect();
        Probe { weights, spectrum }
    }
}

/// Returns the largest error of a projected row, right of column 0 and, if there are several, below row 0, relative to `scale`.
fn interior_error<T: Element, F: Element<Wide = Complex<f64>>>(
    probe: &Probe,
    a: &[T],
    f: &[F],
    others: &[usize],
    scale: f64,
) -> f64 {
    let projected = judge::rows_times(a, &judge::as_wide(&probe.spectrum));
    let turned = |z: Complex<f64>| Complex::new(-z.im, z.re);
    let projected = projected.iter().map(|&[re, im]| re.complex() + turned(im.complex())).collect();
    let expected = judge::dft_of_axes(projected, others);
    let found = judge::rows_times(f, &judge::as_wide(&probe.weights));
    let rows = found.par_iter().zip(&expected).skip(usize::from(!others.is_empty()));
    worst(rows.map(|([found], expected)| relative((found - expected).norm(), scale)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rounding;
    use crate::reference::spectrum;
    use gpubench_report::case::DType;
    use gpubench_report::data::{Dense, Operand};

    #[test]
    fn each_prime_factor_above_7_widens_the_bound() {
        let direct = |factors: &[f64]| factors.iter().map(|p| 1.06 * (2.0 * p).powf(1.5)).sum::<f64>();
        let expected: [(usize, &[f64]); 5] =
            [(1, &[]), (2520, &[]), (88, &[11.0]), (11 * 11 * 149, &[11.0, 11.0, 149.0]), (7919, &[7919.0])];
        for (n, factors) in expected {
            assert!((of_primes(n) - direct(factors)).abs() <= 1e-12 * direct(factors), "{n}");
        }
    }

    #[test]
    fn a_row_may_carry_rounding_of_the_first_row_and_no_more() {
        let n = 600;
        let case = Case::square("fft", n as u64, DType::F64, 3);
        let inputs = Fft.inputs(&case);
        let a = inputs[0].dense_slice::<f64>().unwrap();
        let complex = a.iter().map(|&a| a.complex()).collect();
        let exact = spectrum(&Transforms::square(n), complex);
        let rounding = Rounding { input: 0.0, sum: 1e-8, element: 1e-8 };
        let weights = judge::weights::<1>(case.seed, n);
        // Errors of row n / 2, which its projection sees as this number of roundings of `norm`.
        let is_right = |roundings: f64, norm: f64| {
            let mut f = exact.clone();
            let square: f64 = weights[1..].iter().map(|[q]| q * q).sum();
            for (z, [q]) in f[n / 2 * n..][..n].iter_mut().zip(&weights).skip(1) {
                z.re += roundings * rounding.sum * norm / square * q;
            }
            let answer = Operand::Dense(Dense { rows: n, cols: n, values: Complex::into_values(f) });
            Fft.check(&case, &inputs, &[answer], rounding).unwrap().is_right()
        };
        let (typical, first) = (typical_row(a, n), Sums::of(a, n).first_row());
        assert!(is_right(0.0, typical));
        // In a typical row the same error is too large.
        assert!(3.0 * first > 4.0 * growth(n) * typical && is_right(3.0, first));
        assert!(!is_right(4.0 * growth(n), typical + first));
        assert!(!is_right(12.0, first));
    }
}
