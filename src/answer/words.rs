//! The answer in words: crossover sizes, and a paragraph about a whole report. Knows no format.

use super::cost::Kind;
use super::crossover::{Crossover, Place, crossovers};
use super::machine::machine;
use super::roof::share;
use super::{Comparison, Pair, Section, sections};
use crate::backend::Side;
use crate::case::density_text;
use crate::measure::stats::significant_digits;
use crate::op;
use crate::report::{Report, Row};

/// Factors below this are no difference worth a word.
const EVEN: f64 = 1.05;

/// A size with the digits that tell the ends of its interval apart, from 3 to 4: `312`, `1450`.
pub fn size_text(size: f64, interval: [Place; 2]) -> String {
    let digits = match interval {
        [Place::At(low), Place::At(high)] if high > low => {
            (significant_digits(size, (high - low) / 2.0) + 2).min(4)
        }
        [Place::At(_), Place::At(_)] => 4,
        _ => 3,
    };
    let places = digits as i32 - 1 - size.max(1.0).log10().floor() as i32;
    let unit = 10f64.powi(places.min(0));
    format!("{:.0}", (size * unit).round() / unit)
}

/// One end of an interval of sizes.
fn end_text(end: Place, found: &Crossover) -> String {
    match end {
        Place::Below => format!("below {}", found.smallest),
        Place::At(size) => size_text(size, found.interval),
        Place::Beyond => format!("beyond {}", found.largest),
    }
}

/// `290 to 335`; `None` where the interval is a point.
pub fn interval_text(found: &Crossover) -> Option<String> {
    let [low, high] = found.interval.map(|end| end_text(end, found));
    (low != high).then(|| format!("{low} to {high}"))
}

/// From which size on, for a table: `310 (290 to 335)`, `100 or less`, `not up to 2048`.
pub fn crossover_text(found: &Crossover) -> String {
    let place = match found.from {
        Place::Below => format!("{} or less", found.smallest),
        Place::At(size) => size_text(size, found.interval),
        Place::Beyond => format!("not up to {}", found.largest),
    };
    match interval_text(found) {
        Some(interval) => format!("{place} ({interval})"),
        None => place,
    }
}

/// The same as a clause: `the GPU wins from N = 310 (290 to 335) on`.
pub fn crossover_clause(found: &Crossover) -> String {
    let interval = interval_text(found).map(|interval| format!(" ({interval})")).unwrap_or_default();
    let sizes = match found.is_one_size() {
        true => format!("at N = {}, the only size", found.smallest),
        false => format!("at every size from {} to {}", found.smallest, found.largest),
    };
    if found.is_one_size() && !interval.is_empty() {
        return format!("which side wins {sizes} is not sure");
    }
    let also = ranges_below(found);
    match found.from {
        Place::Below if interval.is_empty() => format!("the GPU wins {sizes}"),
        Place::Below => format!("the GPU wins {sizes}; where it begins to is not sure{interval}"),
        Place::At(size) => {
            let also = also.map(|also| format!(", and {also}")).unwrap_or_default();
            format!("the GPU wins from N = {}{interval} on{also}", size_text(size, found.interval))
        }
        Place::Beyond => match also {
            Some(also) => format!("the CPU wins at N = {}, the GPU only {also}", found.largest),
            None if interval.is_empty() => format!("the CPU wins {sizes}"),
            None => format!("the CPU wins {sizes}; where the GPU begins to is not sure{interval}"),
        },
    }
}

/// Where the GPU wins below the size from which on it always does: `up to 200 and from 450 to 700`.
pub fn ranges_below(found: &Crossover) -> Option<String> {
    let mut begins: Option<f64> = None;
    let mut ranges = vec![];
    for (size, above) in &found.changes {
        match (above, begins.take()) {
            (Side::Gpu, _) => begins = Some(*size),
            (Side::Cpu, Some(from)) => ranges.push(format!("from {from:.0} to {size:.0}")),
            (Side::Cpu, None) => ranges.push(format!("up to {size:.0}")),
        }
    }
    (!ranges.is_empty()).then(|| ranges.join(" and "))
}

/// The answer about a report: one sentence about all ops, then one an op, element type, cache state and density.
pub fn paragraph(report: &Report) -> Vec<String> {
    let sections = sections(report);
    let parts: Vec<(&Section<'_>, &[Comparison<'_>])> = sections
        .iter()
        .flat_map(|section| {
            let parts = section.comparisons.chunk_by(|a, b| a.density == b.density);
            parts.map(move |part| (section, part))
        })
        .collect();
    let mut lines: Vec<String> = overall(report, &parts).into_iter().collect();
    lines.extend(parts.iter().filter_map(|(section, part)| about(report, section, part)));
    lines
}

/// The pair of the largest size that has one.
pub fn largest<'a>(part: &[Comparison<'a>], kind: Kind) -> Option<(u64, Pair<'a>)> {
    part.iter().rev().find_map(|comparison| Some((comparison.n, comparison.pair(kind)?)))
}

/// Who wins how often at the largest sizes.
fn overall(report: &Report, parts: &[(&Section<'_>, &[Comparison<'_>])]) -> Option<String> {
    let (cpu, gpu) = (machine(report, Side::Cpu)?, machine(report, Side::Gpu)?);
    let count = |kind: Kind| {
        let found: Vec<Pair<'_>> =
            parts.iter().filter_map(|(_, part)| Some(largest(part, kind)?.1)).collect();
        let open = found.iter().filter(|pair| pair.speed_up.is_open()).count();
        let sure = found.iter().filter(|pair| !pair.speed_up.is_open());
        let won = sure.filter(|pair| pair.speed_up.winner() == Side::Gpu).count();
        let open = if open > 0 { format!(" ({open} not sure)") } else { String::new() };
        (format!("{won} of {}{open}", found.len()), found.len())
    };
    let ((resident, of), (whole, of_whole)) = (count(Kind::Resident), count(Kind::EndToEnd));
    if of == 0 {
        return None;
    }
    let sweeps = if of == 1 { "sweep" } else { "sweeps" };
    let end = match of_whole {
        0 => String::new(),
        _ => format!("; with the copies there and back in {whole}"),
    };
    Some(format!(
        "{gpu} against {cpu}: at the largest size measured, the GPU is the faster in {resident} {sweeps} with \
         the data on the device{end}."
    ))
}

/// One op: from which size on, by how much, and how near to the limits.
fn about(report: &Report, section: &Section<'_>, part: &[Comparison<'_>]) -> Option<String> {
    let mut found = crossovers(&Section { comparisons: part.to_vec(), ..section.clone() });
    let of = |found: &mut Vec<Crossover>, kind| {
        let place = found.iter().position(|crossover| crossover.kind == kind)?;
        Some(found.swap_remove(place))
    };
    let resident = of(&mut found, Kind::Resident)?;
    let (n, pair) = largest(part, Kind::Resident)?;
    let density = resident.density.map(|density| format!(", density {}", density_text(density)));
    let subject = format!(
        "{} ({}{}, {} cache)",
        section.op,
        section.dtype.words(),
        density.unwrap_or_default(),
        section.cache
    );
    let kernel = largest(part, Kind::Kernel).filter(|(at, _)| *at == n);
    let kernel = kernel.map(|(_, pair)| format!("; kernel alone {}", pair.speed_up));
    let own_copies = op::find(section.op).is_some_and(|op| op.copies_itself());
    let held = if own_copies { "with its own copies" } else { "with the data on the device" };
    let mut line = format!(
        "{subject}: {held} {}; at N = {n} {} ({} against {}{})",
        crossover_clause(&resident),
        faster(&pair),
        pair.gpu.variant_text(),
        pair.cpu.variant_text(),
        kernel.unwrap_or_default(),
    );
    if let Some((whole, (at, pair))) = of(&mut found, Kind::EndToEnd).zip(largest(part, Kind::EndToEnd))
        && !own_copies
    {
        line += &format!(". End to end {}; at N = {at} {}", crossover_clause(&whole), faster(&pair));
    }
    line += &limits(report, pair.gpu, pair.cpu);
    Some(line + ".")
}

/// `the GPU is 31x faster`, or that neither is for sure.
fn faster(pair: &Pair<'_>) -> String {
    if pair.speed_up.is_open() {
        return format!("neither is surely faster ({})", pair.speed_up);
    }
    if pair.speed_up.factor() < EVEN {
        return "both sides take about as long".into();
    }
    let winner = if pair.speed_up.winner() == Side::Gpu { "GPU" } else { "CPU" };
    format!("the {winner} is {} faster", pair.speed_up.factor_text())
}

/// `. There the GPU reaches 94 % of its arithmetic peak, the CPU 81 % of its own`.
fn limits(report: &Report, gpu: &Row, cpu: &Row) -> String {
    let reach = |row: &Row| {
        let share = share(report, row)?;
        Some(format!("{} of its {} limit", percent(share.share), share.roof.name()))
    };
    match (reach(gpu), reach(cpu)) {
        (None, None) => String::new(),
        (Some(gpu), None) => format!(". There the GPU reaches {gpu}"),
        (None, Some(cpu)) => format!(". There the CPU reaches {cpu}"),
        (Some(gpu), Some(cpu)) => format!(". There the GPU reaches {gpu}, the CPU {cpu}"),
    }
}

/// A share as a percentage: `94 %`, `3.1 %`.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        percent if percent >= 9.95 => format!("{percent:.0} %"),
        percent if percent >= 0.1 => format!("{percent:.1} %"),
        _ => "below 0.1 %".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn found(from: Place, interval: [Place; 2]) -> Crossover {
        let changes = if let Place::At(size) = from { vec![(size, Side::Gpu)] } else { vec![] };
        Crossover {
            density: None,
            kind: Kind::Resident,
            smallest: 100,
            largest: 2048,
            from,
            interval,
            changes,
        }
    }

    #[test]
    fn sizes_have_the_digits_that_their_interval_allows() {
        let at = Place::At;
        assert_eq!(size_text(312.4, [at(290.3), at(334.9)]), "312");
        assert_eq!(size_text(312.4, [at(312.1), at(312.9)]), "312");
        assert_eq!(size_text(1448.2, [at(1447.0), at(1449.0)]), "1448");
        assert_eq!(size_text(1448.2, [at(1300.0), at(1700.0)]), "1450");
        assert_eq!(size_text(31.24, [Place::Below, at(400.0)]), "31");
        assert_eq!(size_text(3.4, [at(3.4), at(3.4)]), "3");
    }

    #[test]
    fn crossovers_are_told_in_words() {
        let at = Place::At;
        let shown = |from, interval| {
            let found = found(from, interval);
            (crossover_text(&found), crossover_clause(&found))
        };
        let pair = |short: &str, long: &str| (short.to_owned(), long.to_owned());
        assert_eq!(
            shown(at(312.0), [at(291.0), at(336.0)]),
            pair("312 (291 to 336)", "the GPU wins from N = 312 (291 to 336) on")
        );
        assert_eq!(
            shown(Place::Below, [Place::Below; 2]),
            pair("100 or less", "the GPU wins at every size from 100 to 2048")
        );
        assert_eq!(
            shown(Place::Beyond, [Place::Beyond; 2]),
            pair("not up to 2048", "the CPU wins at every size from 100 to 2048")
        );
        assert_eq!(
            shown(at(1800.0), [at(1200.0), Place::Beyond]),
            pair("1800 (1200 to beyond 2048)", "the GPU wins from N = 1800 (1200 to beyond 2048) on")
        );
        let mut small_only = found(Place::Beyond, [Place::Beyond; 2]);
        small_only.changes = vec![(500.4, Side::Cpu)];
        assert_eq!(crossover_clause(&small_only), "the CPU wins at N = 2048, the GPU only up to 500");
    }

    #[test]
    fn the_paragraph_answers_the_question() {
        let lines = paragraph(&example::full());
        assert_eq!(
            lines[0],
            "NVIDIA H200 against Intel Xeon Platinum 8480C, 16 threads: at the largest size measured, the GPU is the \
             faster in 1 of 1 sweep with the data on the device; with the copies there and back in 1 of 1."
        );
        assert!(
            lines[1].starts_with(
                "matmul (float32, cold cache): with the data on the device the GPU wins from N = "
            )
        );
        assert!(lines[1].contains("; at N = 10000 the GPU is 18.2x faster (cublas against openblas; kernel alone GPU 18x). End to end "), "{}", lines[1]);
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn the_paragraph_tells_what_each_side_reaches_of_its_limit() {
        let mut report = example::full();
        report.environment.backends[1].ceilings = Some(example::ceilings());
        let line = &paragraph(&report)[1];
        assert!(line.ends_with(". There the GPU reaches 98 % of its arithmetic limit."), "{line}");
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!([0.943, 0.0312, 1.2, 1e-5].map(percent), ["94 %", "3.1 %", "120 %", "below 0.1 %"]);
    }
}
