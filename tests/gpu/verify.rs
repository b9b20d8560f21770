//! The checks of timed executions read the device's memory, for every variant, and detect work on other streams.

use gpubench::backend::contents::join;
use gpubench::backend::cuda::{SPIN, SPIN_ELSEWHERE, SPIN_OP};
use gpubench::backend::{Backend, Variant};
use gpubench::case::{Cache, Case, DType};
use gpubench::data::{Values, bytes_mut, fingerprint};
use gpubench::error::CellError;
use gpubench::op;

use crate::{case, start_alone, variants};

/// Describes why the checks of a variant fail in this case; `None` when they pass.
fn fault(backend: &mut dyn Backend, variant: &Variant, case: &Case) -> Result<Option<String>, CellError> {
    let op = op::find(&case.op).unwrap();
    let inputs = op.inputs(case);
    let mut job = backend.prepare(&variant.name, case, &mut inputs.clone())?;
    backend.time(&mut *job, Cache::Cold)?;
    let first = backend.fingerprints(&mut *job)?;
    let Some(first_answer) = first.answer else {
        // Copies to the host and counts have no answer on the device.
        let needs_none = ["transfer", "transfer-loop", "overhead"].contains(&case.op.as_ref());
        return Ok((!needs_none).then(|| "it shows no answer".into()));
    };
    let [before, after] = backend.execute_spoiled(&mut *job)?;
    if before == Some(first_answer) || before == after {
        return Ok(Some("erasing the answer, or executing, does not change it".into()));
    }
    let now = backend.fingerprints(&mut *job)?;
    if (now.operands, now.answer) != (first.operands, after) {
        return Ok(Some("operands or answer change outside of executions".into()));
    }
    let rounding = variant.accuracy.rounding(case.dtype);
    let checked = op.check(case, &inputs, &job.answer()?, rounding)?;
    if !checked.is_precise() {
        return Ok(Some(format!(
            "error {:e} beyond {:e} after the answer was erased",
            checked.value, checked.bound
        )));
    }
    let Some(decisive) = op.decisive_element(case, &inputs) else { return Ok(None) };
    let new = Values::single(case.dtype, decisive.value).bytes_mut().to_vec();
    let place = (decisive.operand, decisive.element * new.len());
    let Some(old) = backend.replace(&mut *job, place, &new)? else { return Ok(None) };
    backend.time(&mut *job, Cache::Hot)?;
    if backend.fingerprints(&mut *job)?.answer == after {
        return Ok(Some("the answer does not change with an operand".into()));
    }
    backend.replace(&mut *job, place, &old)?;
    let restored = backend.fingerprints(&mut *job)?.operands == first.operands;
    Ok((!restored).then(|| "the operand could not be put back".into()))
}

#[test]
fn every_variant_can_be_checked_after_it_was_timed() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    let mut faults = Vec::new();
    // The answers of cuSOLVER's Jacobi method are judged incorrect.
    for variant in variants().into_iter().filter(|variant| variant.name != "gesvdj") {
        let sizes: &[u64] = if variant.op == "overhead" { &[1, 2] } else { &[1, 35, 100, 512] };
        for (n, dtype) in sizes.iter().flat_map(|n| variant.dtypes.iter().map(move |dtype| (*n, *dtype))) {
            if variant.op == "host-loop" && n > 100 {
                continue;
            }
            let case = case(&variant, n, dtype);
            if op::find(&case.op).unwrap().nothing_to_compute(&case).is_some() {
                continue;
            }
            let cell = format!("{case} cuda/{}", variant.name);
            match fault(&mut *backend, &variant, &case) {
                Ok(None) | Err(CellError::Unavailable(_)) => {}
                Ok(Some(fault)) => faults.push(format!("{cell}: {fault}")),
                Err(error) => faults.push(format!("{cell}: {error}")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn work_on_another_stream_leaves_the_answer_erased() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for (variant, elsewhere) in [(SPIN, false), (SPIN_ELSEWHERE, true)] {
        for us in [2, 20, 300] {
            let case = Case::square(SPIN_OP, 1000 * us, DType::F64, 1);
            let mut job = backend.prepare(variant, &case, &mut []).unwrap();
            backend.time(&mut *job, Cache::Cold).unwrap();
            let [before, after] = backend.execute_spoiled(&mut *job).unwrap();
            assert_eq!(before == after, elsewhere, "{variant} for {us} us");
        }
    }
}

#[test]
fn the_device_and_the_host_agree_on_fingerprints() {
    let Some((_alone, mut backend)) = start_alone() else { return };
    for n in [1, 3, 35, 1000, 3001] {
        let case = Case::square("sin", n, DType::F32, 5);
        let inputs = op::find("sin").unwrap().inputs(&case);
        let mut job = backend.prepare("fused", &case, &mut inputs.clone()).unwrap();
        let Values::F32(mut values) = inputs[0].values().clone() else { panic!("another type") };
        let expected = join([fingerprint::of_bytes(bytes_mut(&mut values))]);
        assert_eq!(backend.fingerprints(&mut *job).unwrap().operands, expected, "{n}");
    }
}
