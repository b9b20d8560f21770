//! Runs a plan: starts a worker process per backend and library, has it prepare, judge and sample each cell in rounds, and
//! writes the report after every turn. Contains both ends of the workers' protocol.

#![forbid(unsafe_code)]

pub mod executor;
pub mod observe;
pub mod worker;

/// Tests use the allocator of the program, which keeps freed memory for a while.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
