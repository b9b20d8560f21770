//! Generates a worker's operands on the host, and keeps those of the last case for its next cell.

use gpubench_backend::host::memory;
use gpubench_ops::Op;
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, fingerprint};
use gpubench_report::error::{CellError, Unavailable};

/// Maximum expected entries of a sparse operand: `i32::MAX` less more than six standard deviations.
const MAX_EXPECTED_ENTRIES: f64 = 2.147e9;

pub(crate) struct CaseOperands {
    case: Case,
    /// The operands, in the op's order. A job may take them.
    pub(crate) operands: Vec<Operand>,
    /// Fingerprint of the operands, hexadecimal.
    pub(crate) fingerprint: String,
}

impl CaseOperands {
    pub(crate) fn are_taken(&self) -> bool {
        self.operands.iter().any(Operand::is_taken)
    }
}

/// Returns the fingerprint of operands as reports have it.
pub(crate) fn hexadecimal(operands: &[Operand]) -> String {
    format!("{:016x}", fingerprint(operands))
}

/// The operands of the last case, if any.
#[derive(Default)]
pub(crate) struct Operands(Option<CaseOperands>);

impl Operands {
    /// Returns the operands of `case`: the kept ones if it is the last case again and no job has taken them, otherwise
    /// those that `copy` returns, otherwise new ones. `admit` may refuse a case before any are made.
    pub(crate) fn of(
        &mut self,
        op: &dyn Op,
        case: &Case,
        admit: impl FnOnce() -> Result<(), CellError>,
        copy: impl FnOnce() -> Option<Vec<Operand>>,
    ) -> Result<&mut CaseOperands, CellError> {
        // The old operands are freed before the new ones are generated.
        let kept = match self.0.take().filter(|kept| kept.case == *case && !kept.are_taken()) {
            Some(kept) => kept,
            None => {
                admit()?;
                make(op, case, &memory::free_host_bytes, copy)?
            }
        };
        Ok(self.0.insert(kept))
    }
}

/// Copies or generates the operands of a case, unless they exceed what `free` finds.
fn make(
    op: &dyn Op,
    case: &Case,
    free: &dyn Fn() -> Option<u128>,
    copy: impl FnOnce() -> Option<Vec<Operand>>,
) -> Result<CaseOperands, CellError> {
    check_host(op, case, free)?;
    let operands = copy().unwrap_or_else(|| op.inputs(case));
    Ok(CaseOperands { case: case.clone(), fingerprint: hexadecimal(&operands), operands })
}

/// Checks that the host can hold a case, with the free bytes that `free` finds.
///
/// # Errors
/// The case needs more memory, or has more entries than offsets can count.
fn check_host(op: &dyn Op, case: &Case, free: &dyn Fn() -> Option<u128>) -> Result<(), CellError> {
    let entries = op.expected_entries(case);
    if entries > MAX_EXPECTED_ENTRIES {
        let reason = format!("about {entries:.2e} stored entries exceed 32-bit offsets (2.14e9)");
        return Err(Unavailable::new(reason, "choose a smaller size or density").into());
    }
    let longest = op.about().dimensions.iter().map(|name| case.extent(name)).max().unwrap_or(0);
    if op.default_density().is_some() && i32::try_from(longest).is_err() {
        let reason = format!("{longest} rows or columns exceed 32-bit indices (2.14e9)");
        return Err(Unavailable::new(reason, "choose a smaller size or shape").into());
    }
    let needed = op.host_bytes(case);
    let is_short = || free().filter(|free| needed > *free);
    let still_short = || {
        // The allocator keeps the memory of earlier cases for a while, and no cell may be skipped for that.
        memory::return_freed();
        is_short()
    };
    let short = is_short().and_then(|_| still_short());
    short.map_or(Ok(()), |free| Err(CellError::OutOfMemory { place: "host", needed: Some(needed), free }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::case::DType;

    fn case(seed: u64) -> Case {
        Case::square("matmul", 2048, DType::F64, seed)
    }

    /// Returns the resident memory of this process.
    fn resident() -> u128 {
        let text = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u128>().unwrap() << 10
    }

    /// Set for the copy of this test program that runs the next test alone: others change the memory of the process.
    const ALONE: &str = "GPUBENCH_TEST_ALONE";

    #[test]
    fn a_case_that_fits_alone_fits_after_others() {
        if std::env::var_os(ALONE).is_none() {
            let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
            alone.args(["--exact", "worker::operands::tests::a_case_that_fits_alone_fits_after_others"]);
            let output = alone.env(ALONE, "1").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        let op = gpubench_ops::find("matmul").unwrap();
        let needed = op.footprint(&case(0));
        let limit = resident() + needed + (48 << 20);
        let free = || Some(limit.saturating_sub(resident()));
        for seed in 0..4 {
            let made = make(op, &case(seed), &free, || None);
            assert!(made.is_ok(), "{}", made.err().map(|error| error.to_string()).unwrap_or_default());
        }
        assert!(make(op, &case(5), &|| Some(needed - 1), || None).is_err());
    }
}
