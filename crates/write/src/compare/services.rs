//! The times of NEW, as JSON for services that chart or store them: Bencher and github-action-benchmark.

use gpubench_analysis::compare::{Change, Comparison};
use gpubench_report::format::Makes;
use gpubench_text::words::json_word;
use serde_json::{Map, Value, json};

use super::ComparisonFormat;
use super::names::names;

/// Bencher Metric Format; the built-in measure `latency` is in nanoseconds. See
/// <https://bencher.dev/docs/reference/bencher-metric-format>.
pub(crate) static BMF: ComparisonFormat = ComparisonFormat {
    name: "bmf",
    summary: "Bencher Metric Format: times of NEW in nanoseconds",
    by_default: false,
    makes: Makes::Text("compare.bmf.json", |comparison, _| Ok(bmf(comparison))),
};

/// The JSON that github-action-benchmark reads with `tool: customSmallerIsBetter`. See
/// <https://github.com/benchmark-action/github-action-benchmark>.
pub(crate) static GITHUB_ACTION_BENCHMARK: ComparisonFormat = ComparisonFormat {
    name: "github-action-benchmark",
    summary: "times of NEW for that GitHub action, tool customSmallerIsBetter",
    by_default: false,
    makes: Makes::Text("compare.benchmark.json", |comparison, _| Ok(benchmark(comparison))),
};

/// Returns the cells that have a time in NEW, each with its name and that time in nanoseconds.
fn timed(comparison: &Comparison) -> impl Iterator<Item = (&Change, String, f64)> {
    let cells = comparison.cells.iter().zip(names(comparison));
    cells.filter_map(|(change, name)| Some((change, name, change.new.as_ref()?.median_s * 1e9)))
}

/// Sets the lower and upper value to one standard deviation between runs, if that is known.
fn bmf(comparison: &Comparison) -> String {
    let mut benchmarks = Map::new();
    for (change, name, value) in timed(comparison) {
        let mut metric = json!({ "value": value });
        if let Some(variation) = change.variation_between_runs {
            metric["lower_value"] = json!((value * (1.0 - variation)).max(0.0));
            metric["upper_value"] = json!(value * (1.0 + variation));
        }
        benchmarks.insert(name, json!({ "latency": metric }));
    }
    format!("{:#}\n", Value::Object(benchmarks))
}

/// Writes the times in nanoseconds always, because the action compares values without their units. `range` is one
/// standard deviation between runs, if that is known.
fn benchmark(comparison: &Comparison) -> String {
    let mut entries: Vec<Value> = Vec::new();
    for (change, name, value) in timed(comparison) {
        let Some(new) = &change.new else { continue };
        let verdict = json_word(&change.verdict);
        let mut extra = format!("verdict: {verdict}\nruns: {}\nsamples: {}", new.runs, new.samples);
        if let Some(change) = change.change() {
            extra.push_str(&format!("\nchange: {}", change.with_interval()));
        }
        let mut entry = json!({ "name": name, "unit": "ns", "value": value, "extra": extra });
        if let Some(variation) = change.variation_between_runs {
            entry["range"] = json!(format!("± {:.1}", value * variation));
        }
        entries.push(entry);
    }
    format!("{:#}\n", Value::Array(entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::compare::example;

    #[test]
    fn bencher_gets_times_of_new_in_nanoseconds_with_their_variation() {
        let found: Value = serde_json::from_str(&bmf(&example::full())).unwrap();
        let latency = &found["elementwise/N=4096/f32/cuda/fused/cold"]["latency"];
        let figure = |key: &str| latency[key].as_f64().unwrap().round();
        assert_eq!(["value", "lower_value", "upper_value"].map(figure), [34528.0, 34148.0, 34908.0]);
        let new = &found["spmv/N=4096/f32/density=0.05/cuda/cusparse/cold"]["latency"];
        assert!(new["value"].is_number() && new.get("lower_value").is_none());
        assert_eq!(found.as_object().unwrap().len(), 10);
    }

    #[test]
    fn entries_of_the_action_have_name_unit_value_and_range() {
        let found: Vec<Value> = serde_json::from_str(&benchmark(&example::full())).unwrap();
        let name = "elementwise/N=4096/f32/cuda/fused/cold";
        let entry = found.iter().find(|entry| entry["name"] == name).unwrap();
        assert_eq!((&entry["unit"], &entry["range"]), (&json!("ns"), &json!("± 379.8")));
        assert_eq!(entry["value"].as_f64().unwrap().round(), 34528.0);
        assert!(entry["extra"].as_str().unwrap().ends_with("\nchange: 1.20x faster (1.18 to 1.22)"));
    }
}
