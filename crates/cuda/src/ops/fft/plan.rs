//! Plans a transform by `kernels/fft_hermitian.cu`: radices, block shapes, twiddles and the source with its constants.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use gpubench_model::case::DType;
use gpubench_model::error::Unavailable;
use rustfft::num_complex::Complex;

use super::radices::{common, padded, radices, root};
use crate::kernels::{KernelSource, kernel_source};

/// The source text. It contains the constants of float32 at `n = 2048`, which a plan's header overrides.
pub(crate) static SOURCE: KernelSource =
    KernelSource { per_size: Some(examples), ..kernel_source!("fft_hermitian") };

/// The largest size. Beyond it, a block has too few columns for whole memory sectors.
const MAX_N: usize = 4096;

/// Bytes that one access of a warp takes from all banks of shared memory.
const BANKS: usize = 128;

/// The constants of one transform, and the shapes of its launches.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FftPlan {
    /// Rows and columns.
    pub n: usize,
    /// Element type of the input.
    pub dtype: DType,
    /// Factors of `n`, in the order of the stages.
    radices: Vec<usize>,
    row_threads: usize,
    row_stride: usize,
    columns: usize,
    overlap: bool,
    column_threads: usize,
    column_stride: usize,
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pass {
    pub blocks: usize,
    /// Threads per block.
    pub threads: usize,
    /// Bytes of shared memory per block.
    pub shared: usize,
}

impl FftPlan {
    /// Chooses a plan for `n x n` real elements on a device with `shared` bytes of shared memory per block.
    ///
    /// # Errors
    /// A prime factor above 7, a size beyond the largest, or too little shared memory.
    pub(crate) fn choose(n: usize, dtype: DType, shared: usize) -> Result<FftPlan, Unavailable> {
        const FIX: &str = "use --variants r2c, which supports every size";
        if n > MAX_N {
            return Err(Unavailable::new(
                format!("N = {n} is above {MAX_N}, the largest size of hermitian"),
                FIX,
            ));
        }
        let radices = radices(n, dtype).ok_or_else(|| {
            Unavailable::new(
                format!("N = {n} has a prime factor above 7; hermitian supports 2, 3, 5 and 7"),
                FIX,
            )
        })?;
        let plans = tiles(n, dtype).iter().map(|&tile| FftPlan::with(n, dtype, radices.clone(), tile));
        let fits = |plan: &FftPlan| plan.rows().shared.max(plan.column_pass().shared) <= shared;
        plans.clone().find(fits).ok_or_else(|| {
            let needed = plans.map(|plan| plan.column_pass().shared).min().unwrap_or(0).div_ceil(1024);
            let has = shared / 1024;
            Unavailable::new(
                format!("this size needs {needed} KiB of shared memory per block; the device has {has}"),
                FIX,
            )
        })
    }

    fn with(n: usize, dtype: DType, radices: Vec<usize>, (columns, overlap): (usize, bool)) -> FftPlan {
        let (first, last) = (radices[0], radices[radices.len() - 1]);
        let max_tasks = n / radices.iter().min().unwrap_or(&1);
        let lanes = columns + usize::from(overlap);
        let places = BANKS / pair_bytes(dtype);
        FftPlan {
            row_threads: warps(max_tasks.min((n / 16).max(128))),
            row_stride: padded(n / first, first, places),
            column_threads: column_threads(lanes * max_tasks, dtype, last),
            column_stride: padded(n / first, first, places / common(lanes, places)),
            n,
            dtype,
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
    fn pitch(&self) -> usize {
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

    /// Returns the twiddles of all stages but the last. The stage that splits blocks of `l` elements by `r` uses
    /// `exp(-2 pi i p j / l)` for `p` from 1 to `r - 1` and `j` below `l / r`. Returns at least one element.
    pub(crate) fn twiddles(&self) -> Vec<Complex<f64>> {
        let mut table = Vec::with_capacity(self.n);
        let mut length = self.n;
        for &radix in &self.radices[..self.radices.len() - 1] {
            let below = length / radix;
            table.extend((1..radix).flat_map(|p| (0..below).map(move |j| root(p * j % length, length))));
            length = below;
        }
        if table.is_empty() { vec![Complex::new(1.0, 0.0)] } else { table }
    }

    /// Returns the lines that precede the source's text.
    fn header(&self) -> String {
        let real = if self.dtype == DType::F32 { "float" } else { "double" };
        let radices: Vec<String> = self.radices.iter().map(ToString::to_string).collect();
        let mut text = format!(
            "#define FFT_PLAN\ntypedef {real} Real;\ntypedef {real}2 Pair;\n\
             constexpr unsigned RADIX[] = {{{}}};\nconstexpr bool OVERLAP = {};\n",
            radices.join(", "),
            self.overlap
        );
        for (name, value) in [
            ("N", self.n),
            ("ROW_THREADS", self.row_threads),
            ("ROW_STRIDE", self.row_stride),
            ("COLUMNS", self.columns),
            ("COLUMN_THREADS", self.column_threads),
            ("COLUMN_STRIDE", self.column_stride),
            ("PITCH", self.pitch()),
        ] {
            // Writing to a string does not fail.
            let _ = writeln!(text, "constexpr unsigned {name} = {value};");
        }
        text
    }

    /// Returns the source with this plan's constants. Each source, a few KiB, is made once and kept for the whole
    /// process.
    pub(crate) fn source(&self) -> &'static KernelSource {
        static MADE: Mutex<BTreeMap<String, &'static KernelSource>> = Mutex::new(BTreeMap::new());
        let header = self.header();
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(header.clone()).or_insert_with(|| {
            let name = format!("fft_hermitian_{}_{}_{}", self.n, self.dtype, self.columns);
            Box::leak(Box::new(KernelSource {
                name: Box::leak(name.into_boxed_str()),
                text: Box::leak(format!("{header}{}", SOURCE.text).into_boxed_str()),
                dtype: Some(self.dtype),
                per_size: None,
            }))
        })
    }
}

/// Bytes of a complex element.
fn pair_bytes(dtype: DType) -> usize {
    match dtype {
        DType::F32 => 8,
        DType::F64 => 16,
    }
}

/// Returns the columns of a tile, and whether a tile takes one more column to write its mirrors aligned; best first.
///
/// Small transforms need many blocks. For spectra of several MB, whole 32-byte sectors matter more.
fn tiles(n: usize, dtype: DType) -> &'static [(usize, bool)] {
    match (n, dtype) {
        (..200, _) => &[(2, false)],
        (..600, _) => &[(4, false)],
        (..1536, DType::F32) => &[(4, true)],
        (_, DType::F32) => &[(8, true), (4, true)],
        (_, DType::F64) => &[(4, true), (2, true)],
    }
}

/// Rounds threads up to whole warps.
fn warps(threads: usize) -> usize {
    threads.next_multiple_of(32)
}

/// Returns the threads for the butterflies of one stage: rounds of equal size, with enough registers per thread.
fn column_threads(tasks: usize, dtype: DType, last: usize) -> usize {
    let max_threads = match dtype {
        DType::F32 => 640,
        DType::F64 if last > 10 => 384,
        DType::F64 => 512,
    };
    warps(tasks.div_ceil(tasks.div_ceil(max_threads))).max(64)
}

/// Returns the sources of plans that use every radix in every position, for compiling without a device.
fn examples() -> Vec<&'static KernelSource> {
    const HOPPER: usize = 227 << 10;
    let f32s =
        [1, 7, 16, 100, 243, 500, 512, 625, 1000, 1024, 2048, 2100, 2401, 4096].map(|n| (n, DType::F32));
    let f64s = [15, 100, 196, 500, 512, 1000, 1024, 2048, 2250, 4096].map(|n| (n, DType::F64));
    let plans = f32s.into_iter().chain(f64s).filter_map(|(n, dtype)| FftPlan::choose(n, dtype, HOPPER).ok());
    plans.map(|plan| plan.source()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPPER: usize = 227 << 10;

    fn plan(n: usize, dtype: DType) -> FftPlan {
        FftPlan::choose(n, dtype, HOPPER).unwrap()
    }

    #[test]
    fn every_smooth_size_has_a_plan_of_its_factors() {
        for n in 1..=MAX_N {
            let mut rest = n;
            for prime in [2, 3, 5, 7] {
                while rest.is_multiple_of(prime) {
                    rest /= prime;
                }
            }
            for &dtype in DType::ALL {
                let found = FftPlan::choose(n, dtype, HOPPER);
                assert_eq!(found.is_ok(), rest == 1, "{n}");
                let Ok(plan) = found else { continue };
                assert_eq!(plan.radices.iter().product::<usize>(), n);
                assert!(plan.rows().threads <= 1024 && plan.column_pass().threads <= 640, "{plan:?}");
                assert!(plan.pitch() >= plan.tiles() * plan.columns + usize::from(plan.overlap));
            }
        }
    }

    #[test]
    fn the_source_text_contains_the_plan_of_2048() {
        let plan = plan(2048, DType::F32);
        for line in plan.header().lines() {
            assert!(
                SOURCE.text.lines().any(|text| text.starts_with(line) || line == "#define FFT_PLAN"),
                "{line}"
            );
        }
    }

    #[test]
    fn less_shared_memory_means_fewer_columns_and_then_an_error_with_a_fix() {
        let small = FftPlan::choose(2048, DType::F32, 99 << 10).unwrap();
        assert_eq!((small.columns, small.overlap), (4, true));
        let refused = FftPlan::choose(2048, DType::F32, 64 << 10).unwrap_err();
        assert!(refused.reason.contains("81 KiB"), "{}", refused.reason);
        for n in [11, 8192] {
            let refused = FftPlan::choose(n, DType::F32, HOPPER).unwrap_err();
            assert!(refused.fix.unwrap().contains("r2c"));
        }
    }

    #[test]
    fn the_table_of_twiddles_covers_all_stages_but_the_last() {
        for n in [1, 7, 100, 512, 2048] {
            let plan = plan(n, DType::F64);
            let last = plan.radices[plan.radices.len() - 1];
            assert_eq!(plan.twiddles().len(), (n - last).max(1));
        }
    }
}
