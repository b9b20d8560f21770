//! Checks that the times of both sides measure the same work with the same clock.

use super::evidence::CellTimes;

/// Returns the reason why the times of both sides cannot be compared, with the next step; `None` if they can.
pub(crate) fn incomparable(old: &CellTimes, new: &CellTimes) -> Option<(String, &'static str)> {
    if let Some((first, other)) = disagree(&old.timers, &new.timers) {
        let reason =
            format!("some runs were timed by the {}, others by the {}", first.words(), other.words());
        return Some((reason, "run both sides again, on the same kind of device"));
    }
    if let Some((first, other)) = disagree(&old.accuracies, &new.accuracies) {
        let (first, other) = (first.name(), other.name());
        let reason = format!("the variant's accuracy class is {first} in some runs and {other} in others");
        return Some((reason, "compare builds in which this variant has the same accuracy class"));
    }
    disagree(&old.inputs, &new.inputs)?;
    Some(("the operands differ although the seed is the same".into(), "run both sides with the same build"))
}

/// Returns two different values among those of the runs of both sides; `None` if all agree.
fn disagree<'a, T: PartialEq>(old: &'a [T], new: &'a [T]) -> Option<(&'a T, &'a T)> {
    let mut values = old.iter().chain(new);
    let first = values.next()?;
    Some((first, values.find(|other| *other != first)?))
}
