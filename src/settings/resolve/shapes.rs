//! Makes the shapes of a sweep from those that the user writes, with the batches and layouts.

use anyhow::{Result, anyhow, ensure};

use crate::op::{OPS, Op};
use crate::settings::options::SweepOptions;
use crate::settings::shapes::{DimensionValues, SweepShape, WrittenShape};
use crate::shape::{BATCH, Dimension, LAYOUT, Shape};

/// Returns whether a sweep has shapes at all.
pub fn is_asked(asked: &SweepOptions) -> bool {
    asked.shape.is_some() || asked.batch.is_some() || asked.layout.is_some()
}

/// Returns the ops that take shapes.
pub(in crate::settings) fn ops() -> impl Iterator<Item = &'static str> {
    OPS.iter().filter(|op| !op.about().dimensions.is_empty()).map(|op| op.name())
}

/// Returns the shapes of a sweep of `op`; none where no option asks for any. `sizes` are those of the op by default.
///
/// # Errors
/// The op has no such shapes, or none varies although sizes are given.
pub(in crate::settings) fn of(op: &dyn Op, asked: &SweepOptions) -> Result<Vec<SweepShape>> {
    if !is_asked(asked) {
        return Ok(vec![]);
    }
    let about = op.about();
    ensure!(
        !about.dimensions.is_empty(),
        "--shape: {} has no shapes, its operands are N x N: choose --ops from {}",
        op.name(),
        ops().collect::<Vec<_>>().join(", ")
    );
    let square = [WrittenShape(vec![])];
    let written = asked.shape.as_ref().map_or(&square[..], |shapes| &shapes.0);
    let layouts =
        asked.layout.as_ref().map_or_else(|| vec![None], |layouts| layouts.0.iter().map(Some).collect());
    let mut found = vec![];
    for shape in written {
        for layout in &layouts {
            let batch = asked.batch.iter().map(|batches| (BATCH.to_owned(), batches.0.clone()));
            let layout = layout
                .map(|layout| (LAYOUT.to_owned(), DimensionValues::One(Dimension::Word(layout.clone()))));
            // The batch comes first, so that another dimension with several values is the one that varies.
            let dimensions: NamedDimensions = batch.chain(named(shape, op)?).chain(layout).collect();
            check_count(found.len(), &dimensions)?;
            for values in with_one_range(dimensions) {
                found.push(swept(op, values, asked)?);
            }
        }
    }
    let is_of = |one: &SweepShape, sizes: &Vec<u64>| {
        one.sizes == *sizes || one.shape.as_ref().is_some_and(Shape::varies)
    };
    ensure!(
        asked.sizes.as_ref().is_none_or(|sizes| found.iter().any(|one| is_of(one, &sizes.0))),
        "--sizes has no effect on the shapes of {}: write N for a dimension that varies, or omit --sizes",
        op.name()
    );
    Ok(found)
}

/// The dimensions of a shape by name, with all their values.
type NamedDimensions = Vec<(String, DimensionValues)>;

/// Returns the dimensions of a shape by the names of the op; all are N where none is given.
fn named(WrittenShape(written): &WrittenShape, op: &dyn Op) -> Result<NamedDimensions> {
    let about = op.about();
    let (name, all) = (op.name(), about.dimensions.join(" x "));
    let mut found: NamedDimensions = vec![];
    let has_names = written.iter().all(|(name, _)| name.is_some());
    if has_names {
        for (dimension, values) in written {
            let dimension = dimension.clone().unwrap_or_default();
            let is_known = about.names().any(|known| known == dimension);
            ensure!(
                is_known,
                "--shape: {name} has no dimension {dimension}: it has {}",
                about.names().collect::<Vec<_>>().join(", ")
            );
            found.push((dimension, values.clone()));
        }
    } else {
        ensure!(
            (about.needed..=about.dimensions.len()).contains(&written.len()),
            "--shape: {name} has the dimensions {all}, but {} are given: write a shape such as {}{}",
            written.len(),
            ["4096", "512", "64"][..about.dimensions.len()].join("x"),
            if about.further.is_empty() {
                String::new()
            } else {
                format!(", or by name with {}", about.further.join(", "))
            }
        );
        let names = about.dimensions.iter().map(|name| (*name).to_owned());
        found.extend(names.zip(written.iter().map(|(_, values)| values.clone())));
    }
    let needed = if written.is_empty() { about.square() } else { &about.dimensions[..about.needed] };
    for dimension in needed {
        if !found.iter().any(|(name, _)| name == dimension) {
            ensure!(
                written.is_empty(),
                "--shape: {dimension} is missing: {name} has {all}, of which one that varies is N"
            );
            found.push(((*dimension).to_owned(), DimensionValues::One(Dimension::OfSize(1))));
        }
    }
    Ok(found)
}

/// Most shapes of an op; more are a typing error.
const MAX_SHAPES: usize = 10_000;

/// Refuses more shapes than [`MAX_SHAPES`], before they are made: `known` ones, and those that the values of a shape mean.
fn check_count(known: usize, shape: &NamedDimensions) -> Result<()> {
    let counts = shape.iter().map(|(_, values)| match values {
        DimensionValues::Several(values) => values.len(),
        DimensionValues::One(_) => 1,
    });
    let mut counts: Vec<usize> = counts.collect();
    if !has_n(shape) {
        // The values of one dimension may be sizes of one shape.
        counts.sort_unstable();
        counts.pop();
    }
    let count = counts.into_iter().fold(1, usize::saturating_mul).saturating_add(known);
    ensure!(
        count <= MAX_SHAPES,
        "--shape, --batch: {count} shapes are more than {MAX_SHAPES}: name fewer values"
    );
    Ok(())
}

/// Returns whether a dimension is N or a multiple of it.
fn has_n(shape: &NamedDimensions) -> bool {
    shape.iter().any(|(_, values)| matches!(values, DimensionValues::One(Dimension::OfSize(_))))
}

/// Returns a shape once for each value of all dimensions that have several; where none is N, except the last of them.
fn with_one_range(shape: NamedDimensions) -> Vec<NamedDimensions> {
    let last = shape.iter().rposition(|(_, values)| matches!(values, DimensionValues::Several(_)));
    let last = last.filter(|_| !has_n(&shape));
    let mut found: Vec<NamedDimensions> = vec![vec![]];
    for (index, (name, values)) in shape.into_iter().enumerate() {
        let each = match values {
            DimensionValues::Several(extents) if Some(index) != last => {
                extents.into_iter().map(|extent| DimensionValues::One(Dimension::Fixed(extent))).collect()
            }
            values => vec![values],
        };
        let with = |start: &NamedDimensions| -> Vec<NamedDimensions> {
            let more = each.iter().map(|values| (name.clone(), values.clone()));
            more.map(|dimension| start.iter().cloned().chain([dimension]).collect()).collect()
        };
        found = found.iter().flat_map(with).collect();
    }
    found
}

/// Makes a shape with its sizes: the values of the one dimension that has several, or those of `--sizes`.
fn swept(op: &dyn Op, named: NamedDimensions, asked: &SweepOptions) -> Result<SweepShape> {
    let mut several = None;
    let mut dimensions = vec![];
    for (name, values) in named {
        let extent = match values {
            DimensionValues::One(extent) => extent,
            DimensionValues::Several(values) => {
                several = Some(values);
                Dimension::OfSize(1)
            }
        };
        dimensions.push((name, extent));
    }
    ensure!(
        several.is_none() || asked.sizes.is_none(),
        "--sizes has no effect on the shapes of {}, of which another dimension has several values: omit --sizes",
        op.name()
    );
    let about = op.about();
    let shape = Shape::of(dimensions).map_err(|error| anyhow!("--shape: {error}"))?;
    if let Some(name) = shape.names().find(|name| !about.names().any(|known| known == *name)) {
        let option = if name == BATCH || name == LAYOUT { format!("--{name}") } else { "--shape".to_owned() };
        let all = about.names().collect::<Vec<_>>().join(", ");
        return Err(anyhow!("{option}: {} has no {name}: its dimensions are {all}", op.name()));
    }
    if let Some(reason) = op.refuse_shape(&shape) {
        return Err(anyhow!("--shape {shape}: {reason}"));
    }
    let sizes = match several {
        Some(values) => values,
        None if shape.varies() => asked.sizes.clone().map_or_else(|| about.sizes.to_vec(), |sizes| sizes.0),
        None => vec![shape.largest()],
    };
    let is_square = shape.is_square() && shape.names().eq(about.square().iter().copied());
    Ok(SweepShape { shape: (!is_square).then_some(shape), sizes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op;
    use crate::settings::options::tests::options;

    /// Returns the shapes with their sizes that options mean for matmul, or the reason for refusing them.
    fn shapes(line: &str) -> String {
        let found = of(op::find("matmul").unwrap(), &options(line));
        let text = |found: &SweepShape| {
            let shape = found.shape.as_ref().map_or("square".to_owned(), Shape::to_string);
            format!("{shape}: {}", found.sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(" "))
        };
        match found {
            Ok(found) => found.iter().map(text).collect::<Vec<_>>().join("; "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn shapes_batches_and_layouts_make_sweeps() {
        for (line, expected) in [
            ("", ""),
            ("--shape 4096x512x64", "4096x512x64: 4096"),
            ("--shape 16Nx16NxN --sizes 8,16", "16Nx16NxN: 8 16"),
            ("--shape m=4096,n=512,k=64..256:x2", "4096x512xN: 64 128 256"),
            ("--shape k=32,m=8,n=8,k=64,m=5,n=5 --batch 7", "8x8x32 batch 7: 32; 5x5x64 batch 7: 64"),
            ("--shape 7xNxN,7x7x7,NxNxN --sizes 5", "7xNxN: 5; square: 7; square: 5"),
            ("--shape m=7,n=7,k=7,m=7,n=7,k=8 --batch 1 --layout nn", "square: 7; 7x7x8: 8"),
            ("--shape 7x7x7 --layout nt", "7x7x7 nt: 7"),
            ("--shape k=32,m=N,n=N --sizes 9", "NxNx32: 9"),
            ("--shape m=2..4:x2,n=8..16:x2,k=4", "2xNx4: 8 16; 4xNx4: 8 16"),
            ("--shape m=2..4:x2,n=4,k=N --sizes 9", "2x4xN: 9; 4x4xN: 9"),
            ("--batch 1,64 --sizes 8", "square: 8; NxNxN batch 64: 8"),
            ("--shape 32x32x32 --batch 1..16:x4", "32x32x32 batch N: 1 4 16"),
            ("--shape 32x32x32 --batch N --sizes 5", "32x32x32 batch N: 5"),
            ("--layout nn,nt --sizes 5", "square: 5; NxNxN nt: 5"),
        ] {
            assert_eq!(shapes(line), expected, "{line}");
        }
    }

    #[test]
    fn what_cannot_be_swept_is_refused_with_the_next_step() {
        for (line, expected) in [
            (
                "--shape 4096x512",
                "matmul has the dimensions m x n x k, but 2 are given: write a shape such as 4096x512x64",
            ),
            ("--shape m=4,n=5", "k is missing"),
            ("--shape m=1..1000000:+1,n=1..1000000:+1,k=1..1000000:+1", "shapes are more than 10000"),
            ("--batch 1..200000:+1", "shapes are more than 10000"),
            ("--shape q=4,m=4", "matmul has no dimension q: it has m, n, k, batch, layout"),
            ("--shape 4x4x4 --sizes 9", "omit --sizes"),
            ("--shape m=2..4:x2,n=4,k=5 --sizes 9", "omit --sizes"),
            ("--layout nx", "layout nx is none of nn, nt, tn, tt"),
        ] {
            assert!(shapes(line).contains(expected), "{line}: {}", shapes(line));
        }
        let error = of(op::find("spmv").unwrap(), &options("--batch 4")).unwrap_err().to_string();
        assert!(error.contains("spmv has no batch: its dimensions are m, n"), "{error}");
        let error = of(op::find("sin").unwrap(), &options("--shape 4x4")).unwrap_err().to_string();
        assert!(error.contains("sin has no shapes") && error.contains("choose --ops from"), "{error}");
    }
}
