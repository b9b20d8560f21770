//! Sizes so close to another size that a line through both would zigzag, such as 500 and 512.

/// Sizes within this factor of each other are close.
const CLOSE: f64 = 1.1;
/// Close sizes are apart by less than this share of the distance to the next size; otherwise the sweep has equal small
/// steps, and its line passes through all of them.
const NEAR: f64 = 0.5;

/// Returns which of the ascending sizes have a mark next to the line: of close ones, the line passes through the power
/// of two, or otherwise through the first.
pub(crate) fn off_line(sizes: &[f64]) -> Vec<bool> {
    let mut off_line = vec![false; sizes.len()];
    let mut start = 0;
    while start < sizes.len() {
        let close = sizes[start..].iter().take_while(|size| **size <= CLOSE * sizes[start]).count();
        let group = start..start + close.max(1);
        if is_cramped(sizes, group.clone()) {
            let power = group.clone().find(|index| is_power_of_two(sizes[*index]));
            let kept = power.unwrap_or(group.start);
            group.clone().filter(|index| *index != kept).for_each(|index| off_line[index] = true);
        }
        start = group.end;
    }
    off_line
}

/// Returns whether the sizes of a group are far closer to each other than to the next size outside.
fn is_cramped(sizes: &[f64], group: std::ops::Range<usize>) -> bool {
    let distance = |index: usize| (sizes[index + 1] / sizes[index]).ln();
    let inside = (group.start..group.end.saturating_sub(1)).map(distance).reduce(f64::max);
    let before = group.start.checked_sub(1).map(distance);
    let after = (group.end < sizes.len()).then(|| distance(group.end - 1));
    let outside = before.into_iter().chain(after).reduce(f64::max);
    inside.zip(outside).is_some_and(|(inside, outside)| inside < NEAR * outside)
}

fn is_power_of_two(size: f64) -> bool {
    size.fract() == 0.0 && (1.0..1e18).contains(&size) && (size as u64).is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that have a mark next to the line.
    fn found(sizes: &[f64]) -> Vec<f64> {
        let off_line = off_line(sizes);
        sizes.iter().zip(off_line).filter(|(_, off_line)| *off_line).map(|(size, _)| *size).collect()
    }

    #[test]
    fn of_close_sizes_the_line_passes_through_the_power_of_two() {
        assert_eq!(found(&[100.0, 500.0, 512.0, 1024.0, 2048.0]), [500.0]);
        assert_eq!(found(&[100.0, 256.0, 260.0, 1000.0, 1024.0]), [260.0, 1000.0]);
        assert_eq!(found(&[100.0, 500.0, 544.0, 625.0, 1000.0]), [544.0], "no power of two: the first");
    }

    #[test]
    fn equal_small_steps_keep_their_line() {
        let steps: Vec<f64> = (10..=40).map(|step| 64.0 * f64::from(step)).collect();
        assert_eq!(found(&steps), [0.0; 0]);
        assert_eq!(found(&[500.0, 512.0]), [0.0; 0], "two sizes alone cannot zigzag");
        assert_eq!(found(&[7.0]), [0.0; 0]);
        assert_eq!(found(&[]), [0.0; 0]);
    }
}
