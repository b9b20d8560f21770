//! Compiles small C libraries that take the place of real ones.

use std::path::Path;
use std::process::Command;

/// Compiles `text` to the shared library `library`, with the source next to it. The error is the compiler's message.
pub(crate) fn compile(text: &str, library: &Path) -> Result<(), String> {
    let source = library.with_extension("c");
    std::fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
    // A library that is open is found by this name.
    let soname = format!("-Wl,-soname,{}", library.file_name().unwrap_or_default().display());
    let [library, source] = [library, source.as_path()].map(|path| path.display().to_string());
    compile_with(&["-shared", "-fPIC", &soname, "-o", &library, &source])
}

/// Runs the compiler with these arguments. The error is the compiler's message.
pub(crate) fn compile_with(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("cc").args(arguments).output();
    let output = output.map_err(|error| format!("cc: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
