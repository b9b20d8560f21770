//! Bencher Metric Format: the times of NEW, for Bencher to store.
//!
//! Its built-in measure `latency` is in nanoseconds; see <https://bencher.dev/docs/reference/bencher-metric-format>.

use gpubench_model::format::Makes;
use serde_json::{Map, json};

use super::names::names;
use super::view::Format;
use crate::Comparison;

pub(crate) static BMF: Format = Format {
    name: "bmf",
    summary: "Bencher Metric Format: times of NEW in nanoseconds",
    by_default: false,
    makes: Makes::Text("compare.bmf.json", |comparison, _| Ok(text(comparison))),
};

/// Sets the lower and upper value to one standard deviation between runs, if that is known.
fn text(comparison: &Comparison) -> String {
    let mut benchmarks = Map::new();
    for (change, name) in comparison.cells.iter().zip(names(comparison)) {
        let Some(new) = &change.new else { continue };
        let value = new.median_s * 1e9;
        let mut metric = json!({ "value": value });
        if let Some(variation) = change.variation_between_runs {
            metric["lower_value"] = json!((value * (1.0 - variation)).max(0.0));
            metric["upper_value"] = json!(value * (1.0 + variation));
        }
        benchmarks.insert(name, json!({ "latency": metric }));
    }
    format!("{:#}\n", serde_json::Value::Object(benchmarks))
}

#[cfg(test)]
mod tests {
    use super::super::sanitized::Sanitized;
    use super::*;
    use crate::example;

    #[test]
    fn times_of_new_are_in_nanoseconds_with_their_variation() {
        let text = text(&Sanitized::of(&example::full()));
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let latency = &found["elementwise/N=4096/f32/cuda/fused/cold"]["latency"];
        let figure = |key: &str| latency[key].as_f64().unwrap().round();
        assert_eq!(
            (figure("value"), figure("lower_value"), figure("upper_value")),
            (34528.0, 34148.0, 34908.0)
        );
        let new = &found["spmv/N=4096/f32/density=0.05/cuda/cusparse/cold"]["latency"];
        assert!(new["value"].is_number() && new.get("lower_value").is_none());
        assert_eq!(found.as_object().unwrap().len(), 10);
    }
}
