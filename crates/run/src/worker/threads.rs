//! Chooses the fastest number of threads for a job before its first sample.

use gpubench_backend::{Backend, Prepared};
use gpubench_report::case::Cache;
use gpubench_report::error::CellError;
use gpubench_report::measure::stats::median;

/// Minimum relative gain of a smaller number of threads over all of them; a smaller gain may be chance.
const CLEAR_WIN: f64 = 0.05;
/// Multiple of a pass's best time above which the pass tries no smaller counts.
const HOPELESS: f64 = 1.5;
/// Number of passes, which spread changes over time over the counts: other work on the machine may slow one of them.
const PASSES: usize = 4;
/// Minimum executions of a count in a pass, and the maximum while they take less than [`PASS_S`] in total.
const MIN_EXECUTIONS: usize = 3;
const MAX_EXECUTIONS: usize = 15;
const PASS_S: f64 = 2e-3;
/// Seconds from which an execution is long: the first, which starts threads, is then its time in the pass.
const LONG_S: f64 = 0.01;
/// Seconds of trials after which a pass over the counts is the last.
const MAX_TRIALS_S: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    threads: usize,
    /// Seconds of an execution: the minimum of the passes' medians, since other work on the machine only makes a pass
    /// longer. Infinite before the first pass.
    seconds: f64,
}

/// Returns the best trial: the largest count, unless the fastest of the others is faster by at least 5 %.
fn fastest(trials: &[Trial]) -> Option<Trial> {
    let all = trials.iter().max_by_key(|trial| trial.threads)?;
    let limit = (1.0 - CLEAR_WIN) * all.seconds;
    let fewer = trials.iter().filter(|trial| trial.threads < all.threads && trial.seconds <= limit);
    Some(*fewer.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).unwrap_or(all))
}

/// Times the choices of `job` and sets the fastest; returns `None` if it has no choice.
pub(crate) fn choose(
    backend: &mut dyn Backend,
    job: &mut Prepared,
    cache: Cache,
) -> Result<Option<usize>, CellError> {
    let untimed = |&threads: &usize| Trial { threads, seconds: f64::INFINITY };
    let mut trials: Vec<Trial> = job.traits.thread_choices.iter().rev().map(untimed).collect();
    if trials.len() > 1 {
        // Binds threads that the first execution has started.
        backend.settle();
        let start = backend.now_s();
        for _ in 0..PASSES {
            pass(backend, job, cache, &mut trials)?;
            if backend.now_s() - start > MAX_TRIALS_S {
                break;
            }
        }
    }
    let chosen = fastest(&trials).map(|trial| trial.threads);
    if let Some(threads) = chosen {
        job.use_threads(threads);
    }
    Ok(chosen)
}

/// Times each count of `trials`, in descending order, and skips the counts below a hopeless one. Where a pass takes longer
/// than [`MAX_TRIALS_S`], a count that gains nothing ends it.
fn pass(
    backend: &mut dyn Backend,
    job: &mut Prepared,
    cache: Cache,
    trials: &mut [Trial],
) -> Result<(), CellError> {
    let mut best = f64::INFINITY;
    let start = backend.now_s();
    for trial in trials {
        job.use_threads(trial.threads);
        // The first execution may start threads.
        let first = backend.time(job, cache)?.seconds();
        let seconds = if first > LONG_S { first } else { median_of_some(backend, job, cache)? };
        trial.seconds = trial.seconds.min(seconds);
        let limit = if backend.now_s() - start > MAX_TRIALS_S { 1.0 } else { HOPELESS };
        if seconds > limit * best {
            break;
        }
        best = best.min(seconds);
    }
    Ok(())
}

fn median_of_some(backend: &mut dyn Backend, job: &mut Prepared, cache: Cache) -> Result<f64, CellError> {
    let (mut seconds, mut spent) = (vec![], 0.0);
    while seconds.len() < MIN_EXECUTIONS || (seconds.len() < MAX_EXECUTIONS && spent <= PASS_S) {
        let one = backend.time(job, cache)?.seconds();
        spent += one;
        seconds.push(one);
    }
    Ok(median(&seconds).unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use super::*;
    use gpubench_backend::{Finding, Job, JobTraits, Sample};
    use gpubench_report::case::Case;
    use gpubench_report::data::Operand;

    #[test]
    fn fewer_threads_are_taken_for_a_clear_win_alone() {
        let fastest_of = |seconds: &[(usize, f64)]| {
            let trials: Vec<Trial> =
                seconds.iter().map(|&(threads, seconds)| Trial { threads, seconds }).collect();
            fastest(&trials).map(|trial| trial.threads)
        };
        assert_eq!(fastest_of(&[(1, 0.96), (16, 1.0)]), Some(16), "4 % may be chance");
        assert_eq!(fastest_of(&[(1, 0.95), (16, 1.0)]), Some(1));
        assert_eq!(fastest_of(&[(1, 0.9), (4, 0.5), (8, 0.8), (16, 1.0)]), Some(4));
        assert_eq!(fastest_of(&[(1, 3.0), (8, 1.2), (16, 1.0)]), Some(16));
        assert_eq!(fastest_of(&[(1, f64::INFINITY), (16, 1.0)]), Some(16), "one is never timed");
        assert_eq!(fastest_of(&[(16, 1.0)]), Some(16));
        assert_eq!(fastest_of(&[]), None);
    }

    /// A job that records its executions per number of threads, and a backend whose clock only its executions advance.
    #[derive(Clone, Default)]
    struct Scripted {
        used: Rc<Cell<usize>>,
        executions: Rc<RefCell<BTreeMap<usize, usize>>>,
        clock_s: f64,
        seconds: BTreeMap<usize, f64>,
        /// A count, the number of its first executions that are unusual, and the factor on their times.
        unusual: (usize, usize, f64),
    }

    impl Job for Scripted {
        fn use_threads(&mut self, threads: usize) {
            self.used.set(threads);
        }

        fn execute(&mut self) -> Result<(), CellError> {
            *self.executions.borrow_mut().entry(self.used.get()).or_default() += 1;
            Ok(())
        }

        fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
            Ok(vec![])
        }
    }

    impl Backend for Scripted {
        fn describe(&self) -> serde_json::Value {
            serde_json::Value::Null
        }

        fn libraries(&self) -> Vec<Finding> {
            vec![]
        }

        fn now_s(&self) -> f64 {
            self.clock_s
        }

        fn prepare(&mut self, _: &str, _: &Case, _: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
            Ok(self.prepared())
        }

        fn time(&mut self, job: &mut Prepared, _: Cache) -> Result<Sample, CellError> {
            job.execute()?;
            let (threads, until, times) = self.unusual;
            let is_unusual = self.used.get() == threads && self.executions.borrow()[&threads] <= until;
            let seconds = self.seconds[&self.used.get()] * if is_unusual { times } else { 1.0 };
            self.clock_s += seconds;
            Ok(Sample::of_host(seconds))
        }
    }

    impl Scripted {
        fn of(seconds: &[(usize, f64)]) -> Self {
            Scripted { seconds: seconds.iter().copied().collect(), ..Scripted::default() }
        }

        fn prepared(&self) -> Box<Prepared> {
            let thread_choices = self.seconds.keys().copied().collect();
            Prepared::with(JobTraits { thread_choices, ..JobTraits::default() }, self.clone())
        }

        /// Returns the chosen count, which is in use then, and the counts that were executed with.
        fn chosen(&self) -> (Option<usize>, Vec<usize>) {
            let chosen = choose(&mut self.clone(), &mut self.prepared(), Cache::Cold).unwrap();
            assert_eq!(chosen.unwrap_or(0), self.used.get());
            (chosen, self.executions.borrow().keys().copied().collect())
        }
    }

    #[test]
    fn the_fastest_count_is_in_use_after_the_choice() {
        for (seconds, expected, tried, why) in [
            (&[][..], None, &[][..], "there is no choice"),
            (&[(4, 1.0)], Some(4), &[], "a library that others use is set again"),
            (&[(1, 1e-5), (2, 2e-5), (4, 3e-5)], Some(1), &[1, 2, 4], "it is the fastest"),
            (&[(1, 3e-5), (2, 2e-5), (4, 2.05e-5)], Some(4), &[1, 2, 4], "fewer threads gain little"),
            (&[(1, 4.0), (2, 2.0), (4, 1.0)], Some(4), &[2, 4], "counts below a hopeless one are not tried"),
            (&[(1, 4.0), (2, 2.0), (4, 1.2), (8, 1.0)], Some(8), &[4, 8], "no gain ends a long pass"),
            (&[(1, 4.0), (2, 0.8), (4, 0.9), (8, 1.0)], Some(2), &[1, 2, 4, 8], "every count gains"),
        ] {
            assert_eq!(Scripted::of(seconds).chosen(), (expected, tried.to_vec()), "{why}");
        }
    }

    #[test]
    fn unusual_executions_do_not_decide() {
        for (unusual, seconds, expected, why) in [
            ((4, 1 + MIN_EXECUTIONS, 10.0), [(2, 2e-3), (4, 1e-3)], 4, "a pass was slowed by other work"),
            ((2, 1, 10.0), [(2, 1e-3), (4, 1.5e-3)], 2, "the first execution with a count is not counted"),
            ((1, 2, 0.1), [(1, 1.2e-3), (4, 1e-3)], 4, "one was lucky"),
        ] {
            let scripted = Scripted { unusual, ..Scripted::of(&seconds) };
            assert_eq!(scripted.chosen().0, Some(expected), "{why}");
        }
    }

    #[test]
    fn trials_end_when_their_time_is_over() {
        let a_pass = 2 * (1 + MIN_EXECUTIONS);
        for (seconds, expected, why) in [
            ([(1, 1.1e-3), (2, 1e-3)], PASSES * a_pass, "there is time for all passes"),
            ([(1, 4.6e-3), (2, 4.5e-3)], 2 * a_pass, "0.05 s are enough"),
            ([(1, 0.22), (2, 0.2)], 2, "long executions count from the first"),
        ] {
            let scripted = Scripted::of(&seconds);
            scripted.chosen();
            assert_eq!(scripted.executions.borrow().values().sum::<usize>(), expected, "{why}");
        }
    }
}
