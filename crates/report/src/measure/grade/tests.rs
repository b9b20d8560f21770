//! Each fact costs what the table says, and a worse fact never improves a grade.

use proptest::prelude::*;

use super::*;
use crate::data::generator::Stream;
use crate::measure::drift::drift;
use crate::measure::modality::modes;
use crate::measure::stats::relative_half_width;

/// `n` samples around 1 whose half interval is about `half_width`, in an order without drift.
fn series(n: usize, half_width: f64) -> Vec<f64> {
    let mut samples: Vec<f64> = (0..n).map(|i| ((7 * i) % n) as f64 - (n as f64 - 1.0) / 2.0).collect();
    let scale =
        half_width / (relative_half_width(&samples.iter().map(|x| 1e3 + x).collect::<Vec<f64>>()) * 1e3);
    samples.iter_mut().for_each(|x| *x = 1.0 + *x * scale);
    samples
}

fn rounds(n: usize) -> Vec<u32> {
    (0..n).map(|i| (3 * i / n) as u32).collect()
}

fn good_facts<'a>(samples: &'a [f64], rounds: &'a [u32]) -> SamplingFacts<'a> {
    SamplingFacts {
        side_is_gpu: true,
        precision: 0.005,
        samples,
        drift: drift(samples, rounds),
        modes: modes(samples),
        discarded: 0,
        throttled: 0,
        overhead_ratio: Some(30.0),
        disturbed: 0,
        page_faults: None,
        others: &[],
        throttle_reasons: &[],
        other_programs: Some(0.0),
        quota: None,
        setup: false,
        steady: true,
        stopped: Reason::Precise,
        lost_because: None,
    }
}

/// Returns the grade and the kinds of warnings of good facts after a change.
fn changed(change: impl Fn(&mut SamplingFacts<'_>)) -> (Grade, Vec<WarningKind>) {
    let (samples, rounds) = (series(40, 0.004), rounds(40));
    let mut facts = good_facts(&samples, &rounds);
    change(&mut facts);
    let Assessment { grade, warnings } = assess(&facts);
    (grade, warnings.iter().map(|warning| warning.kind).collect())
}

#[test]
fn each_fact_costs_what_the_table_says() {
    use Grade::{A, B, C, D};
    use WarningKind::{
        BusyMachine, CpuQuota, Disturbed, LaunchBound, NotWarm, OtherProcess, Setup, Throttled,
    };
    let others = ["python (pid 7)".to_owned()];
    let none: Option<WarningKind> = None;
    let check = |change: &dyn Fn(&mut SamplingFacts<'_>), grade: Grade, kind: Option<WarningKind>| {
        assert_eq!(changed(change), (grade, kind.into_iter().collect()), "{kind:?}");
    };
    check(&|_| (), A, none);
    check(&|f| f.throttled = 1, B, Some(Throttled));
    check(&|f| f.throttled = 4, B, Some(Throttled));
    check(&|f| f.throttled = 5, C, Some(Throttled));
    check(&|f| f.throttled = 21, D, Some(Throttled));
    check(&|f| f.discarded = 4, A, none);
    check(&|f| f.discarded = 5, B, Some(Throttled));
    check(&|f| f.discarded = 41, C, Some(Throttled));
    check(&|f| f.overhead_ratio = None, A, none);
    check(&|f| f.overhead_ratio = Some(3.0), A, none);
    check(&|f| f.overhead_ratio = Some(2.9), B, Some(LaunchBound));
    check(&|f| f.overhead_ratio = Some(1.1), C, Some(LaunchBound));
    check(&|f| f.setup = true, D, Some(Setup));
    check(&|f| f.steady = false, B, Some(NotWarm));
    check(&|f| (f.side_is_gpu, f.disturbed) = (false, 4), A, none);
    check(&|f| (f.side_is_gpu, f.disturbed) = (false, 5), B, Some(Disturbed));
    check(&|f| (f.side_is_gpu, f.disturbed) = (false, 21), C, Some(Disturbed));
    check(&|f| f.disturbed = 40, A, none);
    let faults = |share: f64, major: f64| {
        move |f: &mut SamplingFacts| {
            f.side_is_gpu = false;
            f.page_faults = Some(PageFaults { minor: share * f.samples[0] / 0.5e-6, major });
        }
    };
    check(&faults(0.005, 0.0), A, none);
    check(&faults(0.05, 0.0), B, Some(WarningKind::PageFaults));
    check(&faults(0.5, 0.0), C, Some(WarningKind::PageFaults));
    check(&faults(0.0, 1.0), C, Some(WarningKind::PageFaults));
    check(&|f| f.page_faults = Some(PageFaults { minor: 1e9, major: 9.0 }), A, none);
    check(&|f| (f.side_is_gpu, f.other_programs) = (false, Some(0.2)), B, Some(BusyMachine));
    check(&|f| (f.side_is_gpu, f.other_programs) = (false, Some(0.6)), C, Some(BusyMachine));
    check(&|f| f.other_programs = Some(0.9), A, none);
    let paused = |paused| Some((0.5, QuotaPauses { periods: 112, paused }));
    check(&|f| (f.side_is_gpu, f.quota) = (false, paused(1)), A, none);
    check(&|f| (f.side_is_gpu, f.quota) = (false, paused(11)), B, Some(CpuQuota));
    check(&|f| (f.side_is_gpu, f.quota) = (false, paused(103)), C, Some(CpuQuota));
    check(&|f| f.quota = paused(103), A, none);
    let (rounds, samples, power) = (rounds(40), series(40, 0.004), ["power limit".to_owned()]);
    for (throttle_reasons, others, grade, kind, text) in [
        (&power[..], &[][..], B, Throttled, "power limit"),
        (&power, &others, C, OtherProcess, "python (pid 7)"),
    ] {
        let facts = SamplingFacts { throttle_reasons, others, ..good_facts(&samples, &rounds) };
        let found = assess(&facts);
        assert_eq!((found.grade, found.warnings[0].kind), (grade, kind));
        assert!(found.warnings[0].text.contains(text), "{found:?}");
        assert_eq!(assess(&SamplingFacts { side_is_gpu: false, ..facts }).grade, A);
    }
}

#[test]
fn spread_costs_by_side_and_target() {
    for (side_is_gpu, precision, half_width, grade) in [
        (true, 0.005, 0.004, Grade::A),
        (true, 0.005, 0.006, Grade::B),
        (true, 0.005, 0.019, Grade::B),
        (true, 0.005, 0.021, Grade::C),
        (true, 0.005, 0.051, Grade::D),
        (false, 0.01, 0.051, Grade::C),
        (false, 0.01, 0.12, Grade::D),
        (false, 0.2, 0.19, Grade::A),
        (false, 0.2, 0.25, Grade::B),
    ] {
        let (samples, rounds) = (series(40, half_width), rounds(40));
        let facts = SamplingFacts { side_is_gpu, precision, ..good_facts(&samples, &rounds) };
        let found = assess(&facts);
        assert_eq!(found.grade, grade, "{half_width} for {precision}: {found:?}");
    }
}

#[test]
fn the_text_has_the_figure_and_the_step_fits_the_reason() {
    let (samples, rounds) = (series(40, 0.12), rounds(40));
    let of = |stopped| assess(&SamplingFacts { stopped, ..good_facts(&samples, &rounds) }).warnings.remove(0);
    let late = of(Reason::OutOfTime);
    assert_eq!(late.text, "half the 95 % interval is 12 % of the median; 0.50 % was requested");
    assert_eq!(late.next, "close other programs, or raise --max-time");
    assert!(of(Reason::Fixed).next.contains("--samples"));
    assert!(of(Reason::Plateau).next.contains("no longer"));
    assert!(of(Reason::Drift).next.contains("--rounds"));
}

#[test]
fn few_samples_cost_by_their_count() {
    use Grade::{A, B, C, D};
    for (n, grade) in [(12, A), (10, A), (9, B), (6, B), (5, C), (3, C), (2, D), (1, D), (0, D)] {
        let (samples, rounds) = (vec![1.0; n], rounds(n));
        let found = assess(&good_facts(&samples, &rounds));
        assert_eq!(found.grade, grade, "{n} samples");
        assert!(found.warnings.iter().all(|warning| warning.kind == WarningKind::FewSamples), "{found:?}");
    }
}

#[test]
fn drift_and_clusters_get_warnings() {
    for (step, grade) in
        [(0.0, Grade::A), (0.008, Grade::A), (0.03, Grade::B), (0.08, Grade::C), (0.2, Grade::D)]
    {
        let rounds = rounds(90);
        // Narrow enough that the whole stays within the target except for the rounds themselves.
        let samples: Vec<f64> = series(90, 0.0005)
            .iter()
            .zip(&rounds)
            .map(|(x, round)| x + f64::from(*round / 2) * step)
            .collect();
        let found = assess(&good_facts(&samples, &rounds));
        let drift = found.warnings.iter().find(|warning| warning.kind == WarningKind::Drift);
        assert_eq!(drift.map_or(Grade::A, |warning| warning.at_best), grade, "{step}: {found:?}");
    }
    let samples: Vec<f64> =
        series(40, 1e-4).iter().enumerate().map(|(i, x)| x + f64::from(i % 4 == 0) * 0.3).collect();
    let rounds = rounds(40);
    let found = assess(&good_facts(&samples, &rounds));
    assert_eq!((found.grade, found.warnings[0].kind), (Grade::C, WarningKind::Bimodal), "{found:?}");
    assert!(found.warnings[0].text.contains("30 % slower"), "{found:?}");
}

#[test]
fn words_in_reports_are_stable() {
    let text =
        serde_json::to_string(&WarningKind::FewSamples).unwrap() + &serde_json::to_string(&Grade::A).unwrap();
    assert_eq!(text, "\"few-samples\"\"A\"");
    assert_eq!(format!("{:>3}", Grade::D), "  D");
}

/// Samples, other processes, target precision, numbers of samples that were discarded, throttled and disturbed, time over the timer
/// overhead, share of other programs, and whether the cell ran on the GPU, was set up while sampling, and was warm.
type AnyFacts = (Vec<f64>, Vec<String>, f64, [u32; 3], f64, f64, [bool; 3]);

fn any_facts() -> impl Strategy<Value = AnyFacts> {
    let samples = (any::<u64>(), 1usize..60, 0.0f64..0.5).prop_map(|(seed, n, spread)| {
        let stream = Stream::new(seed, 0);
        (0..n as u64).map(|i| 1.0 + spread * (stream.uniform::<f64>(i) - 0.5)).collect()
    });
    let others = proptest::collection::vec("[a-z]{3}", 0..2);
    let counts = [0u32..30, 0u32..30, 0u32..30];
    (samples, others, 0.001f64..0.05, counts, 0.5f64..9.0, 0.0f64..1.0, any::<[bool; 3]>())
}

fn assess_any((samples, others, precision, counts, ratio, load, flags): &AnyFacts) -> Assessment {
    let rounds = rounds(samples.len());
    assess(&SamplingFacts {
        side_is_gpu: flags[0],
        precision: *precision,
        discarded: counts[0],
        throttled: counts[1],
        disturbed: counts[2],
        overhead_ratio: Some(*ratio),
        others,
        other_programs: Some(*load),
        setup: flags[1],
        steady: flags[2],
        ..good_facts(samples, &rounds)
    })
}

/// Closing other programs does not help a group that its quota pauses.
#[test]
fn the_advice_about_noise_is_to_lift_a_quota_that_pauses_the_run() {
    let samples: Vec<f64> = (0..40).map(|i| if i % 3 == 0 { 5.0 } else { 1.0 }).collect();
    let rounds = rounds(40);
    for stopped in [Reason::Plateau, Reason::MostSamples, Reason::OutOfTime, Reason::Precise, Reason::Drift] {
        let found = assess(&SamplingFacts {
            side_is_gpu: false,
            disturbed: 40,
            stopped,
            quota: Some((0.5, QuotaPauses { periods: 112, paused: 103 })),
            ..good_facts(&samples, &rounds)
        });
        let expected = "paused by the control group's quota of 0.5 CPUs in 103 of 112 periods";
        assert!(found.warnings.iter().any(|warning| warning.text == expected), "{found:?}");
        assert!(found.warnings.iter().all(|warning| !warning.next.contains("other programs")), "{found:?}");
        assert!(found.warnings.len() > 2, "{found:?}");
    }
}

proptest! {
    #[test]
    fn a_worse_fact_never_improves_the_grade(facts in any_facts(), which in 0usize..9, by in 0.0f64..2.0) {
        let mut worse = facts.clone();
        let (_, others, precision, counts, ratio, load, flags) = &mut worse;
        match which {
            count @ 0..3 => counts[count] += (by * 10.0) as u32,
            3 => *ratio /= 1.0 + by,
            4 => *load += by,
            5 => others.push("another".to_owned()),
            6 => flags[1] = true,
            7 => flags[2] = false,
            _ => *precision /= 1.0 + by,
        }
        prop_assert!(assess_any(&worse).grade >= assess_any(&facts).grade, "{:?}", worse);
    }

    #[test]
    fn wider_samples_never_improve_the_grade(facts in any_facts(), by in 1.0f64..2.0) {
        let median = crate::measure::stats::Summary::of(&facts.0).unwrap().median;
        let mut wider = facts.clone();
        wider.0.iter_mut().for_each(|x| *x = median + (*x - median) * by);
        prop_assert!(assess_any(&wider).grade >= assess_any(&facts).grade);
    }

    #[test]
    fn the_grade_is_its_gravest_warning_and_each_has_a_next_step(facts in any_facts()) {
        let found = assess_any(&facts);
        let gravest = found.warnings.iter().map(|warning| warning.at_best).max().unwrap_or(Grade::A);
        prop_assert_eq!(found.grade, gravest);
        for warning in &found.warnings {
            prop_assert!(warning.at_best > Grade::A);
            prop_assert!(!warning.text.is_empty() && !warning.next.is_empty() && warning.text.len() < 160);
        }
        let text = serde_json::to_string(&found).unwrap();
        prop_assert_eq!(serde_json::from_str::<Assessment>(&text).unwrap(), found);
    }
}
