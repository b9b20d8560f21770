//! Measures the FLOP rate of a large matrix product by one variant.

use std::time::Instant;

use gpubench_backend::host::memory::free_host_bytes;
use gpubench_ops as op;
use gpubench_report::case::{Case, DType};
use gpubench_report::data::generator::Stream;
use gpubench_report::data::{Element, Operand};
use half::{bf16, f16};

use super::shortest_s;
use crate::ops::variants::AvailableVariant;
use crate::{CellError, CellResult};

/// The sides to try, each twice the previous one: where a product takes long, small sides are as informative as large
/// ones.
const SIDES: [u64; 7] = [96, 192, 384, 768, 1536, 3072, 6144];
/// Seconds: the next side is tried while it is expected to take less than this.
const CLIMB_S: f64 = 0.1;
/// Factor by which the time grows when the side doubles.
const STEP: f64 = 8.0;
/// Matrices of the largest side in memory at a time: two operands and the answer.
const MATRICES: u128 = 3;
/// The matrices take at most free memory divided by this.
const SHARE_OF_FREE: u128 = 4;
/// Number of distinct values in an operand: a prime, so that no two rows are alike.
const PATTERN: usize = 65_521;

/// Returns the highest rate that the variant reaches. Repetitions take at most about the given number of seconds.
pub(crate) fn rate(threads: usize, kernel: &AvailableVariant, dtype: DType, seconds: f64) -> CellResult<f64> {
    let begun = Instant::now();
    let mut best: f64 = 0.0;
    for n in SIDES {
        let case = Case::square("matmul", n, dtype, 0);
        let bytes = MATRICES * u128::from(n) * u128::from(n) * u128::from(dtype.bytes());
        if free_host_bytes().is_some_and(|free| bytes > free / SHARE_OF_FREE) {
            break;
        }
        let mut job = kernel.prepare(threads, &case, &mut operands(&case))?;
        let left_s = seconds - begun.elapsed().as_secs_f64();
        let min_s = shortest_s(left_s, || {
            let begun = Instant::now();
            job.execute()?;
            Ok::<_, CellError>(begun.elapsed().as_secs_f64())
        })?;
        let flop = op::find("matmul").map_or(0.0, |op| op.work(&case).flop);
        best = best.max(flop / min_s);
        if STEP * min_s > CLIMB_S {
            break;
        }
    }
    Ok(best)
}

/// Returns two operands of uniform numbers that repeat: generating all of them would take longer than the products.
fn operands(case: &Case) -> Vec<Operand> {
    fn of<T: Element>(side: usize, operand: u64) -> Operand {
        let pattern = Stream::new(0, operand).uniforms::<T>(PATTERN);
        Operand::dense(side, side, pattern.iter().copied().cycle().take(side * side).collect())
    }
    let operand = |number| match case.dtype {
        DType::F64 => of::<f64>(case.side(), number),
        DType::Bf16 => of::<bf16>(case.side(), number),
        DType::F16 => of::<f16>(case.side(), number),
        _ => of::<f32>(case.side(), number),
    };
    vec![operand(0), operand(1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops;

    #[test]
    fn a_variant_has_a_rate_in_both_element_types() {
        let kernels = ops::list(&[]);
        let faer = kernels.iter().find(|listed| listed.title() == "matmul/faer").unwrap();
        for dtype in DType::REAL {
            let rate = rate(1, faer, *dtype, 0.0).unwrap();
            // A very slow build, and more cores than exist.
            assert!(rate > 1e5 && rate < 1e17, "{dtype}: {rate:e}");
        }
        // A rate of float32 under the name of another type would be a wrong peak.
        assert!(rate(1, faer, DType::Bf16, 0.0).is_err());
    }
}
