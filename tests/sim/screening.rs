//! Screening: short races that decide which variants are sampled to precision.

use gpubench::measure::stopping::Reason;
use gpubench::report::{Outcome, Report};

use crate::sim::stage::{Stage, execute};

/// Two variants of the CPU near each other, one far behind, and one of the GPU far behind all.
const SCRIPT: &str = "[[variant]]\nname = 'fast'\nside = 'cpu'\n[[variant]]\nname = 'near'\nside = 'cpu'\n\
                      [[variant]]\nname = 'far'\nside = 'cpu'\n\
                      [[variant]]\nname = 'device'\nside = 'gpu'\n\
                      [[rule]]\nnoise = 0.02\n\
                      [[rule]]\nvariant = 'near'\ntime = '130us'\n[[rule]]\nvariant = 'far'\ntime = '250us'\n\
                      [[rule]]\nvariant = 'device'\ntime = '1ms'\n";

fn screened(script: &str, sizes: &[u64]) -> Report {
    let mut stage = Stage::adaptive(script, "sin", sizes);
    stage.run.cells.iter_mut().for_each(|planned| planned.may_be_screened = true);
    stage.finish()
}

#[test]
fn variants_far_behind_their_side_keep_a_short_time_and_the_others_are_sampled_to_precision() {
    let report = screened(SCRIPT, &[2, 3]);
    for row in &report.rows {
        let execute = execute(row);
        assert_eq!(row.outcome, Outcome::Measured);
        assert_eq!(row.screened, row.variant == "far", "{}", row.variant);
        assert_eq!(execute.stopped == Some(Reason::Screened), row.screened);
        assert!(!row.screened || execute.samples_s.len() <= 18, "{}", execute.samples_s.len());
        assert!(execute.grade.is_some() && execute.verified > 0);
    }
    let all = Stage::adaptive(SCRIPT, "sin", &[2]).finish();
    assert!(all.rows.iter().all(|row| !row.screened));
}

#[test]
fn a_wrong_or_failing_variant_takes_no_part_in_the_race() {
    let script = format!("{SCRIPT}[[rule]]\nvariant = 'fast'\nanswer = 'wrong'\n");
    let report = screened(&script, &[2]);
    let of = |name: &str| report.rows.iter().find(|row| row.variant == name).unwrap();
    assert_eq!(of("fast").outcome, Outcome::Incorrect);
    let screened = ["near", "far"].map(|name| of(name).screened);
    assert_eq!(screened, [false, true], "250 us are more than 1.5 times 130 us");
}

#[test]
fn a_timed_answer_that_is_wrong_counts_however_far_behind_the_variant_is() {
    let script = format!("{SCRIPT}[[rule]]\nvariant = 'far'\nanswer = 'wrong'\nafter = 4\n");
    let report = screened(&script, &[2]);
    let far = report.rows.iter().find(|row| row.variant == "far").unwrap();
    assert_eq!((far.outcome, far.screened), (Outcome::Incorrect, false));
}
