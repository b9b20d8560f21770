//! The results of checks, which are passed on as they are found.

use super::{Check, Failure, Verdict};

/// The result of a check, with what it found.
pub(super) type Checked<T = ()> = Result<T, Box<Failure>>;

/// Passes results on under their names.
pub(super) struct Results<'a>(pub(super) &'a mut dyn FnMut(&Check));

impl Results<'_> {
    /// Passes on a result, and returns what a passed check found.
    pub(super) fn add<T>(&mut self, name: impl Into<String>, result: Checked<T>) -> Option<T> {
        let (verdict, found) = match result {
            Ok(found) => (Verdict::Passed, Some(found)),
            Err(failure) => (Verdict::Failed(failure), None),
        };
        (self.0)(&Check { name: name.into(), verdict });
        found
    }

    pub(super) fn skip(&mut self, name: impl Into<String>, reason: String) {
        (self.0)(&Check { name: name.into(), verdict: Verdict::Skipped(reason) });
    }
}
