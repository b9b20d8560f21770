//! Joins reasons of skipped cells that differ only in the amount of free memory, which changes from cell to cell.

use gpubench_report::error::BINARY_UNITS;

/// The text before and after the amount of free memory.
pub(super) type ReasonFrame<'a> = (&'a str, &'a str);

/// Texts before and after the amount in the reasons of [`gpubench_report::error::CellError::OutOfMemory`].
const FRAMES: [ReasonFrame<'_>; 2] = [(" memory, ", " is free"), (" memory than is free (", ")")];

/// Splits a reason at its amount of free memory; the amount is empty, and all of the reason before it, where it has none.
pub(super) fn split(reason: &str) -> (ReasonFrame<'_>, &str) {
    let found = FRAMES.iter().find_map(|(before, after)| {
        let start = reason.rfind(before)? + before.len();
        let end = reason.strip_suffix(after)?.len();
        let amount = reason.get(start..end)?;
        bytes(amount).map(|_| ((&reason[..start], &reason[end..]), amount))
    });
    found.unwrap_or(((reason, ""), ""))
}

/// The reason with the smallest and the largest of the amounts.
pub(super) fn joined((before, after): ReasonFrame<'_>, amounts: &[&str]) -> String {
    let by_size = |a: &&&str, b: &&&str| bytes(a).unwrap_or(0.0).total_cmp(&bytes(b).unwrap_or(0.0));
    let least = amounts.iter().min_by(by_size).copied().unwrap_or_default();
    let most = amounts.iter().max_by(by_size).copied().unwrap_or_default();
    if least == most {
        format!("{before}{least}{after}")
    } else {
        format!("{before}{least} to {most}{after}")
    }
}

/// The number of bytes of an amount such as `3.00 GiB`.
fn bytes(amount: &str) -> Option<f64> {
    let (number, unit) = amount.split_once(' ')?;
    let power = ["bytes"].iter().chain(&BINARY_UNITS).position(|known| *known == unit)?;
    let number: f64 = number.parse().ok()?;
    Some(number * 1024f64.powi(i32::try_from(power).ok()?))
}

#[cfg(test)]
mod tests {
    use gpubench_report::error::CellError;

    use super::*;

    #[test]
    fn reasons_that_differ_in_the_free_memory_have_one_frame() {
        let reason = |needed, free| CellError::OutOfMemory { place: "device", needed, free }.to_string();
        for needed in [Some(5 << 40), None] {
            let reasons = [3 << 30, 512, 900 << 20].map(|free| reason(needed, free));
            let split: Vec<_> = reasons.iter().map(|reason| split(reason)).collect();
            assert!(split.iter().all(|(frame, _)| *frame == split[0].0), "{split:?}");
            let amounts: Vec<&str> = split.iter().map(|(_, amount)| *amount).collect();
            assert_eq!(joined(split[0].0, &amounts[..1]), reasons[0]);
            let text = joined(split[0].0, &amounts);
            assert!(text.contains("512 bytes to 3.00 GiB"), "{text}");
        }
        assert_ne!(split(&reason(Some(1), 1)).0, split(&reason(Some(2), 1)).0, "other needs");
    }

    #[test]
    fn other_reasons_stay_whole() {
        for reason in
            ["mkl: not found", "device memory, all is free", "", " memory, is free", "memory, 1 is free"]
        {
            assert_eq!(split(reason), ((reason, ""), ""));
            assert_eq!(joined((reason, ""), &["", ""]), reason);
        }
    }
}
