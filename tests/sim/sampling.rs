//! Sampling: stopping, throttling, timer overhead.

use gpubench::measure::grade::{Grade, WarningKind};
use gpubench::measure::sampling::Sampling;
use gpubench::measure::stopping::Reason;
use gpubench::report::{Execute, Report};

use crate::sim::stage::{Stage, execute};

/// A run of one op at these sizes that stops by precision.
fn adaptive(script: &str, sizes: &[u64]) -> Stage {
    Stage::adaptive(script, "sin", sizes)
}

/// Returns the warnings of that kind.
fn warned(execute: &Execute, kind: WarningKind) -> usize {
    execute.warnings.iter().filter(|warning| warning.kind == kind).count()
}

fn first(report: &Report) -> &Execute {
    execute(&report.rows[0])
}

/// Returns the timed phase of the only cell of a run in which the variant behaves by `rule`, after this change of its sampling.
fn sampled(rule: &str, change: impl Fn(&mut Sampling)) -> Execute {
    let mut stage = adaptive(&format!("[[variant]]\nname = 'a'\n[[rule]]\n{rule}\n"), &[2]);
    stage.sample(change);
    first(&stage.finish()).clone()
}

#[test]
fn what_happens_while_a_cell_is_sampled_decides_its_end_and_its_grade() {
    type Check = fn(&Execute) -> bool;
    let cases: [(&str, &[WarningKind], Check); 8] = [
        ("", &[], |found| {
            let rounds = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
            found.rounds == rounds && (found.grade, found.stopped) == (Some(Grade::A), Some(Reason::Precise))
        }),
        // Too noisy for its time.
        ("time = '10ms'\nnoise = 0.5", &[WarningKind::Spread], |found| {
            let spread = found.warnings.iter().find(|warning| warning.kind == WarningKind::Spread).unwrap();
            let is_in_time = (0.47..0.55).contains(&found.spent_s);
            is_in_time && spread.next.contains("--max-time") && found.stopped == Some(Reason::OutOfTime)
        }),
        ("time = '5s'", &[WarningKind::FewSamples], |found| {
            (3..12).contains(&found.samples_s.len()) && found.spent_s <= 30.0 && found.grade >= Some(Grade::B)
        }),
        // The slow start is not in the samples.
        ("ramp = 1.0\nramp_time = '60ms'", &[], |found| {
            found.steady && found.warmups > 800 && found.max_s < 1.3e-4
        }),
        ("ramp = 3.0\nramp_time = '800ms'", &[WarningKind::NotWarm], |_| true),
        // Throttled samples are discarded.
        ("throttled = 0.05", &[], |found| {
            let is_at_full_clock = found.sm_mhz.iter().all(|mhz| *mhz == 1980.0);
            found.throttled == 0 && found.max_s == found.min_s && is_at_full_clock
        }),
        // A device that stays throttled is measured as it is.
        ("throttled = 1.0", &[WarningKind::Throttled], |found| {
            let all = found.throttled as usize == found.samples_s.len();
            all && found.discarded > 0 && found.grade == Some(Grade::D)
        }),
        ("noise = 0.002\ndrift = 0.0001", &[WarningKind::Drift], |found| {
            found.drift.is_some_and(|drift| drift.p < 0.01 && drift.relative > 0.02)
                && found.grade > Some(Grade::A)
        }),
    ];
    for (rule, kinds, check) in cases {
        let found = sampled(rule, |_| {});
        assert!(kinds.iter().all(|kind| warned(&found, *kind) > 0), "{rule}: {:?}", found.warnings);
        assert!(!kinds.is_empty() || found.warnings.is_empty(), "{rule}: {:?}", found.warnings);
        assert!(check(&found), "{rule}: {found:?}");
    }
}

#[test]
fn throttled_samples_are_counted_and_two_clumps_are_noticed() {
    let execute = sampled("throttled = 0.05", |sampling| sampling.samples = Some(200));
    let share = f64::from(execute.discarded) / execute.samples_s.len() as f64;
    assert!((0.01..0.12).contains(&share), "{share}");
    let clumps = "noise = 0.003\noutliers = 0.3\noutlier_factor = 1.2";
    let execute = sampled(clumps, |sampling| sampling.samples = Some(60));
    let modes = execute.modes.unwrap();
    assert!((modes.high / modes.low - 1.2).abs() < 0.02, "{modes:?}");
    assert_eq!(warned(&execute, WarningKind::Bimodal), 1);
}

#[test]
fn times_near_the_timer_overhead_are_marked_and_raw_times_kept_with_corrected_ones() {
    let script = "[timer_overhead]\nclock = '2us'\nempty_kernel = '2.5us'\nevent_constant = '2.8us'\n\
                  [[variant]]\nname = 'a'\n[[rule]]\nn = 2\ntime = '3us'\n[[rule]]\nn = 3\ntime = '30us'\n";
    let report = adaptive(script, &[2, 3]).finish();
    let (near, far) = (execute(&report.rows[0]), execute(&report.rows[1]));
    assert_eq!((warned(near, WarningKind::LaunchBound), warned(far, WarningKind::LaunchBound)), (1, 0));
    assert!((near.event_constant_s.unwrap() - 2.8e-6).abs() < 1e-12);
    let timer_overhead = report.environment.backends[0].timer_overhead.as_ref().unwrap();
    assert!((timer_overhead.empty_kernel_s.unwrap() - 2.5e-6).abs() < 1e-12, "{timer_overhead:?}");
}

#[test]
fn other_users_of_the_device_and_lost_processors_are_named() {
    let script = "others = ['python3 (4711)']\n[[variant]]\nname = 'a'\n\
                  [[variant]]\nname = 'b'\nside = 'cpu'\n[[rule]]\nvariant = 'b'\nswitched = 0.5\n";
    let report = adaptive(script, &[2]).finish();
    let (gpu, cpu) = (execute(&report.rows[0]), execute(&report.rows[1]));
    let named = gpu.warnings.iter().any(|warning| warning.text.contains("python3 (4711)"));
    assert!(named, "{:?}", gpu.warnings);
    assert_eq!(warned(cpu, WarningKind::Disturbed), 1);
    assert_eq!(cpu.context_switches.len(), cpu.samples_s.len());
}

#[test]
fn throttled_clocks_are_reported_unless_the_user_set_them() {
    let grade = |reason: &str| {
        let script = format!("throttled = ['{reason}']\n[[variant]]\nname = 'a'\n");
        let report = adaptive(&script, &[2]).finish();
        (first(&report).grade, warned(first(&report), WarningKind::Throttled))
    };
    assert_eq!(grade("power limit"), (Some(Grade::B), 1));
    assert_eq!(grade("clocks set by the user"), (Some(Grade::A), 0));
}
