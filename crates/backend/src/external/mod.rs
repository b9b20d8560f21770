//! External backends: the adapters for Python libraries, which this program contains, and programs that the user names. Says
//! how each is started; starts nothing.

mod command;
mod python;

pub use command::NamedCommand;
pub use python::{Python, interpreter};

use std::sync::{Arc, LazyLock};

use crate::{External, Program};

/// A backend that an adapter in Python serves.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
}

const fn adapter(name: &'static str, summary: &'static str) -> Adapter {
    Adapter { name, summary }
}

/// Every adapter, in the order reports use.
pub static ADAPTERS: [Adapter; 8] = [
    adapter("numpy", "NumPy and SciPy on the CPU"),
    adapter("torch-cpu", "PyTorch on the CPU"),
    adapter("jax-cpu", "JAX on the CPU"),
    adapter("cupy", "CuPy on the GPU"),
    adapter("torch", "PyTorch on a CUDA or ROCm GPU"),
    adapter("torch-xpu", "PyTorch on an Intel GPU (not tested)"),
    adapter("torch-mps", "PyTorch on an Apple GPU (not tested)"),
    adapter("jax", "JAX on its default device"),
];

macro_rules! package {
    ($($name:literal),* $(,)?) => {
        /// The Python package of the adapters: each file's name and source.
        pub static PACKAGE: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../adapters/gpubench_adapter/", $name)))),*];
    };
}

package![
    "__init__.py",
    "accelerator.py",
    "answers.py",
    "backend.py",
    "caches.py",
    "cupy_backend.py",
    "device_clock.py",
    "errors.py",
    "generator.py",
    "host.py",
    "host_clock.py",
    "jax_backend.py",
    "job.py",
    "numpy_backend.py",
    "operands.py",
    "own_job.py",
    "own_judge.py",
    "own_mtx.py",
    "own_op.py",
    "registry.py",
    "sampling.py",
    "session.py",
    "storage.py",
    "torch_backend.py",
    "torch_jobs.py",
    "worker.py",
];

/// The program that installs the package in an interpreter and runs an adapter of it.
const BOOTSTRAP: &str = include_str!("../../adapters/gpubench_adapter/bootstrap.py");

/// The package as one line of JSON.
static PREFACE: LazyLock<Arc<str>> = LazyLock::new(|| {
    let files = PACKAGE.iter().map(|(name, source)| ((*name).to_owned(), (*source).into()));
    serde_json::Value::Object(files.collect()).to_string().into()
});

impl Adapter {
    /// Returns the adapter of that name.
    pub fn find(name: &str) -> Option<&'static Adapter> {
        ADAPTERS.iter().find(|adapter| adapter.name == name)
    }

    /// Returns one adapter per library: that of its default device.
    pub fn of_libraries() -> impl Iterator<Item = &'static Adapter> {
        ADAPTERS.iter().filter(|adapter| !adapter.name.contains('-'))
    }

    /// Returns the program that runs it in that interpreter.
    pub fn program(&self, python: &Python) -> Program {
        python_program(python, self.name)
    }
}

/// Returns the program that describes operations of the user's own and judges answers to them.
pub fn program_of_ops(python: &Python) -> Program {
    python_program(python, OPS)
}

/// Returns the same program in the interpreter of the adapters among `externals`, which all run in one; `None` without an adapter.
pub fn judge_of_ops(externals: &[External]) -> Option<Program> {
    let mut program = externals.iter().find(|external| external.program.preface.is_some())?.program.clone();
    program.arguments.pop();
    program.arguments.push(OPS.into());
    Some(program)
}

/// The name by which the package serves operations of the user's own.
const OPS: &str = "ops";

/// Returns the program that runs the package under that name.
fn python_program(python: &Python, name: &str) -> Program {
    // -P keeps the current folder off the search path: no file of the user's project may stand in for a library.
    let isolation = if python.keeps_folder_off { &["-P"][..] } else { &[] };
    let arguments = isolation.iter().chain(&["-u", "-c", BOOTSTRAP, name]).map(Into::into).collect();
    Program { path: python.path.clone(), called: None, arguments, preface: Some(Arc::clone(&PREFACE)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_module_of_the_current_folder_is_imported_before_python_3_11() {
        use std::io::{BufRead, BufReader, Write};
        use std::process::{Command, Stdio};
        let folder = tempfile::tempdir().unwrap();
        let modules =
            ["importlib", "json", "linecache", "abc", "shlex", "threading", "numpy", "gpubench_adapter"];
        for module in modules {
            std::fs::write(folder.path().join(format!("{module}.py")), "open('imported', 'w')\n").unwrap();
        }
        // As for a Python that lacks the option -P.
        let python = Python { path: "python3".into(), version: "3.10.0".into(), keeps_folder_off: false };
        let program = Adapter::find("numpy").unwrap().program(&python);
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).current_dir(folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{}\n{{\"type\":\"describe\"}}", program.preface.unwrap()).unwrap();
        let mut reply = String::new();
        // The adapter ends as soon as its input does.
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut reply).unwrap();
        drop(stdin);
        child.wait().unwrap();
        assert!(reply.contains("described"), "{reply}");
        assert!(!folder.path().join("imported").exists(), "a module of the folder was imported");
    }

    #[test]
    fn every_file_of_the_package_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/adapters/gpubench_adapter");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".py"))
            // It is given to the interpreter by itself.
            .filter(|name| name != "bootstrap.py")
            .collect();
        names.sort_unstable();
        let mut embedded: Vec<&str> = PACKAGE.iter().map(|(name, _)| *name).collect();
        embedded.sort_unstable();
        assert_eq!(embedded, names);
    }
}
