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
pub mod other_programs;
pub mod process;
pub mod processors;
pub mod search_path;
pub mod shared_library;
pub mod threads;
pub mod user_cache;
pub mod vector_registers;
pub mod wait_idle;

/// Opens files that another program has named or made.
pub mod regular {
    use std::fs::{self, File};
    use std::io;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// Flag that makes opening a link fail.
    pub const NOT_THROUGH_A_LINK: i32 = libc::O_NOFOLLOW;

    /// Opens an ordinary file for reading, without following a link or waiting for a pipe's writer.
    ///
    /// # Errors
    /// The file cannot be opened, or is not an ordinary one.
    pub fn open(path: &Path) -> io::Result<File> {
        let flags = NOT_THROUGH_A_LINK | libc::O_NONBLOCK;
        let is_link = fs::symlink_metadata(path)?.is_symlink();
        let file = File::options().read(true).custom_flags(flags).open(path);
        match file {
            Ok(file) if file.metadata()?.is_file() => Ok(file),
            Err(error) if !is_link => Err(error),
            Ok(_) | Err(_) => Err(io::Error::other("it is not an ordinary file")),
        }
    }
}

/// Reads the involuntary context switches and page faults of this process.
pub mod usage {
    /// Counts of all threads of the process since its start. See getrusage(2).
    #[derive(Clone, Copy, Debug)]
    pub struct Usage {
        /// Involuntary context switches.
        pub context_switches: u64,
        /// Page faults without reading from a disk.
        pub minor: u64,
        /// Page faults with reading from a disk.
        pub major: u64,
    }

    impl Usage {
        /// Returns the current counts; `None` where the system does not report them.
        pub fn now() -> Option<Usage> {
            let usage = usage_of(libc::RUSAGE_SELF)?;
            let count = |figure: libc::c_long| u64::try_from(figure).unwrap_or(0);
            Some(Usage {
                context_switches: count(usage.ru_nivcsw),
                minor: count(usage.ru_minflt),
                major: count(usage.ru_majflt),
            })
        }
    }

    /// Returns the system's figures for this process, or for its ended children.
    pub(crate) fn usage_of(whose: libc::c_int) -> Option<libc::rusage> {
        // SAFETY: an all-zero `rusage` is a valid place for the system to write to.
        let (status, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::getrusage(whose, &raw mut usage), usage)
        };
        (status == 0).then_some(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::regular::open;
    use super::usage::Usage;

    #[test]
    fn only_ordinary_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert!(open(&at("file")).is_ok());
        for other in ["link", "pipe", ".", "missing"] {
            assert!(open(&at(other)).is_err(), "{other}");
        }
    }

    #[test]
    fn counts_never_fall() {
        let [before, after] = [Usage::now().unwrap(), Usage::now().unwrap()];
        assert!(
            after.minor >= before.minor
                && after.major >= before.major
                && after.context_switches >= before.context_switches
        );
    }
}
