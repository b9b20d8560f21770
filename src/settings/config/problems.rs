//! Reads a list of problems, one JSON object per line: `{"op": "matmul", "m": 4096, "n": 512, "k": 64, "batch": 10, "dtype": "f64"}`.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use gpubench_report::report::file::shown;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{SweepFile, check_shapes, one_line};
use crate::op;
use crate::settings::options::{DTypes, Density, Ops, Shapes, SweepOptions};
use crate::settings::resolve::{element_types, names_of};
use crate::shape::LAYOUT;

/// What a line may look like, for messages.
const EXAMPLE: &str =
    r#"write a JSON object per line, such as {"op": "matmul", "m": 4096, "n": 512, "k": 64, "dtype": "f32"}"#;

/// Reads the problems of a file, as a sweep with a table for each op and element type.
///
/// # Errors
/// A line is no problem; in one line with its number and the next step.
pub fn read(path: &Path) -> Result<SweepFile> {
    problems(path).map_err(one_line)
}

fn problems(path: &Path) -> Result<SweepFile> {
    let name = path.display().to_string();
    let text = gpubench_text::limited::text(path)
        .map_err(|error| anyhow!("--problems: cannot read '{name}': {error}; {EXAMPLE}"))?;
    let mut tables: Vec<SweepOptions> = vec![];
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let table = problem(line).map_err(|error| {
            let reason = shown(&format!("{error:#}").trim_start_matches("--shape: ").to_owned());
            anyhow!("--problems: {name}:{}: {reason}; {EXAMPLE}", index + 1)
        })?;
        let key = |table: &SweepOptions| (table.ops.clone(), table.dtypes.clone(), table.density);
        let is_like = |known: &&mut SweepOptions| key(known) == key(&table);
        match (tables.iter_mut().find(is_like), table.shape) {
            (Some(SweepOptions { shape: Some(Shapes(known)), .. }), Some(Shapes(shapes))) => {
                known.extend(shapes)
            }
            (_, shape) => tables.push(SweepOptions { shape, ..table }),
        }
    }
    ensure!(!tables.is_empty(), "--problems: '{name}' has no problem; {EXAMPLE}");
    Ok(SweepFile { name, tables, ..SweepFile::default() })
}

/// The keys of an object in their order, also those that are there twice.
struct Keys(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keys, D::Error> {
        struct Every;
        impl<'de> Visitor<'de> for Every {
            type Value = Keys;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = vec![];
                while let Some(entry) = map.next_entry()? {
                    keys.push(entry);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Every)
    }
}

fn problem(line: &str) -> Result<SweepOptions> {
    let Keys(keys) = serde_json::from_str(line).context("it is no JSON object")?;
    let twice = keys
        .iter()
        .enumerate()
        .find(|(index, (key, _))| keys[..*index].iter().any(|(known, _)| known == key));
    ensure!(twice.is_none(), "{} is given twice", twice.map_or("", |(_, (key, _))| key));
    let mut keys: Map<String, Value> = keys.into_iter().collect();
    let mut word = |key: &str| match keys.remove(key) {
        None => Ok(None),
        Some(Value::String(word)) => Ok(Some(word)),
        Some(_) => bail!("{key} is no text"),
    };
    let (op, dtype) = (word("op")?.context("op is missing")?, word("dtype")?);
    let density = keys.remove("density");
    ensure!(density.as_ref().is_none_or(Value::is_number), "density is no number");
    let density = density.map(|density| density.to_string().parse::<Density>());
    let dimension = |(name, value): (String, Value)| match value {
        Value::Number(extent) => Ok(format!("{name}={extent}")),
        Value::String(word) if name == LAYOUT && !word.contains(',') => Ok(format!("{name}={word}")),
        _ => bail!("{name} is no number"),
    };
    let dimensions = keys.into_iter().map(dimension).collect::<Result<Vec<String>>>()?.join(",");
    let of = |error: crate::settings::syntax::ValueRefusal| anyhow!("{error}");
    let asked = SweepOptions {
        ops: Some(op.parse::<Ops>().map_err(of)?),
        dtypes: dtype.map(|dtype| dtype.parse::<DTypes>()).transpose().map_err(of)?,
        shape: Some(dimensions.parse::<Shapes>().map_err(of)?),
        density: density.transpose().map_err(of)?,
        ..SweepOptions::default()
    };
    check_shapes(&asked)?;
    let is_sparse = op::find(&op).is_some_and(|op| op.default_density().is_some());
    ensure!(is_sparse || asked.density.is_none(), "{op} has no density: its operands are dense");
    let has = element_types(&op, &asked);
    if let Some(dtype) = asked.dtypes.iter().flat_map(|dtypes| &dtypes.0).find(|dtype| !has.contains(dtype)) {
        bail!("{op} has no problems of {}: it has those of {}", dtype.name(), names_of(has));
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_one_op_and_type_share_a_table_and_wrong_lines_are_named() {
        let file = std::env::temp_dir().join(format!("problems-{}.jsonl", std::process::id()));
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            read(&file).map_err(|error| error.to_string())
        };
        let found = read(
            "{\"op\":\"matmul\",\"m\":4,\"n\":5,\"k\":6,\"layout\":\"nt\"}\n\n{\"op\":\"svd\",\"m\":9,\"n\":2,\"dtype\":\"f64\"}\n\
             {\"op\":\"matmul\",\"k\":64,\"n\":5,\"m\":4}\n",
        );
        let tables = found.unwrap().tables;
        let shapes = tables.iter().map(|table| table.shape.as_ref().map_or(0, |Shapes(shapes)| shapes.len()));
        assert_eq!(shapes.collect::<Vec<_>>(), [2, 1]);
        assert_eq!(tables[1].dtypes, "f64".parse().ok());
        let line = |density| format!("{{\"op\":\"spmv\",\"m\":9,\"n\":2,\"density\":{density}}}\n");
        let tables = read(&(line("0.5") + &line("0.25") + &line("5e-1"))).unwrap().tables;
        let densities = tables.iter().map(|table| table.density.map(|density| density.0));
        assert_eq!(densities.collect::<Vec<_>>(), [Some(0.5), Some(0.25)]);
        for (text, expected) in [
            ("{\"op\":\"svd\",\"m\":4,\"n\":4}\n[1]\n", ":2: it is no JSON object"),
            ("{\"m\":4}", ":1: op is missing; write a JSON object per line, such as"),
            ("{\"op\":\"matmul\",\"m\":0,\"n\":4,\"k\":4}", "m cannot be 0: give a number of at least 1"),
            ("{\"op\":\"matmul\",\"m\":4,\"n\":5,\"m\":6,\"k\":7}", ":1: m is given twice; write"),
            ("{\"op\":\"matmul\",\"m\":4,\"n\":5}", ":1: k is missing"),
            ("{\"op\":\"fft\",\"n\":5}", ":1: fft has no dimension n: it has nx, ny, nz, batch"),
            ("{\"op\":\"sin\",\"n\":5}", ":1: sin has no shapes"),
            ("{\"op\":\"matmul\",\"m\":{}}", "m is no number"),
            ("{\"op\":\"matmul\"}", "no shape is given"),
            (
                "{\"op\":\"fft\",\"nx\":5,\"dtype\":\"bf16\"}",
                "fft has no problems of bf16: it has those of f32, f64, c64",
            ),
            ("{\"op\":\"fft\",\"nx\":5,\"dtype\":\"f32,bf16\"}", "fft has no problems of bf16"),
            ("{\"op\":\"fft\",\"nx\":5,\"nz\":5}", "nz is given without ny"),
            ("{\"op\":\"spmv\",\"m\":5,\"n\":4,\"density\":2}", "density 2 is not above 0"),
            ("{\"op\":\"spmv\",\"m\":5,\"n\":4,\"density\":\"a\"}", "density is no number"),
            ("{\"op\":\"svd\",\"m\":5,\"n\":4,\"density\":0.5}", "svd has no density"),
            ("\n", "has no problem"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
        std::fs::remove_file(&file).unwrap();
    }
}
