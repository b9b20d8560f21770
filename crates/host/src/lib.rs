//! Describes the machine of this process: CPUs, caches, memory, system, install folders of libraries. Wraps the system
//! calls that the standard library lacks, opens shared libraries, and writes the user's cache folder. Except for the
//! backends, this is the only crate with `unsafe` system calls.

pub mod cpu_quota;
pub mod environment;
mod git;
pub mod helper;
pub mod install_folders;
pub mod memory;
pub mod numa;
pub mod orphans;
pub mod other_programs;
pub mod process;
pub mod processors;
pub mod regular;
pub mod search_path;
pub mod shared_library;
pub mod temporary_folder;
pub mod threads;
pub mod usage;
pub mod user_cache;
pub mod vector_registers;
pub mod wait_idle;
