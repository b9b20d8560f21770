//! The details of a row that opens: samples, statistics, phases, warnings and error.

use gpubench_ops::Checked;
use gpubench_ops::peak_share;
use gpubench_report::Transfer;
use gpubench_report::measure::stats::median;
use gpubench_report::report::quantity::{
    bytes_text, error_text, share_text, three_digits, time_range, time_text, time_within,
};
use gpubench_report::report::{Execute, Phases, Report, Row};
use gpubench_text::words::json_word;

use super::blocks::blocks;
use super::markup::{Element, Html, classed, element};
use super::table::facts;
use gpubench_document::blocks::{Block, Remark};
use gpubench_document::report::{PEAK_SHARE_TEXT, resource_and_rate, share_in_words};

type LabelledFact = (&'static str, String);

pub(crate) fn details(report: &Report, row: &Row) -> Element {
    let mut panel = classed("div", "panel").holding(warnings(row));
    if let Some(execute) = &row.execute {
        panel = panel.holding(block("Samples", facts(times(execute))));
    }
    if let Some(phases) = &row.phases {
        panel = panel.holding(block("Around the timed work", facts(around(phases))));
    }
    panel.holding(block("Work and answer", facts(work(report, row))))
}

fn block(title: &str, content: impl Into<Html>) -> Element {
    classed("div", "block").holding(element("h4").holding(title)).holding(content)
}

/// The reasons for a missing time or a grade below A, each with the next step.
fn warnings(row: &Row) -> Html {
    let reason = row.reason.iter().map(|reason| (row.outcome.name().to_owned(), reason, row.fix.clone()));
    let of_time = row.execute.iter().flat_map(|execute| &execute.warnings);
    let of_time =
        of_time.map(|warning| (json_word(&warning.kind), &warning.text, Some(warning.next.clone())));
    let remark =
        |(kind, text, next): (_, &String, _)| Remark { kind, text: text.clone(), next, ..Remark::default() };
    let remarks = Block::remarks(reason.chain(of_time).map(remark));
    remarks.map(|remarks| block("Notes", blocks(&[remarks], 0, "")).into()).unwrap_or_default()
}

fn times(execute: &Execute) -> Vec<LabelledFact> {
    let count = execute.samples_s.len();
    // Without an interval, more digits than two would be noise.
    let has_interval = execute.has_interval();
    let digits = |seconds| time_within(seconds, has_interval.then_some(0.0));
    let range = |ends: [f64; 2]| match has_interval {
        true => time_range(ends),
        false => ends.map(digits).join(" to "),
    };
    let host = execute.host_ci95_s.filter(|_| has_interval);
    let host = host.map(|interval| format!(" ({})", range(interval))).unwrap_or_default();
    let stopped = execute.stopped.as_ref().map(|stopped| format!(", {}", json_word(stopped)));
    let stopped = stopped.unwrap_or_default().replace('-', " ");
    let low_clock = (execute.discarded + execute.throttled > 0)
        .then(|| format!("{} discarded, {} kept", execute.discarded, execute.throttled));
    known([
        ("median", Some(format!("{}, {}", digits(execute.median_s), execute.clock.words()))),
        ("95 % interval", has_interval.then(|| range(execute.ci95_s))),
        ("minimum and maximum", Some(range([execute.min_s, execute.max_s]))),
        ("host clock", Some(format!("{}{host}", digits(execute.host_median_s)))),
        ("host clock until the call returned", execute.enqueue_median_s.map(time_text)),
        ("subtracted for events", execute.event_constant_s.map(time_text)),
        ("samples", Some(format!("{count} in {}{stopped}", time_text(execute.spent_s)))),
        ("throttled samples", low_clock),
    ])
}

/// The facts that the report has.
fn known(facts: impl IntoIterator<Item = (&'static str, Option<String>)>) -> Vec<LabelledFact> {
    facts.into_iter().filter_map(|(name, fact)| Some((name, fact?))).collect()
}

fn around(phases: &Phases) -> Vec<LabelledFact> {
    let compile = phases.compile.unwrap_or_default();
    known([
        ("compile", compile.cold_s.map(time_text)),
        ("compile, from cache", compile.cached_s.map(time_text)),
        ("plan and allocate", phases.plan_s.map(time_text)),
        ("inputs", Some(time_text(phases.inputs_s))),
        ("prepare, in all", Some(time_text(phases.prepare_s))),
        ("upload", phases.upload.as_ref().and_then(copy)),
        ("upload, pinned", phases.pinned.as_ref().and_then(|pinned| copy(&pinned.upload))),
        ("first call", Some(time_text(phases.first_s))),
        ("download", phases.download.as_ref().and_then(copy)),
        ("download, pinned", phases.pinned.as_ref().and_then(|pinned| copy(&pinned.download))),
        ("device memory", phases.peak_device_bytes.map(bytes_text)),
        ("check", Some(time_text(phases.check_s))),
    ])
}

/// `78.1 KiB in 40.1 µs, 1.99 GB/s, pageable`.
fn copy(transfer: &Transfer) -> Option<String> {
    let seconds = median(&transfer.host_s)?;
    let rate = transfer.bytes as f64 / seconds / 1e9;
    let rate = if rate.is_finite() { format!(", {} GB/s", three_digits(rate)) } else { String::new() };
    let (bytes, time) = (bytes_text(transfer.bytes), time_text(seconds));
    Some(format!("{bytes} in {time}{rate}, {}", transfer.memory.name()))
}

/// The work of a row, its share of the peak, and its error.
fn work(report: &Report, row: &Row) -> Vec<LabelledFact> {
    let peak = peak_share::share(report, row).map(|found| {
        let min = time_text(found.min_s);
        let [_, rate] = resource_and_rate(found);
        format!("{} of the peak {rate}, which would take {min}", share_in_words(found))
    });
    let error = |error: Checked| {
        format!("{}, {} of the bound {:.1e}", error_text(error), share_text(error), error.bound)
    };
    let rate = |work: f64, unit: &str| {
        let rate =
            row.median_s().map(|median| work / median / 1e9).filter(|rate| rate.is_finite() && *rate > 0.0);
        rate.map(|rate| format!("{} {unit}", three_digits(rate)))
    };
    known([
        ("backend", Some(row.backend.clone())),
        ("type", Some(row.case.dtype.words().into())),
        ("rate", rate(row.work.flop, "GFLOP/s")),
        ("bandwidth", rate(row.work.bytes, "GB/s")),
        ("operations", Some(format!("{:.3e} FLOP", row.work.flop))),
        ("minimum traffic", Some(format!("{:.3e} bytes", row.work.bytes))),
        ("arithmetic", Some(json_word(&row.accuracy))),
        ("cache", Some(row.cache.name().into())),
        ("seed", Some(row.case.seed.to_string())),
        ("origin", Some(row.origin().name().to_owned())),
        ("threads", row.threads.map(|threads| threads.to_string())),
        (PEAK_SHARE_TEXT, peak),
        ("error", row.error.map(error)),
        ("not checked with an altered operand", row.unaltered.clone()),
        ("inputs' fingerprint", row.inputs.clone()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;

    fn html(row: &Row) -> String {
        Html::from(details(&example::empty(), row)).into_string()
    }

    #[test]
    fn warnings_come_with_their_next_step() {
        let report = example::full();
        for (row, what, next) in [
            (1, "<b>launch-bound</b>: the time is 2.8 times", "Next: choose a larger size"),
            (2, "<b>skipped</b>: mkl: not found", "Next: pip install mkl."),
        ] {
            let text = html(&report.rows[row]);
            assert!(text.contains(what) && text.contains(next), "{text}");
        }
    }

    #[test]
    fn details_show_samples_and_phases() {
        let text = html(&example::measured("fft", 100, "cuda", "r2c", 1e-3));
        for expected in ["95 % interval", "device clock", "12 in 250 ms, precise", "in 31.0 µs", "210 ms"] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let mut row = example::measured("fft", 100, "cuda", "r2c", 1.2345e-3);
        row.execute.as_mut().unwrap().samples_s.truncate(1);
        let text = html(&row);
        assert!(text.contains("1.2 ms, device clock") && !text.contains("1.23"), "{text}");
        let text = html(&example::measured("fft", 100, "cpu", "realfft", 0.0));
        assert!(text.contains("0 s") && !text.contains("NaN"), "{text}");
    }
}
