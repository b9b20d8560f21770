//! Chooses the fastest number of threads for a job before its first sample.

use gpubench_backend::{Backend, Prepared};
use gpubench_report::case::Cache;
use gpubench_report::error::CellError;
use gpubench_report::measure::stats::median;

/// Minimum relative gain of a smaller number of threads over all of them; a smaller gain may be chance.
const CLEAR_WIN: f64 = 0.05;
/// Multiple of a pass's best time above which the pass tries no smaller counts.
const HOPELESS: f64 = 1.5;
/// Minimum number of passes before fewer threads than all are chosen, since other work on the machine may have slowed the
/// only pass of all. The largest count needs one: nothing makes it look faster than it is.
const MIN_PASSES: usize = 2;
/// Maximum number of passes while no count leads by [`CLEAR_LEAD`]. Several spread changes over time over the counts.
const MAX_PASSES: usize = 6;
/// Minimum relative lead of the best count over all others at which the trials end.
const CLEAR_LEAD: f64 = 0.2;
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

/// Returns whether one count is so far ahead of all others that more than these `passes` would not change the choice.
fn is_decided(trials: &[Trial], passes: usize) -> bool {
    fastest(trials).is_some_and(|chosen| {
        let others = || trials.iter().filter(|trial| trial.threads != chosen.threads);
        let is_largest = others().all(|trial| trial.threads < chosen.threads);
        (is_largest || passes >= MIN_PASSES)
            && others().all(|trial| trial.seconds >= (1.0 + CLEAR_LEAD) * chosen.seconds)
    })
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
        for passes in 1..=MAX_PASSES {
            pass(backend, job, cache, &mut trials)?;
            if is_decided(&trials, passes) || backend.now_s() - start > MAX_TRIALS_S {
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

    fn trials(seconds: &[(usize, f64)]) -> Vec<Trial> {
        seconds.iter().map(|&(threads, seconds)| Trial { threads, seconds }).collect()
    }

    fn fastest_of(seconds: &[(usize, f64)]) -> Option<usize> {
        fastest(&trials(seconds)).map(|trial| trial.threads)
    }

    #[test]
    fn fewer_threads_are_taken_for_a_clear_win_alone() {
        assert_eq!(fastest_of(&[(1, 0.96), (16, 1.0)]), Some(16), "4 % may be chance");
        assert_eq!(fastest_of(&[(1, 0.95), (16, 1.0)]), Some(1));
        assert_eq!(fastest_of(&[(1, 0.9), (4, 0.5), (8, 0.8), (16, 1.0)]), Some(4));
        assert_eq!(fastest_of(&[(1, 3.0), (8, 1.2), (16, 1.0)]), Some(16));
        assert_eq!(fastest_of(&[(1, f64::INFINITY), (16, 1.0)]), Some(16), "one is never timed");
        assert_eq!(fastest_of(&[(16, 1.0)]), Some(16));
        assert_eq!(fastest_of(&[]), None);
    }

    #[test]
    fn a_choice_is_decided_by_a_clear_lead_over_every_other_count() {
        let decided = |seconds: &[(usize, f64)]| is_decided(&trials(seconds), MIN_PASSES);
        assert!(decided(&[(16, 1.0)]) && decided(&[(16, 1.0), (8, 1.2)]));
        assert!(!decided(&[(16, 1.0), (8, 1.19)]) && !decided(&[(16, 1.0), (8, 0.96)]));
        assert!(decided(&[(16, 1.0), (8, 0.8), (4, f64::INFINITY)]));
        assert!(!decided(&[(16, 1.0), (8, 0.8), (4, 0.9)]));
        assert!(is_decided(&trials(&[(16, 1.0), (8, 1.2)]), 1), "nothing makes 16 look faster than it is");
        assert!(!is_decided(&trials(&[(16, 1.0), (8, 0.8)]), 1), "16 may have been disturbed");
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

        fn executions(&self) -> usize {
            self.executions.borrow().values().sum()
        }
    }

    fn chosen(seconds: &[(usize, f64)]) -> (Option<usize>, Vec<usize>) {
        Scripted::of(seconds).chosen()
    }

    #[test]
    fn the_fastest_count_is_in_use_after_the_choice() {
        for (seconds, expected, tried, why) in [
            (&[(1, 1e-5), (2, 2e-5), (4, 3e-5)][..], 1, &[1, 2, 4][..], "it is the fastest"),
            (&[(1, 3e-5), (2, 2e-5), (4, 2.05e-5)], 4, &[1, 2, 4], "fewer threads gain little"),
            (&[(1, 4.0), (2, 2.0), (4, 1.0)], 4, &[2, 4], "counts below a hopeless one are not tried"),
            (&[(1, 4.0), (2, 2.0), (4, 1.2), (8, 1.0)], 8, &[4, 8], "what gains nothing ends a long pass"),
            (&[(1, 4.0), (2, 0.8), (4, 0.9), (8, 1.0)], 2, &[1, 2, 4, 8], "every count gains"),
        ] {
            assert_eq!(chosen(seconds), (Some(expected), tried.to_vec()), "{why}");
        }
    }

    #[test]
    fn a_pass_slowed_by_other_work_does_not_decide() {
        // A pass executes a count once and then at least three times.
        let all =
            Scripted { unusual: (4, 1 + MIN_EXECUTIONS, 10.0), ..Scripted::of(&[(2, 2e-3), (4, 1e-3)]) };
        assert_eq!(all.chosen().0, Some(4));
        let fewer = Scripted { unusual: (2, 1, 10.0), ..Scripted::of(&[(2, 1e-3), (4, 1.5e-3)]) };
        assert_eq!(fewer.chosen().0, Some(2));
    }

    #[test]
    fn one_lucky_execution_decides_nothing() {
        // The first execution with a count is not counted, the second is.
        let lucky = Scripted { unusual: (1, 2, 0.1), ..Scripted::of(&[(1, 1.2e-3), (4, 1e-3)]) };
        assert_eq!(lucky.chosen().0, Some(4));
    }

    #[test]
    fn trials_go_on_while_counts_are_close_and_time_is_left() {
        let executions = |seconds: &[(usize, f64)]| {
            let scripted = Scripted::of(seconds);
            scripted.chosen();
            scripted.executions()
        };
        let a_pass = 2 * (1 + MIN_EXECUTIONS);
        assert_eq!(executions(&[(1, 2.4e-3), (2, 2e-3)]), a_pass);
        assert_eq!(executions(&[(1, 1.6e-3), (2, 2e-3)]), MIN_PASSES * a_pass);
        assert_eq!(executions(&[(1, 1.1e-3), (2, 1e-3)]), MAX_PASSES * a_pass);
        assert_eq!(executions(&[(1, 4.6e-3), (2, 4.5e-3)]), 2 * a_pass, "0.05 s are enough");
        assert_eq!(executions(&[(1, 0.22), (2, 0.2)]), 2, "long executions count from the first");
    }

    #[test]
    fn without_a_choice_nothing_is_executed() {
        assert_eq!(chosen(&[]), (None, vec![]));
        assert_eq!(chosen(&[(4, 1.0)]), (Some(4), vec![]), "a library that others use is set again");
    }
}
