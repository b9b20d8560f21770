//! The commands other than `run`: `list`, `schema`, `completions` and help.

use serde_json::Value;

use super::{Ended, Folder, assert_contains, assert_lacks, items};

/// Runs the program, which must succeed and write nothing to stderr; returns its stdout.
#[track_caller]
fn stdout(line: &str) -> String {
    let ended = Folder::new().succeeds(line);
    assert_eq!(ended.stderr, "", "{line}");
    ended.stdout
}

#[track_caller]
fn json(line: &str) -> Value {
    serde_json::from_str(&stdout(line)).unwrap()
}

fn names(entries: &Value) -> Vec<&str> {
    items(entries).iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

/// Asserts that the texts occur in this order.
#[track_caller]
fn assert_in_order(text: &str, parts: &[&str]) {
    assert_contains(text, parts);
    assert!(parts.iter().map(|part| text.find(part)).is_sorted(), "{parts:?}: {text}");
}

#[test]
fn list_names_every_op_and_backend_for_people_and_for_programs() {
    let (text, json) = (stdout("list"), json("list --json"));
    assert_eq!(names(&json["backends"]), gpubench::settings::names::backend_names());
    assert_eq!(names(&json["ops"]).len(), gpubench::op::OPS.len());
    for name in names(&json["backends"]) {
        assert_contains(&text, &[&format!("\n{name} ")]);
    }
    let heads: Vec<String> = names(&json["ops"]).iter().map(|op| format!("\n{op}: ")).collect();
    assert_in_order(&text, &heads.iter().map(String::as_str).collect::<Vec<_>>());
    for variant in items(&json["variants"]) {
        for key in ["op", "backend", "name", "summary", "side", "accuracy", "default", "dtypes"] {
            assert!(!variant[key].is_null(), "{key} of {variant}");
        }
    }
}

#[test]
fn list_of_some_ops_has_their_variants_alone_in_the_order_of_the_registry() {
    let text = stdout("list spmv");
    assert!(text.starts_with("spmv: "), "{text}");
    assert_contains(&text, &["(density 0.05)", "cuda/vector", "threads per row"]);
    assert_lacks(&text, &["matmul", "\nBackend"]);
    let of_one = json("list spmv --json");
    assert_eq!(names(&of_one["ops"]), ["spmv"]);
    let variants = items(&of_one["variants"]);
    assert!(!variants.is_empty() && variants.iter().all(|variant| variant["op"] == "spmv"), "{variants:?}");

    let two = stdout("list fft matmul");
    assert_eq!(two, stdout("list matmul,fft"));
    assert_contains(&two, &["cublas", "realfft"]);
    assert_lacks(&two, &["gesvd"]);
    assert_eq!(names(&json("list fft matmul --json")["ops"]), ["matmul", "fft"]);
}

#[test]
fn no_line_of_list_is_longer_than_the_terminal() {
    let folder = Folder::new();
    let text =
        |line: &str, columns: &str| Ended::of(folder.command(line).env("COLUMNS", columns)).good().stdout;
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    for columns in ["60", "80", "120", "200"] {
        for line in ["list", "list svd", "list matmul fft"] {
            let text = text(line, columns);
            assert!(longest(&text) <= columns.parse().unwrap(), "{columns} {line}: {text}");
        }
    }
    assert_eq!(
        super::flat(&text("list", "60")),
        super::flat(&text("list", "300")),
        "every word is in a narrow one"
    );
    assert!(longest(&stdout("list")) <= 80, "without a terminal it is as wide as other texts");
}

#[test]
fn colours_are_those_that_were_asked_for() {
    let folder = Folder::new();
    folder.fair("--ops fft --sizes 4,8", "made");
    let is_coloured = |line: &str, variable: Option<(&str, &str)>| {
        let mut command = folder.command(line);
        command.env_remove("NO_COLOR").env("TERM", "xterm").envs(variable);
        Ended::of(&mut command).good().stdout.contains('\x1b')
    };
    // The option comes before the variables, and other formats have no colours.
    for (line, variable, expected) in [
        ("show made --color always", None, true),
        ("show made --color always", Some(("NO_COLOR", "1")), true),
        ("show made --color always", Some(("TERM", "dumb")), true),
        ("compare made made --accept-missing --color always", None, true),
        ("show made --color always --format md", None, false),
        ("show made", None, false),
        ("show made --color auto", None, false),
        ("show made --color never", None, false),
        ("show made --no-color", None, false),
    ] {
        assert_eq!(is_coloured(line, variable), expected, "{line} {variable:?}");
    }
    folder.refuses("show made --color always --no-color", "cannot be used with");
    // On a terminal of its own.
    let on_terminal = |term: &str, line: &str| {
        let mut command = folder.command_of("script", "-q -e -c");
        command.arg(format!("{} {line}", super::GPUBENCH)).arg("/dev/null");
        let output =
            command.env_remove("NO_COLOR").env("TERM", term).stdin(std::process::Stdio::null()).output();
        output.ok().filter(|output| output.status.success()).map(|output| output.stdout.contains(&0x1b))
    };
    if on_terminal("xterm", "show made") == Some(true) {
        assert_eq!(on_terminal("dumb", "show made"), Some(false));
        assert_eq!(on_terminal("xterm", "show made --color never"), Some(false));
    }
}

/// Opening a BLAS or asking a driver would take longer than the rest of the command.
#[cfg(target_env = "gnu")]
#[test]
fn list_opens_no_library() {
    let opened = Ended::of(Folder::new().command("list").env("LD_DEBUG", "files")).good();
    assert_lacks(&opened.complains(&["libc.so"]).stderr, &["dynamically loaded"]);
}

#[test]
fn every_shell_gets_a_completion_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&format!("completions {shell}"));
        assert_contains(&script, &["doctor", "cell-timeout"]);
        assert_lacks(&script, &["Serve one backend"]);
    }
    let bash = stdout("completions bash");
    assert_contains(
        &bash,
        &["matmul", "cpu cuda sim numpy", "f32 f64 bf16 f16 c64 c128 all", "cold hot both"],
    );
    assert_contains(&bash, &["both pageable pinned", "quick article", "table json csv", "png svg"]);
    // The words change neither help nor messages.
    assert_lacks(&stdout("help run"), &["possible values: matmul"]);
}

#[test]
fn help_teaches_by_example_and_hides_what_is_internal() {
    let help = stdout("--help");
    assert_contains(&help, &["gpubench run --ops"]);
    assert_lacks(&help, &["worker"]);
    let groups = [
        ["Measure:\n", "\n  run ", "\n  doctor "],
        ["\nLook at results:\n", "\n  show ", "\n  trend "],
        ["\nGate changes:\n", "\n  compare ", "\n  baseline "],
        ["\nTools:\n", "\n  schema ", "\n  man "],
    ];
    assert_in_order(&help, groups.as_flattened());
    assert_eq!(help, stdout("help"));
    let common = stdout("run --help");
    let shown =
        ["gpubench run article", "64..4096:x2", "Exit codes", "--dry-run", "gpubench run --help --all"];
    assert_contains(&common, &shown);
    assert_lacks(&common, &["--no-peaks"]);
    let all = stdout("run --help --all");
    assert_contains(&all, &["[[sweep]]", "--require cuda", "--no-peaks", "Exit codes"]);
    assert_eq!(all, stdout("help run"));
    assert!(stdout("--version").starts_with("gpubench "));

    let shown = ["Usage: gpubench baseline <COMMAND>", "  save ", "  list ", "  show "];
    assert_eq!(Folder::new().run_line("baseline").exits(2).complains(&shown).stdout, "");
}

#[test]
fn help_fits_a_terminal() {
    assert!(stdout("--help").lines().count() <= 34);
    let of_run = stdout("run --help");
    let options = of_run.lines().filter(|line| line.starts_with("      --") || line.starts_with("  -o, --"));
    assert_eq!(options.count(), 12, "{of_run}");
    let commands = "run list doctor compare baseline show merge plot report trend schema completions man";
    for command in commands.split(' ') {
        let help = stdout(&format!("help {command}"));
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{command}: {long:?}");
    }
}

#[test]
fn every_command_has_a_manual_page_and_every_document_its_schema() {
    let main = stdout("man");
    assert_contains(&main, &[".TH gpubench", "doctor"]);
    assert_lacks(&main, &["worker"]);
    assert_contains(&stdout("man run"), &[".TH gpubench-run", "\\-\\-cell\\-timeout"]);
    assert_eq!(stdout("schema"), gpubench::report::SCHEMA);
    assert_eq!(stdout("schema fleet"), gpubench::fleet::SCHEMA);
    assert!(json("schema")["properties"]["rows"].is_object());
}

#[test]
fn doctor_begins_with_what_decides_about_times() {
    let (text, found) = (stdout("doctor"), json("doctor --json"));
    let own = gpubench::backend::BACKENDS.iter().map(|backend| backend.name);
    assert_eq!(names(&found["backends"]), own.chain(["python"]).collect::<Vec<_>>());
    assert_in_order(
        &text,
        &["CPU: ", "\nTiming conditions\n", "\nmemory ", "\ncpu: ", "\ncuda: ", "\npython: "],
    );
}

/// Returns the path of a BLAS library of this machine, by its name in `doctor`.
fn library(found: &Value, name: &str) -> Option<String> {
    let findings = found["backends"][0]["findings"].as_array()?;
    let finding = findings.iter().find(|finding| finding["name"] == name)?;
    Some(finding["path"].as_str()?.to_owned())
}

#[test]
fn a_library_that_is_named_takes_the_plain_name() {
    let found = json("doctor --json");
    // A library that would otherwise have variants of its own, if there is one.
    let names = ["OpenBLAS (system)", "OpenBLAS (scipy)", "OpenBLAS (numpy)", "OpenBLAS"];
    let Some(path) = names.iter().find_map(|name| library(&found, name)) else { return };
    assert_eq!(library(&json(&format!("doctor --json --blas {path}")), "OpenBLAS"), Some(path.clone()));

    let folder = Folder::new();
    let sweep =
        "run --ops matmul,solve,svd --sizes 9 --backends cpu --variants openblas --samples 1 --warmup 0";
    folder.succeeds(&format!("{sweep} --no-peaks --quiet --format json --out out --blas {path}"));
    let report = folder.read("out/report.json");
    assert_eq!(report.matches("\"outcome\": \"measured\"").count(), 3);
    assert_contains(&report, &[&format!("\"path\": \"{path}\"")]);
}

#[test]
fn a_damaged_driver_is_not_called_a_missing_one() {
    let folder = Folder::new();
    folder.write("libcuda.so.1", "no library");
    let mut command = folder.command("run --backends cuda --ops sin --sizes 8 --no-peaks --out new");
    let ended = Ended::of(command.env("LD_LIBRARY_PATH", folder.path())).exits(2);
    ended.complains(&["libcuda.so.1) cannot be loaded", "reinstall the NVIDIA driver"]);
}
