//! Measures the FLOP rate of large matrix products by cuBLAS, for every arithmetic of the backend.

use std::time::Instant;

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use gpubench_ops as op;
use gpubench_report::case::{Case, DType};

use super::super::ffi::cublas::{Arithmetic, Cublas};
use super::super::timing::Timer;
use super::{uniform, unless_device_lost};
use crate::{CellError, Cuda, DeviceElement, Result};

/// Sizes to try, each twice the last. On a slow device a small product already reaches the peak rate.
const SIZES: [i32; 3] = [2048, 4096, 8192];
/// The next size is tried if its product is expected to take less than this many seconds.
const MAX_NEXT_S: f64 = 0.06;
/// Expected ratio of times when the size doubles.
const TIME_RATIO: f64 = 8.0;
/// Executions of all sizes but the last, and the minimum for the last.
const EXECUTIONS: u32 = 2;
/// Seconds of measurement for the last size.
const SECONDS: f64 = 0.04;

/// Returns the highest rate of each arithmetic, by its name. Arithmetics that fail are left out. Fails only if the device is
/// lost.
pub(crate) fn rates(cuda: &Cuda, timer: &Timer) -> Result<Vec<(String, f64)>> {
    let Some(cublas) = unless_device_lost(cuda, Cublas::new(cuda))? else { return Ok(vec![]) };
    let products = ProductRates { cuda, timer, cublas };
    let rates = [
        ("f32", products.rate::<f32, f32>(Arithmetic::F32, "fill_f32")),
        ("f64", products.rate::<f64, f64>(Arithmetic::F64, "fill_f64")),
        ("tf32", products.rate::<f32, f32>(Arithmetic::Tf32, "fill_f32")),
        ("f16", products.rate::<u16, f32>(Arithmetic::F16, "fill_f16")),
        ("bf16", products.rate::<u16, f32>(Arithmetic::Bf16, "fill_bf16")),
    ];
    let mut found = vec![];
    for (word, rate) in rates {
        found.extend(unless_device_lost(cuda, rate)?.map(|rate| (word.to_owned(), rate)));
    }
    Ok(found)
}

struct ProductRates<'a> {
    cuda: &'a Cuda,
    timer: &'a Timer,
    cublas: Cublas,
}

impl ProductRates<'_> {
    /// Returns the highest rate over all sizes that take neither too long nor too much memory. The kernel `fill`
    /// makes operands of type `A`.
    fn rate<A, C>(&self, arithmetic: Arithmetic, fill: &str) -> Result<f64>
    where
        A: DeviceRepr + ValidAsZeroBits,
        C: DeviceElement,
    {
        let mut best: f64 = 0.0;
        for n in SIZES {
            let side = n.unsigned_abs() as usize;
            let bytes = (2 * size_of::<A>() + size_of::<C>()) * side * side;
            match self.cuda.reserve(bytes as u128) {
                Err(CellError::OutOfMemory { .. }) if best > 0.0 => break,
                other => other?,
            }
            let (a, b) =
                (uniform::<A>(self.cuda, fill, side * side)?, uniform(self.cuda, fill, side * side)?);
            let mut c = self.cuda.alloc::<C>(side * side)?;
            let mut work = || {
                self.cublas.multiply(
                    arithmetic,
                    &gpubench_ops::matmul::Products::square(side),
                    &a,
                    &b,
                    &mut c,
                )
            };
            // The first call for a size and type loads its kernel.
            work()?;
            let is_last = |min_s: f64| TIME_RATIO * min_s > MAX_NEXT_S || Some(&n) == SIZES.last();
            let begun = Instant::now();
            let (mut min_s, mut executions) = (f64::INFINITY, 0);
            while executions < EXECUTIONS || is_last(min_s) && begun.elapsed().as_secs_f64() < SECONDS {
                min_s = min_s.min(self.timer.span_s(&mut work)?);
                executions += 1;
            }
            best = best.max(flop(side as u64) / min_s);
            if is_last(min_s) {
                break;
            }
        }
        Ok(best)
    }
}

/// Returns the FLOP of a product, as the op counts them.
fn flop(n: u64) -> f64 {
    let case =
        Case { op: "matmul".into(), n, dtype: DType::F32, density: None, shape: None, matrix: None, seed: 0 };
    op::find("matmul").map_or(0.0, |op| op.work(&case).flop)
}
