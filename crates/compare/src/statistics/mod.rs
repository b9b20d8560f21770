//! Tests and estimators on plain numbers: ranks, Student's t, Holm's correction, moderated variances.
//!
//! Each file names its source. Nothing here reads runs or cells, so each is tested on numbers alone.

pub mod holm;
pub mod moderation;
pub mod ranks;
pub mod shift;
