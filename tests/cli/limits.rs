//! Files, names and dates that nobody needs: they are refused, or shown in seconds and without control characters.

use gpubench_text::control::is_harmful;
use serde_json::Value;

use super::{Ended, Folder};

/// Seconds of CPU time: far above those of each command here, and far below those of one that is quadratic in the length of a name.
const CPU_LIMIT_S: u32 = 10;

/// A report of a small run, with this change.
fn changed(folder: &Folder, name: &str, change: &dyn Fn(&mut Value)) {
    if !folder.has("made") {
        folder.fair("--ops fft,matmul --sizes 4,8,16", "made");
    }
    let mut report = folder.report("made");
    change(&mut report);
    folder.write(name, &report.to_string());
}

/// Runs the words of a line as arguments of the program, which the kernel kills beyond the limit, however busy the machine is.
fn within_limit(folder: &Folder, line: &str) -> Ended {
    folder.shell(&format!("ulimit -t {CPU_LIMIT_S}; exec $G {line}")).complains(&[])
}

/// The commands that read reports and write them in another form.
const READING: [&str; 9] = [
    "show FILE",
    "show FILE --tables",
    "show FILE --format csv",
    "plot FILE --out plot --force --format png,svg",
    "report FILE --out page.html --force",
    "trend FILE other.json --out trend --force --format table,png,svg",
    "merge FILE --out fleet.json --force",
    "compare FILE FILE",
    "report FILE other.json --out page.html --force",
];

#[test]
fn names_of_ten_thousand_letters_are_read_and_drawn_in_seconds() {
    let folder = Folder::new();
    changed(&folder, "long.json", &|report| {
        report["environment"]["host"]["name"] = "h".repeat(10_000).into();
        for row in report["rows"].as_array_mut().unwrap() {
            row["variant"] = format!("{}{}", "v".repeat(10_000), row["variant"]).into();
        }
    });
    let mut other = folder.json("long.json");
    other["environment"]["started"] = "2030-01-01T00:00:00Z".into();
    folder.write("other.json", &other.to_string());
    for line in READING {
        within_limit(&folder, &line.replace("FILE", "long.json")).good();
    }
    for file in folder.names_in("trend").iter().filter(|name| name.ends_with("svg")) {
        let has_whole_name = folder.read(&format!("trend/{file}")).contains(&"v".repeat(1000));
        assert!(!has_whole_name, "{file}");
    }
}

#[test]
fn control_characters_of_paths_are_spelled_out() {
    let folder = Folder::new();
    changed(&folder, "report.json", &|_| {});
    let path = "\u{1b}]0;x\u{7}\u{9b}31m\n\u{202e}";
    let file = format!("{path}.json");
    for args in [
        &["show", path, "--format", "json"][..],
        &["plot", "report.json", "--format", "svg", "--out", path],
        &["merge", "report.json", "--out", &file],
    ] {
        let stderr = folder.run(args).stderr;
        assert!(stderr.contains("\\u{1b}]0;x\\u{7}\\u{9b}31m\\n\\u{202e}"), "{stderr:?}");
        assert!(!stderr.replace('\n', "").contains(is_harmful), "{stderr:?}");
    }
}

#[test]
fn files_that_are_too_large_are_refused_with_the_limit() {
    let folder = Folder::new();
    folder.fair("--ops fft --sizes 4", "made");
    std::fs::File::create(folder.path().join("large.toml")).unwrap().set_len(17 << 20).unwrap();
    folder.refuses_each(
        "",
        "run --config large.toml => it is larger than 16 MiB; name a TOML file
        run --ops fft --sizes 4 --backends sim --out x --sim large.toml => name a script for the sim backend: it is larger \
         than 16 MiB
        compare made made --policy large.toml => it is larger than 16 MiB; name a TOML file",
    );
    let journal = std::fs::File::create(folder.path().join("made/journal.jsonl")).unwrap();
    journal.set_len(65 << 20).unwrap();
    folder.refuses("run --resume made", "remove the file to go on with report.json");
    std::fs::remove_file(folder.path().join("made/journal.jsonl")).unwrap();
    folder.shell("mkfifo made/journal.jsonl").good();
    folder.refuses("run --resume made", "it is not an ordinary file");
    folder.refuses("run --ops fft --blas made/journal.jsonl", "cannot be read: it is not a file");
    folder.refuses("run --config /dev/zero", "it is larger than 16 MiB; name a TOML file");
    folder
        .shell("exec $G run --config <(echo 'ops = \"fft\"') --backends sim --sim fair.toml --dry-run")
        .good();
}
