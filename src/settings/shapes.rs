//! Parses shapes, `4096x512xN` or `m=4096,n=512,k=64..1024:x2`, and batches.

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Serialize;

use super::sizes;
use crate::shape::{Dimension, Shape};

/// A shape as the user writes it: dimensions without names in the op's order, or with names.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenShape(pub(super) Vec<(Option<String>, DimensionValues)>);

/// The values of one dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum DimensionValues {
    /// One extent.
    One(Dimension),
    /// Several, of which the sweep takes one after another.
    Several(Vec<u64>),
}

/// A shape of a sweep with its sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepShape {
    /// The shape; `None` for square operands.
    pub shape: Option<Shape>,
    /// Sizes N, ascending, each once; of a shape that does not vary its largest dimension.
    pub sizes: Vec<u64>,
}

impl DimensionValues {
    fn parse(text: &str) -> Result<DimensionValues> {
        if text.contains("..") {
            return Ok(DimensionValues::Several(sizes::parse(text)?));
        }
        text.trim().parse().map(DimensionValues::One)
    }
}

/// Parses shapes that commas separate; commas also separate the named dimensions of one shape, up to the name with which it began.
pub fn parse(text: &str) -> Result<Vec<WrittenShape>> {
    let mut shapes: Vec<WrittenShape> = vec![];
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let Some((name, value)) = item.split_once('=') else {
            ensure!(
                !item.contains(".."),
                "shape '{item}' has a range: write the dimensions by name, such as m=4096,n=512,k=64..1024:x2"
            );
            let extents =
                item.split('x').map(|extent| Ok((None, DimensionValues::One(extent.trim().parse()?))));
            let shape: Result<Vec<_>> = extents.collect();
            shapes.push(WrittenShape(shape.with_context(|| format!("shape '{item}'")).map_err(joined)?));
            continue;
        };
        let name = name.trim();
        let values = DimensionValues::parse(value).map_err(|error| anyhow!("{name}: {error}"))?;
        let dimension = (Some(name.to_owned()), values);
        match shapes.last_mut().and_then(|shape| shape.0.first().cloned().map(|(first, _)| (shape, first))) {
            Some((_, None)) => bail!("{item} follows a shape without names: write all dimensions by name"),
            Some((shape, Some(first))) if first != name => {
                let is_known = shape.0.iter().any(|(known, _)| known.as_deref() == Some(name));
                ensure!(
                    !is_known,
                    "{name} is given twice: begin a further shape with {first}, as the one before"
                );
                shape.0.push(dimension);
            }
            _ => shapes.push(WrittenShape(vec![dimension])),
        }
    }
    ensure!(!shapes.is_empty(), "no shape is given: write one such as 4096x512xN or m=4096,n=512,k=64");
    Ok(shapes)
}

fn joined(error: anyhow::Error) -> anyhow::Error {
    anyhow!("{error:#}")
}

/// Parses a list of batches: numbers and ranges, or N.
pub fn parse_batches(text: &str) -> Result<DimensionValues> {
    match text.trim() {
        "N" => Ok(DimensionValues::One(Dimension::OfSize(1))),
        _ => Ok(match sizes::parse(text)?[..] {
            [batch] => DimensionValues::One(Dimension::Fixed(batch)),
            ref batches => DimensionValues::Several(batches.to_vec()),
        }),
    }
}
