//! The commands other than `run`: `list`, `schema`, `completions` and help.

use super::{Ended, Folder};

/// Runs the program, which must succeed and write nothing to stderr; returns its stdout.
fn stdout(args: &[&str]) -> String {
    let ended = Folder::new().run(args).good();
    assert_eq!(ended.stderr, "", "{args:?}");
    ended.stdout
}

#[test]
fn list_names_every_op_and_backend_for_people_and_for_programs() {
    let text = stdout(&["list"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&["list", "--json"])).unwrap();
    let names = |key: &str| -> Vec<String> {
        let entries = json[key].as_array().unwrap().iter();
        entries.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("backends"), gpubench::settings::names::backend_names());
    assert_eq!(names("ops").len(), gpubench::op::OPS.len());
    for name in names("backends") {
        assert!(text.contains(&format!("\n{name} ")), "{name}: {text}");
    }
    let heads = names("ops").iter().map(|op| text.find(&format!("\n{op}: "))).collect::<Option<Vec<_>>>();
    assert!(heads.is_some_and(|heads| heads.is_sorted()), "a block per op: {text}");
    for variant in json["variants"].as_array().unwrap() {
        for key in ["op", "backend", "name", "summary", "side", "accuracy", "default", "dtypes"] {
            assert!(!variant[key].is_null(), "{key} of {variant}");
        }
    }
}

#[test]
fn list_of_one_op_has_its_variants_alone() {
    let text = stdout(&["list", "spmv"]);
    assert!(text.starts_with("spmv: ") && text.contains("(density 0.05)"), "{text}");
    assert!(text.contains("cuda/vector") && text.contains("threads per row"), "{text}");
    assert!(!text.contains("matmul") && !text.contains("\nBackend"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&stdout(&["list", "spmv", "--json"])).unwrap();
    assert_eq!(json["ops"].as_array().map(Vec::len), Some(1));
    let variants = json["variants"].as_array().unwrap();
    assert!(!variants.is_empty() && variants.iter().all(|variant| variant["op"] == "spmv"), "{variants:?}");
    let folder = Folder::new();
    folder.refuses("list matmull", "unknown op 'matmull': did you mean 'matmul'?");
}

#[test]
fn list_takes_several_ops_in_the_order_of_the_registry() {
    let apart = stdout(&["list", "fft", "matmul"]);
    assert_eq!(apart, stdout(&["list", "matmul,fft"]));
    assert!(apart.contains("cublas") && apart.contains("realfft") && !apart.contains("gesvd"), "{apart}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["list", "fft", "matmul", "--json"])).unwrap();
    let ops: Vec<&str> =
        json["ops"].as_array().unwrap().iter().map(|op| op["name"].as_str().unwrap()).collect();
    assert_eq!(ops, ["matmul", "fft"]);
    Folder::new().refuses("list matmul ftt", "unknown op 'ftt': did you mean 'fft'?");
}

#[test]
fn no_line_of_list_is_longer_than_the_terminal() {
    let folder = Folder::new();
    for columns in ["60", "80", "120", "200"] {
        for line in ["list", "list svd", "list matmul fft"] {
            let text = Ended::of(folder.command(line).env("COLUMNS", columns)).good().stdout;
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= columns.parse().unwrap(), "{columns} {line}: {text}");
        }
    }
    // Every word of a wide list is in a narrow one.
    let words = |columns: &str| {
        let text = Ended::of(folder.command("list").env("COLUMNS", columns)).good().stdout;
        text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words("60"), words("300"));
    // Without a terminal it is as wide as other texts.
    assert!(stdout(&["list"]).lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn colours_are_those_that_were_asked_for() {
    let folder = Folder::new();
    let sim = "--backends sim --sim fair.toml --samples 6 --no-peaks --quiet --format json";
    folder.succeeds(&format!("run --ops fft --sizes 4,8 {sim} --out made"));
    let is_coloured = |line: &str, variable: Option<(&str, &str)>| {
        let mut command = folder.command(line);
        command.env_remove("NO_COLOR").env("TERM", "xterm").envs(variable);
        Ended::of(&mut command).good().stdout.contains('\x1b')
    };
    assert!(is_coloured("show made --color always", None));
    assert!(is_coloured("show made --color always", Some(("NO_COLOR", "1"))), "the option comes first");
    assert!(is_coloured("show made --color always", Some(("TERM", "dumb"))));
    for plain in ["show made", "show made --color auto", "show made --color never", "show made --no-color"] {
        assert!(!is_coloured(plain, None), "{plain}");
    }
    assert!(!is_coloured("show made --color always --format md", None), "other formats have no colours");
    let (same, sizes) = ("compare made made", "--accept-missing");
    assert!(is_coloured(&format!("{same} {sizes} --color always"), None));
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
    let opened = Ended::of(Folder::new().command("list").env("LD_DEBUG", "files")).good().stderr;
    assert!(opened.contains("libc.so"), "the loader reports no file: {opened}");
    let by_itself: Vec<&str> = opened.lines().filter(|line| line.contains("dynamically loaded")).collect();
    assert_eq!(by_itself, [""; 0]);
}

#[test]
fn every_shell_gets_a_completion_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("doctor") && script.contains("cell-timeout"), "{shell}");
        assert!(!script.contains("Serve one backend"), "{shell} offers a hidden command");
    }
    let bash = stdout(&["completions", "bash"]);
    for words in [
        "matmul",
        "cpu cuda sim numpy",
        "f32 f64 all",
        "cold hot both",
        "both pageable pinned",
        "quick article",
    ] {
        assert!(bash.contains(words), "{words}");
    }
    for format in ["table json csv", "png svg"] {
        assert!(bash.contains(format), "{format}");
    }
    // The words change neither help nor messages.
    assert!(!stdout(&["help", "run"]).contains("possible values: matmul"));
}

#[test]
fn help_teaches_by_example_and_hides_what_is_internal() {
    let help = stdout(&["--help"]);
    assert!(help.contains("gpubench run --ops") && !help.contains("worker"), "{help}");
    let common = stdout(&["run", "--help"]);
    for shown in
        ["gpubench run article", "64..4096:x2", "Exit codes", "--dry-run", "gpubench run --help --all"]
    {
        assert!(common.contains(shown), "{shown}");
    }
    assert!(!common.contains("--no-peaks"));
    let all = stdout(&["run", "--help", "--all"]);
    for shown in ["[[sweep]]", "--require cuda", "--no-peaks", "Exit codes"] {
        assert!(all.contains(shown), "{shown}");
    }
    assert_eq!(all, stdout(&["help", "run"]));
    assert!(!all.contains("--isolate"));
    assert!(stdout(&["--version"]).starts_with("gpubench "));
}

#[test]
fn the_help_lists_the_commands_by_what_they_are_for() {
    let help = stdout(&["--help"]);
    let place = |word: &str| help.find(word).unwrap_or_else(|| panic!("{word}: {help}"));
    for groups in [
        ["Measure:\n", "\n  run ", "\n  doctor "],
        ["\nLook at results:\n", "\n  show ", "\n  trend "],
        ["\nGate changes:\n", "\n  compare ", "\n  baseline "],
        ["\nTools:\n", "\n  protocol-check ", "\n  man "],
    ]
    .windows(2)
    {
        let places = groups.as_flattened().iter().map(|word| place(word)).collect::<Vec<_>>();
        assert!(places.is_sorted(), "{help}");
    }
    assert_eq!(help, stdout(&["help"]));
}

#[test]
fn help_fits_a_terminal() {
    assert!(stdout(&["--help"]).lines().count() <= 34);
    let of_run = stdout(&["run", "--help"]);
    let options = of_run.lines().filter(|line| line.starts_with("      --") || line.starts_with("  -o, --"));
    assert_eq!(options.count(), 10, "{of_run}");
    for command in [
        "run",
        "list",
        "doctor",
        "compare",
        "baseline",
        "show",
        "merge",
        "plot",
        "report",
        "trend",
        "protocol-check",
        "schema",
        "completions",
        "man",
    ] {
        let help = stdout(&["help", command]);
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{command}: {long:?}");
    }
}

#[test]
fn baseline_alone_lists_what_can_be_done_with_baselines() {
    let Ended { code, stdout, stderr: help } = Folder::new().run(&["baseline"]);
    assert_eq!((code, stdout.as_str()), (2, ""), "{help}");
    for shown in ["Usage: gpubench baseline <COMMAND>", "  save ", "  list ", "  show "] {
        assert!(help.contains(shown), "{shown}: {help}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let main = stdout(&["man"]);
    assert!(main.contains(".TH gpubench") && main.contains("doctor") && !main.contains("worker"), "{main}");
    let of_run = stdout(&["man", "run"]);
    assert!(of_run.contains(".TH gpubench-run") && of_run.contains("\\-\\-cell\\-timeout"), "{of_run}");
    Folder::new().refuses("man rnu", "unknown command 'rnu': did you mean 'run'?");
}

#[test]
fn schema_is_the_published_one() {
    assert_eq!(stdout(&["schema"]), gpubench::report::SCHEMA);
    assert_eq!(stdout(&["schema", "fleet"]), gpubench::fleet::SCHEMA);
    let schema: serde_json::Value = serde_json::from_str(gpubench::report::SCHEMA).unwrap();
    assert!(schema["properties"]["rows"].is_object());
}

#[test]
fn doctor_examines_every_backend_whatever_is_installed() {
    let found: serde_json::Value = serde_json::from_str(&stdout(&["doctor", "--json"])).unwrap();
    let names: Vec<&str> = found["backends"]
        .as_array()
        .unwrap()
        .iter()
        .map(|backend| backend["name"].as_str().unwrap())
        .collect();
    let own = gpubench::backend::BACKENDS.iter().map(|backend| backend.name);
    assert_eq!(names, own.chain(["python"]).collect::<Vec<_>>());
}

#[test]
fn doctor_begins_with_what_decides_about_times_and_folds_libraries_that_cannot_help() {
    let text = stdout(&["doctor"]);
    let found: serde_json::Value = serde_json::from_str(&stdout(&["doctor", "--json"])).unwrap();
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    let places =
        ["CPU: ", "\nTiming conditions\n", "\nmemory ", "\ncpu: ", "\ncuda: ", "\npython: "].map(place);
    assert!(places.is_sorted(), "{text}");
    let cuda = found["backends"].as_array().unwrap().iter().find(|backend| backend["name"] == "cuda");
    let has_driver = cuda.unwrap()["findings"][0]["problem"].is_null();
    let folded = text.contains("CUDA's libraries are of no use without a driver: ");
    assert_eq!(folded, !has_driver, "{text}");
}

/// Returns the path of a BLAS library of this machine, by its name in `doctor`.
fn library(found: &serde_json::Value, name: &str) -> Option<String> {
    let findings = found["backends"][0]["findings"].as_array()?;
    let finding = findings.iter().find(|finding| finding["name"] == name)?;
    Some(finding["path"].as_str()?.to_owned())
}

#[test]
fn a_library_that_is_named_takes_the_plain_name() {
    let found: serde_json::Value = serde_json::from_str(&stdout(&["doctor", "--json"])).unwrap();
    // A library that would otherwise have variants of its own, if there is one.
    let names = ["OpenBLAS (system)", "OpenBLAS (scipy)", "OpenBLAS (numpy)", "OpenBLAS"];
    let Some(path) = names.iter().find_map(|name| library(&found, name)) else { return };
    let named = stdout(&["doctor", "--json", "--blas", &path]);
    assert_eq!(library(&serde_json::from_str(&named).unwrap(), "OpenBLAS"), Some(path.clone()));

    let folder = Folder::new();
    let sweep =
        "run --ops matmul,solve,svd --sizes 9 --backends cpu --variants openblas --samples 1 --warmup 0";
    folder.succeeds(&format!("{sweep} --no-peaks --quiet --format json --out out --blas {path}"));
    let report = folder.read("out/report.json");
    assert_eq!(report.matches("\"outcome\": \"measured\"").count(), 3);
    assert!(report.contains(&format!("\"path\": \"{path}\"")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_damaged_driver_is_not_called_a_missing_one() {
    let folder = Folder::new();
    folder.write("libcuda.so.1", "no library");
    let mut command = folder.command("run --backends cuda --ops sin --sizes 8 --no-peaks --out new");
    let ended = Ended::of(command.env("LD_LIBRARY_PATH", folder.path()));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("libcuda.so.1) cannot be loaded"), "{}", ended.stderr);
    assert!(ended.stderr.contains("reinstall the NVIDIA driver"), "{}", ended.stderr);
}
