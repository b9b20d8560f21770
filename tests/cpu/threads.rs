//! As many threads work as were asked for, and they run where they are bound to.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::leave_out;
use crate::worker::Worker;

/// A thread works when it gains more than this share of what the busiest one gains.
const WORKS: f64 = 0.05;

/// Held while threads are counted: on few processors one test's threads would keep another's from working.
static ALONE: Mutex<()> = Mutex::new(());

/// On a busy system one thread may do all the work for a while; so often it cannot.
const WINDOWS: usize = 8;

/// The threads that gain processor time while job 0 is sampled.
fn working(worker: &mut Worker) -> usize {
    worker.measure(1_000_000, 2.5);
    // Warm-up, and waiting for what spins, are over by then.
    std::thread::sleep(Duration::from_millis(900));
    let before = worker.ticks();
    std::thread::sleep(Duration::from_millis(1500));
    let after = worker.ticks();
    assert_eq!(worker.reply()["type"], "measured");
    let gained = |(task, ticks): (&i32, &u64)| ticks - before.get(task).copied().unwrap_or(0);
    let gained: Vec<u64> = after.iter().map(gained).collect();
    let most = *gained.iter().max().unwrap() as f64;
    assert!(most > 0.0, "no thread has worked");
    gained.iter().filter(|ticks| **ticks as f64 > WORKS * most).count()
}

/// As many threads work as the worker tells, never more, and it tells no more than were asked for.
fn obeys(library: Option<&str>, op: &str, variant: &str, n: u64) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for threads in [1, 2] {
        let mut worker = Worker::start_for(library, threads, false);
        let prepared = worker.prepare(op, variant, n, "hot");
        if prepared["type"] == "skipped" {
            return leave_out(&format!("{op}/{variant}"), &prepared["reason"]);
        }
        let told = prepared["threads"].as_u64().unwrap() as usize;
        assert!(told <= threads, "{op}/{variant}: {told} of {threads} threads");
        let fewer = (0..WINDOWS).take_while(|_| {
            let found = working(&mut worker);
            assert!(found <= told, "{op}/{variant}: {found} threads work, {told} are told");
            found < told
        });
        assert!(fewer.count() < WINDOWS, "{op}/{variant}: never have {told} threads worked");
    }
}

#[test]
fn rayon_works_on_the_threads_asked_for() {
    // So large that a thread that is woken late still finds work.
    obeys(None, "elementwise", "parallel", 6000);
}

#[test]
fn faer_works_on_the_threads_asked_for() {
    obeys(None, "matmul", "faer", if cfg!(debug_assertions) { 640 } else { 1500 });
}

#[test]
fn openblas_works_on_the_threads_asked_for() {
    obeys(Some("openblas"), "matmul", "openblas", 1500);
}

#[test]
fn bound_threads_leave_one_processor_to_the_thread_that_times() {
    let free = Worker::start(2, false).affinities();
    let mut worker = Worker::start(2, true);
    assert_eq!(worker.prepare("elementwise", "parallel", 100, "cold")["type"], "prepared");
    worker.measure(3, 1.0);
    assert_eq!(worker.reply()["type"], "measured");
    let bound = worker.affinities();
    assert_eq!(bound[0], free[0], "the thread that times stays free");
    if std::thread::available_parallelism().unwrap().get() > 1 {
        assert!(bound[1..].iter().all(|list| list.parse::<u32>().is_ok()), "{bound:?}");
        assert!(bound.len() > 1 && bound[1..].iter().all(|list| *list == bound[1]), "{bound:?}");
    }
}
