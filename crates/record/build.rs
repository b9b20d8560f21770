//! Compiles the object that a recorded program preloads, with the C compiler that mimalloc needs as well.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=interpose");
    let object = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("interpose.so");
    let is_supported = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && env::var("CARGO_CFG_TARGET_POINTER_WIDTH").is_ok_and(|width| width == "64");
    if !is_supported {
        // `gpubench record` says so.
        std::fs::write(&object, [])
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", object.display()));
        return;
    }
    let compiler = cc::Build::new().opt_level(2).debug(false).pic(true).get_compiler();
    let mut command = compiler.to_command();
    // The definitions have one C type in place of those that the compiler knows, and call no function of the C library for a loop.
    command.args([
        "-std=gnu11",
        "-shared",
        "-fvisibility=hidden",
        "-fno-builtin",
        "-fexceptions",
        "-Wno-builtin-declaration-mismatch",
        "-Wl,-s",
        "-pthread",
    ]);
    command.arg("interpose/interpose.c").arg("-o").arg(&object).arg("-ldl");
    let status = command.status().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
