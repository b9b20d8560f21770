//! Checks that an external program keeps to the worker protocol: a suite of conversations with it, whose answers are judged
//! as those of a run are.

mod cells;
mod conversation;
mod results;
mod suite;
mod tested;

use std::time::Duration;

use gpubench_backend::Program;

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

/// The result of one check.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was checked, in one line.
    pub name: String,
    /// The result.
    pub verdict: Verdict,
}

/// Whether a check was passed.
#[derive(Clone, Debug)]
pub enum Verdict {
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
    /// Adds what is wrong with the reply.
    fn because(mut self: Box<Self>, problem: impl Into<String>) -> Box<Self> {
        self.problem = Some(problem.into());
        self
    }
}

/// Checks a program, and calls `each` with every result.
///
/// # Errors
/// The program cannot be started.
pub fn check(asked: &Asked, each: &mut dyn FnMut(&Check)) -> std::io::Result<()> {
    suite::run(asked, each)
}
