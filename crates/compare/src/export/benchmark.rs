//! The JSON that github-action-benchmark reads with `tool: customSmallerIsBetter`: the times of NEW.
//!
//! See <https://github.com/benchmark-action/github-action-benchmark>.

use gpubench_model::format::Makes;
use serde_json::{Value, json};

use super::names::names;
use super::phrases;
use super::view::Format;
use crate::Comparison;

pub(crate) static GITHUB_ACTION_BENCHMARK: Format = Format {
    name: "github-action-benchmark",
    summary: "times of NEW for that GitHub action, tool customSmallerIsBetter",
    by_default: false,
    makes: Makes::Text("compare.benchmark.json", |comparison, _| Ok(text(comparison))),
};

/// Writes the times in nanoseconds always, because the action compares values without their units. `range` is one
/// standard deviation between runs, if that is known.
fn text(comparison: &Comparison) -> String {
    let mut entries: Vec<Value> = Vec::new();
    for (change, name) in comparison.cells.iter().zip(names(comparison)) {
        let Some(new) = &change.new else { continue };
        let mut extra =
            format!("verdict: {}\nruns: {}\nsamples: {}", change.verdict.name(), new.runs, new.samples);
        if let Some(change) = phrases::change_with_interval(change) {
            extra.push_str(&format!("\nchange: {change}"));
        }
        let value = new.median_s * 1e9;
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
    use super::super::sanitized::Sanitized;
    use super::*;
    use crate::example;

    #[test]
    fn entries_have_name_unit_value_and_range() {
        let text = text(&Sanitized::of(&example::full()));
        let found: Vec<Value> = serde_json::from_str(&text).unwrap();
        let name = "elementwise/N=4096/f32/cuda/fused/cold";
        let entry = found.iter().find(|entry| entry["name"] == name).unwrap();
        assert_eq!((&entry["unit"], &entry["range"]), (&json!("ns"), &json!("± 379.8")));
        assert_eq!(entry["value"].as_f64().unwrap().round(), 34528.0);
        assert!(entry["extra"].as_str().unwrap().ends_with("\nchange: 1.20x faster (1.18 to 1.22)"));
    }
}
