//! Inputs that exhaust a stack or the range of numbers: each reader refuses them in one line, or reads them.

use super::inputs::{Formats, TARGETS, Target};

/// Depth of nested lists and objects.
const DEPTH: usize = 100_000;
/// Bytes of a huge text.
const HUGE: usize = 1 << 20;

fn hostile() -> Vec<String> {
    let (huge, deep) = ("a".repeat(HUGE), "[".repeat(DEPTH));
    let mut inputs = vec![deep.clone(), "{\"a\":".repeat(DEPTH), format!("{deep}{}", "]".repeat(DEPTH))];
    for key in ["schema_version", "baseline_version", "type", "gpubench_version"] {
        for value in
            [deep.as_str(), "1e400", "-1e400", "NaN", "Infinity", &format!("\"{huge}\""), "\"\\u001b[31m\""]
        {
            inputs.push(format!("{{\"{key}\":{value}}}\n"));
        }
    }
    for key in ["alpha", "threshold", "seed", "sizes", "ops", "max_time", "variants"] {
        for value in [deep.as_str(), "1e400", "nan", "-inf", &format!("'{huge}'"), "\"\\u001b[31m\""] {
            inputs.push(format!("{key} = {value}\n"));
        }
    }
    inputs.push(format!("{huge} = 1\n"));
    inputs.push(format!("[{}]\n", vec!["a"; DEPTH].join(".")));
    inputs
}

#[test]
fn nested_and_huge_inputs_are_refused_in_one_line() {
    for input in hostile() {
        for Target { read, .. } in &TARGETS {
            read(input.as_bytes(), Formats::All);
        }
    }
}
