//! `baseline`: what is saved, shown and refused; on the simulated device.

use std::time::Duration;

use super::Folder;
use super::compare::{SLOWER, WRONG, cells, script};

#[test]
fn a_baseline_is_saved_listed_shown_and_compared_with_by_name() {
    let folder = Folder::new();
    folder.write("sim.toml", &script(1, ""));
    let save = "baseline save main --ops matmul,fft --sizes 4,8 --backends sim --sim sim.toml --quiet";
    folder.succeeds(save);
    let base = "results/baselines/main";
    assert!(
        folder.has(&format!("{base}/baseline.json")) && folder.has(&format!("{base}/pass-5/report.json"))
    );
    folder.refuses(save, "--force");
    folder.succeeds(&format!("{save} --force"));
    assert_eq!(folder.names_in("results/baselines"), ["main"], "no attempt is left behind");
    let listed = folder.run_line("baseline list").prints(&["main"]);
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.stdout);
    folder.run_line("baseline show main").prints(&["5 passes", "accelerator"]);
    folder.sim("unchanged", 6, "");
    let unchanged = folder.compared("main unchanged");
    assert_eq!(unchanged["gate"]["exit_code"], 0, "the default number of passes is enough: {unchanged}");
    folder.sim("new", 2, SLOWER);
    for old in ["main", base] {
        let comparison = folder.compared(&format!("{old} new --threshold 20%"));
        assert_eq!(comparison["old"].as_array().map(Vec::len), Some(5));
        assert_eq!(cells(&comparison, "slower"), ["fft 8 accelerator"]);
    }
}

#[test]
fn a_baseline_that_does_not_exist_is_refused_wherever_it_is_named() {
    let folder = Folder::new();
    folder.sim("new", 1, "");
    folder.refuses_each(
        "",
        "compare main new => cannot read main: there is no such file, folder or baseline
        compare --plan main => cannot read main: there is no such file, folder or baseline
        compare new new --history main => cannot read main: there is no such file, folder or baseline
        baseline show main => results/baselines/main is not a baseline: 'gpubench baseline list' lists the baselines",
    );
}

#[test]
fn a_baseline_is_made_of_reports_that_exist_by_the_same_rules() {
    let folder = Folder::new();
    for (seed, name) in [(1, "night-1"), (2, "night-2"), (3, "nights/3"), (6, "nights/4"), (7, "nights/5")] {
        std::fs::create_dir_all(folder.path().join("nights")).unwrap();
        folder.sim(name, seed, "");
    }
    folder.sim("slower", 4, SLOWER);
    folder.sim("wrong", 5, WRONG);
    let saved = folder.succeeds("baseline save nights --from night-1 night-2/report.json nights --quiet");
    saved.prints(&["nights: 5 passes"]);
    assert_eq!(
        folder.read("results/baselines/nights/pass-3/report.json"),
        folder.read("nights/3/report.json")
    );
    let compared = folder.compared("results/baselines/nights slower --threshold 20%");
    assert_eq!(cells(&compared, "slower"), ["fft 8 accelerator"]);
    // A baseline can be made again of its own passes, and of another's.
    let again =
        "baseline save nights --force --accept-noisy --from results/baselines/nights/pass-1 night-2 nights/3";
    folder.succeeds(again);
    folder.succeeds("baseline save other --from results/baselines/nights nights/4 nights/5");
    // A refusal of the passes has a line for each cell, and one for the next step.
    for (line, expected) in [("slower", "the passes disagree"), ("wrong", ": incorrect in a pass: ")] {
        let ended = folder.run_line(&format!("baseline save x --from night-1 night-2 {line}")).exits(1);
        let ended = ended.complains(&[expected]);
        assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count() > 1), ("", true), "{line}");
    }
    folder.refuses_each(
        "baseline save x --from night-1",
        " => --from names 1 run;
        night-2 => could never pass: name at least 3 runs of the same sweep, preferably 5
        night-1 => are the same run
        nowhere => cannot read nowhere
        night-2 --passes 3 => cannot be used with '--passes <N>'
        night-2 --ops fft --sizes=4 => omit the options of a sweep",
    );
    assert!(!folder.has("results/baselines/.x.attempt"));
}

#[test]
fn passes_that_are_only_noisy_can_be_saved_without_measuring_again() {
    let folder = Folder::new();
    let sweep = "--ops fft --sizes 64 --backends cpu --variants realfft --samples 12 --no-peaks";
    // No two passes on a real CPU take the same time.
    let refused = folder.run_line(&format!("baseline save main --passes 3 --threshold 0% {sweep}")).exits(1);
    let command = refused.stderr.split("Save them as they are: gpubench ").nth(1).map(str::trim);
    let expected = "baseline save main --from results/baselines/.main.attempt/pass-* --accept-noisy";
    assert_eq!(command, Some(expected), "{}", refused.stderr);
    // What a shell makes of the pattern.
    let passes: Vec<String> =
        (1..=3).map(|pass| format!("results/baselines/.main.attempt/pass-{pass}")).collect();
    folder.succeeds(&expected.replace("results/baselines/.main.attempt/pass-*", &passes.join(" ")));
    folder.succeeds("baseline show main").prints(&["main: 3 passes"]);
}

#[test]
fn a_run_in_which_nothing_changed_passes_against_five_runs() {
    let folder = Folder::new();
    for k in 1..=6 {
        folder.sim(&format!("run-{k}"), k, "");
    }
    let two = folder.run_line("baseline save two --passes 2 --ops fft --sizes 4 --backends sim");
    two.exits(2).complains(&["2 is not in 3..=50"]);
    let saved = folder.succeeds("baseline save five --from run-1 run-2 run-3 run-4 run-5");
    assert_eq!(folder.compared("five run-6")["gate"]["exit_code"], 0);
    let first = saved.stdout.lines().next().unwrap_or_default();
    assert!(first.ends_with(" UTC") && !first.contains('.'), "saved to the minute: {first}");
}

#[test]
fn a_baseline_of_wrong_answers_is_refused_and_bad_names_too() {
    let folder = Folder::new();
    folder.write("wrong.toml", &script(1, WRONG));
    let sweep = "--ops matmul,fft --sizes 4 --backends sim --sim wrong.toml --quiet";
    let refused = folder.run_line(&format!("baseline save main {sweep}")).exits(1);
    let lines: Vec<&str> = refused.stderr.lines().collect();
    let first =
        "gpubench: no baseline was saved: pass 1 has cells without a right answer or all their samples:";
    assert_eq!(lines[0], first);
    assert!(lines[1].starts_with("  ") && lines[1].contains(": the answer is wrong"), "{lines:?}");
    let [next, passes] = &lines[lines.len() - 2..] else { panic!("{lines:?}") };
    assert!(next.starts_with("Measure again without these cells"), "{next}");
    assert_eq!(*passes, "The passes are in results/baselines/.main.attempt, which you may delete.");
    let nothing = "baseline save main --ops fft --sizes 4 --backends cuda --quiet --no-peaks";
    folder.run_line(nothing).exits(2).complains(&["no baseline was saved: nothing was measured: ", "(fix: "]);
    assert!(folder.run_line("baseline list").stdout.starts_with("no baselines in"));
    assert!(!folder.has("results/baselines/main"));
    for name in ["../up", "a/b", ".hidden", "''"] {
        folder.run_line(&format!("baseline save {name} {sweep}")).exits(2);
    }
    folder.refuses("baseline show nothing", "baseline list");
}

#[test]
fn an_interrupted_save_ends_with_130_and_the_next_one_cleans_up() {
    let folder = Folder::new();
    folder.write("hanging.toml", &script(1, "[[rule]]\nvariant = \"accelerator\"\noutcome = \"hang\"\n"));
    let line = "baseline save main --ops fft --sizes 4 --backends sim --sim hanging.toml --no-peaks";
    let attempt = "results/baselines/.main.attempt";
    let stderr = folder.interrupted(line, &format!("{attempt}/pass-1"), Duration::from_millis(300));
    let message = "no baseline was saved: pass 1 was interrupted\nThe passes are in results/baselines/.main.attempt, which \
    you may delete.";
    assert!(stderr.contains(message), "{stderr}");
    folder.write("sim.toml", &script(1, ""));
    let line = "baseline save main --ops fft --sizes 4 --backends sim --sim sim.toml --accept-noisy";
    folder.succeeds(line).complains(&["removed results/baselines/.main.attempt, left by an earlier save"]);
    assert!(!folder.has(attempt));
}
