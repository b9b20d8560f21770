//! The number of threads that is fastest for a job: tried before samples are taken, and kept from then on.

use super::stats::Summary;
use crate::backend::{Backend, Job};
use crate::case::Cache;
use crate::error::CellError;

/// By how much fewer threads must be faster than all to be taken: less may be chance.
const CLEAR_WIN: f64 = 0.05;
/// How many times as long as the best count a count may take and still be tried on: beyond, fewer threads than that
/// are not tried at all.
const HOPELESS: f64 = 1.5;
/// Passes over all counts, so that what changes with time touches all alike.
const PASSES: usize = 2;
/// Executions of a count in a pass, at least, and at most while they stay under [`PASS_S`] together.
const LEAST: usize = 3;
const MOST: usize = 15;
const PASS_S: f64 = 2e-3;
/// Seconds of trials after which a pass over the counts is the last.
const PATIENCE_S: f64 = 1.0;

/// The timings of one count of threads, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Threads.
    pub threads: usize,
    /// Seconds of each execution.
    pub seconds: Vec<f64>,
}

impl Trial {
    /// Their median; infinite without timings.
    fn median(&self) -> f64 {
        Summary::of(&self.seconds).map_or(f64::INFINITY, |summary| summary.median)
    }
}

/// The number of threads to take: that of the largest count, unless the median of a smaller one is at least 5 % less,
/// and then the one with the least median. `None` without a trial.
pub fn fastest(trials: &[Trial]) -> Option<usize> {
    let all = trials.iter().max_by_key(|trial| trial.threads)?;
    let limit = (1.0 - CLEAR_WIN) * all.median();
    let fewer = trials.iter().filter(|trial| trial.threads < all.threads && trial.median() <= limit);
    let best = fewer.min_by(|a, b| a.median().total_cmp(&b.median()));
    Some(best.unwrap_or(all).threads)
}

/// Times the choices of `job` and has it use the fastest from now on; `None` where it has no choice.
///
/// # Errors
/// An execution fails.
pub fn choose(
    backend: &mut dyn Backend,
    job: &mut dyn Job,
    cache: Cache,
) -> Result<Option<usize>, CellError> {
    let mut trials: Vec<Trial> = job.thread_choices().into_iter().rev().map(Trial::of).collect();
    if trials.len() > 1 {
        let start = backend.now_s();
        for _ in 0..PASSES {
            pass(backend, job, cache, &mut trials)?;
            if backend.now_s() - start > PATIENCE_S {
                break;
            }
        }
    }
    let chosen = fastest(&trials);
    if let Some(threads) = chosen {
        job.use_threads(threads);
    }
    Ok(chosen)
}

/// Times every count in `trials`, which descend, until one is hopeless: that one and fewer threads are left out.
fn pass(
    backend: &mut dyn Backend,
    job: &mut dyn Job,
    cache: Cache,
    trials: &mut Vec<Trial>,
) -> Result<(), CellError> {
    let mut best = f64::INFINITY;
    for index in 0..trials.len() {
        job.use_threads(trials[index].threads);
        // Threads that the last count left spinning would take processors from this one.
        backend.settle();
        // The first execution may start threads.
        let first = backend.time(job, cache)?.seconds();
        if first > 2.0 * HOPELESS * best {
            trials.truncate(index);
            return Ok(());
        }
        let mut spent = 0.0;
        for count in 0..MOST {
            if count >= LEAST && spent > PASS_S {
                break;
            }
            let seconds = backend.time(job, cache)?.seconds();
            spent += seconds;
            trials[index].seconds.push(seconds);
        }
        let median = trials[index].median();
        best = best.min(median);
        if median > HOPELESS * best {
            trials.truncate(index);
            return Ok(());
        }
    }
    Ok(())
}

impl Trial {
    fn of(threads: usize) -> Self {
        Trial { threads, seconds: vec![] }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::{BTreeMap, BTreeSet};
    use std::rc::Rc;

    use super::*;
    use crate::backend::{Finding, Sample};
    use crate::case::Case;
    use crate::data::Operand;

    fn trials(timings: &[(usize, [f64; 3])]) -> Vec<Trial> {
        timings
            .iter()
            .map(|(threads, seconds)| Trial { threads: *threads, seconds: seconds.to_vec() })
            .collect()
    }

    #[test]
    fn fewer_threads_are_taken_for_a_clear_win_alone() {
        let all = (16, [1.0, 1.0, 1.0]);
        assert_eq!(fastest(&trials(&[(1, [0.96, 0.96, 0.96]), all])), Some(16), "4 % may be chance");
        assert_eq!(fastest(&trials(&[(1, [0.95, 0.95, 0.95]), all])), Some(1));
        assert_eq!(fastest(&trials(&[(1, [0.9; 3]), (4, [0.5; 3]), (8, [0.8; 3]), all])), Some(4));
        assert_eq!(fastest(&trials(&[(1, [3.0; 3]), (8, [1.2; 3]), all])), Some(16));
        assert_eq!(fastest(&trials(&[all])), Some(16));
        assert_eq!(fastest(&[]), None);
    }

    #[test]
    fn one_lucky_execution_decides_nothing() {
        assert_eq!(fastest(&trials(&[(1, [0.1, 1.2, 1.3]), (4, [1.0, 1.0, 1.0])])), Some(4));
        let untimed = [Trial::of(1), Trial { threads: 4, seconds: vec![1.0] }];
        assert_eq!(fastest(&untimed), Some(4));
    }

    /// A job that notes which threads it is to use, and a backend whose clock its executions alone move.
    #[derive(Clone, Default)]
    struct Scripted {
        used: Rc<Cell<usize>>,
        tried: Rc<RefCell<BTreeSet<usize>>>,
        clock_s: f64,
        seconds: BTreeMap<usize, f64>,
    }

    impl Job for Scripted {
        fn thread_choices(&self) -> Vec<usize> {
            self.seconds.keys().copied().collect()
        }

        fn use_threads(&mut self, threads: usize) {
            self.used.set(threads);
        }

        fn execute(&mut self) -> Result<(), CellError> {
            self.tried.borrow_mut().insert(self.used.get());
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

        fn prepare(&mut self, _: &str, _: &Case, _: &[Operand]) -> Result<Box<dyn Job>, CellError> {
            Ok(Box::new(self.clone()))
        }

        fn time(&mut self, job: &mut dyn Job, _: Cache) -> Result<Sample, CellError> {
            job.execute()?;
            let seconds = self.seconds[&self.used.get()];
            self.clock_s += seconds;
            Ok(Sample::of_host(seconds))
        }
    }

    /// The chosen count, the count that is in use then, and the counts that were executed with.
    fn chosen(seconds: &[(usize, f64)]) -> (Option<usize>, usize, Vec<usize>) {
        let scripted = Scripted { seconds: seconds.iter().copied().collect(), ..Scripted::default() };
        let chosen = choose(&mut scripted.clone(), &mut scripted.clone(), Cache::Cold).unwrap();
        let tried = scripted.tried.borrow().iter().copied().collect();
        (chosen, scripted.used.get(), tried)
    }

    #[test]
    fn the_fastest_count_is_in_use_after_the_choice() {
        assert_eq!(chosen(&[(1, 1e-5), (2, 2e-5), (4, 3e-5)]), (Some(1), 1, vec![1, 2, 4]));
        assert_eq!(chosen(&[(1, 3e-5), (2, 2e-5), (4, 2.05e-5)]), (Some(4), 4, vec![1, 2, 4]));
    }

    #[test]
    fn counts_below_a_hopeless_one_are_not_tried() {
        assert_eq!(chosen(&[(1, 4.0), (2, 2.0), (4, 1.0)]), (Some(4), 4, vec![2, 4]));
    }

    #[test]
    fn without_a_choice_nothing_is_executed() {
        assert_eq!(chosen(&[]), (None, 0, vec![]));
        assert_eq!(chosen(&[(4, 1.0)]), (Some(4), 4, vec![]), "a library that others use is set anew");
    }
}
