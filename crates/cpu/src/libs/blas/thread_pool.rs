//! The thread pool of a BLAS library, as one job uses it: the stack that it needs, and the product that wakes it.

use super::{BlasLibrary, Provider};
use crate::threads::{ThreadPool, choices_for};
use crate::{CellResult, Unavailable};

/// The threads of a provider that work on one job.
pub(crate) struct BlasThreads {
    provider: &'static Provider,
    side: usize,
    threads: usize,
    choices: Vec<usize>,
    wake_product: WakeProduct,
}

impl BlasThreads {
    /// Uses all `threads`, or as many as the library allows, for matrices of `side`; up to `max_side`, the job can choose
    /// fewer.
    pub(crate) fn new(
        threads: usize,
        library: &BlasLibrary,
        side: usize,
        max_side: usize,
    ) -> Result<Self, Unavailable> {
        require_stack()?;
        let provider = library.provider()?;
        let threads = provider.set_threads_up_to(threads);
        let choices = choices_for(side, max_side, threads);
        Ok(BlasThreads { provider, side, threads, choices, wake_product: wake_product(threads, side) })
    }

    /// Returns the provider, with its number of threads set for this job.
    pub(crate) fn provider(&self) -> &'static Provider {
        self.provider.set_threads(self.threads);
        self.provider
    }
}

impl ThreadPool for BlasThreads {
    fn choices(&self) -> Vec<usize> {
        self.choices.clone()
    }

    fn choose(&mut self, threads: usize) {
        self.threads = threads;
        self.wake_product = wake_product(threads, self.side);
    }

    fn wake_threads(&mut self) -> CellResult<()> {
        // The threads have worked when the product returns, and spin for more work for a while.
        let provider = self.provider();
        self.wake_product.as_mut().map_or(Ok(()), |[a, b, c]| {
            let columns = b.len() / DEPTH;
            provider.gemm([DEPTH, columns, DEPTH], [false; 2], a, b, c)
        })
    }
}

/// Largest side at which OpenBLAS multiplies on one thread (its threshold is 64^3 multiplications).
const SERIAL_SIDE: usize = 64;
/// Rows and depth of the product. OpenBLAS uses its kernels for small matrices up to 100^3 multiplications on two threads;
/// with [`COLUMNS_EACH`], this is the smallest product beyond that limit.
const DEPTH: usize = 128;
/// Columns of the product per thread: OpenBLAS gives each thread at least 32.
const COLUMNS_EACH: usize = 32;

/// The factors and the result of the product that wakes the threads; `None` if the job takes one thread.
type WakeProduct = Option<[Vec<f32>; 3]>;

/// Allocates the matrices for `threads` threads, unless jobs of this side use one thread.
fn wake_product(threads: usize, side: usize) -> WakeProduct {
    let zeros = |columns| vec![0.0; DEPTH * columns];
    let columns = COLUMNS_EACH * threads;
    (side > SERIAL_SIDE && threads > 1).then(|| [zeros(DEPTH), zeros(columns), zeros(columns)])
}

/// Bytes of stack that LAPACK needs: the parallel LU of OpenBLAS takes half a MiB per level of recursion, and halves a
/// panel of 384 columns seven times.
const NEEDED_STACK: usize = 6 << 20;

/// Returns an error with a fix unless the calling thread has enough stack left for LAPACK.
fn require_stack() -> Result<(), Unavailable> {
    match stack_left() {
        Some(left) if left < NEEDED_STACK => Err(Unavailable::new(
            format!("LAPACK needs {} KiB of stack, the thread has {} left", NEEDED_STACK >> 10, left >> 10),
            "ulimit -s 8192",
        )),
        _ => Ok(()),
    }
}

/// Returns the bytes between the current stack position and the lowest stack address; `None` if the system does not
/// report it.
fn stack_left() -> Option<usize> {
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
        let on = |bytes| {
            std::thread::Builder::new().stack_size(bytes).spawn(require_stack).unwrap().join().unwrap()
        };
        let refused = on(1 << 20).unwrap_err();
        assert!(refused.reason.contains("6144 KiB") && refused.fix.is_some(), "{}", refused.reason);
        assert_eq!(on(NEEDED_STACK + (1 << 20)), Ok(()));
    }
}
