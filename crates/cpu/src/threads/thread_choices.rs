//! The numbers of threads that are worth trying for jobs where fewer than all may be faster.

/// Returns 1, 2, 4, ..., and `threads` last (at least 1).
pub(crate) fn up_to(threads: usize) -> Vec<usize> {
    let doubling = std::iter::successors(Some(1usize), |count| count.checked_mul(2));
    doubling.take_while(|count| *count < threads).chain([threads.max(1)]).collect()
}

/// Returns faer's setting for `threads` threads.
pub(crate) fn faer(threads: usize) -> faer::Par {
    if threads > 1 { faer::Par::rayon(threads) } else { faer::Par::Seq }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_double_and_end_with_all() {
        assert_eq!(up_to(0), [1]);
        assert_eq!(up_to(1), [1]);
        assert_eq!(up_to(2), [1, 2]);
        assert_eq!(up_to(6), [1, 2, 4, 6]);
        assert_eq!(up_to(16), [1, 2, 4, 8, 16]);
    }
}
