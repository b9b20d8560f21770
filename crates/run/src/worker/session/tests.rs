//! Tests verification with a backend that misbehaves in real memory, after a right first answer where possible.

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use gpubench_backend::contents::{Contents, host, mark};
use gpubench_backend::{Finding, Job, Lent, Sample};
use gpubench_report::case::{Cache, Case, DType};

use super::*;
use crate::executor::planned;

/// Faults, by name; `honest` has none, nor have `slow` and `empty`, whose answer's memory has no bytes.
const FAULTS: [&str; 8] = ["stale", "earlier", "partial", "operand", "stream", "reset", "race", "early"];

/// Number of executions before most faults begin; the first two are those of the preparation.
const HONEST: u32 = 4;

/// Size of the matrices.
const N: usize = 24;

fn registration() -> Registration {
    Registration {
        name: "adversary",
        summary: "",
        simulated: false,
        variants: |options| Ok(options.ops.iter().map(|fault| variant(fault)).collect()),
        start: |_| Ok(Box::<Adversary>::default()),
        findings: |_| vec![],
    }
}

fn variant(fault: &str) -> Variant {
    Variant { op: "elementwise".into(), ..planned(N as u64, fault).variant }
}

#[derive(Default)]
struct Adversary {
    turn: usize,
}

impl Backend for Adversary {
    fn describe(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    fn libraries(&self) -> Vec<Finding> {
        vec![]
    }

    fn prepare(
        &mut self,
        fault: &str,
        case: &Case,
        inputs: &mut [Operand],
    ) -> Result<Box<Prepared>, CellError> {
        let takes = case.seed.is_multiple_of(2);
        let mut values = |operand: usize| match takes {
            true => inputs[operand].take().into_dense::<f32>(),
            false => inputs[operand].dense_slice::<f32>().map(<[f32]>::to_vec),
        };
        let (fault, a, b, y) = (fault.to_owned(), values(0)?, values(1)?, vec![0.0; N * N]);
        Ok(Prepared::new(Crook { fault, takes, a, b, y, ..Crook::default() }))
    }

    /// Like the CPU: marks where caches are cold.
    fn marks_answers(&self, cache: Cache) -> bool {
        cache == Cache::Cold
    }

    fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample, CellError> {
        job.reset()?;
        if self.marks_answers(cache) {
            self.turn += 1;
            mark(&mut job.contents(), self.turn)?;
        }
        let start = Instant::now();
        job.execute()?;
        Ok(Sample::of_host(start.elapsed().as_secs_f64()))
    }
}

/// A job of `y = a b + sin a + cos b` that cheats.
#[derive(Default)]
struct Crook {
    fault: String,
    /// Whether it has taken its operands and lends them; otherwise it has copied them.
    takes: bool,
    a: Vec<f32>,
    b: Vec<f32>,
    y: Vec<f32>,
    last: Option<Vec<f32>>,
    late: Option<Receiver<Vec<f32>>>,
    done: u32,
}

impl Crook {
    fn right(&self) -> Vec<f32> {
        let of = |(a, b): (&f32, &f32)| {
            let (a, b) = (f64::from(*a), f64::from(*b));
            (a * b + a.sin() + b.cos()) as f32
        };
        self.a.iter().zip(&self.b).map(of).collect()
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault && self.done >= HONEST
    }

    /// Copies the other thread's result so far.
    fn catch_up(&mut self, patience: Duration) {
        if let Some(y) = self.late.as_ref().and_then(|late| late.recv_timeout(patience).ok()) {
            (self.y, self.late) = (y, None);
        }
    }
}

impl Job for Crook {
    fn reset(&mut self) -> Result<(), CellError> {
        self.catch_up(Duration::from_secs(5));
        if self.fault == "reset" {
            // The answer overwrites an operand.
            self.y = if self.done >= HONEST { self.right() } else { self.a.clone() };
        }
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        let in_place = self.fault == "reset";
        let operands = [host(&mut self.a), host(&mut self.b)];
        let shown = if self.fault == "empty" { 0 } else { self.y.len() };
        Contents { in_place, ..Contents::new(operands, [host(&mut self.y[..shown])]) }
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let right = self.right();
        let last = self.last.replace(right.clone()).unwrap_or_else(|| vec![0.0; N * N]);
        match self.fault.as_str() {
            "slow" => {
                std::thread::sleep(Duration::from_millis(1));
                self.y = right;
            }
            "earlier" => self.y = last,
            "stale" | "reset" if self.done >= HONEST => {}
            "partial" if self.done >= HONEST => self.y[N..].copy_from_slice(&right[N..]),
            "stream" if self.done >= HONEST => {
                let (sender, receiver) = channel();
                self.late = Some(receiver);
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(2));
                    sender.send(right)
                });
            }
            _ => self.y = right,
        }
        if self.has("race") && !self.done.is_multiple_of(3) {
            self.y[N * N / 2] += 0.25;
        }
        if self.has("operand") || self.fault == "early" && self.done == 0 {
            self.a[3] = 0.5;
        }
        self.done += 1;
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        self.catch_up(Duration::from_secs(5));
        Ok(vec![Operand::dense(N, N, self.y.clone())])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        let operands = [&self.a, &self.b].map(|values| Operand::dense(N, N, values.clone()));
        to(Lent { operands: self.takes.then_some(&operands), answer: &answer });
        Ok(())
    }
}

fn session(fault: &str) -> BackendSession {
    let options = Options { ops: vec![fault.to_owned()], ..Options::default() };
    BackendSession::start(&registration(), &options).unwrap()
}

fn cell(fault: &str, seed: u64, cache: Cache) -> Cell {
    let case = Case::square("elementwise", N as u64, DType::F32, seed);
    Cell { case, backend: "adversary".into(), variant: fault.into(), cache }
}

fn batch(samples: u32) -> Batch {
    Batch { warm_up: None, samples, max_s: 10.0 }
}

/// Seeds of a job that copies its operands, and of one that takes them.
const SEEDS: [u64; 2] = [3, 4];

/// Returns the first reply that finds fault with a cell in two rounds; `None` where there is none.
fn found(fault: &str, seed: u64, cache: Cache) -> Option<String> {
    let mut session = session(fault);
    let mut replies = vec![session.prepare(7, &cell(fault, seed, cache), None, None, &mut |_| {}).unwrap()];
    for last in [false, true] {
        if matches!(replies[0], Reply::Prepared { .. }) {
            replies.push(session.measure(7, &batch(4)).unwrap());
            replies.push(session.verify(7, last).unwrap());
        }
    }
    replies.into_iter().find_map(|reply| match reply {
        Reply::Incorrect { reason, .. } | Reply::Refuted { reason, .. } => Some(reason),
        _ => None,
    })
}

#[test]
fn every_fault_in_real_memory_is_found_and_an_honest_job_is_not() {
    for (seed, cache) in SEEDS.iter().flat_map(|seed| Cache::ALL.map(|cache| (*seed, cache))) {
        assert_eq!(found("honest", seed, cache), None);
        assert_eq!(found("empty", seed, cache), None);
        for fault in FAULTS {
            let reason = found(fault, seed, cache);
            assert!(reason.is_some(), "{fault} was not found with {cache} caches, seed {seed}");
        }
        assert!(found("reset", seed, cache).unwrap().contains("before the execution began"));
        assert!(found("stream", seed, cache).unwrap().contains("outside the timed region"));
        assert!(found("operand", seed, cache).unwrap().contains("changed the operands"));
        assert!(found("early", seed, cache).is_some());
    }
    assert_eq!(found("early", SEEDS[1], Cache::Hot).unwrap(), CHANGED_AT_FIRST);
}

#[test]
fn the_file_of_a_matrix_is_read_by_the_first_cell_that_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let options = Options {
        ops: vec!["honest".into()],
        matrices: [("a@0".to_owned(), path.clone())].into(),
        ..Options::default()
    };
    let mut session = BackendSession::start(&registration(), &options).unwrap();
    let mut of = |matrix: Option<&str>| {
        let mut cell = cell("honest", 3, Cache::Hot);
        cell.case.matrix = matrix.map(str::to_owned);
        session.prepare(7, &cell, None, None, &mut |_| {}).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(of(None), Ok(()), "the file is missing, and this cell does not need it");
    assert!(of(Some("a@0")).unwrap_err().contains("cannot read"));
    std::fs::write(path, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n").unwrap();
    assert_eq!(of(Some("a@0")).unwrap_err(), "the file of the matrix a@0 has changed since the run started");
    assert_eq!(of(Some("b@0")).unwrap_err(), "no file of this run has the matrix b@0");
}

#[test]
fn jobs_of_one_case_have_operands_of_their_own() {
    for seed in SEEDS {
        let (mut session, cell) = (session("operand"), cell("operand", seed, Cache::Hot));
        let prepared = |session: &mut BackendSession, job| match session
            .prepare(job, &cell, None, None, &mut |_| {})
            .unwrap()
        {
            Reply::Prepared { inputs, .. } => inputs,
            other => panic!("{other:?}"),
        };
        let first = prepared(&mut session, 1);
        assert_eq!(prepared(&mut session, 2), first);
        session.measure(1, &batch(4)).unwrap();
        assert!(matches!(session.verify(1, false).unwrap(), Reply::Refuted { .. }), "job 1 changes its own");
        assert!(matches!(session.verify(2, false).unwrap(), Reply::Verified), "those of job 2 are unchanged");
        assert_eq!(prepared(&mut session, 3), first, "job 3 gets none of those that job 1 changed");
    }
}

#[test]
fn the_last_check_executes_again_unless_marks_replace_a_long_execution() {
    let is_erased = |cache, samples: u32| {
        let mut session = session("slow");
        session.prepare(7, &cell("slow", 3, cache), None, None, &mut |_| {}).unwrap();
        session.measure(7, &batch(samples)).unwrap();
        assert!(matches!(session.verify(7, true).unwrap(), Reply::Verified));
        let answer = session.jobs.get_mut(&7).unwrap().job.answer().unwrap();
        answer[0].dense_slice::<f32>().unwrap().iter().all(|value| value.is_nan())
    };
    assert!(is_erased(Cache::Cold, 4), "no execution follows");
    assert!(!is_erased(Cache::Cold, 400), "one of 400 costs little");
    assert!(!is_erased(Cache::Hot, 4), "nothing was marked");
}

#[test]
fn a_cell_prepared_again_has_the_variant_that_was_picked_before() {
    let verified = |picked: Option<&str>| {
        let (mut session, cell) = (session("operand"), cell("operand", 3, Cache::Hot));
        let reply = session.prepare(7, &cell, None, picked.map(str::to_owned), &mut |_| {}).unwrap();
        let Reply::Prepared { picked, .. } = reply else { panic!("{reply:?}") };
        session.measure(7, &batch(4)).unwrap();
        (picked, matches!(session.verify(7, false).unwrap(), Reply::Verified))
    };
    assert_eq!(verified(None), (None, false), "it alters its operands");
    assert_eq!(verified(Some("honest")), (Some("honest".to_owned()), true));
}

#[test]
fn operands_are_made_again_where_an_answer_is_judged_again() {
    let mut session = session("race");
    for job in [1, 2] {
        session.prepare(job, &cell("race", job, Cache::Hot), None, None, &mut |_| {}).unwrap();
    }
    session.measure(1, &batch(4)).unwrap();
    let reply = session.verify(1, false).unwrap();
    assert!(matches!(&reply, Reply::Refuted { error: Some(error), .. } if !error.is_right()), "{reply:?}");
}
