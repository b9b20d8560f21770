//! The tests that need no GPU, no compiler and no more than a minute, in one program.

mod cli;
mod cpu;
mod external;
mod fuzz;
mod house;
mod injection;
mod safety;
#[cfg(feature = "lab")]
mod schema;
mod sim;
mod worker_protocol;
