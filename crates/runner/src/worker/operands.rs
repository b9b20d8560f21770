//! Generates a worker's operands on the host, and keeps those of the last case for its next cell.

use gpubench_backend::Side;
use gpubench_host::memory;
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, fingerprint};
use gpubench_model::error::{CellError, Unavailable};
use gpubench_ops::Op;

/// Maximum expected entries of a sparse operand: `i32::MAX` less more than six standard deviations.
const MAX_EXPECTED_ENTRIES: f64 = 2.147e9;

/// The operands of one case.
pub struct CaseOperands {
    case: Case,
    /// The operands, in the op's order.
    pub operands: Vec<Operand>,
    /// Their fingerprint, hexadecimal.
    pub fingerprint: String,
}

/// The operands of the last case, if any.
#[derive(Default)]
pub(crate) struct Operands(Option<CaseOperands>);

impl Operands {
    /// Returns the operands of `case`: the kept ones if it is the last case again, otherwise new ones.
    /// `admit` may refuse a case before its operands are generated.
    ///
    /// # Errors
    /// `admit` refuses, or the host has too little memory.
    pub(crate) fn of(
        &mut self,
        op: &dyn Op,
        case: &Case,
        side: Side,
        admit: impl FnOnce() -> Result<(), CellError>,
    ) -> Result<&CaseOperands, CellError> {
        // The old operands are freed before the new ones are generated.
        let kept = match self.0.take().filter(|kept| kept.case == *case) {
            Some(kept) => kept,
            None => {
                admit()?;
                make(op, case, side, &memory::free_host_bytes)?
            }
        };
        Ok(self.0.insert(kept))
    }
}

/// Generates the operands of a case, unless they exceed what `free` finds.
fn make(
    op: &dyn Op,
    case: &Case,
    side: Side,
    free: &dyn Fn() -> Option<u128>,
) -> Result<CaseOperands, CellError> {
    let entries = op.expected_entries(case);
    if entries > MAX_EXPECTED_ENTRIES {
        let reason = format!("about {entries:.2e} stored entries exceed 32-bit offsets (2.14e9)");
        return Err(Unavailable::new(reason, "choose a smaller size or density").into());
    }
    // The host needs the operands and the answer; a job on the CPU side has another copy of both.
    let copies = if side == Side::Cpu { 2 } else { 1 };
    let needed =
        op.footprint(case).saturating_mul(copies).max(op.footprint(case).saturating_add(op.scratch(case)));
    let is_short = || free().filter(|free| needed > *free);
    let still_short = || {
        // The allocator keeps the memory of earlier cases for a while, and no cell may be skipped for that.
        memory::return_freed();
        is_short()
    };
    if let Some(free) = is_short().and_then(|_| still_short()) {
        return Err(CellError::OutOfMemory { place: "host", needed: Some(needed), free });
    }
    let operands = op.inputs(case);
    let fingerprint = format!("{:016x}", fingerprint(&operands));
    Ok(CaseOperands { case: case.clone(), operands, fingerprint })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::case::DType;

    fn case(seed: u64) -> Case {
        Case { op: "matmul".into(), n: 2048, dtype: DType::F64, density: None, seed }
    }

    /// Returns the resident memory of this process.
    #[cfg(target_os = "linux")]
    fn resident() -> u128 {
        let text = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u128>().unwrap() << 10
    }

    /// Set for the copy of this test program that runs the next test alone: others change the memory of the process.
    const ALONE: &str = "GPUBENCH_TEST_ALONE";

    #[test]
    #[cfg(target_os = "linux")]
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
        let needed = 2 * op.footprint(&case(0));
        let limit = resident() + needed + (48 << 20);
        let free = || Some(limit.saturating_sub(resident()));
        for seed in 0..4 {
            let made = make(op, &case(seed), Side::Cpu, &free);
            assert!(made.is_ok(), "{}", made.err().map(|error| error.to_string()).unwrap_or_default());
        }
        assert!(make(op, &case(5), Side::Cpu, &|| Some(needed - 1)).is_err());
    }
}
