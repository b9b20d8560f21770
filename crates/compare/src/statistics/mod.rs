//! Tests and estimators on plain numbers: ranks, Student's t, Holm's correction, moderated variances.
//!
//! Each file names its source in the literature. The functions take plain numbers and are tested on numbers.

pub(crate) mod holm;
pub(crate) mod moderation;
pub(crate) mod ranks;
pub(crate) mod shift;
