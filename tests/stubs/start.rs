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
fn a_backend_that_hangs_at_its_start_does_not_delay_the_others() {
    let sandbox = sandbox("outcome = 'hang'");
    let (ran, times) = sandbox.run_timed(BOTH, &[("GPUBENCH_START_LIMIT", "14")]);
    ran.assert_cpu_measured();
    assert!(times.of(" cpu/").iter().max() < times.of(" sim/").iter().min(), "{times:?}");
    assert_eq!(ran.fate("sim")[..2], ["failed", "the worker did not start within 14 s"]);
    let note = "still starting sim; the other cells are measured meanwhile, and its cells fail if that takes more than 14 s";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    let warnings = ran.report["environment"]["warnings"].to_string();
    assert!(warnings.contains("other cells were measured while sim was starting"), "{warnings}");
    assert_eq!(ran.code, Some(1));
}

#[test]
fn a_backend_that_is_slow_to_start_is_measured_after_the_others() {
    let sandbox = sandbox("delay = '10s'");
    let (ran, times) = sandbox.run_timed(BOTH, &[("GPUBENCH_START_LIMIT", "16")]);
    ran.assert_cpu_measured();
    assert!(times.of(" cpu/").iter().max() < times.of(" sim/").iter().min(), "{times:?}");
    assert_eq!((ran.fate("sim")[0], ran.code), ("measured", Some(0)), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("still starting sim").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_required_backend_that_is_slow_to_start_is_waited_for() {
    let sandbox = sandbox("delay = '4s'");
    let words = format!("{BOTH} --require sim");
    let ran = sandbox.run(&words, &[("GPUBENCH_START_LIMIT", "6")]);
    assert_eq!((ran.fate("sim")[0], ran.code), ("measured", Some(0)), "{}", ran.stderr);
    let note = "still starting sim; its cells fail if that takes more than 6 s";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    assert!(!ran.report["environment"]["warnings"].to_string().contains("while sim was starting"));
}
