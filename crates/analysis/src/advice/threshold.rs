//! From which size of a product a GPU is faster, by the models of both sides.

use gpubench_ops as op;
use gpubench_report::case::{Case, DType};
use gpubench_report::report::Report;

use super::{COPIES, CPU, GPU, KnownTimes};
use crate::answer::Estimate;

/// The size from which products pay on a GPU: the cube root of m n k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Element type.
    pub dtype: DType,
    /// Whether every product copies its operands and result.
    pub with_copies: bool,
    /// The least size from which the GPU is faster at this and every larger size; `None` if it is not at the largest.
    pub from: Option<u64>,
    /// Sizes between which `from` lies, by the intervals of the predicted times.
    pub interval: [Option<u64>; 2],
}

/// Sizes that are tried: eight per octave up to 32768.
fn sizes() -> impl DoubleEndedIterator<Item = u64> {
    (16..=120).map(|eighth| 2f64.powf(f64::from(eighth) / 8.0).round() as u64)
}

/// The thresholds of products in reports, for each element type with and without copies, where both sides were measured at three sizes.
pub fn thresholds(reports: &[Report]) -> Vec<Threshold> {
    let times = KnownTimes::of(reports);
    let mut found = vec![];
    for &dtype in DType::ALL {
        for kind in [COPIES, GPU] {
            let model = |kind| times.models.get(&("matmul".to_owned(), dtype, kind));
            let [Some(cpu), Some(gpu)] = [CPU, kind].map(model) else { continue };
            let Some(product) = op::find("matmul") else { continue };
            let predicted = |n: u64| {
                let work = product.work(&Case::square("matmul", n, dtype, 0));
                [cpu.predict(work), gpu.predict(work)]
            };
            // The last size before the first, from the largest on, at which the GPU does not win.
            let from = |wins: &dyn Fn([Estimate; 2]) -> bool| {
                sizes().rev().take_while(|n| wins(predicted(*n))).last()
            };
            found.push(Threshold {
                dtype,
                with_copies: kind == COPIES,
                from: from(&|[cpu, gpu]| gpu.value < cpu.value),
                interval: [from(&|[cpu, gpu]| gpu.low < cpu.high), from(&|[cpu, gpu]| gpu.high < cpu.low)],
            });
        }
    }
    found
}
