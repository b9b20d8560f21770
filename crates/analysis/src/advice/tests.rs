use gpubench_report::case::DType;
use gpubench_report::report::example;

use super::*;

/// Calls of `count` times `seconds` each.
pub(super) fn call(routine: &str, [m, n, k, rhs]: [u64; 4], count: u64, seconds: f64) -> Call {
    let text = format!(
        r#"{{"routine": "{routine}", "dtype": "f64", "m": {m}, "n": {n}, "k": {k}, "rhs": {rhs}, "flags": "NN", "row_major": true,
        "count": {count}, "total_s": {}, "least_s": {seconds}, "median_s": {seconds}, "longest_s": {seconds}}}"#,
        seconds * count as f64
    );
    serde_json::from_str(&text).unwrap()
}

fn recorded_program(calls: Vec<Call>) -> Calls {
    let text = r#"{"calls_version": 1, "gpubench_version": "0", "program": ["p"], "started": "", "elapsed_s": 10.0, "ended": "exit code 0",
        "cpu": "", "logical_cpus": 1, "processes": 1, "threads": 1, "overhead_s": 0.0, "calls": []}"#;
    Calls { calls, ..serde_json::from_str(text).unwrap() }
}

/// A report of products of these sizes; the GPU needs `gpu` seconds, and copies take 2 ms each way.
fn products(sizes: &[u64], cpu: f64, gpu: f64) -> Report {
    let rows = sizes.iter().flat_map(|&n| {
        let mut rows = example::both_sides("matmul", n, cpu, gpu);
        rows.iter_mut().for_each(|row| row.case.dtype = DType::F64);
        rows
    });
    example::of(rows.collect::<Vec<_>>())
}

fn square(n: u64, count: u64, seconds: f64) -> Call {
    call("gemm", [n, n, n, 0], count, seconds)
}

#[test]
fn measured_calls_have_a_verdict_and_the_program_a_bound() {
    let calls = recorded_program(vec![square(64, 100, 50e-3), call("gesv", [0, 30, 0, 1], 1, 1.0)]);
    let report = products(&[64], 40e-3, 1e-3);
    let advice = advise(&calls, &[report]);
    let product = &advice.calls[0];
    assert!((product.cpu.as_ref().unwrap().seconds.value - 40e-3).abs() < 1e-9);
    assert!(product.gpu.as_ref().unwrap().seconds.value < 5e-3);
    assert!(matches!(product.verdict, CallVerdict::Gpu | CallVerdict::GpuIfDataStays), "{product:?}");
    assert_eq!(advice.calls[1].verdict, CallVerdict::Unknown);
    let program = advice.program;
    assert!((program.recorded_s - 6.0).abs() < 1e-9 && (program.covered_s - 5.0).abs() < 1e-9);
    let bound = program.without_copies_s.unwrap();
    assert!(bound.value > 5.0 && bound.value < 5.6, "{bound:?}");
    let [copies, stays] = [program.with_copies_s.unwrap(), program.data_stays_s.unwrap()];
    assert!(bound.value <= stays.value && stays.value <= copies.value, "{program:?}");
    // The recorded median is known to 6 %.
    let now = product.now_s;
    assert!((now.low / 50e-3 - 0.94).abs() < 1e-9 && (now.high / 50e-3 - 1.06).abs() < 1e-9, "{now:?}");
    let overlapped = |recorded_s| ProgramAdvice { recorded_s, ..program }.overlapped();
    assert_eq!([5.0, 10.0, 10.5].map(overlapped), [false, false, true]);
}

#[test]
fn data_that_stays_needs_no_copies() {
    let unchanged = Call { repeated_bytes: 2 * 8 * 64 * 64, ..square(64, 1, 50e-3) };
    let report = products(&[64], 40e-3, 1e-3);
    let program = advise(&recorded_program(vec![unchanged]), &[report]).program;
    assert_eq!(program.data_stays_s, program.without_copies_s);
}

#[test]
fn a_call_that_was_not_measured_is_predicted_from_others_of_its_op() {
    let calls = recorded_program(vec![square(100, 1, 1e-3)]);
    let advice = advise(&calls, &[scaled(&[32, 64, 128, 256], 1e-11)]);
    let cpu = advice.calls[0].cpu.as_ref().unwrap();
    assert_eq!(cpu.variant, None);
    assert!((cpu.seconds.value / (1e-9 * 2e6 + 1e-6) - 1.0).abs() < 0.02, "{cpu:?}");
}

#[test]
fn the_calls_to_measure_are_those_that_take_most_time_once_each() {
    let transposed = Call { flags: "TN".into(), ..square(8, 1, 1.0) };
    let calls = recorded_program(vec![square(8, 9, 1.0), square(8, 1, 1.0), transposed, square(9, 1, 1.0)]);
    let chosen: Vec<String> = to_measure(&calls, 2).iter().map(|problem| problem.case.to_string()).collect();
    assert_eq!(chosen, ["matmul 8x8x8 f64", "matmul 8x8x8 tn f64"]);
}

/// Products whose times grow with their work: 1 ns per FLOP on the CPU, `gpu` seconds on the GPU, 1 µs to start on both.
fn scaled(sizes: &[u64], gpu: f64) -> Report {
    let mut report = products(sizes, 1e-3, 1e-3);
    for row in &mut report.rows {
        row.work = op::find("matmul").unwrap().work(&row.case);
        let start = if row.backend == "cpu" { 1e-6 } else { 20e-6 };
        let seconds = if row.backend == "cpu" { 1e-9 } else { gpu } * row.work.flop + start;
        let execute = row.execute.as_mut().unwrap();
        (execute.host_median_s, execute.host_ci95_s) = (seconds, Some([seconds, seconds]));
    }
    report
}

#[test]
fn products_pay_from_the_size_at_which_the_start_is_repaid() {
    let found = thresholds(&[scaled(&[8, 32, 64, 128, 256], 1e-11)]);
    let resident = found.iter().find(|one| !one.with_copies).unwrap();
    // 2 N^3 ns repay 19 µs from N = 21.
    assert!((19..=24).contains(&resident.from.unwrap()), "{resident:?}");
    assert!(resident.interval[0] <= resident.from && resident.from <= resident.interval[1], "{resident:?}");
    let never = thresholds(&[scaled(&[8, 32, 64, 128, 256], 1e-8)]);
    assert!(never.iter().all(|one| one.from.is_none()), "{never:?}");
    assert!(thresholds(&[scaled(&[8, 32], 1e-11)]).is_empty());
}

#[test]
fn predictions_are_compared_with_later_measurements() {
    let before = [scaled(&[32, 64, 128, 256], 1e-11)];
    let right = verify(&before, &[scaled(&[48, 100], 1e-11)]);
    assert_eq!((right.problems, right.wrong_side), (2, [0; 3]));
    assert!(right.cpu_error.unwrap() < 0.05 && right.gpu_error.unwrap() < 0.05, "{right:?}");
    let wrong = verify(&before, &[scaled(&[100], 1e-8)]);
    assert_eq!((wrong.wrong_side, wrong.within_interval), ([0, 0, 1], Some(0.5)), "{wrong:?}");
}

#[test]
fn kept_problems_are_predicted_without_themselves() {
    let sizes: Vec<u64> = (1..40).map(|step| 8 * step).collect();
    let found = verify_kept(&[scaled(&sizes, 1e-11)], 20, 1);
    assert_eq!((found.problems, found.wrong_side), (20, [0; 3]), "{found:?}");
    assert!(found.cpu_error.unwrap() < 0.05 && found.within_interval.unwrap() > 0.8, "{found:?}");
    // One problem that takes a hundred times as long as its neighbours: no model that has not seen it can know.
    let mut odd = scaled(&sizes, 1e-11);
    for row in odd.rows.iter_mut().filter(|row| row.case.n == 160 && row.backend == "cpu") {
        let execute = row.execute.as_mut().unwrap();
        execute.host_median_s *= 100.0;
        execute.host_ci95_s = Some([execute.host_median_s; 2]);
    }
    assert_ne!(verify_kept(&[odd], 39, 1).within_interval, Some(1.0));
    assert_eq!(verify_kept(&[], 5, 1).problems, 0);
}

#[test]
fn problems_to_verify_are_others_than_those_measured() {
    let calls = recorded_program((8..40).map(|n| square(n, 1, 1.0)).collect());
    let measured = to_measure(&calls, 20);
    let drawn = to_verify(&calls, &measured, 5, 1);
    assert_eq!((measured.len(), drawn.len()), (20, 5));
    assert!(drawn.iter().all(|one| !measured.iter().any(|known| known.is(&one.case))));
    assert_eq!(to_verify(&calls, &measured, 99, 2).len(), 12);
}

#[test]
fn without_a_gpu_nothing_is_said_about_one() {
    let calls = recorded_program(vec![square(64, 1, 50e-3)]);
    let mut report = products(&[64], 40e-3, 1e-3);
    report.rows.retain(|row| row.backend == "cpu");
    let advice = advise(&calls, &[report]);
    assert_eq!((advice.calls[0].verdict, advice.program.with_copies_s), (CallVerdict::Unknown, None));
    assert!(advice.calls[0].cpu.is_some());
}
