//! Checks that an external program keeps to the worker protocol: a suite of conversations with it, whose answers are judged
//! as those of a run are.

mod cells;
mod conversation;
mod suite;

use std::time::Duration;

use gpubench_backend::{Program, Variant};
use gpubench_ops as op;
use gpubench_report::case::{Cache, Case, Cell, DType};

/// What to check.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The program.
    pub program: Program,
    /// Ops to check; empty for all that the program has.
    pub ops: Vec<String>,
    /// Sizes N of the cells.
    pub sizes: Vec<u64>,
    /// Longest wait for a reply.
    pub limit: Duration,
}

/// Whether a check was passed.
#[derive(Clone, Debug)]
pub enum CheckVerdict {
    /// It was.
    Passed,
    /// It could not be made, for this reason that the program gave.
    Skipped(String),
    /// It was not.
    Failed(Box<Failure>),
}

/// Why a check failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The request, or what else was done.
    pub sent: String,
    /// The program's reply, or what happened in its place.
    pub received: String,
    /// What is wrong with the reply, where it does not show that itself.
    pub problem: Option<String>,
    /// What the protocol asks for.
    pub expected: String,
    /// The section of docs/worker-protocol.md that says so.
    pub section: &'static str,
}

impl Failure {
    fn because(mut self: Box<Self>, problem: impl Into<String>) -> Box<Self> {
        self.problem = Some(problem.into());
        self
    }
}

/// Checks a program, and calls `each` with what was checked, in one line, and the result.
///
/// # Errors
/// The program cannot be started.
pub fn check(asked: &Asked, each: &mut dyn FnMut(&str, &CheckVerdict)) -> std::io::Result<()> {
    suite::run(asked, &mut Results(each))
}

type CheckedStep<T = ()> = Result<T, Box<Failure>>;

struct Results<'a>(&'a mut dyn FnMut(&str, &CheckVerdict));

impl Results<'_> {
    /// Passes on a result, and returns what a passed check found.
    fn add<T>(&mut self, name: &str, result: CheckedStep<T>) -> Option<T> {
        let (verdict, found) = match result {
            Ok(found) => (CheckVerdict::Passed, Some(found)),
            Err(failure) => (CheckVerdict::Failed(failure), None),
        };
        (self.0)(name, &verdict);
        found
    }

    fn skip(&mut self, name: &str, reason: String) {
        (self.0)(name, &CheckVerdict::Skipped(reason));
    }
}

/// Density of sparse operands: at small sizes the usual ones leave hardly an entry.
const DENSITY: f64 = 0.3;

#[derive(Clone)]
struct Tested {
    cell: Cell,
    variant: Variant,
}

impl Tested {
    fn new(variant: &Variant, dtype: DType, cache: Cache, n: u64) -> Self {
        let op = variant.op.to_string();
        let density = op::find(&op).and_then(|op| op.default_density()).map(|_| DENSITY);
        let case = Case { op, n, dtype, density, shape: None, matrix: None, seed: 42 };
        let cell = Cell { case, backend: "tested".into(), variant: variant.name.to_string(), cache };
        Tested { cell, variant: variant.clone() }
    }

    /// Returns the name under which its checks are listed.
    fn name(&self) -> String {
        let Cell { case, variant, cache, .. } = &self.cell;
        format!("{}/{variant} {} {cache} N={}", case.op, case.dtype, case.n)
    }

    fn seeded(&self, seed: u64) -> Self {
        let mut other = self.clone();
        other.cell.case.seed = seed;
        other
    }
}
