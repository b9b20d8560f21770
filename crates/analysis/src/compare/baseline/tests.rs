//! Baselines that are damaged, and saves that are cut off.

use std::fs;

use gpubench_report::case::{Cache, Case, DType};
use proptest::prelude::*;

use super::*;

fn variation(variation_between_runs: f64, pass_range: f64) -> CellVariation {
    let case = Case::square("fft", 8, DType::F32, 1);
    let cell = Cell { case, backend: "cpu".into(), variant: "realfft".into(), cache: Cache::Cold };
    CellVariation { cell, variation_between_runs, pass_range }
}

fn baseline(cells: Vec<CellVariation>) -> Baseline {
    Baseline { cells, ..Baseline::new("main", vec!["pass-1".into(), "pass-2".into()], &[]) }
}

/// A folder with two passes in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for pass in ["pass-1", "pass-2"] {
        fs::create_dir(folder.path().join(pass)).unwrap();
        fs::write(folder.path().join(pass).join(file::FILE_NAME), "{}").unwrap();
    }
    folder
}

fn write_unchecked(baseline: &Baseline, folder: &Path) {
    fs::write(folder.join(FILE_NAME), serde_json::to_string_pretty(baseline).unwrap()).unwrap();
}

fn refusal(folder: &Path) -> String {
    format!("{:#}", open(folder).unwrap_err())
}

#[test]
fn a_baseline_reads_back_and_a_folder_without_one_is_none() {
    let folder = folder();
    assert_eq!(open(folder.path()).unwrap(), None);
    let saved = baseline(vec![variation(0.01, 0.02)]);
    saved.write(folder.path()).unwrap();
    assert_eq!(open(folder.path()).unwrap(), Some(saved));
}

#[test]
fn the_kept_baseline_of_layout_1_is_read_and_a_later_layout_is_refused() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/gate/baseline");
    let read = open(&kept).unwrap().unwrap();
    assert_eq!((read.baseline_version, read.passes.len()), (1, 2));
    assert!(read.cells.iter().any(|cell| cell.variation_between_runs > 0.05 && cell.pass_range < 0.001));
    let folder = folder();
    write_unchecked(&Baseline { baseline_version: 3, ..baseline(vec![]) }, folder.path());
    assert!(refusal(folder.path()).contains("baseline_version 3, but this gpubench reads 1 to 2"));
}

#[test]
fn passes_that_are_missing_or_elsewhere_are_refused_in_one_line() {
    let folder = folder();
    let of = |passes: &[&str]| Baseline {
        passes: passes.iter().map(|pass| (*pass).to_owned()).collect(),
        ..baseline(vec![])
    };
    for (passes, expected) in [
        (&["pass-1", "pass-3"][..], "pass-3 contains no report.json; save the baseline again"),
        (&[], "passes must be folders next to it"),
        (&["pass-1", "../elsewhere"], "passes must be folders next to it"),
    ] {
        let written = of(passes).write(folder.path()).unwrap_err().to_string();
        assert!(written.contains(expected), "{written}");
        write_unchecked(&of(passes), folder.path());
        let message = refusal(folder.path());
        assert!(message.contains(expected) && message.contains("baseline.json: "), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn figures_that_no_number_holds_are_refused_in_one_line() {
    let folder = folder();
    baseline(vec![variation(0.25, 0.5)]).write(folder.path()).unwrap();
    let text = fs::read_to_string(folder.path().join(FILE_NAME)).unwrap();
    for figure in ["1e999", "null", "\"wide\"", "-0.1", "1e6"] {
        fs::write(folder.path().join(FILE_NAME), text.replace("0.25", figure)).unwrap();
        let message = refusal(folder.path());
        assert!(
            message.contains("save the baseline again") && !message.contains('\n'),
            "{figure}: {message}"
        );
    }
}

#[test]
fn what_is_written_is_read_again_and_all_else_replaces_nothing() {
    let is_figure = |figure: f64| (0.0..MAX_VARIATION).contains(&figure);
    let figures = || prop_oneof![0.0..20.0f64, 0.0..2e6f64, any::<f64>()];
    let (folder, old) = (folder(), baseline(vec![variation(105.9, 18.0)]));
    proptest!(|(between_runs in figures(), pass_range in figures())| {
        old.write(folder.path()).unwrap();
        let new = baseline(vec![variation(0.1, 0.1), variation(between_runs, pass_range)]);
        let written = new.write(folder.path());
        prop_assert_eq!(written.is_ok(), is_figure(between_runs) && is_figure(pass_range), "{:?}", written);
        let expected = if written.is_ok() { &new } else { &old };
        prop_assert_eq!(&open(folder.path()).unwrap().unwrap(), expected);
    });
}

#[test]
fn hidden_folders_are_not_listed() {
    let all = tempfile::tempdir().unwrap();
    for name in ["main", ".main.staging"] {
        fs::rename(folder().keep(), all.path().join(name)).unwrap();
        baseline(vec![]).write(&all.path().join(name)).unwrap();
    }
    let names: Vec<PathBuf> = list(all.path()).unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [all.path().join("main")]);
}

/// The baseline `a.b`, with an existing folder marked `old` and a staged one marked `new` as requested.
fn staged_baseline(all: &Path, old: bool, new: bool) -> StagedBaseline {
    let staged = StagedBaseline::measured(all, "a.b");
    for (folder, text, wanted) in [(&staged.folder, "old", old), (&staged.staging, "new", new)] {
        if wanted {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("mark"), text).unwrap();
        }
    }
    staged
}

fn names(all: &Path) -> Vec<String> {
    let entries = fs::read_dir(all).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_attempt_takes_the_place_of_the_old_one_and_leaves_others_alone() {
    let all = tempfile::tempdir().unwrap();
    for other in ["a.replaced", "a.b.attempt", "a.b.replaced"] {
        fs::create_dir(all.path().join(other)).unwrap();
    }
    let staged = staged_baseline(all.path(), true, true);
    staged.commit().unwrap();
    staged.recover().unwrap();
    assert_eq!(fs::read_to_string(staged.folder.join("mark")).unwrap(), "new");
    assert_eq!(names(all.path()), ["a.b", "a.b.attempt", "a.b.replaced", "a.replaced"]);
    assert!(!staged.clear().unwrap());
}

#[test]
fn the_old_one_is_put_back_when_the_new_one_cannot_be_moved() {
    let all = tempfile::tempdir().unwrap();
    let staged = staged_baseline(all.path(), true, false);
    let message = staged.commit().unwrap_err().to_string();
    assert!(message.contains("the previous baseline was restored"), "{message}");
    assert_eq!(fs::read_to_string(staged.folder.join("mark")).unwrap(), "old");
    assert_eq!(names(all.path()), ["a.b"]);
}

#[test]
fn a_replacement_that_was_cut_off_is_taken_back() {
    let all = tempfile::tempdir().unwrap();
    let staged = staged_baseline(all.path(), true, true);
    fs::rename(&staged.folder, all.path().join(".a.b.replaced")).unwrap();
    staged.recover().unwrap();
    assert_eq!(fs::read_to_string(staged.folder.join("mark")).unwrap(), "old");
    assert!(staged.clear().unwrap());
    assert_eq!(names(all.path()), ["a.b"]);
}

#[test]
fn no_text_of_an_accepted_file_holds_an_invisible_character() {
    let hostile = "\u{1b}]0;x\u{7}\n\u{9b}\u{202e}";
    let mut saved = baseline(vec![variation(0.1, 0.1)]);
    for text in [&mut saved.name, &mut saved.saved, &mut saved.gpubench_version] {
        *text = hostile.into();
    }
    let cell = &mut saved.cells[0].cell;
    for text in [&mut cell.case.op, &mut cell.backend, &mut cell.variant] {
        *text = hostile.into();
    }
    let read = parse(&serde_json::to_vec(&saved).unwrap()).unwrap();
    let text = serde_json::to_string(&read).unwrap();
    assert_eq!(text.matches("\\\\u{1b}]0;x\\\\u{7}\\\\n\\\\u{9b}\\\\u{202e}").count(), 6, "{text}");
    saved.passes[0] = hostile.into();
    assert!(parse(&serde_json::to_vec(&saved).unwrap()).is_err(), "a pass of that name");
}
