//! Opens OpenBLAS under each of the names that its routines may have. Reference:
//! <https://github.com/OpenMathLib/OpenBLAS/wiki>.

use std::ffi::c_int;
use std::path::Path;

use super::finish::{About, finish};
use crate::libs::blas::opened::Opened;
use crate::libs::blas::{Provider, Vendor};

/// Prefixes and suffixes of the routine names: none, the prefix of SciPy, and the suffix of NumPy for 64-bit integers.
const SPELLINGS: [(&str, &str); 4] = [("", ""), ("scipy_", ""), ("scipy_", "64_"), ("", "64_")];

/// Opens OpenBLAS with its own thread settings.
///
/// Its idle threads spin for 2^26 cycles after a call, about 30 ms, which is shorter than the warm-up of the next job.
/// Putting them to sleep immediately (`OPENBLAS_THREAD_TIMEOUT=4`) would slow the many short calls of LAPACK.
pub(super) fn open(library: &Path) -> Result<Provider, String> {
    const MARK: &str = "openblas_get_config";
    let mut opened = Opened::new(library)?;
    let spelling = SPELLINGS.into_iter().find(|(prefix, suffix)| {
        (opened.prefix, opened.suffix) = (prefix, suffix);
        opened.library.own_file_defines(&opened.spelt(MARK))
    });
    (opened.prefix, opened.suffix) = spelling.unwrap_or_default();
    opened.check_mark(MARK, Vendor::OpenBlas)?;
    let configuration = opened.text(MARK);
    // SAFETY: the routine takes nothing and returns 0, 1 or 2.
    let threading = unsafe { opened.routine::<unsafe extern "C" fn() -> c_int>("openblas_get_parallel")?() };
    let threading =
        ["sequential", "pthreads", "OpenMP"].get(threading as usize).unwrap_or(&"unknown threads");
    let core = opened.text("openblas_get_corename");
    // A build for several CPU types names the type in use in its configuration.
    let mut words: Vec<&str> =
        configuration.split_whitespace().filter(|&w| w != "OpenBLAS" && w != core).collect();
    words.extend([core.as_str(), *threading]);
    finish(
        opened,
        About {
            version: words.join(" "),
            has_long_integers: configuration.contains("USE64BITINT"),
            has_lapack: true,
            uses_openmp: *threading == "OpenMP",
            set_threads: "openblas_set_num_threads",
            get_threads: "openblas_get_num_threads",
        },
    )
}
