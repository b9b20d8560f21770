//! `calls.json`: the calls of a program, by routine, type and shape.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use gpubench_text::control::single_line;
use gpubench_text::limited;

use crate::report::file::{to_json, write_atomic};

/// A larger file is not read: recording bounds the number of distinct calls.
const MAX_BYTES: u64 = 64 << 20;

/// No dimension is larger, and no program took longer: 30 years.
const MAX_SIZE: u64 = 1 << 40;
const MAX_SECONDS: f64 = 1e9;

/// What `gpubench record` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// 1: the layout of the file.
    pub calls_version: u32,
    /// Version of gpubench that recorded.
    pub gpubench_version: String,
    /// The recorded program and its arguments.
    pub program: Vec<String>,
    /// When the program was started, in UTC.
    pub started: String,
    /// Seconds that the program took.
    pub elapsed_s: f64,
    /// How the program ended: `exit code 0`, `signal 11`.
    pub ended: String,
    /// CPU of the machine; the advice compares it.
    pub cpu: String,
    /// Logical CPUs of the machine.
    pub logical_cpus: u64,
    /// Processes that loaded the recorder.
    pub processes: u32,
    /// Threads that made calls.
    pub threads: u32,
    /// Seconds that recording adds to a call.
    pub overhead_s: f64,
    /// The calls, those with the largest total time first.
    pub calls: Vec<Call>,
    /// Calls of further kinds, for which the table had no room.
    #[serde(default, skip_serializing_if = "Others::is_none")]
    pub others: Others,
}

/// Calls whose routine and shape are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Others {
    /// Number of calls.
    pub count: u64,
    /// Seconds of all of them.
    pub total_s: f64,
}

impl Others {
    fn is_none(&self) -> bool {
        self.count == 0
    }
}

/// Calls of one routine with one type, shape and library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// BLAS or LAPACK name without the letter of the type, such as `gemm`; `fft` for transforms.
    pub routine: String,
    /// `f32`, `f64`, `c64` or `c128`.
    pub dtype: String,
    /// Dimensions of BLAS and LAPACK, 0 if the routine has no such dimension.
    #[serde(default)]
    pub m: u64,
    /// Columns, or the order of a square matrix.
    #[serde(default)]
    pub n: u64,
    /// The inner dimension of a product.
    #[serde(default)]
    pub k: u64,
    /// Right-hand sides.
    #[serde(default)]
    pub rhs: u64,
    /// Stored entries of the first factor of a sparse product.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub entries: u64,
    /// Stored entries of the second factor, if it is sparse.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_entries: u64,
    /// Extents of a transform, the contiguous axis last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extents: Vec<u64>,
    /// Transforms by one call.
    #[serde(default = "one")]
    pub batch: u64,
    /// The characters of the call, such as `NT`: transpositions, sides and jobs. Of a transform: `C` complex, `R` from real data, `B` back to
    /// real data.
    #[serde(default)]
    pub flags: String,
    /// Whether matrices are stored row by row, which CBLAS can say.
    #[serde(default)]
    pub row_major: bool,
    /// Leading dimensions of matrices, or increments of vectors, in the order of the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leading: Vec<u64>,
    /// Path of the library; empty if unknown.
    #[serde(default)]
    pub library: String,
    /// Threads that the library uses; 0 if it does not say.
    #[serde(default)]
    pub threads: u16,
    /// Number of calls.
    pub count: u64,
    /// Seconds of all calls.
    pub total_s: f64,
    /// Seconds of the shortest call.
    pub least_s: f64,
    /// Median in seconds, to 6 %.
    pub median_s: f64,
    /// Seconds of the longest call.
    pub longest_s: f64,
    /// Bytes of operands, over all calls, that an earlier recorded call wrote and that had not changed since.
    #[serde(default)]
    pub result_bytes: u64,
    /// Bytes of operands, over all calls, that an earlier recorded call read and that had not changed since.
    #[serde(default)]
    pub repeated_bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn one() -> u64 {
    1
}

impl Call {
    /// The shape in words, such as `300x100x200`.
    pub fn shape_text(&self) -> String {
        let dims = [self.m, self.n, self.k];
        let dims = dims.iter().filter(|dim| **dim > 0).chain(&self.extents);
        let mut text = dims.map(u64::to_string).collect::<Vec<_>>().join("x");
        if self.rhs > 0 {
            text += &format!(", rhs {}", self.rhs);
        }
        if self.entries > 0 {
            text += &format!(", {} entries", self.entries);
        }
        if self.batch > 1 {
            text += &format!(", batch {}", self.batch);
        }
        text
    }
}

impl Calls {
    /// The layout that [`Calls::load`] reads.
    pub const LAYOUT: u32 = 1;

    /// Seconds of all recorded calls.
    pub fn total_s(&self) -> f64 {
        self.calls.iter().map(|call| call.total_s).sum::<f64>() + self.others.total_s
    }

    /// Number of all recorded calls.
    pub fn count(&self) -> u64 {
        self.calls.iter().map(|call| call.count).sum::<u64>() + self.others.count
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The folder is missing or not writable, or the disk is full.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_atomic(path, &to_json(self)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is no `calls.json`, or has values that no recording has.
    pub fn load(path: &Path) -> Result<Calls> {
        let shown = path.display();
        let bytes = limited::bytes(path, MAX_BYTES).with_context(|| format!("cannot read {shown}"))?;
        let text = String::from_utf8(bytes).with_context(|| format!("cannot read {shown}"))?;
        Calls::parse(&text).with_context(|| format!("{shown} is no calls.json of gpubench record"))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`Calls::load`].
    pub fn parse(text: &str) -> Result<Calls> {
        #[derive(Deserialize)]
        struct Version {
            calls_version: u32,
        }
        let Version { calls_version } = serde_json::from_str(text)?;
        ensure!(
            calls_version == Calls::LAYOUT,
            "its layout is {calls_version}, and this gpubench reads {}: record again",
            Calls::LAYOUT
        );
        let mut calls: Calls = serde_json::from_str(text)?;
        // The file may come from somebody else, and its texts are shown.
        let texts = calls
            .calls
            .iter_mut()
            .flat_map(|call| [&mut call.routine, &mut call.dtype, &mut call.flags, &mut call.library]);
        texts
            .chain(&mut calls.program)
            .chain([&mut calls.cpu, &mut calls.ended])
            .for_each(|text| *text = single_line(text));
        for call in &calls.calls {
            let times = [call.total_s, call.least_s, call.median_s, call.longest_s];
            let sizes = [call.m, call.n, call.k, call.rhs, call.batch, call.entries];
            let is_size = |size: &u64| *size <= MAX_SIZE;
            let has_sizes = call.batch > 0 && sizes.iter().chain(&call.extents).all(is_size);
            let are_times = times.iter().all(|time| (0.0..=MAX_SECONDS).contains(time));
            let are_ordered =
                call.least_s <= call.longest_s && call.count as f64 * call.least_s <= 1.01 * call.total_s;
            if call.count == 0 || !has_sizes || !are_times || !are_ordered {
                bail!(
                    "the calls of {} {} have no valid count, sizes and times",
                    call.routine,
                    call.shape_text()
                );
            }
        }
        ensure!(calls.elapsed_s > 0.0 && calls.elapsed_s <= MAX_SECONDS, "elapsed_s is no time of a program");
        Ok(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: &str = r#"{"calls_version": 1, "gpubench_version": "0", "program": ["a\u001b[2J"], "started": "", "elapsed_s": 1.0,
        "ended": "exit code 0", "cpu": "", "logical_cpus": 1, "processes": 1, "threads": 1, "overhead_s": 0.0, "calls": [
        {"routine": "gemm", "dtype": "f64", "m": 2, "n": 3, "k": 4, "flags": "N\nT", "count": 2, "total_s": 0.5, "least_s": 0.2,
         "median_s": 0.25, "longest_s": 0.3}]}"#;

    #[test]
    fn a_file_reads_back_and_its_texts_are_harmless() {
        let calls = Calls::parse(CALLS).unwrap();
        assert_eq!((calls.calls[0].shape_text(), calls.count(), calls.total_s()), ("2x3x4".into(), 2, 0.5));
        assert!(!calls.program[0].contains('\u{1b}') && !calls.calls[0].flags.contains('\n'));
        let folder = std::env::temp_dir().join(format!("gpubench-calls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("calls.json");
        calls.save(&file).unwrap();
        assert_eq!(Calls::load(&file).unwrap(), calls);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn damaged_and_foreign_files_are_refused_with_the_reason() {
        for (from, to, expected) in [
            ("\"calls_version\": 1", "\"calls_version\": 2", "its layout is 2"),
            ("\"count\": 2", "\"count\": 0", "the calls of gemm 2x3x4 have no valid count"),
            ("0.25", "-1.0", "no valid count, sizes and times"),
            ("\"elapsed_s\": 1.0", "\"elapsed_s\": 0.0", "elapsed_s"),
            ("\"m\": 2", "\"m\": 9223372036854775808", "no valid count, sizes and times"),
            ("\"calls\": [", "\"calls\": [[", "line 4"),
            ("{\"calls_version", "{\"other", "calls_version"),
        ] {
            let error = format!("{:#}", Calls::parse(&CALLS.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(expected), "{to}: {error}");
        }
    }
}
