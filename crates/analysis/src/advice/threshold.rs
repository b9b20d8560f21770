//! From which size of a product a GPU is faster, by the models of both sides.

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

/// The thresholds of products in reports, for each element type with and without copies, where both sides were measured at three sizes.
pub fn thresholds(reports: &[Report]) -> Vec<Threshold> {
    let times = KnownTimes::of(reports);
    // Eight per octave up to 32768.
    let sizes = (16..=120).map(|eighth| 2f64.powf(f64::from(eighth) / 8.0).round() as u64);
    let mut found = vec![];
    for &dtype in DType::ALL {
        for kind in [COPIES, GPU] {
            let predicted = |n: u64| {
                let case = Case::square("matmul", n, dtype, 0);
                Some([times.predicted(&case, CPU)?, times.predicted(&case, kind)?])
            };
            let Some(curve) = sizes.clone().map(|n| Some((n, predicted(n)?))).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            // The last size before the first, from the largest on, at which the GPU does not win.
            let from = |wins: &dyn Fn([Estimate; 2]) -> bool| {
                curve.iter().rev().take_while(|(_, times)| wins(*times)).last().map(|(n, _)| *n)
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
