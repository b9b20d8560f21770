//! Tests and estimators on plain numbers: ranks, Student's t, Holm's correction, moderated variances.
//!
//! Each file names its source. Nothing here reads runs or cells, so each is tested on numbers alone.

pub(crate) mod holm;
pub(crate) mod moderation;
pub(crate) mod ranks;
pub(crate) mod shift;
