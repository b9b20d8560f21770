//! The answer as part of a saved report. Every reader derives it again; other programs take it from the file.

use std::collections::BTreeMap;

use gpubench_model::Side;
use gpubench_model::case::{Cache, DType};
use gpubench_model::report::{Report, Row};
use serde::Serialize;

use super::cost::Kind;
use super::crossover::{Crossover, Place, Stretch, crossovers};
use super::crossover_text::crossover_clause;
use super::figure::plain;
use super::first_use::{FirstUse, Repayment, repayment};
use super::peak_share::{Share, share};
use super::words::{Line, paragraph};
use super::{Comparison, Estimate, Section, sections};

/// A report with its answer, as `report.json` holds it.
#[derive(Serialize)]
pub struct Answered<'a> {
    #[serde(flatten)]
    report: &'a Report,
    answer: Answer<'a>,
}

impl<'a> Answered<'a> {
    /// Derives the answer of a report.
    pub fn of(report: &'a Report) -> Answered<'a> {
        let sections = sections(report);
        let answer = Answer {
            words: paragraph(report).iter().map(Line::to_string).collect(),
            sections: sections.iter().map(|section| SectionAnswer::of(report, section)).collect(),
        };
        Answered { report, answer }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    words: Vec<String>,
    sections: Vec<SectionAnswer<'a>>,
}

#[derive(Serialize)]
struct SectionAnswer<'a> {
    op: &'a str,
    dtype: DType,
    cache: Cache,
    crossovers: Vec<CrossoverAnswer>,
    sizes: Vec<SizeAnswer<'a>>,
}

impl<'a> SectionAnswer<'a> {
    fn of(report: &Report, section: &Section<'a>) -> SectionAnswer<'a> {
        SectionAnswer {
            op: section.op,
            dtype: section.dtype,
            cache: section.cache,
            crossovers: crossovers(section).into_iter().map(CrossoverAnswer::of).collect(),
            sizes: section.comparisons.iter().map(|one| SizeAnswer::of(report, one)).collect(),
        }
    }
}

#[derive(Serialize)]
struct CrossoverAnswer {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    density: Option<f64>,
    smallest: u64,
    largest: u64,
    /// `null` unless `state` is `within`.
    gpu_faster_from: Option<f64>,
    state: &'static str,
    /// An end is `null` where it lies outside the sizes; `interval_ends` says on which side.
    interval: [Option<f64>; 2],
    interval_ends: [&'static str; 2],
    /// Every size at which the faster side changes, with the side that is faster above.
    changes: Vec<ChangeAnswer>,
    /// The sizes at which the same side is measurably faster, or neither.
    winners: Vec<Stretch>,
    words: String,
}

#[derive(Serialize)]
struct ChangeAnswer {
    n: f64,
    above: Side,
}

impl CrossoverAnswer {
    fn of(found: Crossover) -> CrossoverAnswer {
        let at = |place| if let Place::At(size) = place { Some(size) } else { None };
        let word = |place| match place {
            Place::Below => "below",
            Place::At(_) => "within",
            Place::Beyond => "beyond",
        };
        CrossoverAnswer {
            kind: found.kind.key(),
            density: found.density,
            smallest: found.smallest,
            largest: found.largest,
            gpu_faster_from: found.from.and_then(at),
            state: found.from.map_or("open", word),
            interval: found.interval.map(at),
            interval_ends: found.interval.map(word),
            changes: found.changes.iter().map(|&(n, above)| ChangeAnswer { n, above }).collect(),
            words: plain(&crossover_clause(&found)),
            winners: found.stretches,
        }
    }
}

#[derive(Serialize)]
struct SizeAnswer<'a> {
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    density: Option<f64>,
    speed_ups: BTreeMap<&'static str, SpeedUpAnswer<'a>>,
    /// The share of peak that the best row of each side reaches.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    of_peak: BTreeMap<&'static str, PeakAnswer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_use: Option<FirstUse>,
}

impl<'a> SizeAnswer<'a> {
    fn of(report: &Report, comparison: &Comparison<'a>) -> SizeAnswer<'a> {
        let first_use = comparison.gpu.and_then(|row| FirstUse::of(report, row));
        let speed_up = |kind: Kind| {
            let pair = comparison.pair(kind)?;
            let first = FirstUse::of(report, pair.gpu);
            let repaid = first.and_then(|first| repayment(&first, &pair));
            let answer = SpeedUpAnswer {
                ratio: pair.speed_up.0,
                cpu: &pair.cpu.variant,
                gpu: &pair.gpu.variant,
                cpu_s: pair.cpu_s,
                gpu_s: pair.gpu_s,
                break_even_calls: match repaid {
                    Some(Repayment::After(calls)) => Some(calls),
                    _ => None,
                },
                break_even: repaid.map(|repaid| match repaid {
                    Repayment::After(_) => "after_calls",
                    Repayment::Never => "never",
                    Repayment::Open => "open",
                }),
            };
            Some((kind.key(), answer))
        };
        let of_peak = |(name, row): (&'static str, Option<&'a Row>)| {
            let row = row?;
            Some((name, PeakAnswer { variant: &row.variant, share: share(report, row)? }))
        };
        let sides = [(Side::Cpu, comparison.cpu), (Side::Gpu, comparison.gpu)];
        SizeAnswer {
            n: comparison.n,
            density: comparison.density,
            speed_ups: Kind::ALL.into_iter().filter_map(speed_up).collect(),
            of_peak: sides.map(|(side, row)| (side.name(), row)).into_iter().filter_map(of_peak).collect(),
            first_use,
        }
    }
}

#[derive(Serialize)]
struct SpeedUpAnswer<'a> {
    /// CPU's time over the GPU's.
    ratio: Estimate,
    cpu: &'a str,
    gpu: &'a str,
    cpu_s: Estimate,
    gpu_s: Estimate,
    /// `null` unless `break_even` is `after_calls`.
    break_even_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    break_even: Option<&'static str>,
}

#[derive(Serialize)]
struct PeakAnswer<'a> {
    variant: &'a str,
    #[serde(flatten)]
    share: Share,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;
    use gpubench_model::report::file::to_json;

    #[test]
    fn pinned_memory_has_its_speed_up_and_crossover_where_it_was_measured() {
        let report = example::with_pinned(example::full(), 5.0);
        let value = serde_json::to_value(Answered::of(&report)).unwrap();
        let section = &value["answer"]["sections"][0];
        assert_eq!(section["crossovers"][3]["kind"], "end_to_end_pinned");
        let speed_ups = &section["sizes"][0]["speed_ups"];
        let ratio = |kind: &str| speed_ups[kind]["ratio"]["value"].as_f64().unwrap();
        assert!(ratio("end_to_end_pinned") > ratio("end_to_end"), "{speed_ups}");
    }

    #[test]
    fn a_saved_report_has_the_answer_and_reads_back_as_the_report() {
        let report = example::with_peaks(example::full());
        let text = String::from_utf8(to_json(&Answered::of(&report)).unwrap()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let section = &value["answer"]["sections"][0];
        assert_eq!(section["op"], "matmul");
        assert_eq!(section["crossovers"].as_array().unwrap().len(), 3);
        assert_eq!(section["crossovers"][1]["kind"], "resident");
        let size = &section["sizes"][1];
        assert_eq!(size["n"], 10_000);
        assert_eq!(size["speed_ups"]["end_to_end"]["gpu"], "cublas");
        assert_eq!(size["of_peak"]["gpu"]["bound_by"], "arithmetic");
        assert!(size["first_use"]["compile_s"].as_f64().is_some());
        let read: Report = serde_json::from_str(&text).unwrap();
        assert_eq!(read, report);
    }
}
