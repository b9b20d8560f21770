//! Checks the rules for every registered op.

use gpubench_report::data::fingerprint;

use super::super::{Limit, MAIN_OPS};
use super::*;

#[test]
fn names_are_unique_words_and_summaries_are_one_line() {
    for (i, op) in OPS.iter().enumerate() {
        let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
        assert!(op.name().split('-').all(is_word), "{}", op.name());
        assert!(!op.about().summary.is_empty() && !op.about().summary.contains('\n'));
        assert!(OPS[..i].iter().all(|other| other.name() != op.name()));
        assert!(op.about().sizes.windows(2).all(|pair| pair[0] < pair[1]));
    }
    assert!(MAIN_OPS.iter().all(|name| find(name).is_some()));
}

#[test]
fn inputs_hold_what_the_footprint_and_the_work_promise() {
    for op in OPS {
        let case = case(op.name(), 333, DType::F32);
        let inputs = op.inputs(&case);
        let answer = plain_answer(&case, &inputs);
        let bytes: u64 = inputs.iter().chain(&answer).map(Operand::bytes).sum();
        let (footprint, work) = (op.footprint(&case) as f64, op.work(&case));
        assert!((bytes as f64 / footprint - 1.0).abs() < 0.02, "{}: {bytes} {footprint}", op.name());
        let moved = match op.about().limit {
            Limit::Latency => 0,
            // What is only copied moves once.
            _ if answer == inputs => bytes / 2,
            _ => bytes,
        };
        assert!((moved as f64 - work.bytes).abs() <= 0.02 * moved as f64, "{}: {moved} {work:?}", op.name());
        assert_eq!(work.flop > 0.0, moved == bytes, "{}: {work:?}", op.name());
    }
}

#[test]
fn only_what_costs_no_arithmetic_compares_variants_and_not_sides() {
    for op in OPS {
        let work = op.work(&case(op.name(), 31, DType::F32));
        assert_eq!(op.about().compares_sides, work.flop > 0.0, "{}", op.name());
    }
}

#[test]
fn inputs_follow_the_seed_alone() {
    for op in OPS {
        let case = case(op.name(), 31, DType::F64);
        let other = Case { seed: 43, ..case.clone() };
        assert_eq!(op.inputs(&case), op.inputs(&case));
        let same = fingerprint(&op.inputs(&case)) == fingerprint(&op.inputs(&other));
        assert_eq!(same, op.inputs(&case).is_empty(), "{}", op.name());
    }
}

#[test]
fn footprints_of_absurd_sizes_do_not_overflow() {
    for op in OPS {
        let small = case(op.name(), 4, DType::F64);
        let case = Case { n: u64::MAX, ..small.clone() };
        // A count takes no more memory for being large.
        let is_count = op.inputs(&small).is_empty();
        assert!(is_count || op.footprint(&case) > 1 << 100, "{}", op.name());
    }
}
