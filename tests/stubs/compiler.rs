//! Compiles small C libraries that take the place of real ones.

use std::path::Path;
use std::process::Command;

/// Compiles `text` to the shared library `library`, with the source next to it. The error is the compiler's message.
pub(crate) fn compile(text: &str, library: &Path) -> Result<(), String> {
    let source = library.with_extension("c");
    std::fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
    // A library that is open is found by this name.
    let soname = format!("-Wl,-soname,{}", library.file_name().unwrap_or_default().display());
    let mut cc = Command::new("cc");
    let output = cc.args(["-shared", "-fPIC", &soname, "-o"]).args([library, source.as_path()]).output();
    let output = output.map_err(|error| format!("cc: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
