//! Turns an opened library into a provider, once its vendor-specific routines have been called.

use std::sync::atomic::AtomicUsize;

use crate::libs::blas::abi::Routines;
use crate::libs::blas::opened::Opened;
use crate::libs::blas::provider::{GetThreads, Provider, SetThreads};
use crate::libs::blas::shim;

/// LAPACK routines that are called through the shim; a library with 32-bit integers must have all of them.
const SHIMMED: [&str; 2] = ["sgesvd_", "dgesvd_"];

/// The answers of a vendor's own routines, and the names of its thread routines.
pub(super) struct About {
    pub(super) version: String,
    pub(super) has_long_integers: bool,
    pub(super) has_lapack: bool,
    /// Whether OpenMP starts its threads.
    pub(super) uses_openmp: bool,
    pub(super) set_threads: &'static str,
    pub(super) get_threads: &'static str,
}

/// Returns the maximum number of threads that OpenMP gives a program. A library reports the requested number even above it.
fn openmp_limit() -> usize {
    let limit = std::env::var("OMP_THREAD_LIMIT").ok().and_then(|text| text.trim().parse().ok());
    limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX)
}

/// Returns the provider, or an error if a routine is missing.
pub(super) fn finish(opened: Opened, about: About) -> Result<Provider, String> {
    // SAFETY: a routine's address is only stored; its type is restored by its caller.
    let entry = |name: &str| unsafe { opened.routine::<shim::Entry>(name) };
    let shim = about.has_lapack && !about.has_long_integers;
    if shim {
        SHIMMED.iter().try_for_each(|name| entry(name).map(|_| ()))?;
    }
    let shim = shim.then(|| shim::SYMBOLS.iter().map(|name| entry(name).ok()).collect());
    // SAFETY: the types are those of the libraries' thread routines.
    let (set_threads, get_threads) = unsafe {
        (opened.routine::<SetThreads>(about.set_threads)?, opened.routine::<GetThreads>(about.get_threads)?)
    };
    let provider = Provider {
        path: opened.library.file().ok_or("the loader does not know its path")?.to_path_buf(),
        version: about.version,
        has_long_integers: about.has_long_integers,
        single: Routines::find(&opened, 's', about.has_lapack)?,
        double: Routines::find(&opened, 'd', about.has_lapack)?,
        shim,
        set_threads,
        get_threads,
        max_threads: if about.uses_openmp { openmp_limit() } else { usize::MAX },
        threads: AtomicUsize::new(0),
    };
    // The library is never closed, because its threads stay too.
    opened.library.keep();
    Ok(provider)
}
