//! Tests on synthetic fleets: the rate of false alarms among identical members, and the detection of planted faults.

use gpubench_report::data::generator::{Stream, normal};
use proptest::prelude::*;

use super::*;

/// A fleet without faults: `members` by `cells`, with that noise of the logarithm and matching intervals.
fn fleet(seed: u64, members: usize, cells: usize, noise: f64) -> Vec<Vec<Option<LogTime>>> {
    let stream = Stream::new(seed, 7);
    let time = |member: usize, cell: usize| {
        let place = 2 * (member * cells + cell) as u64;
        let chance = normal(stream.uniform::<f64>(place), stream.uniform::<f64>(place + 1));
        let log = (1e-6 * (cell + 1) as f64).ln() + noise * chance;
        // Samples within a run scatter less than runs do, so intervals are narrower than the noise.
        Some(LogTime { log, width: 0.6 * noise })
    };
    (0..members).map(|member| (0..cells).map(|cell| time(member, cell)).collect()).collect()
}

fn slow(times: &mut [Option<LogTime>], factor: f64) {
    times.iter_mut().flatten().for_each(|reading| reading.log += factor.ln());
}

/// Returns the share of identical fleets with any outlier.
fn alarms(fleets: u64, members: usize, cells: usize, noise: f64) -> f64 {
    let alarmed = |seed: &u64| !find_outliers(&fleet(*seed, members, cells, noise)).is_empty();
    (0..fleets).filter(alarmed).count() as f64 / fleets as f64
}

#[test]
fn identical_fleets_raise_an_alarm_in_fewer_than_one_of_fifty() {
    assert!(alarms(1000, 8, 20, 0.01) < 0.02);
    for (members, cells, noise) in [
        (3, 20, 0.01),
        (3, 4, 0.01),
        (8, 20, 0.002),
        (4, 1, 0.005),
        (8, 20, 0.03),
        (4, 6, 0.03),
        (24, 10, 0.01),
    ] {
        let share = alarms(400, members, cells, noise);
        assert!(share < 0.02, "{members} members, {cells} cells, {noise}: {share}");
    }
}

#[test]
fn a_member_that_is_8_percent_slower_is_found_and_it_alone() {
    for (members, cells, noise) in [(8, 20, 0.01), (3, 20, 0.01), (8, 5, 0.01), (24, 20, 0.01), (8, 20, 0.02)]
    {
        let (mut found, mut others) = (0, 0);
        for seed in 0..100 {
            let mut times = fleet(seed, members, cells, noise);
            slow(&mut times[1], 1.08);
            let judged = find_outliers(&times);
            found += usize::from(judged.contains(&1));
            others += judged.iter().filter(|member| **member != 1).count();
        }
        assert!(found >= 98, "{members} members, {cells} cells, {noise}: {found} of 100");
        assert!(others <= 3, "{members} members, {cells} cells, {noise}: {others} false");
    }
}

#[test]
fn a_member_that_is_faster_is_found_with_the_planted_offset() {
    let mut times = fleet(3, 8, 20, 0.005);
    slow(&mut times[5], 1.0 / 1.1);
    assert_eq!(find_outliers(&times), [5]);
    assert!((against_others(&times, 5).unwrap() + 1.1f64.ln()).abs() < 0.01);
}

#[test]
fn two_of_a_kind_are_not_judged_and_cells_that_few_have_do_not_count() {
    let mut times = fleet(1, 2, 20, 0.01);
    slow(&mut times[0], 2.0);
    assert!(find_outliers(&times).is_empty());
    assert!((pair(&times[0], &times[1]).unwrap() - 2f64.ln()).abs() < 0.02);
    let mut times = fleet(1, 3, 4, 0.01);
    times[2] = vec![None; 4];
    slow(&mut times[0], 2.0);
    assert!(find_outliers(&times).is_empty());
    assert_eq!(pair(&times[0], &times[2]), None);
    assert_eq!((find_outliers(&[]), against_others(&[], 0)), (vec![], None));
}

#[test]
fn limits_widen_with_many_values_few_members_and_unknown_noise() {
    let near = |found: f64, count: f64, expected: f64| {
        let uncertain = (1.0 + 1.2533f64.powi(2) / count).sqrt();
        assert!((found / (uncertain * expected) - 1.0).abs() < 1e-3, "{found} {expected}");
    };
    near(limit(8, 0.02, 0.0, 3.0), 8.0, 3.5 * 0.02);
    near(limit(8, 0.0, 0.0, 3.0), 8.0, 3.5 * MIN_DEVIATION);
    // 1 - 0.01 / 320 of a normal distribution lies below 4.003.
    near(limit(160, 0.0, 0.02, 1e9), 160.0, 4.003 * 0.02);
    // 1 - 0.01 / 20 of Student's t with 5 degrees of freedom lies below 6.869, of its tables.
    near(limit(10, 0.0, 0.02, 5.0), 10.0, 6.869 * 0.02);
}

proptest! {
    #[test]
    fn neither_units_nor_order_matter(seed in 0u64..500, factor in 0.5f64..2.0, turn in 0usize..5) {
        let mut times = fleet(seed, 5, 6, 0.01);
        slow(&mut times[0], 1.3);
        let judged = find_outliers(&times);
        let mut moved = times.clone();
        moved.iter_mut().for_each(|member| slow(member, factor));
        moved.rotate_left(turn);
        let other = find_outliers(&moved);
        let members: Vec<usize> = other.iter().map(|member| (member + turn) % 5).collect();
        prop_assert_eq!(judged, members);
    }

    #[test]
    fn small_differences_are_not_reported(seed in 0u64..500, factor in 0.972f64..1.028) {
        let mut times = fleet(seed, 5, 6, 0.0);
        slow(&mut times[0], factor);
        prop_assert!(find_outliers(&times).is_empty());
    }
}
