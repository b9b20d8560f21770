//! A simulated backend that hangs while it starts.

use crate::Sandbox;

#[test]
fn a_backend_that_hangs_at_its_start_is_given_up_and_the_others_are_measured() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("hang.toml"), "[start]\noutcome = 'hang'\n[[variant]]\nname = 'a'\n")
        .unwrap();
    let words = "--backends cpu,sim --ops sin --sizes 8 --sim hang.toml";
    let ran = sandbox.run(words, &[("GPUBENCH_START_LIMIT", "2")]);
    ran.assert_cpu_measured();
    assert_eq!(ran.fate("sim")[..2], ["failed", "the worker did not start within 2 s"]);
    let note = "still starting sim; its cells fail if that takes more than 2 s";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    assert_eq!(ran.code, Some(1));
}
