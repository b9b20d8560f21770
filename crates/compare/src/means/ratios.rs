//! Computes the geometric means of ratios for each op.

use gpubench_text::grouped::grouped;

use crate::{Change, Mean};

/// Computes the geometric mean of the ratios per op, backend, element type and cache state, in the order of `cells`.
pub(crate) fn means(cells: &[Change]) -> Vec<Mean> {
    let ratios = cells.iter().filter_map(|change| {
        let group = (&change.case.op, &change.backend, change.case.dtype, change.cache);
        Some((group, change.ratio?.ln()))
    });
    let mean = |((op, backend, dtype, cache), logs): ((&String, &String, _, _), Vec<f64>)| {
        let ratio = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        Mean { op: op.clone(), backend: backend.clone(), dtype, cache, cells: logs.len(), ratio }
    };
    grouped(ratios).into_iter().map(mean).collect()
}
