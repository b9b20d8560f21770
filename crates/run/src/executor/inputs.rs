//! Verifies that all backends used the same operands.

use std::collections::HashMap;

use gpubench_report::report::Row;

/// The operands' fingerprint of each case, and the backend that reported it first.
#[derive(Default)]
pub(crate) struct InputFingerprints(HashMap<String, (String, String)>);

impl InputFingerprints {
    /// Records the fingerprint of a row's operands; returns an error if another backend used others for the same case.
    pub(crate) fn agree(&mut self, row: &Row, fingerprint: &str) -> Result<(), String> {
        let case = row.case.key();
        let first = || (row.backend.clone(), fingerprint.to_owned());
        let (backend, known) = self.0.entry(case).or_insert_with(first);
        if known == fingerprint {
            return Ok(());
        }
        Err(format!(
            "inputs differ from those of {backend} ({fingerprint}, not {known}), so times cannot be compared. \
             Check the generator against the vectors in docs/worker-protocol.md"
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::executor::cell_run::CellRun;
    use crate::executor::cell_run::tests::planned;

    #[test]
    fn backends_with_different_inputs_for_the_same_case_are_refused() {
        let planned = planned(2, "a");
        let row = |backend: &str, seed| {
            let mut row = CellRun::new(0, &planned, Duration::ZERO).row;
            (row.backend, row.case.seed) = (backend.into(), seed);
            row
        };
        let mut inputs = InputFingerprints::default();
        assert_eq!(inputs.agree(&row("cpu", 1), "1f"), Ok(()));
        assert_eq!(inputs.agree(&row("cuda", 1), "1f"), Ok(()));
        let refusal = inputs.agree(&row("cuda", 1), "2f").unwrap_err();
        assert!(refusal.starts_with("inputs differ from those of cpu"), "{refusal}");
        assert!(refusal.contains("cannot be compared"), "{refusal}");
        assert_eq!(inputs.agree(&row("cuda", 2), "2f"), Ok(()), "another case has inputs of its own");
    }
}
