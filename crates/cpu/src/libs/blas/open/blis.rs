//! Opens BLIS, including the AOCL build by AMD. Reference: <https://github.com/flame/blis/tree/master/docs>.

use std::path::Path;

use super::finish::{About, finish};
use crate::libs::blas::opened::Opened;
use crate::libs::blas::provider::GetThreads;
use crate::libs::blas::{Provider, Vendor};

/// Opens BLIS or AOCL-BLIS, which have BLAS without LAPACK.
pub(super) fn open(library: &Path) -> Result<Provider, String> {
    const MARK: &str = "bli_info_get_version_str";
    let mut opened = Opened::new(library)?;
    opened.check_mark(MARK, Vendor::Blis)?;
    let version = opened.text(MARK);
    // SAFETY: the routine takes nothing and returns a count of bits.
    let bits = unsafe { opened.routine::<GetThreads>("bli_info_get_blas_int_type_size")?() };
    // SAFETY: the routine takes nothing and returns 0 or 1.
    let enabled = unsafe { opened.routine::<GetThreads>("bli_info_get_enable_openmp").map(|ask| ask()) };
    let uses_openmp = enabled.is_ok_and(|enabled| enabled != 0);
    finish(
        opened,
        About {
            version,
            has_long_integers: bits == 64,
            has_lapack: false,
            uses_openmp,
            set_threads: "bli_thread_set_num_threads",
            get_threads: "bli_thread_get_num_threads",
        },
    )
}
