//! Crossovers in the table of sweeps: from which size B is faster, in a word or a size.

use crate::report::crossover_text::size_text;
use gpubench_analysis::answer::{Crossover, Place};

/// What the table of sweeps says about a crossover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ShownCrossover {
    /// B is faster at every size.
    All,
    /// B is faster at no size.
    None,
    /// B is faster at some sizes, but not at the largest.
    Some,
    /// B is faster from this size upward, to the largest.
    From(f64),
    /// The crossover is in this range, which has no upper end where it may be above the largest size.
    Within(f64, Option<f64>),
    /// The measurements do not say.
    Unknown,
}

impl ShownCrossover {
    pub(crate) fn of(found: &Crossover) -> ShownCrossover {
        match (found.from, found.interval) {
            (Some(Place::Below), _) => ShownCrossover::All,
            (Some(Place::Beyond), _) if found.is_mixed() => ShownCrossover::Some,
            (Some(Place::Beyond), _) => ShownCrossover::None,
            (Some(Place::At(size)), _) => ShownCrossover::From(size),
            (None, [_, Place::At(max)]) => ShownCrossover::Within(found.smallest as f64, Some(max)),
            (None, [Place::At(min), _]) => ShownCrossover::Within(min, None),
            (None, _) => ShownCrossover::Unknown,
        }
    }

    /// Returns whether a `+` says that B is also faster at some smaller sizes.
    pub(crate) fn has_plus(self, found: &Crossover) -> bool {
        found.is_mixed() && !matches!(self, ShownCrossover::All | ShownCrossover::None | ShownCrossover::Some)
    }
}

/// `~312`, `≤ 100` (faster at every size), `none`, `some`, the range of an unknown one (`100–187`, or `1330–?` without an end), `?`.
pub(crate) fn short(found: &Crossover) -> String {
    let size = |size| size_text(size, found.interval);
    let shown = ShownCrossover::of(found);
    let place = match shown {
        ShownCrossover::All => format!("≤ {}", found.smallest),
        ShownCrossover::None => "none".into(),
        ShownCrossover::Some => "some".into(),
        ShownCrossover::From(at) => format!("~{}", size(at)),
        ShownCrossover::Within(min, Some(max)) => format!("{min}–{}", size(max)),
        ShownCrossover::Within(min, None) => format!("{}–?", size(min)),
        ShownCrossover::Unknown => "?".into(),
    };
    let place = place + if shown.has_plus(found) { "+" } else { "" };
    place + if found.is_unreliable && shown != ShownCrossover::Unknown { "!" } else { "" }
}
