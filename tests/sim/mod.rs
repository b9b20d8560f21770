//! The whole pipeline on the simulated device: scripted times, faults, kills and noise. Needs no hardware.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]
#![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]

mod libraries;
mod outcomes;
mod refine;
mod replies;
mod sampling;
mod screening;
mod stage;
mod timed_answers;
