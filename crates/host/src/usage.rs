//! Reads the involuntary context switches and page faults of this process.

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

#[cfg(test)]
mod tests {
    use super::*;

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
