//! The answer as part of a saved report. Every reader derives it again; other programs take it from the file.

use std::collections::BTreeMap;

use gpubench_report::case::Family;
use gpubench_report::report::{Report, Row};
use serde::Serialize;
use serde_json::{Value, json};

use crate::report::crossover_text::crossover_clause;
use crate::report::sentences::paragraph;
use gpubench_analysis::answer::cost::Kind;
use gpubench_analysis::answer::crossover::{Crossover, Place, Stretch, crossovers};
use gpubench_analysis::answer::first_use::{FirstUse, Repayment, repayment};
use gpubench_analysis::answer::{Comparison, Contender, Pair, Section, Versus, sections};
use gpubench_ops::peak_share::share;

/// A report with its answer, as `report.json` holds it.
#[derive(Serialize)]
pub struct Answered<'a> {
    #[serde(flatten)]
    report: &'a Report,
    answer: Value,
}

impl<'a> Answered<'a> {
    /// Derives the answer of a report.
    pub fn of(report: &'a Report) -> Answered<'a> {
        let (versus, sections) = (Versus::of(report), sections(report));
        let sections: Vec<Value> = sections.iter().map(|section| section_answer(report, section)).collect();
        let mut answer = json!({ "words": paragraph(report), "sections": sections });
        if versus.is_named() {
            let names = Contender::BOTH.map(|one| (versus.key(one), versus.name(one)));
            answer["versus"] = json!(BTreeMap::from(names));
        }
        Answered { report, answer }
    }
}

fn section_answer(report: &Report, section: &Section<'_>) -> Value {
    let crossovers = crossovers(section);
    let crossovers = crossovers.iter().map(|found| crossover_answer(found, section.versus));
    let sizes = section.comparisons.iter().map(|one| size_answer(report, one));
    json!({
        "op": section.op,
        "dtype": section.dtype,
        "cache": section.cache,
        "crossovers": crossovers.collect::<Vec<Value>>(),
        "sizes": sizes.collect::<Vec<Value>>(),
    })
}

/// Sets the keys of what distinguishes the sweeps of an op.
fn set_family(answer: &mut Value, Family { shape, density, matrix }: Family<'_>) {
    let keys = [("shape", json!(shape)), ("density", json!(density)), ("matrix", json!(matrix))];
    for (key, value) in keys.into_iter().filter(|(_, value)| !value.is_null()) {
        answer[key] = value;
    }
}

fn crossover_answer(found: &Crossover<'_>, versus: Versus<'_>) -> Value {
    let at = |place| if let Place::At(size) = place { Some(size) } else { None };
    let word = |place| match place {
        Place::Below => "below",
        Place::At(_) => "within",
        Place::Beyond => "beyond",
    };
    let change = |&(n, above): &(f64, Contender)| json!({ "n": n, "above": versus.key(above) });
    let winner = |Stretch { first, last, winner }: &Stretch| {
        let side = winner.map(|winner| versus.key(winner));
        json!({ "from": first, "to": last, "side": side })
    };
    let mut answer = json!({
        "kind": found.kind.key(),
        "smallest": found.smallest,
        "largest": found.largest,
        // `gpu_faster_from`, or `b_faster_from`: `null` unless `state` is `within`.
        (format!("{}_faster_from", versus.key(Contender::B))): found.from.and_then(at),
        "state": found.from.map_or("open", word),
        // An end is `null` where it lies outside the sizes; `interval_ends` says on which side.
        "interval": found.interval.map(at),
        "interval_ends": found.interval.map(word),
        // Every size at which the faster contender changes, with the one that is faster above.
        "changes": found.changes.iter().map(change).collect::<Vec<Value>>(),
        // The sizes at which the same contender is measurably faster, or neither.
        "winners": found.stretches.iter().map(winner).collect::<Vec<Value>>(),
        "words": crossover_clause(found, versus),
    });
    // The crossover comes from times of grade D, or from device times that the clock limits.
    set_if(&mut answer, "unreliable", found.is_unreliable.then_some(true));
    set_family(&mut answer, found.family);
    answer
}

/// Sets a key that is absent where there is no value.
fn set_if(answer: &mut Value, key: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        answer[key] = json!(value);
    }
}

fn size_answer(report: &Report, comparison: &Comparison<'_>) -> Value {
    let speed_up = |kind: Kind| Some((kind.key(), speed_up_answer(report, &comparison.pair(kind)?)));
    let speed_ups: BTreeMap<&str, Value> = Kind::ALL.into_iter().filter_map(speed_up).collect();
    // The share of peak that the best row of each contender reaches.
    let of_peak = |(one, row): (Contender, Option<&Row>)| {
        let row = row?;
        let mut answer = json!(share(report, row)?);
        (answer["backend"], answer["variant"]) = (json!(row.backend), json!(row.variant));
        Some((comparison.versus.key(one), answer))
    };
    let bests = Contender::BOTH.into_iter().zip(comparison.bests());
    let of_peak: BTreeMap<&str, Value> = bests.filter_map(of_peak).collect();
    let mut answer = json!({ "n": comparison.n, "speed_ups": speed_ups });
    set_family(&mut answer, comparison.family);
    // The resident speed-up with gpubench's tuned code on both sides.
    let tuned = comparison.tuned_pair(Kind::Resident);
    set_if(&mut answer, "tuned", tuned.map(|pair| speed_up_answer(report, &pair)));
    set_if(&mut answer, "of_peak", Some(of_peak).filter(|shares| !shares.is_empty()));
    set_if(&mut answer, "first_use", comparison.b.and_then(|row| FirstUse::of(report, row)));
    answer
}

/// A's time over B's, with the variants, backends and times of both under `cpu`, `cpu_backend`, `cpu_s` and so on.
fn speed_up_answer(report: &Report, pair: &Pair<'_>) -> Value {
    let repaid = FirstUse::of(report, pair.b).and_then(|first| repayment(&first, pair));
    // `null` unless `break_even` is `after_calls`.
    let calls = if let Some(Repayment::After(calls)) = repaid { Some(calls) } else { None };
    let break_even = repaid.map(|repaid| match repaid {
        Repayment::After(_) => "after_calls",
        Repayment::Never => "never",
        Repayment::Open => "open",
    });
    let mut answer = json!({ "ratio": pair.speed_up.0, "break_even_calls": calls });
    set_if(&mut answer, "break_even", break_even);
    // A time has grade D, or is a device time that the clock limits.
    set_if(&mut answer, "unreliable", pair.is_unreliable().then_some(true));
    for (one, row, time) in [(Contender::A, pair.a, pair.a_s), (Contender::B, pair.b, pair.b_s)] {
        let key = pair.versus.key(one);
        answer[key] = json!(row.variant);
        answer[format!("{key}_backend")] = json!(row.backend);
        answer[format!("{key}_s")] = json!(time);
    }
    answer
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
