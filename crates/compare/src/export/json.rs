//! JSON: the comparison itself, as `schema/compare-v2.json` describes it.

use gpubench_model::format::Makes;
use gpubench_model::report::file::to_json_text;

use super::view::Format;

pub(crate) static JSON: Format = Format {
    name: "json",
    summary: "everything, for programs; `gpubench schema compare` describes it",
    by_default: true,
    makes: Makes::Text("compare.json", |comparison, _| to_json_text(&**comparison)),
};

#[cfg(test)]
mod tests {
    use super::super::sanitized::Sanitized;
    use super::super::view::View;
    use super::*;
    use crate::{Comparison, example};

    #[test]
    fn json_reads_back_as_the_same_comparison() {
        for comparison in [example::full(), example::passing(), example::across_machines(true)] {
            let text = JSON.text(&Sanitized::of(&comparison), &View::default()).unwrap();
            assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), comparison);
        }
    }

    #[test]
    fn what_is_not_finite_is_left_out_and_the_rest_reads_back() {
        let mut comparison = example::full();
        let change = &mut comparison.cells[2];
        (change.ratio, change.p, change.interval) =
            (Some(f64::INFINITY), Some(f64::NAN), Some([1.0, f64::INFINITY]));
        let text = JSON.text(&Sanitized::of(&comparison), &View::default()).unwrap();
        assert!(!text.contains("null"), "{text}");
        let read: Comparison = serde_json::from_str(&text).unwrap();
        assert_eq!((read.cells[2].ratio, read.cells[2].p, read.cells[2].interval), (None, None, None));
    }
}
