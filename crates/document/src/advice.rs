//! What `gpubench advise` says: per call and for the program, whether a GPU pays.

use gpubench_analysis::advice::{
    Advice, CallAdvice, CallVerdict, DataPlace, ProblemTimes, Threshold, TimeOf, Verification, problem,
};
use gpubench_analysis::answer::Estimate;
use gpubench_report::calls::{Call, Calls};
use gpubench_report::report::quantity::{factor_within, time_precise, time_range, time_text};
use gpubench_text::count::counted;
use gpubench_text::percent::short;

use crate::blocks::{Block, Document, RichText};
use crate::calls::{name, share};
use crate::table::{Column, Field, Layout, Table, Tone};

/// Calls that the table lists unless all are wanted, and the least share of all recorded time that they take.
const LISTED: usize = 15;
const LEAST_SHARE: f64 = 1e-3;

/// How many times faster the best CPU library must be for a sentence of its own.
const FASTER_LIBRARY: f64 = 1.5;

/// Prices of an hour of a machine without and with a GPU, in any currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Per hour without a GPU.
    pub cpu: f64,
    /// Per hour with a GPU.
    pub gpu: f64,
}

/// The advice about a recorded program. The table has the calls that take at least 0.1 % of the recorded time, at most 15, unless `all` is true.
pub fn document(calls: &Calls, advice: &Advice, price: Option<Price>, all: bool) -> Document {
    let least_s = LEAST_SHARE * advice.program.recorded_s;
    let is_listed = |call: &Call| call.total_s >= least_s;
    let count = calls.calls.iter().take_while(|call| is_listed(call)).count().min(LISTED);
    let listed = if all { advice.calls.len() } else { count };
    let mut blocks = vec![Block::Table(table(calls, advice, listed))];
    let hidden = &calls.calls[listed..];
    if !hidden.is_empty() {
        let seconds = hidden.iter().fold(0.0, |sum, call| sum + call.total_s);
        let more = counted(hidden.len(), "other kind");
        blocks.push(Block::paragraph(format!(
            "{more} of calls, {} together: --all-calls.",
            time_text(seconds)
        )));
    }
    blocks.extend(Block::items(legend(advice)));
    blocks.extend(Block::items(program(calls, advice, price)));
    blocks.extend(Block::items(next_steps(calls, advice)));
    Document { title: "Would a GPU pay for this program?".into(), blocks }
}

fn table(calls: &Calls, advice: &Advice, listed: usize) -> Table {
    let mut columns = ["call", "shape"].map(Column::words).to_vec();
    columns.extend([Column::figures("calls").ranked(1), Column::figures("share").ranked(2)]);
    columns.extend(["now", "best CPU", "GPU, copies", "GPU, data there"].map(Column::figures));
    columns.push(Column::words("faster is"));
    let mut table = Table::untitled(columns, vec![]).laid_out(Layout::NarrowHeadings);
    for advice in advice.calls.iter().take(listed) {
        let call = &calls.calls[advice.call];
        let (verdict, tone) = verdict_text(advice);
        table.row([
            Field::from(name(call)),
            call.shape_text().into(),
            call.count.to_string().into(),
            short(share(call.total_s, calls)).into(),
            time_text(advice.now_s.value).into(),
            time_of(advice.cpu.as_ref()).into(),
            time_of(advice.gpu_copies.as_ref()).into(),
            time_of(advice.gpu.as_ref()).into(),
            Field { text: verdict, tone },
        ]);
    }
    table
}

/// A time, `~` before a predicted one; `-` where there is none.
fn time_of(time: Option<&TimeOf>) -> String {
    let Some(time) = time else { return "-".into() };
    format!("{}{}", if time.variant.is_none() { "~" } else { "" }, time_text(time.seconds.value))
}

fn verdict_text(advice: &CallAdvice) -> (String, Tone) {
    let mark = if advice.is_sure || advice.verdict == CallVerdict::Unknown { "" } else { " ?" };
    let (words, tone) = match advice.verdict {
        CallVerdict::Gpu => ("GPU", Tone::Gpu),
        CallVerdict::GpuIfDataStays => ("GPU if kept", Tone::Gpu),
        CallVerdict::Cpu => ("CPU", Tone::Cpu),
        CallVerdict::Unknown => ("-", Tone::Plain),
    };
    (format!("{words}{mark}"), tone)
}

fn legend(advice: &Advice) -> Vec<RichText> {
    let mut lines = vec![
        "now: mean time in the program. Other times are per call, of the best library or plain variant."
            .to_owned(),
    ];
    let mut times = advice.calls.iter().flat_map(|one| [&one.cpu, &one.gpu, &one.gpu_copies]).flatten();
    if times.any(|time| time.variant.is_none()) {
        lines.push("~: predicted from measured calls of the same operation, or from a measured one of which the call is a part.".into());
    }
    if advice.calls.iter().any(|one| !one.is_sure && one.verdict != CallVerdict::Unknown) {
        lines.push("?: the intervals of the times overlap.".into());
    }
    if advice.calls.iter().any(|one| one.cpu.is_none() && one.gpu.is_none()) {
        lines.push("-: gpubench has no operation for the call, or no time of it.".into());
    }
    if advice.calls.iter().any(|one| one.verdict == CallVerdict::GpuIfDataStays) {
        lines.push("GPU if kept: the GPU is faster if the data stays in its memory.".into());
    }
    lines.into_iter().map(RichText::from).collect()
}

/// `55.91 s (55.82 to 56.04 s)`
fn with_interval(time: Estimate) -> String {
    format!("{} ({})", time_precise(time.value), time_range([time.low, time.high]))
}

fn program(calls: &Calls, advice: &Advice, price: Option<Price>) -> Vec<RichText> {
    let program = &advice.program;
    let share = |seconds: f64| short(share(seconds, calls));
    let mut first = format!(
        "The program took {}, recorded calls {} of it ({})",
        time_text(program.elapsed_s),
        time_text(program.recorded_s),
        share(program.recorded_s)
    );
    if program.overlapped() {
        first = format!(
            "The program took {}. Its calls, of {}, took {} together: they overlapped, so what the program would gain cannot be derived",
            time_text(program.elapsed_s),
            counted(calls.threads as usize, "thread"),
            time_text(program.recorded_s)
        );
    } else if program.covered_s > 0.0 {
        first += &format!(
            ", of which {} ({}) are compared with a GPU",
            time_text(program.covered_s),
            share(program.covered_s)
        );
    }
    let mut lines = vec![first + "."];
    let expected = [
        ("With the best CPU library for each call it would take", program.best_cpu_s),
        ("If every call that gains by it copied its data, the program would take", program.with_copies_s),
        (
            "If data stayed on the GPU where the record shows it unchanged, it would take",
            program.data_stays_s,
        ),
        ("If nothing had to be copied, it would take at least", program.without_copies_s),
    ];
    for (words, time) in expected {
        let Some(time) = time else { continue };
        let needs_gpu = words != expected[0].0;
        let cost =
            price.map(|price| cost(program.elapsed_s, time.value, price, needs_gpu)).unwrap_or_default();
        lines.push(format!("{words} {}{cost}.", with_interval(time)));
    }
    if calls.calls.iter().all(|call| problem(call).is_none()) {
        lines.push("gpubench has no operation for these calls, so none is compared with a GPU.".into());
    } else if program.covered_s == 0.0 {
        lines.push(
            "No time of a GPU is known for these calls: run this on a machine with a GPU, or name reports of one that measured such calls with --report.".into(),
        );
    }
    if calls.threads > 1 && !program.overlapped() {
        lines.push(format!(
            "The calls came from {} threads. Their times are added up: where calls overlapped, the program gains less.",
            calls.threads
        ));
    }
    lines.into_iter().map(RichText::from).collect()
}

/// `, and cost 1.52 times what it costs now`
fn cost(now_s: f64, then_s: f64, price: Price, needs_gpu: bool) -> String {
    let then = then_s * if needs_gpu { price.gpu } else { price.cpu };
    let ratio = then / (now_s * price.cpu);
    if ratio.is_finite() { format!(", and cost {ratio:.2} times what it costs now") } else { String::new() }
}

fn next_steps(calls: &Calls, advice: &Advice) -> Vec<RichText> {
    let saved = |one: &CallAdvice| -> Option<(f64, &Call)> {
        let call = &calls.calls[one.call];
        let time = match one.verdict {
            CallVerdict::Gpu => one.gpu_copies.as_ref()?.seconds,
            CallVerdict::GpuIfDataStays => one.gpu_stays()?,
            _ => return None,
        };
        let seconds = (one.on_cpu().value - time.value) * call.count as f64;
        (seconds > 0.0).then_some((seconds, call))
    };
    let mut lines = vec![];
    let first = advice.calls.iter().filter_map(saved).max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((seconds, call)) = first {
        let named = format!("{} of {}", name(call), call.shape_text());
        lines.push(format!(
            "Move first: {named}, which takes {} less than on the CPU, now or with the best library.",
            time_text(seconds)
        ));
    } else if advice.calls.iter().any(|one| one.verdict == CallVerdict::GpuIfDataStays) {
        lines.push(
            "No call gains with its copies: the GPU pays only for data that stays there between calls."
                .into(),
        );
    }
    let faster = |one: &&CallAdvice| {
        let is_faster =
            |cpu: &TimeOf| cpu.variant.is_some() && FASTER_LIBRARY * cpu.seconds.high < one.now_s.low;
        one.cpu.as_ref().is_some_and(is_faster)
    };
    let gain = |one: &CallAdvice| {
        let cpu = one.cpu.as_ref().map_or(0.0, |cpu| cpu.seconds.value);
        (one.now_s.value - cpu) * calls.calls[one.call].count as f64
    };
    if let Some(one) = advice.calls.iter().filter(faster).max_by(|a, b| gain(a).total_cmp(&gain(b))) {
        let call = &calls.calls[one.call];
        let variant = one.cpu.as_ref().and_then(|cpu| cpu.variant.as_deref()).unwrap_or("a measured variant");
        lines.push(format!(
            "Without a GPU: {variant} computes {} of {} in {} instead of {}; check the library and its threads.",
            name(call),
            call.shape_text(),
            time_of(one.cpu.as_ref()),
            time_text(one.now_s.value)
        ));
    }
    if let Some(one) = advice.calls.iter().find(|one| one.batch) {
        let call = &calls.calls[one.call];
        lines.push(format!(
            "Launching costs more than {} of {} computes: one call for several of the {} would let the GPU win.",
            name(call),
            call.shape_text(),
            call.count
        ));
    }
    lines.into_iter().map(RichText::from).collect()
}

/// The times of problems, of one call and of `calls` calls.
pub fn of_problems(problems: &[ProblemTimes], calls: u64, data: DataPlace) -> Document {
    let mut columns = vec![Column::words("problem")];
    columns.extend(["best CPU", "GPU, copies", "GPU, data there"].map(Column::figures));
    columns.extend(["CPU, all calls", "GPU, all calls"].map(Column::figures));
    columns.push(Column::words("faster is"));
    let mut table = Table::untitled(columns, vec![]).laid_out(Layout::NarrowHeadings);
    let total = |time: Option<Estimate>| time.map_or("-".into(), |time| time_text(time.value));
    let mut is_open = false;
    for one in problems {
        let cpu = one.on_cpu(calls);
        let gpu = one.on_gpu(calls, data);
        let (text, tone) = cpu.zip(gpu).map_or(("-".to_owned(), Tone::Plain), |(cpu, gpu)| {
            let (side, tone) = if gpu.value < cpu.value { ("GPU", Tone::Gpu) } else { ("CPU", Tone::Cpu) };
            let factor = (cpu.value / gpu.value).max(gpu.value / cpu.value);
            let mark = if cpu.low <= gpu.high && gpu.low <= cpu.high { "?" } else { "" };
            is_open |= !mark.is_empty();
            (format!("{side} {}{mark}", factor_within(factor, 2)), tone)
        });
        table.row([
            Field::from(one.problem.clone()),
            time_of(one.cpu.as_ref()).into(),
            time_of(one.gpu_copies.as_ref()).into(),
            time_of(one.gpu.as_ref()).into(),
            total(cpu).into(),
            total(gpu).into(),
            Field { text, tone },
        ]);
    }
    let place = match data {
        DataPlace::Host => "each call copies its operands to the GPU and the answer back (see --data)",
        DataPlace::Once => "the operands are copied to the GPU once, and one answer back (see --data)",
        DataPlace::Device => "the data is on the GPU already (see --data)",
    };
    let open = is_open.then_some("?: the intervals of the times overlap.");
    let mut lines = vec![format!("All calls: {calls}; {place}.")];
    if problems.iter().all(|one| one.gpu.is_none()) {
        lines =
            vec![format!("All calls: {calls}. No time of a GPU is known: run this on a machine with one.")];
    }
    lines.extend(open.map(str::to_owned));
    let variants = problems.iter().filter_map(|one| {
        let named = [&one.cpu, &one.gpu].into_iter().flatten().filter_map(|time| time.variant.as_deref());
        let named: Vec<&str> = named.collect();
        (!named.is_empty()).then(|| format!("{}: {}.", one.problem, named.join(" and ")))
    });
    lines.extend(variants);
    let blocks = [Block::Table(table)].into_iter().chain(Block::items(lines)).collect();
    Document { title: "Would a GPU pay?".into(), blocks }
}

/// What `--verify` found about predictions.
pub fn verification(found: &Verification) -> Vec<Block> {
    if found.problems == 0 {
        return vec![Block::paragraph(
            "No prediction could be verified: too few problems of one operation were measured, or none is left to measure.",
        )];
    }
    let problems = counted(found.problems, "problem");
    let error = |side: &str, error: Option<f64>| error.map(|error| format!("{} on the {side}", short(error)));
    let errors: Vec<String> =
        [error("CPU", found.cpu_error), error("GPU", found.gpu_error)].into_iter().flatten().collect();
    let mut text = format!(
        "Verified with {problems} drawn at random, predicted from the others: the median error of a predicted time is {}",
        errors.join(" and ")
    );
    if let Some(share) = found.within_interval {
        text += &format!(", and {} of the times are in their intervals", short(share));
    }
    let [small, medium, large] = found.wrong_side;
    if found.cpu_error.is_some() && found.gpu_error.is_some() {
        text += &format!(". The predicted side was wrong {}", counted(small + medium + large, "time"));
        if medium + large > 0 {
            text += &format!(", {medium} of them at a cost of 1.5 to 3 times and {large} above");
        }
    }
    vec![Block::paragraph(format!("{text}."))]
}

/// The forms of [`emitted`]: a header of C, a dictionary of Python, environment variables of SCILIB-Accel, a configuration file of NVBLAS.
pub const EMITTED: [&str; 4] = ["c", "python", "scilib", "nvblas"];

/// The thresholds in a form of [`EMITTED`] that other programs load, with their origin, such as machine and date, and intervals in comments.
pub fn emitted(form: &str, thresholds: &[Threshold], origin: &str) -> String {
    let size = |size: Option<u64>| size.map_or("never".to_owned(), |size| size.to_string());
    let interval = |one: &Threshold| format!("{} to {}", size(one.interval[0]), size(one.interval[1]));
    let copies = |one: &Threshold| if one.with_copies { "copies included" } else { "data on the GPU" };
    let explained =
        |one: &Threshold| format!("{} products, {}: {}", one.dtype.words(), copies(one), interval(one));
    let head =
        format!("Sizes (m n k)^(1/3) from which a product is faster on the GPU, by gpubench on {origin}");
    let name = |one: &Threshold| {
        format!("gemm_{}{}", one.dtype.name(), if one.with_copies { "_with_copies" } else { "" })
    };
    let mut lines = vec![];
    match form {
        "c" => {
            lines.push(format!("/* {head}. 0: never. */"));
            for one in thresholds {
                let constant = format!("GPUBENCH_{}", name(one).to_uppercase());
                lines.push(format!("#define {constant} {} /* {} */", one.from.unwrap_or(0), explained(one)));
            }
        }
        "python" => {
            lines.push(format!("# {head}. None: never."));
            lines.push("GPU_FASTER_FROM = {".into());
            for one in thresholds {
                let value = one.from.map_or("None".to_owned(), |size| size.to_string());
                lines.push(format!("    \"{}\": {value},  # {}", name(one), explained(one)));
            }
            lines.push("}".into());
        }
        "scilib" => {
            lines.push(format!("# {head}"));
            // SCILIB-Accel has one size for all routines, and copies unless its mode keeps data: the most careful one.
            let double = thresholds.iter().filter(|one| one.with_copies && one.dtype.bytes() == 8);
            for one in double {
                lines.push(format!("# {}", explained(one)));
                lines.push(match one.from {
                    Some(size) => format!("export SCILIB_MATRIX_OFFLOAD_SIZE={size}"),
                    None => "export SCILIB_MATRIX_OFFLOAD_SIZE=2147483647".into(),
                });
            }
        }
        _ => {
            lines.push(format!("# {head}"));
            for one in thresholds.iter().filter(|one| one.with_copies) {
                let routine = if one.dtype.bytes() == 8 { "DGEMM" } else { "SGEMM" };
                lines.push(format!("# {routine}: {}", explained(one)));
                if one.from.is_none() {
                    lines.push(format!("NVBLAS_GPU_DISABLED_{routine}"));
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use gpubench_analysis::advice::advise;
    use gpubench_report::report::example;

    use super::*;

    fn recorded() -> Calls {
        let text = r#"{"calls_version": 1, "gpubench_version": "0", "program": ["p"], "started": "", "elapsed_s": 10.0,
            "ended": "exit code 0", "cpu": "", "logical_cpus": 1, "processes": 1, "threads": 2, "overhead_s": 0.0, "calls": [
            {"routine": "gemm", "dtype": "f32", "m": 64, "n": 64, "k": 64, "flags": "NN", "row_major": true, "count": 100,
             "total_s": 5.0, "least_s": 0.05, "median_s": 0.05, "longest_s": 0.05, "repeated_bytes": 409600},
            {"routine": "gesv", "dtype": "f64", "n": 9, "rhs": 1, "count": 1, "total_s": 1.0, "least_s": 1, "median_s": 1, "longest_s": 1}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn text(document: &Document) -> String {
        let block = |block: &Block| match block {
            Block::Items(items) => items.iter().map(RichText::plain).collect::<Vec<_>>().join("\n"),
            Block::Table(table) => table.fields_text(),
            Block::Paragraph(text) => text.plain(),
            _ => String::new(),
        };
        document.blocks.iter().map(block).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_program_its_calls_and_the_first_step_are_named() {
        let report = example::of(example::both_sides("matmul", 64, 0.02, 0.001));
        let calls = recorded();
        let advice = advise(&calls, &[report]);
        let found = text(&document(&calls, &advice, Some(Price { cpu: 0.8, gpu: 3.5 }), false));
        for part in [
            "sgemm NN",
            "The program took 10.0 s, recorded calls 6.00 s of it (60%)",
            "Move first: sgemm NN of 64x64x64",
            "and cost",
            "2 threads",
            "Without a GPU: cpu/",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }

    #[test]
    fn without_times_of_a_gpu_the_document_says_how_to_get_them() {
        let calls = recorded();
        let found = text(&document(&calls, &advise(&calls, &[]), None, false));
        assert!(
            found.contains("name reports of one that measured such calls") && !found.contains("Move first"),
            "{found}"
        );
        let calls = Calls {
            calls: calls.calls.into_iter().filter(|call| problem(call).is_none()).collect(),
            ..recorded()
        };
        let found = text(&document(&calls, &advise(&calls, &[]), None, false));
        assert!(
            found.contains("gpubench has no operation for these calls") && !found.contains("--report"),
            "{found}"
        );
    }

    #[test]
    fn thresholds_are_written_for_other_programs() {
        let threshold = |with_copies, from| Threshold {
            dtype: gpubench_report::case::DType::F64,
            with_copies,
            from,
            interval: [from, None],
        };
        let all = [threshold(true, Some(413)), threshold(false, None)];
        let origin = "node17, 2026-11-30";
        for (form, expected) in [
            (
                "c",
                "#define GPUBENCH_GEMM_F64_WITH_COPIES 413 /* float64 products, copies included: 413 to never */",
            ),
            ("c", "#define GPUBENCH_GEMM_F64 0 "),
            ("python", "\"gemm_f64\": None,"),
            ("scilib", "export SCILIB_MATRIX_OFFLOAD_SIZE=413"),
            ("nvblas", "# DGEMM: float64 products, copies included: 413"),
        ] {
            let found = emitted(form, &all, origin);
            assert!(found.contains(expected) && found.contains(origin), "{found}");
        }
        assert!(emitted("nvblas", &[threshold(true, None)], origin).contains("NVBLAS_GPU_DISABLED_DGEMM"));
    }
}
