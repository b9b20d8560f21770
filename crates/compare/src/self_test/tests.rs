//! Checks that all claims hold for the comparison and that each one fails for a comparison that is broken on purpose.

use super::*;

fn report(noise: &Noise) -> Report {
    simulated_runs::run(77, noise, &|_| 1.0)
}

/// Returns the result of each claim with every variance multiplied by `distortion`.
fn passed(distortion: f64, report: &Report) -> Vec<bool> {
    let policy = Policy::default();
    let claims = Gate { policy: &policy, distortion }.claims(Some(report));
    claims.iter().map(|claim| claim.passed).collect()
}

#[test]
fn every_claim_holds_of_the_comparison_as_it_is() {
    let claims = self_test(Some(&report(&REALISTIC)), &Policy::default());
    assert_eq!(claims.len(), 6);
    assert!(claims.iter().all(|claim| claim.passed), "{claims:#?}");
}

#[test]
fn claims_of_silence_fail_where_variances_are_too_small_and_claims_of_power_where_they_are_too_large() {
    // Silent with three runs per side, with one; finds one cell, all cells; the report: silent, finds one cell.
    let noisy = report(&Noise { round: 0.1, ..REALISTIC });
    let passed_too_small = passed(1e-4, &noisy);
    assert_eq!([passed_too_small[0], passed_too_small[1], passed_too_small[4]], [false; 3]);
    assert_eq!(passed(1e4, &report(&REALISTIC)), [true, true, false, false, true, false]);
}

#[test]
fn a_policy_that_judges_nothing_and_a_report_of_one_round_fail_their_claims() {
    let mut policy = Policy::default();
    policy.defaults.ignored = true;
    let claims = self_test(None, &policy);
    assert_eq!(claims.iter().map(|claim| claim.passed).collect::<Vec<_>>(), [true, true, false, false]);
    let mut report = report(&REALISTIC);
    let rows = report.rows.iter_mut().filter_map(|row| row.execute.as_mut());
    rows.for_each(|execute| execute.rounds.fill(0));
    let gate = Gate { policy: &Policy::default(), distortion: 1.0 };
    let claims = gate.with(&report);
    assert!(claims.len() == 1 && !claims[0].passed && claims[0].text.contains("--rounds"), "{claims:?}");
}
