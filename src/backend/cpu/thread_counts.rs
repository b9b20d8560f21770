//! Numbers of threads that are worth trying; knows no job.

/// The powers of two below `most`, and `most`; none where there is no choice.
pub(super) fn up_to(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1usize), |count| count.checked_mul(2));
    let mut counts: Vec<usize> = powers.take_while(|&count| count < most).collect();
    if !counts.is_empty() {
        counts.push(most);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::up_to;

    #[test]
    fn counts_rise_to_the_most_and_one_thread_is_no_choice() {
        assert_eq!(up_to(16), [1, 2, 4, 8, 16]);
        assert_eq!(up_to(6), [1, 2, 4, 6]);
        assert_eq!(up_to(2), [1, 2]);
        assert!(up_to(1).is_empty() && up_to(0).is_empty());
    }
}
