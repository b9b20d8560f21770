//! What `gpubench record` says about the calls of a program.

use gpubench_report::calls::{Call, Calls};
use gpubench_report::report::quantity::{bytes_text, time_text};
use gpubench_text::count::counted;
use gpubench_text::percent::short;

use crate::blocks::Block;
use crate::table::{Column, Table};

/// Calls that the summary lists.
const LISTED: usize = 10;

/// The largest share of a program's time that recording may take before the summary warns.
const MAX_OVERHEAD: f64 = 0.02;

/// The calls with the largest total time, and what they are of the program's time.
pub fn summary(calls: &Calls) -> Vec<Block> {
    if calls.calls.is_empty() {
        let text = if calls.overhead_s == 0.0 {
            "No process loaded the recorder: the programs are statically linked, use another C library than glibc, or clear the \
             environment; or the folder for temporary files is mounted noexec, and TMPDIR can name another"
        } else {
            "The program made no call that gpubench record knows: docs/record.md lists them"
        };
        return vec![Block::paragraph(format!("{text}."))];
    }
    let mut columns = ["call", "shape"].map(Column::words).to_vec();
    columns.extend(["calls", "median", "total", "share"].map(Column::figures));
    columns.push(Column::words("data per call"));
    let mut table = Table::untitled(columns, vec![]);
    for call in calls.calls.iter().take(LISTED) {
        table.row([
            name(call),
            call.shape_text(),
            call.count.to_string(),
            time_text(call.median_s),
            time_text(call.total_s),
            short(share(call.total_s, calls)),
            kept(call),
        ]);
    }
    let mut blocks = vec![Block::Table(table)];
    let listed: f64 = calls.calls.iter().take(LISTED).map(|call| call.total_s).sum();
    let total_s = calls.total_s();
    let kinds = calls.calls.len();
    if kinds > LISTED {
        let rest = format!("{} more take {}.", counted(kinds - LISTED, "kind"), time_text(total_s - listed));
        blocks.push(Block::paragraph(rest));
    }
    blocks.push(Block::paragraph(totals(calls)));
    let recording_s = calls.overhead_s * calls.count() as f64;
    if recording_s > MAX_OVERHEAD * total_s {
        blocks.push(Block::paragraph(format!(
            "Recording took about {} per call, {} of the calls' time: short calls look longer than they are.",
            time_text(calls.overhead_s),
            short(recording_s / total_s)
        )));
    }
    blocks
}

/// `dgemm NT`, `fft c128`
pub(crate) fn name(call: &Call) -> String {
    let letter = match call.dtype.as_str() {
        "f32" => "s",
        "f64" => "d",
        "c64" => "c",
        _ => "z",
    };
    match call.routine.as_str() {
        "fft" if call.flags == "C" => format!("fft {}", call.dtype),
        "fft" => format!("fft {} {}", call.dtype, if call.flags == "R" { "real" } else { "to real" }),
        "ufunc" => format!("{} {}", call.flags, call.dtype),
        "reduce" => format!("{}.reduce {}", call.flags, call.dtype),
        routine if call.flags.is_empty() => format!("{letter}{routine}"),
        routine => format!("{letter}{routine} {}", call.flags),
    }
}

/// The share of the program's time.
pub(crate) fn share(seconds: f64, calls: &Calls) -> f64 {
    if calls.elapsed_s > 0.0 { seconds / calls.elapsed_s } else { 0.0 }
}

/// Where the operands were before: `results 1.20 MiB` that earlier calls wrote, `repeated 3.00 MiB` that earlier calls read; per call.
fn kept(call: &Call) -> String {
    let part =
        |what: &str, bytes: u64| (bytes > 0).then(|| format!("{what} {}", bytes_text(bytes / call.count)));
    [part("results", call.result_bytes), part("repeated", call.repeated_bytes)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// `12345 calls of 23 kinds took 12.3 s of the program's 15.0 s (82 %), in 2 processes and 8 threads.`
fn totals(calls: &Calls) -> String {
    let (total_s, kinds) = (calls.total_s(), calls.calls.len());
    let many = if calls.processes > 1 || calls.threads > 1 {
        format!(
            ", in {} {} and {}",
            calls.processes,
            if calls.processes == 1 { "process" } else { "processes" },
            counted(calls.threads, "thread")
        )
    } else {
        String::new()
    };
    format!(
        "{} of {} took {} of the program's {} ({}){many}.",
        counted(calls.count(), "call"),
        counted(kinds, "kind"),
        time_text(total_s),
        time_text(calls.elapsed_s),
        short(share(total_s, calls))
    )
}
