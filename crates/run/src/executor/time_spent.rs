//! Adds the time of each exchange with a worker to the parts of the run's time, from what the worker's reply says.

use gpubench_backend::protocol::Reply;
use gpubench_report::report::{Phases, TimeSpent};

/// Adds an exchange of `took_s` seconds that `reply` ended. What a worker reports counts as far as it has passed: a simulated
/// device reports simulated seconds, and a faulty worker any number.
pub(crate) fn add(spent: &mut TimeSpent, took_s: f64, reply: &Reply) {
    match reply {
        Reply::Prepared { phases, .. } | Reply::Incorrect { phases, .. } => {
            add_preparation(spent, took_s, phases)
        }
        Reply::Measured { result, .. } => {
            let mut left_s = took_s;
            spent.warming_up_s += part_of(&mut left_s, result.warmup_s);
            spent.sampling_s += part_of(&mut left_s, result.spent_s);
            spent.idle_s += left_s;
        }
        Reply::Verified | Reply::Refuted { .. } => spent.checking_s += took_s,
        _ => spent.preparing_s += took_s,
    }
}

fn add_preparation(spent: &mut TimeSpent, took_s: f64, phases: &Phases) {
    let mut left_s = took_s;
    spent.operands_s += part_of(&mut left_s, phases.inputs_s);
    spent.preparing_s += part_of(&mut left_s, phases.prepare_s + phases.first_s);
    spent.threads_s += part_of(&mut left_s, phases.threads_s);
    spent.checking_s += part_of(&mut left_s, phases.download_s + phases.check_s);
    // An external worker times copies outside its phases.
    spent.preparing_s += left_s;
}

/// Returns the seconds of `claimed_s` that can be true, 0 for a claim that is not a number, and takes them from `left_s`.
fn part_of(left_s: &mut f64, claimed_s: f64) -> f64 {
    let part_s = claimed_s.min(*left_s).max(0.0);
    *left_s -= part_s;
    part_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::measure::batch::BatchResult;
    use gpubench_report::report::Clock;

    #[test]
    fn the_parts_of_an_exchange_add_up_to_its_time() {
        let result = BatchResult { warmup_s: 0.25, spent_s: 0.5, ..BatchResult::default() };
        let measured = Reply::Measured { clock: Clock::Host, result };
        let mut spent = TimeSpent::default();
        add(&mut spent, 1.0, &measured);
        assert_eq!((spent.warming_up_s, spent.sampling_s, spent.idle_s), (0.25, 0.5, 0.25));
        add(&mut spent, 0.5, &measured);
        assert_eq!(spent.total_s(), 1.5, "simulated seconds count as far as real ones passed");
        add(&mut spent, 0.5, &Reply::Verified);
        assert_eq!((spent.checking_s, spent.total_s()), (0.5, 2.0));
        add_preparation(&mut spent, 1.0, &Phases { inputs_s: 0.25, first_s: 0.125, ..Phases::default() });
        assert_eq!((spent.operands_s, spent.preparing_s, spent.total_s()), (0.25, 0.75, 3.0));
    }

    #[test]
    fn claims_that_cannot_be_true_count_as_far_as_they_can() {
        for claimed_s in [1e300, -1.0, -1e300, f64::NAN, f64::INFINITY] {
            let phases = Phases { inputs_s: claimed_s, check_s: 0.25, ..Phases::default() };
            let mut spent = TimeSpent::default();
            add_preparation(&mut spent, 1.0, &phases);
            let result = BatchResult { warmup_s: claimed_s, spent_s: claimed_s, ..BatchResult::default() };
            add(&mut spent, 1.0, &Reply::Measured { clock: Clock::Host, result });
            assert!((0.0..=2.0).contains(&spent.total_s()) && spent.idle_s >= 0.0, "{claimed_s}: {spent:?}");
        }
    }
}
