//! Plans a transform by `kernels/fft/hermitian.cu` or `kernels/fft/bluestein.cu`: radices, block shapes and tables.

use gpubench_cuda::kernels::Capacity;
use gpubench_report::case::DType;
use gpubench_report::error::Unavailable;
use rustfft::num_complex::Complex;

use super::bluestein;
use super::radices::{LARGEST_PRIME, common, padded, radices, root};
use super::tiles::{ColumnTile, convolution_tiles, tiles};

/// The largest size that the kernels support. Larger ones have not been measured.
const MAX_N: usize = 8192;

/// What to do where a plan is not possible.
const FIX: &str = "use --variants r2c, which supports every size";

/// Bytes that one access of a warp takes from all banks of shared memory.
const BANKS: usize = 128;

/// The constants of one transform, and the shapes of its launches.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FftPlan {
    /// Rows and columns.
    pub n: usize,
    /// Element type of the input.
    pub dtype: DType,
    pub(super) method: FftMethod,
    /// Elements of the transforms in shared memory: `n`, or more for a convolution.
    pub(super) length: usize,
    /// Factors of `length`, in the order of the stages.
    pub(super) radices: Vec<usize>,
    pub(super) row_threads: usize,
    pub(super) row_stride: usize,
    pub(super) columns: usize,
    pub(super) overlap: bool,
    pub(super) column_threads: usize,
    pub(super) column_stride: usize,
}

/// How a transform of length `n` is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FftMethod {
    /// By its own factors.
    Direct,
    /// As a convolution (Bluestein).
    Convolution,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pass {
    pub blocks: usize,
    /// Threads per block.
    pub threads: usize,
    /// Bytes of shared memory per block.
    pub shared: usize,
}

impl FftPlan {
    /// Chooses a plan for `n x n` real elements on a device: the first whose blocks have enough shared memory.
    /// Fails beyond the largest size, without convolutions for a prime factor without a radix, and if none has enough.
    pub(crate) fn new(
        method: FftMethod,
        n: usize,
        dtype: DType,
        capacity: Capacity,
    ) -> Result<FftPlan, Unavailable> {
        let refused = |reason| Unavailable::new(reason, FIX);
        if n > MAX_N {
            let limit = format!("{MAX_N}, the largest size that gpubench's own fft kernels support");
            return Err(refused(format!("N = {n} is above {limit}")));
        }
        let (radices, tiles) = match method {
            FftMethod::Direct => (radices(n, dtype), tiles(n, dtype, capacity.multiprocessors)),
            FftMethod::Convolution => {
                (Some(bluestein::radices(n, dtype)), convolution_tiles(n, dtype, capacity.multiprocessors))
            }
        };
        let radices = radices.ok_or_else(|| {
            let limit = format!("{LARGEST_PRIME}, the largest that hermitian supports");
            refused(format!("N = {n} has a prime factor above {limit}"))
        })?;
        let (mut min_needed, has) = (usize::MAX, capacity.shared_memory_per_block);
        for tile in tiles {
            let plan = FftPlan::with(n, dtype, method, radices.clone(), tile);
            let needed = plan.rows().shared.max(plan.column_pass().shared);
            if needed <= has {
                return Ok(plan);
            }
            min_needed = min_needed.min(needed);
        }
        let (needed, has) = (min_needed.div_ceil(1024), has / 1024);
        Err(refused(format!("this size needs {needed} KiB of shared memory per block; the device has {has}")))
    }

    fn with(
        n: usize,
        dtype: DType,
        method: FftMethod,
        radices: Vec<usize>,
        (columns, overlap): ColumnTile,
    ) -> FftPlan {
        let length = radices.iter().product::<usize>();
        let (first, largest) = (radices[0], radices.iter().copied().fold(1, usize::max));
        let max_tasks = length / radices.iter().min().unwrap_or(&1);
        let lanes = columns + usize::from(overlap);
        let places = BANKS / pair_bytes(dtype);
        FftPlan {
            row_threads: warps(max_tasks.min(max_row_threads(&radices, length, dtype, method))),
            row_stride: padded(length / first, first, places),
            column_threads: column_threads(lanes * max_tasks, dtype, largest),
            column_stride: padded(length / first, first, places / common(lanes, places)),
            n,
            dtype,
            method,
            length,
            radices,
            columns,
            overlap,
        }
    }

    fn half(&self) -> usize {
        self.n.div_ceil(2)
    }

    fn tiles(&self) -> usize {
        self.half().div_ceil(self.columns)
    }

    fn lanes(&self) -> usize {
        self.columns + usize::from(self.overlap)
    }

    /// Elements from one row of the half spectrum to the next, rounded up to whole cache lines.
    pub(super) fn pitch(&self) -> usize {
        (self.tiles() * self.columns + usize::from(self.overlap)).next_multiple_of(16)
    }

    /// Complex elements of the half spectrum between the passes.
    pub(crate) fn half_elements(&self) -> usize {
        self.n * self.pitch()
    }

    fn shared(&self, stride: usize, lanes: usize) -> usize {
        self.radices[0] * stride * lanes * pair_bytes(self.dtype)
    }

    /// The launch of `fft_rows`: two rows per block.
    pub(crate) fn rows(&self) -> Pass {
        let shared = self.shared(self.row_stride, 1);
        Pass { blocks: self.half(), threads: self.row_threads, shared }
    }

    /// The launch of `fft_columns`: one block per tile of columns, and one for column 0.
    pub(crate) fn column_pass(&self) -> Pass {
        let shared = self.shared(self.column_stride, self.lanes());
        Pass { blocks: self.tiles() + 1, threads: self.column_threads, shared }
    }

    /// Returns whether both kernels divide a multiprocessor's memory in the same way. An equal division was measured to be
    /// slower for convolutions and where multiprocessors get a second block of columns: there L1 cache is worth more.
    pub(crate) fn divides_equally(&self, capacity: Capacity) -> bool {
        self.method == FftMethod::Direct && self.column_pass().blocks <= capacity.multiprocessors
    }

    /// Returns the tables of the kernels: the twiddles, and for a convolution the chirp and the filter. Returns at least
    /// one element.
    pub(crate) fn tables(&self) -> Vec<Complex<f64>> {
        let mut tables = self.twiddles();
        if self.method == FftMethod::Convolution {
            tables.extend(bluestein::chirp(self.n));
            tables.extend(bluestein::filter(self.n, &self.radices));
        }
        if tables.is_empty() { vec![Complex::new(1.0, 0.0)] } else { tables }
    }

    /// Returns the twiddles of all stages but the last. The stage that splits blocks of `l` elements by `r` uses
    /// `exp(-2 pi i p j / l)` for `p` from 1 to `r - 1` and `j` below `l / r`.
    fn twiddles(&self) -> Vec<Complex<f64>> {
        let mut table = Vec::with_capacity(self.length);
        let mut length = self.length;
        for &radix in &self.radices[..self.radices.len() - 1] {
            let below = length / radix;
            table.extend((1..radix).flat_map(|p| (0..below).map(move |j| root(p * j % length, length))));
            length = below;
        }
        table
    }
}

fn pair_bytes(dtype: DType) -> usize {
    match dtype {
        DType::F64 => 16,
        _ => 8,
    }
}

fn warps(threads: usize) -> usize {
    threads.next_multiple_of(32)
}

/// Returns the maximum number of threads per block of `fft_rows`.
///
/// Threads with large radices take many registers, so with fewer threads per block more blocks fit on a multiprocessor. At
/// most 128 were measured to be faster for more than 2100 elements in at most three stages (not for `hermitian` in float32),
/// and with a radix above 31; for `bluestein` in float64 at most 96 below 2700 elements.
fn max_row_threads(radices: &[usize], length: usize, dtype: DType, method: FftMethod) -> usize {
    let few_stages = radices.len() <= 3;
    let above_31 = radices.iter().any(|&radix| radix > 31);
    match (dtype, method) {
        (DType::F64, FftMethod::Convolution) if few_stages && (2101..2700).contains(&length) => 96,
        (DType::F64, _) | (_, FftMethod::Convolution) if few_stages && length > 2100 => 128,
        _ if above_31 => 128,
        (DType::F64, _) => (length / 16).clamp(128, 256),
        _ => (length / 16).clamp(128, 512),
    }
}

/// Returns the threads for the butterflies of one stage: rounds of equal size, with enough registers per thread for the
/// largest radix.
fn column_threads(tasks: usize, dtype: DType, largest: usize) -> usize {
    let max_threads = match dtype {
        DType::F64 if largest > 22 => 256,
        DType::F64 if largest > 10 => 384,
        DType::F64 => 512,
        _ if largest > 31 => 384,
        _ if largest > 22 => 512,
        _ => 640,
    };
    warps(tasks.div_ceil(tasks.div_ceil(max_threads))).max(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPPER: Capacity = Capacity::HOPPER;

    fn plan(n: usize, dtype: DType) -> FftPlan {
        FftPlan::new(FftMethod::Direct, n, dtype, HOPPER).unwrap()
    }

    fn has_valid_shape(plan: &FftPlan) -> bool {
        plan.radices.iter().product::<usize>() == plan.length
            && plan.rows().threads <= 1024
            && plan.column_pass().threads <= 640
            && plan.pitch() >= plan.tiles() * plan.columns + usize::from(plan.overlap)
    }

    fn needs_more_memory(refused: &Unavailable) -> bool {
        refused.reason.contains("shared memory")
    }

    #[test]
    fn every_size_without_large_prime_factors_has_a_plan_of_its_factors() {
        for n in 1..=MAX_N {
            let mut rest = n;
            for factor in 2..=LARGEST_PRIME {
                while rest.is_multiple_of(factor) {
                    rest /= factor;
                }
            }
            for &dtype in DType::REAL {
                let found = FftPlan::new(FftMethod::Direct, n, dtype, HOPPER);
                if rest == 1 && n > 7200 && found.as_ref().is_err_and(needs_more_memory) {
                    continue;
                }
                assert_eq!(found.is_ok(), rest == 1, "{n}");
                let Ok(plan) = found else { continue };
                assert!(plan.length == n && has_valid_shape(&plan), "{plan:?}");
            }
        }
    }

    #[test]
    fn every_size_has_a_plan_by_convolutions() {
        for n in (1..=24).chain((25..=MAX_N).step_by(19)) {
            for &dtype in DType::REAL {
                let plan = FftPlan::new(FftMethod::Convolution, n, dtype, HOPPER);
                if dtype == DType::F64 && n > 7200 {
                    assert!(plan.is_err_and(|refused| needs_more_memory(&refused)), "{n}");
                    continue;
                }
                let plan = plan.unwrap();
                assert!(
                    plan.length >= 2 * n - 1 && plan.radices.len() > 1 && has_valid_shape(&plan),
                    "{plan:?}"
                );
            }
        }
    }

    #[test]
    fn threads_that_need_many_registers_are_few() {
        let of = |plan: FftPlan| plan.rows().threads;
        let convolution = |n, dtype| FftPlan::new(FftMethod::Convolution, n, dtype, HOPPER).unwrap();
        assert_eq!([2048, 4096, 4000].map(|n| of(plan(n, DType::F32))), [128, 256, 256]);
        assert_eq!([2048, 4096, 4000].map(|n| of(plan(n, DType::F64))), [128, 128, 256]);
        assert_eq!(of(plan(2666, DType::F32)), 128);
        assert_eq!([1021, 1061, 1699, 1861].map(|n| of(convolution(n, DType::F32))), [160, 128, 128, 256]);
        assert_eq!([1021, 1249, 1307, 1699].map(|n| of(convolution(n, DType::F64))), [160, 96, 128, 224]);
    }

    #[test]
    fn memory_is_divided_equally_where_no_multiprocessor_gets_a_second_block_of_columns() {
        let of = |n, dtype| plan(n, dtype).divides_equally(HOPPER);
        assert_eq!([2090, 2100].map(|n| of(n, DType::F32)), [true, false]);
        assert_eq!([1568, 1575].map(|n| of(n, DType::F64)), [true, false]);
        assert!(
            !FftPlan::new(FftMethod::Convolution, 500, DType::F32, HOPPER).unwrap().divides_equally(HOPPER)
        );
    }

    #[test]
    fn less_shared_memory_means_fewer_columns_and_then_an_error_with_a_fix() {
        let with_kib = |kib: usize| Capacity { shared_memory_per_block: kib << 10, ..HOPPER };
        let columns = |kib| FftPlan::new(FftMethod::Direct, 2048, DType::F32, with_kib(kib)).unwrap().columns;
        assert_eq!((columns(227), columns(99), columns(64)), (8, 4, 2));
        let refused = FftPlan::new(FftMethod::Direct, 2048, DType::F32, with_kib(32)).unwrap_err();
        assert!(refused.reason.contains("49 KiB"), "{}", refused.reason);
        for n in [47, 8193] {
            let refused = FftPlan::new(FftMethod::Direct, n, DType::F32, HOPPER).unwrap_err();
            assert!(refused.fix.unwrap().contains("r2c"));
        }
    }

    #[test]
    fn the_table_of_twiddles_covers_all_stages_but_the_last() {
        for n in [1, 7, 100, 512, 2048] {
            let plan = plan(n, DType::F64);
            let last = plan.radices[plan.radices.len() - 1];
            assert_eq!(plan.twiddles().len(), n - last);
            assert!(!plan.tables().is_empty());
        }
    }
}
