//! What a row tells beyond its line: its samples, the figures of its time, its phases, its warnings.

use gpubench_answer::roof::{self, Share};
use gpubench_model::Transfer;
use gpubench_model::measure::stats::{has_interval, median};
use gpubench_model::report::quantity::{
    bytes_text, error_text, share_text, spread_text, three_digits, time_range, time_text, time_within,
};
use gpubench_model::report::{Execute, Phases, Report, Row};

use super::markup::{Element, Html, classed, element};
use super::notes::next_step;
use super::strip::strip;
use super::table::facts;
use gpubench_text::percent;
use gpubench_text::words::json_word;

type Fact = (&'static str, String);

pub(crate) fn details(report: &Report, row: &Row) -> Element {
    let mut panel = classed("div", "panel").holding(warnings(row));
    if let Some(execute) = &row.execute {
        let block = block("Samples", strip(execute).and(facts(times(execute))));
        panel = panel.holding(block.with("data-block", "samples"));
    }
    if let Some(phases) = &row.phases {
        panel = panel.holding(block("Around the timed work", facts(around(phases))));
    }
    panel.holding(block("Work and answer", facts(work(report, row))))
}

fn block(title: &str, content: impl Into<Html>) -> Element {
    classed("div", "block").holding(element("h4").holding(title)).holding(content)
}

/// Why it has no time, and what lowers the trust in the time it has, each with the next step.
fn warnings(row: &Row) -> Html {
    let mut items = vec![];
    if let Some(reason) = &row.reason {
        items.push((row.outcome.name().to_owned(), reason.as_str(), row.fix.as_deref()));
    }
    let of_time = row.execute.iter().flat_map(|execute| &execute.warnings);
    items.extend(
        of_time.map(|warning| (json_word(&warning.kind), warning.text.as_str(), Some(warning.next.as_str()))),
    );
    if items.is_empty() {
        return Html::new();
    }
    let item = |(kind, text, next): (String, &str, Option<&str>)| {
        let item = element("li").holding(element("b").holding(kind)).holding(": ").holding(text);
        match next {
            Some(next) => item.holding(". ").holding(next_step(next)),
            None => item.holding("."),
        }
    };
    block("Reservations", classed("ul", "reservations").holding_all(items.into_iter().map(item))).into()
}

fn times(execute: &Execute) -> Vec<Fact> {
    let median = format!("{}, {}", digits(execute.median_s), execute.clock.words());
    let mut found = vec![("median", median)];
    if has_interval(execute.samples_s.len()) {
        found.push(("95 % interval", time_range(execute.ci95_s)));
    }
    found.push(("least and most", time_range([execute.min_s, execute.max_s])));
    if let Some([p05, p25, p75, p95]) = execute.quantiles_s {
        found.push(("quarters", time_range([p25, p75])));
        found.push(("5 % and 95 %", time_range([p05, p95])));
    }
    found.push(("median deviation", time_text(execute.mad_s)));
    let host = execute.host_ci95_s.map(|interval| format!(" ({})", time_range(interval))).unwrap_or_default();
    found.push(("host clock", format!("{}{host}", digits(execute.host_median_s))));
    let enqueue = execute.enqueue_median_s.map(time_text);
    found.extend(enqueue.map(|enqueue| ("host clock until the call returned", enqueue)));
    found.extend(execute.event_constant_s.map(|constant| ("taken off for events", time_text(constant))));
    let stopped = execute.stopped.as_ref().map(|stopped| format!(", {}", json_word(stopped)));
    let stopped = stopped.unwrap_or_default().replace('-', " ");
    let (count, spent) = (execute.samples_s.len(), time_text(execute.spent_s));
    found.push(("samples", format!("{count} in {spent}{stopped}")));
    found.push(("warm-up", format!("{} executions", execute.warmups)));
    if execute.set_aside + execute.throttled > 0 {
        let text = format!("{} set aside, {} counted", execute.set_aside, execute.throttled);
        found.push(("at a low clock", text));
    }
    if let Some(faults) = execute.page_faults {
        found.push(("page faults an execution", format!("{} minor, {} major", faults.minor, faults.major)));
    }
    if let Some(drift) = execute.drift {
        found.push(("rounds differ by", format!("{} (p = {:.2})", spread_text(drift.relative), drift.p)));
    }
    if let Some(modes) = execute.modes {
        let share = percent::in_words(modes.share_high);
        found.push(("two clumps", format!("{} and {} ({share})", digits(modes.low), digits(modes.high))));
    }
    found
}

/// A time with four significant digits, so that the ends of a narrow interval differ.
fn digits(seconds: f64) -> String {
    time_within(seconds, Some(0.0))
}

fn around(phases: &Phases) -> Vec<Fact> {
    let compile = phases.compile.unwrap_or_default();
    let times = [
        ("compile", compile.cold_s),
        ("compile, from cache", compile.cached_s),
        ("plan and allocate", phases.plan_s),
    ];
    let mut found: Vec<Fact> =
        times.into_iter().filter_map(|(name, time)| Some((name, time_text(time?)))).collect();
    found.push(("inputs", time_text(phases.inputs_s)));
    found.push(("prepare, in all", time_text(phases.prepare_s)));
    found.extend(phases.upload.as_ref().and_then(copy).map(|text| ("upload", text)));
    found.push(("first call", time_text(phases.first_s)));
    found.extend(phases.download.as_ref().and_then(copy).map(|text| ("download", text)));
    found.extend(phases.peak_device_bytes.map(|bytes| ("device memory", bytes_text(bytes))));
    found.push(("check", time_text(phases.check_s)));
    found
}

/// `78.1 KiB in 40.1 µs, 1.99 GB/s, pageable`.
fn copy(transfer: &Transfer) -> Option<String> {
    let seconds = median(&transfer.host_s)?;
    let rate = transfer.bytes as f64 / seconds / 1e9;
    let rate = if rate.is_finite() { format!(", {} GB/s", three_digits(rate)) } else { String::new() };
    let (bytes, time) = (bytes_text(transfer.bytes), time_text(seconds));
    Some(format!("{bytes} in {time}{rate}, {}", transfer.memory.name()))
}

/// What was computed, how near to the machine's limit, and how right.
fn work(report: &Report, row: &Row) -> Vec<Fact> {
    let mut found = vec![
        ("operations", format!("{:.3e} FLOP", row.work.flop)),
        ("least traffic", format!("{:.3e} bytes", row.work.bytes)),
        ("arithmetic", json_word(&row.accuracy)),
        ("cache", row.cache.name().into()),
        ("seed", row.case.seed.to_string()),
    ];
    found.extend(row.threads.map(|threads| ("threads", threads.to_string())));
    if let Some(Share { share, roof, least_s }) = roof::share(report, row) {
        let (share, least) = (percent::in_words(share), time_text(least_s));
        found.push(("limit", format!("{share} of {}, which allows {least}", roof.name())));
    }
    if let Some(error) = row.error {
        let text = format!("{}, {} of the bound {:.1e}", error_text(error), share_text(error), error.bound);
        found.push(("error", text));
    }
    found.extend(row.inputs.clone().map(|inputs| ("inputs' fingerprint", inputs)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

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
    fn samples_and_phases_are_told() {
        let text = html(&example::measured("fft", 100, "cuda", "r2c", 1e-3));
        for expected in
            ["95 % interval", "device clock", "12 in 250 ms, precise", "in 31.0 µs", "210 ms", "<svg"]
        {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let text = html(&example::measured("fft", 100, "cpu", "realfft", 0.0));
        assert!(text.contains("0 s") && !text.contains("NaN"), "{text}");
    }
}
