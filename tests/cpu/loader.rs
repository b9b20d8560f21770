//! Parses the output of the dynamic loader about a run (`LD_DEBUG`): the libraries that each process loads, in order,
//! and the library that provides each routine that a library calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The files of one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// A word for messages.
    pub name: String,
    folder: PathBuf,
    /// The prefix of its file names.
    files: String,
}

impl Family {
    /// Returns the library of an entry in the `libraries` of a report.
    fn of(library: &Value) -> Family {
        let (name, path) = (library["name"].as_str().unwrap(), Path::new(library["path"].as_str().unwrap()));
        let file = path.file_name().unwrap().to_str().unwrap();
        // MKL is a folder of parts, and FFTW a file per element type; other libraries are one file.
        let (name, files) = match name {
            name if name.starts_with("FFTW") => ("FFTW", "libfftw3"),
            name if file.starts_with("libmkl_") => (name, "libmkl_"),
            name => (name, file),
        };
        Family { name: name.into(), folder: path.parent().unwrap().into(), files: files.into() }
    }

    fn has(&self, file: &Path) -> bool {
        file.parent() == Some(&self.folder)
            && file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&self.files))
    }

    fn has_intel_openmp(&self) -> bool {
        self.files == "libmkl_"
    }
}

/// A finished run of the program, as described by the report and the loader.
pub(crate) struct Traced {
    pub report: Value,
    /// The libraries that the report names.
    pub families: Vec<Family>,
    pub processes: Vec<Process>,
}

/// The actions of the loader in one process.
#[derive(Default)]
pub(crate) struct Process {
    /// The libraries that the process loaded, as positions in the list of families, in order.
    pub loaded: Vec<usize>,
    /// Number of routines that a library found in itself, by family.
    pub own: HashMap<usize, usize>,
    /// Descriptions of routines that a library found in another one, or of a foreign OpenMP.
    pub foreign: Vec<String>,
}

/// Runs `gpubench` with these arguments and loader output; `prepare` sets its environment.
pub(crate) fn trace(words: &str, prepare: impl Fn(&mut Command)) -> Traced {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(crate::cli::GPUBENCH);
    command.args(words.split_whitespace()).args(["--format", "json", "--out", "-", "--quiet"]);
    prepare(&mut command);
    command.env("LD_DEBUG", "bindings,files").env("LD_DEBUG_OUTPUT", folder.path().join("trace"));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
    let backends = report["environment"]["backends"].as_array().unwrap();
    let mut families: Vec<Family> = vec![];
    for library in backends.iter().flat_map(|backend| backend["libraries"].as_array().unwrap()) {
        let family = Family::of(library);
        if !families.contains(&family) {
            families.push(family);
        }
    }
    // File names contain the process id, so they sort by start.
    let mut files: Vec<(u32, PathBuf)> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| Some((path.extension()?.to_str()?.parse().ok()?, path)))
        .collect();
    files.sort_unstable();
    let processes = files.iter().map(|(_, path)| Process::read(path, &families)).collect();
    Traced { report, families, processes }
}

impl Process {
    fn read(trace: &Path, families: &[Family]) -> Process {
        let mut process = Process::default();
        let mut known: HashMap<String, Object> = HashMap::new();
        let text = String::from_utf8_lossy(&std::fs::read(trace).unwrap()).into_owned();
        for line in text.lines() {
            if let Some(file) = between(line, "file=", " [").filter(|_| line.ends_with("generating link map"))
            {
                let object = known.entry(file.into()).or_insert_with(|| Object::of(file, families));
                process.loaded.extend(object.family.filter(|family| !process.loaded.contains(family)));
            } else if let (Some(from), Some(to), Some(routine)) =
                (between(line, "binding file ", " ["), between(line, " to ", " ["), between(line, "`", "'"))
            {
                let [from, to] = [from, to].map(|file| {
                    known.entry(file.into()).or_insert_with(|| Object::of(file, families)).clone()
                });
                process.note(&from, &to, routine, families);
            }
        }
        process
    }

    fn note(&mut self, from: &Object, to: &Object, routine: &str, families: &[Family]) {
        let Some(family) = from.family else { return };
        if to.family == Some(family) {
            *self.own.entry(family).or_default() += 1;
        } else if to.family.is_some() || to.is_intel_openmp && !families[family].has_intel_openmp() {
            self.foreign.push(format!("{routine} of {} is {}'s", from.path.display(), to.path.display()));
        }
    }
}

/// A file in the output of the loader.
#[derive(Clone)]
struct Object {
    path: PathBuf,
    family: Option<usize>,
    is_intel_openmp: bool,
}

impl Object {
    fn of(file: &str, families: &[Family]) -> Object {
        let path = Path::new(file).canonicalize().unwrap_or_else(|_| file.into());
        let family = families.iter().position(|family| family.has(&path));
        Object { family, is_intel_openmp: file.contains("/libiomp5.so"), path }
    }
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    line.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}
