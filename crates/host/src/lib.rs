//! Facts about the machine that this process runs on: processors, caches, memory, system, and the folder for what is kept
//! from run to run.

pub mod environment;
pub mod memory;
pub mod processors;
pub mod user_cache;
