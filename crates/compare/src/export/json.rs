//! JSON: the comparison itself, as `schema/compare-v1.json` describes it.

use gpubench_model::report::file::to_json;

use super::{Format, View};
use crate::Comparison;

/// The comparison as JSON.
pub(crate) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "everything, for programs; `gpubench schema compare` describes it"
    }

    fn file_name(&self) -> &'static str {
        "compare.json"
    }

    fn render(&self, comparison: &Comparison, _: &View) -> String {
        let bytes = to_json(comparison).expect("every field of a comparison has a JSON form");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn json_reads_back_as_the_same_comparison() {
        for comparison in [example::full(), example::passing(), example::across_machines(true)] {
            let text = Json.text(&comparison, &View::default());
            assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), comparison);
        }
    }

    #[test]
    fn what_is_not_finite_is_left_out_and_the_rest_reads_back() {
        let mut comparison = example::full();
        let change = &mut comparison.cells[2];
        (change.ratio, change.p, change.interval) =
            (Some(f64::INFINITY), Some(f64::NAN), Some([1.0, f64::INFINITY]));
        let text = Json.text(&comparison, &View::default());
        assert!(!text.contains("null"), "{text}");
        let read: Comparison = serde_json::from_str(&text).unwrap();
        assert_eq!((read.cells[2].ratio, read.cells[2].p, read.cells[2].interval), (None, None, None));
    }
}
