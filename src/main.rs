//! The `gpubench` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["worker", name] => gpubench::worker::serve::main(name),
        _ => ExitCode::from(2),
    }
}
