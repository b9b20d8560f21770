//! The requested number of threads works, and they run where they are bound.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::cli::leave_out;
use crate::cpu::worker::Worker;

/// A thread counts as working if it gains more than this share of the CPU time of the busiest thread.
const WORKS: f64 = 0.05;

/// Locked while threads are counted: with few CPUs, the threads of one test would keep those of another from working.
static ALONE: Mutex<()> = Mutex::new(());

/// Repetitions: on a busy system one thread may do all the work for a while, but not this often.
const WINDOWS: usize = 8;

/// Returns the threads that gain CPU time while job 0 is sampled.
fn working(worker: &mut Worker) -> usize {
    worker.measure(1_000_000, 1.7);
    // By then the warm-up and the wait for idle threads are over.
    std::thread::sleep(Duration::from_millis(900));
    let before = worker.ticks();
    // 70 ticks of the CPU time: enough to see a share of WORKS.
    std::thread::sleep(Duration::from_millis(700));
    let after = worker.ticks();
    assert_eq!(worker.reply()["type"], "measured");
    let gained = |(task, ticks): (&i32, &u64)| ticks - before.get(task).copied().unwrap_or(0);
    let gained: Vec<u64> = after.iter().map(gained).collect();
    let most = *gained.iter().max().unwrap() as f64;
    assert!(most > 0.0, "no thread has worked");
    gained.iter().filter(|ticks| **ticks as f64 > WORKS * most).count()
}

/// Asserts that the number of working threads is the reported one, and that it is at most the requested one.
fn obeys(library: Option<&str>, op: &str, variant: &str, n: u64) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for threads in [1, 2] {
        let mut worker = Worker::start_for(library, threads, false);
        let prepared = worker.prepare(op, variant, n, "hot");
        if prepared["type"] == "skipped" {
            return leave_out(&format!("{op}/{variant}"), &prepared["reason"].to_string());
        }
        let reported = prepared["threads"].as_u64().unwrap() as usize;
        assert!(reported <= threads, "{op}/{variant}: {reported} of {threads} threads");
        let fewer = (0..WINDOWS).take_while(|_| {
            let found = working(&mut worker);
            assert!(found <= reported, "{op}/{variant}: {found} threads work, {reported} are reported");
            found < reported
        });
        assert!(fewer.count() < WINDOWS, "{op}/{variant}: never have {reported} threads worked");
    }
}

#[test]
fn rayon_works_on_the_threads_asked_for() {
    // Large enough that a late thread still finds work.
    obeys(None, "elementwise", "plain", 3000);
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
    assert_eq!(worker.prepare("elementwise", "plain", 100, "cold")["type"], "prepared");
    worker.measure(3, 1.0);
    assert_eq!(worker.reply()["type"], "measured");
    let bound = worker.affinities();
    assert_eq!(bound[0], free[0], "the thread that times stays free");
    if std::thread::available_parallelism().unwrap().get() > 1 {
        assert!(bound[1..].iter().all(|list| list.parse::<u32>().is_ok()), "{bound:?}");
        assert!(bound.len() > 1 && bound[1..].iter().all(|list| *list == bound[1]), "{bound:?}");
    }
}
