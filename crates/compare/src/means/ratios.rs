//! Geometric means of ratios, op by op.

use crate::{Change, Mean};

/// The geometric mean of the ratios of each op, backend, element type and state of the caches, in the order of `cells`.
pub(crate) fn means(cells: &[Change]) -> Vec<Mean> {
    let mut means: Vec<(Mean, f64)> = Vec::new();
    for change in cells {
        let Some(ratio) = change.ratio else { continue };
        let same = |(mean, _): &(Mean, f64)| {
            (mean.op.as_str(), mean.backend.as_str(), mean.dtype, mean.cache)
                == (change.case.op.as_str(), change.backend.as_str(), change.case.dtype, change.cache)
        };
        let place = means.iter().position(same).unwrap_or_else(|| {
            let (op, backend) = (change.case.op.clone(), change.backend.clone());
            let (dtype, cache) = (change.case.dtype, change.cache);
            means.push((Mean { op, backend, dtype, cache, cells: 0, ratio: 1.0 }, 0.0));
            means.len() - 1
        });
        let (mean, logs) = &mut means[place];
        mean.cells += 1;
        *logs += ratio.ln();
    }
    let finished =
        means.into_iter().map(|(mean, logs)| Mean { ratio: (logs / mean.cells as f64).exp(), ..mean });
    finished.collect()
}
