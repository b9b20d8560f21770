//! The answer as part of a saved report. Every reader derives it again; other programs take it from the file.

use std::collections::BTreeMap;

use gpubench_report::case::{Cache, DType, Family};
use gpubench_report::report::{Report, Row};
use gpubench_report::shape::Shape;
use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use crate::report::crossover_text::crossover_clause;
use crate::report::sentences::paragraph;
use gpubench_analysis::answer::cost::Kind;
use gpubench_analysis::answer::crossover::{Crossover, Place, Stretch, crossovers};
use gpubench_analysis::answer::first_use::{FirstUse, Repayment, repayment};
use gpubench_analysis::answer::{Comparison, Contender, Estimate, Pair, Section, Versus, sections};
use gpubench_ops::peak_share::{Share, share};

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
        let (versus, sections) = (Versus::of(report), sections(report));
        let answer = Answer {
            versus: versus.is_named().then(|| keyed(versus, |one| versus.name(one))),
            words: paragraph(report),
            sections: sections.iter().map(|section| SectionAnswer::of(report, section)).collect(),
        };
        Answered { report, answer }
    }
}

/// A value per contender, under the keys that its report has for them.
type PerContender<T> = BTreeMap<&'static str, T>;

fn keyed<T>(versus: Versus<'_>, value: impl Fn(Contender) -> T) -> PerContender<T> {
    Contender::BOTH.into_iter().map(|one| (versus.key(one), value(one))).collect()
}

#[skip_serializing_none]
#[derive(Serialize)]
struct Answer<'a> {
    /// The contenders, where `--versus` names them.
    versus: Option<PerContender<&'a str>>,
    words: Vec<String>,
    sections: Vec<SectionAnswer<'a>>,
}

#[derive(Serialize)]
struct SectionAnswer<'a> {
    op: &'a str,
    dtype: DType,
    cache: Cache,
    crossovers: Vec<CrossoverAnswer<'a>>,
    sizes: Vec<SizeAnswer<'a>>,
}

impl<'a> SectionAnswer<'a> {
    fn of(report: &Report, section: &Section<'a>) -> SectionAnswer<'a> {
        let crossovers = crossovers(section).into_iter();
        SectionAnswer {
            op: section.op,
            dtype: section.dtype,
            cache: section.cache,
            crossovers: crossovers.map(|found| CrossoverAnswer::of(&found, section.versus)).collect(),
            sizes: section.comparisons.iter().map(|one| SizeAnswer::of(report, one)).collect(),
        }
    }
}

/// What distinguishes the sweeps of an op.
#[skip_serializing_none]
#[derive(Serialize)]
struct FamilyAnswer<'a> {
    shape: Option<&'a Shape>,
    density: Option<f64>,
    matrix: Option<&'a str>,
}

impl<'a> From<Family<'a>> for FamilyAnswer<'a> {
    fn from(Family { shape, density, matrix }: Family<'a>) -> FamilyAnswer<'a> {
        FamilyAnswer { shape, density, matrix }
    }
}

#[derive(Serialize)]
struct CrossoverAnswer<'a> {
    kind: &'static str,
    #[serde(flatten)]
    family: FamilyAnswer<'a>,
    smallest: u64,
    largest: u64,
    /// `gpu_faster_from`, or `b_faster_from`: `null` unless `state` is `within`.
    #[serde(flatten)]
    faster_from: BTreeMap<String, Option<f64>>,
    state: &'static str,
    /// An end is `null` where it lies outside the sizes; `interval_ends` says on which side.
    interval: [Option<f64>; 2],
    interval_ends: [&'static str; 2],
    /// Every size at which the faster contender changes, with the one that is faster above.
    changes: Vec<ChangeAnswer>,
    /// The sizes at which the same contender is measurably faster, or neither.
    winners: Vec<WinnerAnswer>,
    /// Whether the crossover comes from times of grade D, or from device times that the clock limits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreliable: bool,
    words: String,
}

#[derive(Serialize)]
struct ChangeAnswer {
    n: f64,
    above: &'static str,
}

#[derive(Serialize)]
struct WinnerAnswer {
    from: u64,
    to: u64,
    side: Option<&'static str>,
}

impl<'a> CrossoverAnswer<'a> {
    fn of(found: &Crossover<'a>, versus: Versus<'_>) -> CrossoverAnswer<'a> {
        let at = |place| if let Place::At(size) = place { Some(size) } else { None };
        let word = |place| match place {
            Place::Below => "below",
            Place::At(_) => "within",
            Place::Beyond => "beyond",
        };
        let faster_from = format!("{}_faster_from", versus.key(Contender::B));
        let change = |&(n, above): &(f64, Contender)| ChangeAnswer { n, above: versus.key(above) };
        let winner = |found: &Stretch| WinnerAnswer {
            from: found.first,
            to: found.last,
            side: found.winner.map(|winner| versus.key(winner)),
        };
        CrossoverAnswer {
            kind: found.kind.key(),
            family: found.family.into(),
            smallest: found.smallest,
            largest: found.largest,
            faster_from: BTreeMap::from([(faster_from, found.from.and_then(at))]),
            state: found.from.map_or("open", word),
            interval: found.interval.map(at),
            interval_ends: found.interval.map(word),
            changes: found.changes.iter().map(change).collect(),
            words: crossover_clause(found, versus),
            winners: found.stretches.iter().map(winner).collect(),
            unreliable: found.is_unreliable,
        }
    }
}

#[skip_serializing_none]
#[derive(Serialize)]
struct SizeAnswer<'a> {
    n: u64,
    #[serde(flatten)]
    family: FamilyAnswer<'a>,
    speed_ups: BTreeMap<&'static str, SpeedUpAnswer<'a>>,
    /// The resident speed-up with gpubench's tuned code on both sides.
    tuned: Option<SpeedUpAnswer<'a>>,
    /// The share of peak that the best row of each contender reaches.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    of_peak: PerContender<PeakAnswer<'a>>,
    first_use: Option<FirstUse>,
}

impl<'a> SizeAnswer<'a> {
    fn of(report: &Report, comparison: &Comparison<'a>) -> SizeAnswer<'a> {
        let speed_up = |kind: Kind| Some((kind.key(), SpeedUpAnswer::of(report, &comparison.pair(kind)?)));
        let of_peak = |(one, row): (Contender, Option<&'a Row>)| {
            let row = row?;
            let answer =
                PeakAnswer { backend: &row.backend, variant: &row.variant, share: share(report, row)? };
            Some((comparison.versus.key(one), answer))
        };
        let bests = Contender::BOTH.into_iter().zip(comparison.bests());
        SizeAnswer {
            n: comparison.n,
            family: comparison.family.into(),
            speed_ups: Kind::ALL.into_iter().filter_map(speed_up).collect(),
            tuned: comparison.tuned_pair(Kind::Resident).map(|pair| SpeedUpAnswer::of(report, &pair)),
            of_peak: bests.filter_map(of_peak).collect(),
            first_use: comparison.b.and_then(|row| FirstUse::of(report, row)),
        }
    }
}

#[skip_serializing_none]
#[derive(Serialize)]
struct SpeedUpAnswer<'a> {
    /// A's time over B's.
    ratio: Estimate,
    /// Whether a time has grade D, or is a device time that the clock limits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreliable: bool,
    /// The variants, under `cpu` and `gpu`, or `a` and `b`.
    #[serde(flatten)]
    variants: PerContender<&'a str>,
    /// The backends of the variants, under `cpu_backend` and so on.
    #[serde(flatten)]
    backends: BTreeMap<String, &'a str>,
    /// The times of the variants, under `cpu_s` and so on.
    #[serde(flatten)]
    times: BTreeMap<String, Estimate>,
    /// `null` unless `break_even` is `after_calls`.
    #[serialize_always]
    break_even_calls: Option<u64>,
    break_even: Option<&'static str>,
}

impl<'a> SpeedUpAnswer<'a> {
    fn of(report: &Report, pair: &Pair<'a>) -> SpeedUpAnswer<'a> {
        let repaid = FirstUse::of(report, pair.b).and_then(|first| repayment(&first, pair));
        let versus = pair.versus;
        let [a, b] = Contender::BOTH.map(|one| versus.key(one));
        SpeedUpAnswer {
            ratio: pair.speed_up.0,
            unreliable: pair.is_unreliable(),
            variants: [(a, pair.a.variant.as_str()), (b, pair.b.variant.as_str())].into(),
            backends: [(a, pair.a), (b, pair.b)]
                .map(|(key, row)| (format!("{key}_backend"), row.backend.as_str()))
                .into(),
            times: [(a, pair.a_s), (b, pair.b_s)].map(|(key, time)| (format!("{key}_s"), time)).into(),
            break_even_calls: match repaid {
                Some(Repayment::After(calls)) => Some(calls),
                _ => None,
            },
            break_even: repaid.map(|repaid| match repaid {
                Repayment::After(_) => "after_calls",
                Repayment::Never => "never",
                Repayment::Open => "open",
            }),
        }
    }
}

#[derive(Serialize)]
struct PeakAnswer<'a> {
    backend: &'a str,
    variant: &'a str,
    #[serde(flatten)]
    share: Share,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;
    use gpubench_report::report::file::to_json;

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
    fn contenders_with_names_have_keys_that_claim_no_side() {
        let mut report = example::full();
        Versus::choose(&mut report, "cuda:cpu").unwrap();
        let answer = &serde_json::to_value(Answered::of(&report)).unwrap()["answer"];
        assert_eq!(answer["versus"], serde_json::json!({ "a": "cuda", "b": "cpu" }));
        let section = &answer["sections"][0];
        let resident = &section["crossovers"][1];
        assert!(resident["b_faster_from"].is_null() && resident["gpu_faster_from"].is_null(), "{resident}");
        assert_eq!(
            (&resident["changes"][0]["above"], &resident["winners"][0]["side"]),
            (&"a".into(), &"b".into())
        );
        let found = &section["sizes"][1]["speed_ups"]["resident"];
        assert_eq!([&found["a"], &found["b"], &found["a_backend"]], ["cublas", "openblas", "cuda"]);
        assert!(found["ratio"]["value"].as_f64().unwrap() < 0.1, "the CPU is slower: {found}");
        assert!(found["a_s"]["value"].as_f64() < found["b_s"]["value"].as_f64());
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
