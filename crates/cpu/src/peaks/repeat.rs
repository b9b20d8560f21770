//! Repeats a measurement until its shortest time is found.

use std::time::Instant;

/// Two times agree if they differ by at most this share.
const AGREEMENT: f64 = 0.02;

/// Returns the shortest time of `measure`, which is repeated until the two shortest agree within 2 % or, after at least
/// two repetitions, `seconds` have passed.
pub(crate) fn shortest_s<E>(seconds: f64, mut measure: impl FnMut() -> Result<f64, E>) -> Result<f64, E> {
    let begun = Instant::now();
    let (mut shortest, mut second) = (measure()?, f64::INFINITY);
    loop {
        let next = measure()?;
        second = second.min(shortest.max(next));
        shortest = shortest.min(next);
        if second <= (1.0 + AGREEMENT) * shortest || begun.elapsed().as_secs_f64() >= seconds {
            return Ok(shortest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shortest of `times`, and how many of them were needed.
    fn needed(seconds: f64, times: &[f64]) -> (f64, usize) {
        let mut count = 0;
        let shortest = shortest_s(seconds, || {
            count += 1;
            times.get(count - 1).copied().ok_or("too many repetitions")
        });
        (shortest.unwrap(), count)
    }

    #[test]
    fn repetitions_end_when_the_two_shortest_agree_in_any_order() {
        assert_eq!(needed(60.0, &[1.0, 1.01, 0.5]), (1.0, 2));
        assert_eq!(needed(60.0, &[1.01, 1.0, 0.5]), (1.0, 2));
        assert_eq!(needed(60.0, &[1.5, 1.2, 1.0, 1.4, 1.01, 0.5]), (1.0, 5));
        assert_eq!(needed(60.0, &[1.0, 1.5, 1.2, 1.01, 0.5]), (1.0, 4));
    }

    #[test]
    fn without_time_there_are_two_repetitions() {
        assert_eq!(needed(0.0, &[2.0, 1.0, 0.5]), (1.0, 2));
    }
}
