//! Sets the NUMA nodes from which the system allocates memory. See set_mempolicy(2),
//! <https://man7.org/linux/man-pages/man2/set_mempolicy.2.html>.

use std::io;

/// Number of nodes in a mask: the maximum that Linux supports.
const MAX_NODES: usize = 1024;

/// Interleaves memory that the calling thread and its later threads touch first over `nodes`, page by page, so that it
/// is equally near to threads on all of them.
///
/// # Errors
/// The system refuses, or has no such node.
pub fn interleave(nodes: &[usize]) -> io::Result<()> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; MAX_NODES / BITS];
    for node in nodes {
        let word = mask.get_mut(node / BITS).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        *word |= 1 << (node % BITS);
    }
    // SAFETY: the call only reads the mask. The kernel subtracts one from the number of bits.
    let status = unsafe {
        libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_INTERLEAVE, mask.as_ptr(), MAX_NODES + 1)
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test may end where no thread can be started")]

    use super::*;

    /// Returns the calling thread's policy; `None` where the system does not allow the query.
    fn policy() -> Option<libc::c_int> {
        let mut policy = -1;
        let nothing = std::ptr::null_mut::<libc::c_ulong>();
        // SAFETY: the call writes the policy to its place, and no mask or address is given.
        let status =
            unsafe { libc::syscall(libc::SYS_get_mempolicy, &raw mut policy, nothing, 0, nothing, 0) };
        (status == 0).then_some(policy)
    }

    #[test]
    fn memory_is_interleaved_for_the_thread_that_asks_alone() {
        let Some(before) = policy() else { return };
        std::thread::spawn(|| match interleave(&[0]) {
            Ok(()) => assert_eq!(policy(), Some(libc::MPOL_INTERLEAVE)),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM)),
        })
        .join()
        .unwrap();
        assert_eq!(policy(), Some(before));
    }

    #[test]
    fn nodes_that_cannot_be_are_refused() {
        assert!(interleave(&[MAX_NODES]).is_err() && interleave(&[MAX_NODES - 1]).is_err());
    }
}
