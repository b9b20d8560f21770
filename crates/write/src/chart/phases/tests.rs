//! Charts of phases: what bars are made of, and which ops have none.

use gpubench_analysis::answer::Versus;
use gpubench_report::report::{Clock, Report, example};

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
    assert!(chart.frame.title.ends_with("where does the time of cuda go?"), "{}", chart.frame.title);
}

#[test]
fn the_time_with_pinned_memory_is_above_the_bar_of_pageable_memory() {
    let one = &phases(&report())[0];
    assert_eq!((one.axes.rows_above, one.groups[0].pinned.as_deref()), (2, None));
    let mut both = example::with_pinned(report(), 10.0);
    assert_eq!(phases(&both)[0].axes.rows_above, 3);
    both.rows.remove(0);
    assert_eq!(phases(&both)[0].groups[0].pinned.as_deref(), Some("111 µs"), "without a CPU too");
}

#[test]
fn the_legend_and_the_note_on_the_first_use_agree_on_the_calls() {
    use gpubench_document::report::sweeps::Sweeps;
    for (cpu_s, expected) in [(1e-3, Some("441")), (50e-6, Some("never")), (105e-6, None)] {
        let mut report = example::of(example::both_sides("fft", 100, cpu_s, 100e-6));
        report.environment.backends[1].description["context_s"] = 0.15.into();
        let screen = Sweeps::of(&report).first_use().unwrap();
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
fn a_kernel_longer_by_the_device_clock_leaves_no_wait() {
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
    assert_eq!(charts[0].frame.title, "spgemm, float32, density 0.01: where does the time of the GPU go?");
}
