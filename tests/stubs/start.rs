//! Simulated backends that take long to start, or hang meanwhile.

use crate::Sandbox;

const BOTH: &str = "--backends cpu,sim --ops sin --sizes 8 --sim sim.toml";

/// Makes a folder with a script of the simulated device that has this table `[start]`.
fn sandbox(start: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let script = format!("[start]\n{start}\n[[variant]]\nname = 'a'\n");
    std::fs::write(sandbox.path("sim.toml"), script).unwrap();
    sandbox
}

#[test]
fn a_backend_that_hangs_at_its_start_costs_only_its_own_cells() {
    let sandbox = sandbox("outcome = 'hang'");
    let ran = sandbox.run(BOTH, &[("GPUBENCH_START_LIMIT", "4")]);
    ran.assert_cpu_measured();
    assert_eq!(ran.fate("sim")[..2], ["failed", "the worker did not start within 4 s"]);
    let note = "still starting sim; its cells fail if that takes more than 4 s";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    assert_eq!(ran.code, Some(1));
}

#[test]
fn a_backend_that_is_slow_to_start_is_waited_for() {
    let sandbox = sandbox("delay = '4s'");
    let ran = sandbox.run(BOTH, &[("GPUBENCH_START_LIMIT", "6")]);
    ran.assert_cpu_measured();
    assert_eq!((ran.fate("sim")[0], ran.code), ("measured", Some(0)), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("still starting sim").count(), 1, "{}", ran.stderr);
}
