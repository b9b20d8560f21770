//! The machine that this process runs on: its processors, caches, memory and system, the calls that the standard library
//! lacks, where libraries are installed and how they are opened, and the folder for what is kept from run to run. Of the crates that are no backend, the only one with `unsafe`
//! calls of the system.

pub mod environment;
pub mod install_folders;
pub mod memory;
pub mod numa;
pub mod process;
pub mod processors;
pub mod shared_library;
pub mod threads;
pub mod usage;
pub mod user_cache;
pub mod wait_idle;
