//! Compares the pick of `auto` with the fastest other variant of a case.

use serde::Serialize;

use super::AUTO;
use crate::report::Row;

/// A rule has lost where the pick takes more than this many times as long as the fastest variant.
const TOLERANCE: f64 = 1.05;

/// The comparison of one case.
pub(super) struct Compared {
    pub(super) op: String,
    /// Time of the pick / least time, at least 1.
    pub(super) slowdown: f64,
    pub(super) loss: Option<Loss>,
}

/// A case in which the pick is slower than another variant, by more than 5 % and beyond the 95 % intervals of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// The op.
    pub op: String,
    /// The size N.
    pub n: u64,
    /// The element type.
    pub dtype: String,
    /// The share of stored entries of a sparse operand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// The state of the caches.
    pub cache: String,
    /// The variant that `auto` picked.
    pub picked: String,
    /// The median time of the pick, in seconds: of its own row or of the row of `auto`, whichever is less.
    pub picked_s: f64,
    /// The fastest variant in full precision.
    pub fastest: String,
    /// The median time of the fastest variant, in seconds.
    pub fastest_s: f64,
    /// The first time over the second.
    pub ratio: f64,
}

/// Compares the pick of one case with the other variants; `None` if the rows do not allow it.
pub(super) fn compare(rows: &[&Row]) -> Option<Compared> {
    let auto = rows.iter().find(|row| row.variant == AUTO)?;
    let (picked, clock) = (auto.picked.as_deref()?, auto.execute.as_ref()?.clock);
    let time =
        |row: &&&Row| row.execute.as_ref().filter(|execute| execute.clock == clock).map(|e| e.median_s);
    let fastest_of = |is_wanted: &dyn Fn(&str) -> bool| {
        let wanted = rows.iter().filter(|row| is_wanted(&row.variant) && time(row).is_some());
        wanted.min_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(std::cmp::Ordering::Equal))
    };
    // Their difference is noise of the measurement, which is no fault of the rule.
    let ours = fastest_of(&|name| name == AUTO || name == picked)?;
    let fastest = fastest_of(&|name| name != AUTO && name != picked)?;
    let (ours_s, fastest_s) = (ours.execute.as_ref()?, fastest.execute.as_ref()?);
    let ratio = ours_s.median_s / fastest_s.median_s;
    let is_lost = ratio > TOLERANCE && ours_s.ci95_s[0] > fastest_s.ci95_s[1];
    let loss = is_lost.then(|| Loss {
        op: auto.case.op.clone(),
        n: auto.case.n,
        dtype: auto.case.dtype.name().to_owned(),
        density: auto.case.density,
        cache: auto.cache.name().to_owned(),
        picked: picked.to_owned(),
        picked_s: ours_s.median_s,
        fastest: fastest.variant.clone(),
        fastest_s: fastest_s.median_s,
        ratio,
    });
    Some(Compared { op: auto.case.op.clone(), slowdown: ratio.max(1.0), loss })
}
