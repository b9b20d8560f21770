//! Checks `docs/worker-protocol.md` against the code: its conversation, its test vectors and its fingerprint.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use gpubench::case::{Case, DType};
use gpubench::data::fingerprint;
use gpubench::data::generator::Stream;
use gpubench::op;
use gpubench_backend::protocol::{Reply, Request};
use half::{bf16, f16};

const PAGE: &str = include_str!("../docs/worker-protocol.md");

/// Asserts that every field shown on the page is known to the types, with the same value.
fn assert_known(shown: &serde_json::Value, written: &serde_json::Value, line: &str) {
    match (shown, written) {
        (serde_json::Value::Object(shown), serde_json::Value::Object(written)) => {
            for (key, value) in shown {
                match written.get(key) {
                    Some(same) => assert_known(value, same, line),
                    None => assert!(value.is_null(), "{key} is unknown in {line}"),
                }
            }
        }
        (serde_json::Value::Array(shown), serde_json::Value::Array(written)) => {
            assert_eq!(shown.len(), written.len(), "{line}");
            shown.iter().zip(written).for_each(|(a, b)| assert_known(a, b, line));
        }
        (shown, written) => assert_eq!(shown, written, "{line}"),
    }
}

#[test]
fn the_conversation_is_made_of_messages_that_the_types_know() {
    let blocks = PAGE.split("```transcript\n").skip(1);
    let lines = blocks.flat_map(|block| block.lines().take_while(|line| *line != "```"));
    let mut seen = 0;
    for line in lines {
        let (mark, json) = line.split_at(2);
        let shown: serde_json::Value = serde_json::from_str(json).unwrap();
        let written = match mark {
            "> " => serde_json::to_value(serde_json::from_str::<Request>(json).unwrap()).unwrap(),
            "< " => serde_json::to_value(serde_json::from_str::<Reply>(json).unwrap()).unwrap(),
            other => panic!("a line begins with {other:?}"),
        };
        assert_known(&shown, &written, line);
        seen += 1;
    }
    assert!(seen >= 17, "{seen} lines");
}

#[test]
fn the_page_shows_the_vectors_of_the_generator() {
    let mut seen = 0;
    for line in PAGE.lines().filter(|line| line.starts_with("| ") && line.contains("| `")) {
        let cells: Vec<&str> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let Ok(seed) = cells[0].parse() else { continue };
        let stream = Stream::new(seed, cells[1].parse().unwrap());
        let index: u64 = cells[2].parse().unwrap();
        assert_eq!(stream.bits(index), u64::from_str_radix(cells[3], 16).unwrap(), "{line}");
        let found = [
            stream.uniform::<f64>(index),
            stream.uniform::<f32>(index).into(),
            stream.uniform::<f16>(index).into(),
            stream.uniform::<bf16>(index).into(),
        ];
        let shown: Vec<f64> = cells[4..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(shown, found, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[test]
fn the_page_shows_the_fingerprints_of_a_small_case() {
    for dtype in [DType::F32, DType::Bf16, DType::F16, DType::C64, DType::C128] {
        let case = Case::square("matmul", 2, dtype, 42);
        let found = format!("{:016x}", fingerprint(&op::find("matmul").unwrap().inputs(&case)));
        let shown = match dtype {
            DType::F32 => format!("seed 42, have the fingerprint `{found}`"),
            _ => format!("`{found}` in `{}`", dtype.name()),
        };
        assert!(PAGE.replace('\n', " ").contains(&shown), "{shown}");
    }
}
