//! Checks that a program can be recorded.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use gpubench_backend::host::search_path::is_program;

/// Finds a program as the system does: a name without a slash in the folders of `PATH`.
fn find(program: &OsStr) -> Result<PathBuf> {
    let shown = Path::new(program).display();
    if Path::new(program).components().count() > 1 {
        ensure!(Path::new(program).exists(), "there is no program {shown}: check the path after --");
        return Ok(program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
        .with_context(|| format!("there is no program {shown} in PATH: check its name after --"))
}

/// Returns an error for a program that loads no other objects: one that is statically linked, or runs with other rights than its user's.
///
/// # Errors
/// The program does not exist or cannot be recorded; one line with the reason.
pub(crate) fn check(program: &OsStr) -> Result<()> {
    let file = find(program)?;
    let shown = file.display();
    let mode = file.metadata().with_context(|| format!("cannot read {shown}"))?.permissions().mode();
    ensure!(
        mode & 0o6000 == 0,
        "{shown} runs with the rights of its owner (setuid or setgid), so the system preloads nothing into it: record the program that it starts"
    );
    let mut bytes = vec![];
    // The headers are at the beginning of what linkers make.
    let opened = File::open(&file).with_context(|| format!("cannot read {shown}"))?;
    opened.take(1 << 16).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    ensure!(
        !contains(&bytes, b"libasan.so"),
        "{shown} is built with AddressSanitizer, which must be the first object of a program: record a build without it"
    );
    match has_interpreter(&bytes) {
        Some(false) => bail!(
            "{shown} is statically linked, so nothing can be preloaded into it: link it dynamically to record it"
        ),
        _ => Ok(()),
    }
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// Returns whether a 64-bit ELF program names a dynamic linker (`PT_INTERP`); `None` for other files, such as scripts.
fn has_interpreter(bytes: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, size: usize| -> Option<u64> {
        let field = bytes.get(at..at.checked_add(size)?)?;
        Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let kind = |index: u64| number(usize::try_from(table.checked_add(index.checked_mul(size)?)?).ok()?, 4);
    Some((0..count).any(|index| kind(index) == Some(u64::from(INTERPRETER))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_name_their_dynamic_linker() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(has_interpreter(&own[..1 << 16]), Some(true));
        assert_eq!(has_interpreter(b"#!/bin/sh\n"), None);
        let mut static_program = own[..1 << 12].to_vec();
        static_program[56..58].fill(0);
        assert_eq!(has_interpreter(&static_program), Some(false));
    }

    #[test]
    fn what_does_not_exist_is_named() {
        for name in ["gpubench-absent", "./gpubench-absent"] {
            assert!(check(OsStr::new(name)).unwrap_err().to_string().contains("gpubench-absent"));
        }
    }
}
