//! Checks the stack left on the calling thread: the parallel LU of OpenBLAS takes half a MiB per level of recursion.

use gpubench_model::error::Unavailable;

/// More than the seven levels need to which a panel of 384 columns is halved.
const NEEDED: usize = 6 << 20;

/// Returns an error with a fix unless the calling thread has enough stack left for LAPACK.
pub(crate) fn require() -> Result<(), Unavailable> {
    match left() {
        Some(left) if left < NEEDED => Err(Unavailable::new(
            format!("LAPACK needs {} KiB of stack, the thread has {} left", NEEDED >> 10, left >> 10),
            "ulimit -s 8192",
        )),
        _ => Ok(()),
    }
}

/// Returns the bytes between the current stack position and the lowest stack address; `None` if the system does not
/// report it.
fn left() -> Option<usize> {
    let here = 0u8;
    // SAFETY: the attributes are written by the first call, read by the second and freed by the third, and
    // the pointers are to locals that outlive the calls.
    let lowest = unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
        let status = libc::pthread_attr_getstack(&raw const attributes, &raw mut lowest, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        (status == 0).then_some(lowest)?
    };
    (&raw const here).addr().checked_sub(lowest.addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_thread_is_refused_and_a_large_one_is_not() {
        let on =
            |bytes| std::thread::Builder::new().stack_size(bytes).spawn(require).unwrap().join().unwrap();
        let refused = on(1 << 20).unwrap_err();
        assert!(refused.reason.contains("6144 KiB") && refused.fix.is_some(), "{}", refused.reason);
        assert_eq!(on(NEEDED + (1 << 20)), Ok(()));
    }
}
