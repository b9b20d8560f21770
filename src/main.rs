//! The `gpubench` program: hands its arguments to the library and ends with the code it returns.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gpubench_backend::host::process::drop_absurd_thread_count();
    gpubench::cli::run(std::env::args_os())
}
