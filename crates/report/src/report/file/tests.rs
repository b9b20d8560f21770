use super::*;
use crate::report::example::full;

/// Returns a new folder, and the path of a report in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    (folder, path)
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_device_and_a_pipe_in_a_folder_are_refused() {
    let refusal = |path: &Path| format!("{:#}", load(path).unwrap_err());
    for device in ["/dev/zero", "/dev/null"] {
        assert!(refusal(Path::new(device)).contains("neither a file nor a pipe"), "{device}");
    }
    let (folder, pipe) = place();
    make_pipe(&pipe);
    assert!(refusal(folder.path()).contains("not an ordinary file"), "and nobody waits for its writer");
}

#[test]
fn a_pipe_is_read_up_to_its_limit() {
    let (_folder, pipe) = place();
    make_pipe(&pipe);
    let through = |bytes: Vec<u8>| {
        let to = pipe.clone();
        // The reader may close the pipe before all is written.
        let writer = std::thread::Builder::new().spawn(move || fs::write(to, bytes)).unwrap();
        let read = load(&pipe);
        let _ = writer.join().unwrap();
        read
    };
    let report = full();
    assert_eq!(through(to_json(&report).unwrap()).unwrap(), report);
    let refused = through(vec![b' '; (64 << 20) + 1]).unwrap_err().to_string();
    assert!(refused.contains("at most 64 MiB"), "{refused}");
}

fn refusal(text: &str) -> String {
    let (_folder, path) = place();
    fs::write(&path, text).unwrap();
    let message = load(&path).unwrap_err().to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

fn read_again(report: &Report) -> Report {
    parse(&Content::of(to_json(report).unwrap())).unwrap()
}

#[test]
fn a_report_of_layout_1_loads_with_hot_caches_and_defaults() {
    let report = parse(&Content::of(include_bytes!("../testdata/layout-1.json"))).unwrap();
    assert_eq!(report.schema_version, 1);
    assert_eq!(report.rows.len(), 6);
    assert!(report.rows.iter().all(|row| row.cache == crate::case::Cache::Hot));
    let timed: Vec<&super::super::Execute> =
        report.rows.iter().filter_map(|row| row.execute.as_ref()).collect();
    assert_eq!(timed.len(), 5);
    assert!(timed.iter().all(|execute| execute.grade.is_none() && execute.steady));
    assert!(report.environment.warnings.is_empty() && report.environment.host.smt.is_none());
    // Written again it keeps its layout, and reads as the same report.
    assert_eq!(read_again(&report), report);
}

#[test]
fn unknown_keys_are_ignored_and_not_written_again() {
    let written = serde_json::to_value(full()).unwrap();
    let mut value = written.clone();
    for place in ["", "/rows/0", "/rows/0/execute", "/environment", "/environment/host"] {
        value.pointer_mut(place).unwrap()["later"] = serde_json::json!({ "n": [1] });
    }
    let read = parse(&Content::of(value.to_string())).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), written);
}

#[test]
fn broken_files_are_refused_in_one_line_that_says_where() {
    for (text, expected) in [
        ("{\n\"schema_version\": 1,\n!", "line 3 column 1"),
        ("[1, 2]", "not a gpubench report"),
        ("", "not a JSON object: not a gpubench report"),
        ("{}", "no schema_version"),
        (r#"{"schema_version": null}"#, "no schema_version"),
        (r#"{"schema_version": 1, "schema_version": 2}"#, "duplicate field"),
        (r#"{"schema_version": 1e999}"#, "number out of range"),
        (r#"{"schema_version": 7}"#, "schema_version 7, but this gpubench reads 1 to 4"),
        (r#"{"schema_version": 0}"#, "reads 1 to 4; use the version that wrote it"),
        (r#"{"schema_version": 1}"#, "missing field `environment`"),
    ] {
        assert!(refusal(text).contains(expected), "{text}");
    }
    let deep = format!("{{\"schema_version\": 2, \"rows\": {}", "[".repeat(1_000_000));
    assert!(refusal(&deep).contains("not JSON: EOF"));
    let closed = deep + &"]".repeat(1_000_000) + "}";
    assert!(refusal(&closed).contains("compare it with `gpubench schema`"));
    let long = refusal(&format!("{{\"schema_version\": \"{}\"}}", "9".repeat(100_000)));
    assert!(long.len() < 500 && long.contains("99..., but this gpubench reads"), "{long}");
    let missing = load(Path::new("/nonexistent/report.json")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read /nonexistent/report.json"), "{missing}");
}

#[test]
fn text_from_a_file_cannot_break_the_line() {
    let text = refusal("{\"schema_version\": 2, \"environment\": {\"later\\n\u{7f}\": 1}, \"rows\": 3}");
    assert!(text.contains("missing field"), "{text}");
    let mut value = serde_json::to_value(full()).unwrap();
    value["rows"][0]["dtype"] = "f32\n\u{1b}[31m".into();
    assert!(refusal(&value.to_string()).contains("unknown variant `f32\\n\\u{1b}[31m`"));
}

#[test]
fn files_too_large_for_a_report_are_refused_unread() {
    let (_folder, path) = place();
    fs::File::create(&path).unwrap().set_len(LARGEST + 1).unwrap();
    assert!(load(&path).unwrap_err().to_string().contains("larger than 1 GiB"));
}

#[test]
fn no_file_is_written_when_one_of_them_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| File { name: name.into(), bytes: "new".into() };
    let long = "n".repeat(300);
    assert!(save_all(folder.path(), &[file("a"), file(&long)], true).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::create_dir(folder.path().join("b")).unwrap();
    let message = save_all(folder.path(), &[file("a"), file("b")], true).unwrap_err().to_string();
    assert!(message.contains("it is a folder"), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn files_that_exist_are_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| File { name: name.into(), bytes: text.into() };
    save_all(folder.path(), &[file("b", "old")], false).unwrap();
    let files = [file("a", "new"), file("b", "new")];
    assert!(save_all(folder.path(), &files, false).unwrap_err().to_string().contains("--force"));
    assert!(!folder.path().join("a").exists());
    save_all(folder.path(), &files, true).unwrap();
    assert_eq!(fs::read(folder.path().join("b")).unwrap(), b"new");
}

#[test]
fn a_report_that_could_not_be_read_again_replaces_nothing() {
    let (folder, path) = place();
    let report = full();
    fs::write(&path, "old").unwrap();
    let mut broken = report.clone();
    broken.rows[0].case.n = 0;
    let refusal = save(&broken, &path).unwrap_err().to_string();
    assert!(refusal.contains("it could not be read again") && refusal.contains("n is 0"), "{refusal}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    save(&report, &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), to_json(&report).unwrap());
    assert_eq!(load(folder.path()).unwrap(), report);
    let message = save(&report, Path::new("/nonexistent/r.json")).unwrap_err().to_string();
    assert!(message.contains("/nonexistent/r.json"), "{message}");
}

#[test]
fn renamed_variants_of_an_older_report_load_under_their_present_names() {
    let mut report = full();
    let row = report.rows.first_mut().unwrap();
    (row.backend, row.variant, row.picked) = ("cuda".into(), "auto".into(), Some("widened".into()));
    let read = read_again(&report);
    assert_eq!(read.rows[0].variant_text(), "auto (f64-accumulate)");
    report.rows[0].backend = "sim".into();
    assert_eq!(read_again(&report).rows[0].picked.as_deref(), Some("widened"));
}

#[test]
fn a_file_of_too_many_values_is_refused_wherever_they_are() {
    let mut report = serde_json::to_value(full()).unwrap();
    report["rows"][0]["unknown"] = "here".into();
    let text = report.to_string();
    let (from, to) = text.split_once("\"here\"").unwrap();
    let with = |count: usize| format!("{from}[{}0]{to}", "0,".repeat(count));
    assert!(parse(&Content::of(with(1000))).is_ok());
    let refused = parse(&Content::of(with(20 << 20))).unwrap_err();
    assert!(format!("{refused:#}").contains("too many short values"), "{refused:#}");
}

#[test]
fn a_report_that_gzip_has_compressed_is_read() {
    let (folder, plain) = place();
    let path = folder.path().join(COMPRESSED_NAME);
    let report = full();
    let bytes = to_json_gz(&report).unwrap();
    assert!(!is_in(folder.path()));
    fs::write(&path, &bytes).unwrap();
    assert!(is_in(folder.path()));
    assert_eq!(load(folder.path()).unwrap(), report);
    save(&report, &plain).unwrap();
    assert_eq!(locate(folder.path()), plain, "the one that needs no inflating");
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(load(&path).is_err());
}

#[test]
fn compressed_text_has_a_limit_of_its_own() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), to_json_gz(&"x".repeat(100_000)).unwrap()).unwrap();
    let length = fs::metadata(file.path()).unwrap().len();
    assert!(length < 1000);
    let content = Content::open(file.path(), 10_000).unwrap().unwrap();
    assert!(content.parse::<String>().unwrap_err().to_string().contains("longer than"));
    assert!(Content::open(file.path(), 200_000).unwrap().unwrap().parse::<String>().is_ok());
}
