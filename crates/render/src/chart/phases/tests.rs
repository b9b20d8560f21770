//! Charts of phases: what bars are made of, and which ops have none.

use gpubench_answer::Versus;
use gpubench_model::report::{Clock, Report, example};

use super::*;
use crate::chart::{Chart, Selection, charts};

fn phases(report: &Report) -> Vec<PhaseChart> {
    let found = charts(&[("", report)], Selection::ALL).into_iter();
    found.filter_map(|chart| if let Chart::Phases(chart) = chart { Some(chart) } else { None }).collect()
}

fn report() -> Report {
    let mut report = example::of(example::both_sides("fft", 100, 1e-3, 100e-6));
    report.environment.backends[1].description["context_s"] = 0.15.into();
    report
}

#[test]
fn a_call_on_the_gpu_is_its_copies_the_wait_and_the_kernel() {
    let chart = &phases(&report())[0];
    let group = &chart.groups[0];
    assert_eq!((group.a.as_deref(), group.b.total.as_str()), (Some("1.00 ms"), "167 µs"));
    let expected =
        [(Phase::Upload, 31.0), (Phase::Launch, 5.0), (Phase::Kernel, 100.0), (Phase::Download, 31.0)];
    for ((phase, share), (expected, micros)) in group.b.parts.iter().zip(expected) {
        assert_eq!(*phase, expected);
        assert!((share - micros / 167.0).abs() < 1e-9, "{phase:?} {share}");
    }
}

#[test]
fn a_time_by_the_host_s_clock_cannot_be_split_into_launch_and_kernel() {
    let mut report = report();
    report.rows[1].execute.as_mut().unwrap().clock = Clock::Host;
    assert!(phases(&report).is_empty());
}

#[test]
fn the_contenders_name_the_rows_above_the_bars() {
    let mut report = report();
    Versus::choose(&mut report, "cpu:cuda").unwrap();
    let chart = &phases(&report)[0];
    assert_eq!(chart.names, ["cpu", "cuda"]);
    assert!(chart.frame.title.ends_with("where does cuda's time go?"), "{}", chart.frame.title);
}

#[test]
fn the_time_with_pinned_memory_is_above_the_bar_of_pageable_memory() {
    let one = &phases(&report())[0];
    assert_eq!((one.frame.rows_above, one.groups[0].pinned.as_deref()), (2, None));
    let mut both = example::with_pinned(report(), 10.0);
    let chart = &phases(&both)[0];
    let group = &chart.groups[0];
    assert_eq!((group.b.total.as_str(), group.pinned.as_deref()), ("167 µs", Some("111 µs")));
    assert_eq!(chart.frame.rows_above, 3);
    assert!(chart.frame.subtitle.contains("copies (pageable host memory)"), "{}", chart.frame.subtitle);
    let texts: Vec<&str> = chart.frame.legend.iter().map(LegendRow::text).collect();
    let calls = [
        "host clock, copies with each call:",
        "\u{a0}\u{a0}\u{a0}473",
        "host clock, pinned copies each call:",
        "\u{a0}\u{a0}\u{a0}444",
    ];
    assert_eq!(texts[texts.len() - 4..], calls);
    both.rows.remove(0);
    assert_eq!(phases(&both)[0].groups[0].pinned.as_deref(), Some("111 µs"), "without a CPU too");
}

#[test]
fn the_legend_shows_first_use_and_calls_to_repay_it() {
    let chart = &phases(&report())[0];
    let texts: Vec<&str> = chart.frame.legend.iter().map(LegendRow::text).collect();
    let first = texts.iter().position(|text| *text == "First use at 100").unwrap();
    assert_eq!(texts[first + 1], "context: 150 ms");
    assert_eq!(texts[first + 2], "compiling: 210 ms");
    let calls = texts.iter().position(|text| *text == "Calls needed to repay it").unwrap();
    let expected = [
        "host clock, data on the GPU:",
        "\u{a0}\u{a0}\u{a0}441",
        "host clock, copies with each call:",
        "\u{a0}\u{a0}\u{a0}473",
    ];
    assert_eq!(texts[calls + 1..], expected);
}

#[test]
fn the_legend_and_the_first_screen_agree_on_the_calls_and_say_nothing_within_noise() {
    use crate::export::{TABLE, View};
    for (cpu_s, expected) in [(1e-3, Some("441")), (50e-6, Some("never")), (105e-6, None)] {
        let mut report = example::of(example::both_sides("fft", 100, cpu_s, 100e-6));
        report.environment.backends[1].description["context_s"] = 0.15.into();
        let screen = TABLE.text(&report, &View::default()).unwrap();
        let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let rows = &phases(&report)[0].frame.legend;
        let clock = rows.iter().position(|row| row.text() == "host clock, data on the GPU:");
        let in_chart = clock.map(|at| rows[at + 1].text().trim());
        assert_eq!(in_chart, expected, "{rows:?}");
        let on_screen = expected.map(|calls| format!("repay it (host clock, data on the GPU): fft {calls}."));
        match on_screen {
            Some(clause) => assert!(screen.contains(&clause), "{screen}"),
            None => assert!(!screen.contains("repay"), "{screen}"),
        }
    }
}

#[test]
fn a_gpu_alone_has_a_bar_and_one_that_tells_no_copies_has_none() {
    let mut alone = report();
    alone.rows.remove(0);
    let chart = &phases(&alone)[0];
    assert_eq!(chart.groups[0].a, None);
    alone.rows[0].phases = None;
    assert!(phases(&alone).is_empty());
}

#[test]
fn a_kernel_that_the_device_calls_longer_than_the_host_leaves_nothing_to_wait_for() {
    let mut odd = report();
    odd.rows[1].execute.as_mut().unwrap().host_median_s = 90e-6;
    let gpu = &phases(&odd)[0].groups[0].b;
    assert_eq!(gpu.parts[1], (Phase::Launch, 0.0));
    assert!((gpu.parts.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn densities_have_charts_of_their_own() {
    let mut report = example::empty();
    for density in [0.01, 0.1] {
        for mut row in example::both_sides("spgemm", 100, 1e-4, 1e-4) {
            row.case.density = Some(density);
            report.rows.push(row);
        }
    }
    let charts = phases(&report);
    let names: Vec<&str> = charts.iter().map(|chart| chart.frame.name.as_str()).collect();
    assert_eq!(names, ["phases-spgemm-f32-d0.01", "phases-spgemm-f32-d0.1"]);
    assert_eq!(charts[0].frame.title, "spgemm, float32, density 0.01: where does the GPU's time go?");
}
