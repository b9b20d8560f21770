//! Adds the time of each exchange with a worker to the parts of the run's time, from what the worker's reply says.

use gpubench_backend::protocol::Reply;
use gpubench_model::report::{Phases, TimeSpent};

/// Adds an exchange of `took_s` seconds that `reply` ended. A simulated device reports simulated seconds, which may be
/// more than the exchange took.
pub(crate) fn add(spent: &mut TimeSpent, took_s: f64, reply: &Reply) {
    match reply {
        Reply::Prepared { phases, .. } | Reply::Incorrect { phases, .. } => add_preparation(spent, phases),
        Reply::Measured { result, .. } => {
            let warming_up_s = result.warmup_s.min(took_s);
            let sampling_s = result.spent_s.min(took_s - warming_up_s);
            spent.warming_up_s += warming_up_s;
            spent.sampling_s += sampling_s;
            spent.idle_s += took_s - warming_up_s - sampling_s;
        }
        Reply::Verified | Reply::Refuted { .. } => spent.checking_s += took_s,
        _ => spent.preparing_s += took_s,
    }
}

fn add_preparation(spent: &mut TimeSpent, phases: &Phases) {
    spent.operands_s += phases.inputs_s;
    spent.preparing_s += phases.prepare_s + phases.first_s;
    spent.threads_s += phases.threads_s;
    spent.checking_s += phases.download_s + phases.check_s;
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::measure::batch::BatchResult;
    use gpubench_model::report::Clock;

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
    }
}
