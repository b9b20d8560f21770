//! The types of option values, each with its kind in sweep files, default and parser.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use gpubench_report::pattern::{self, Pattern};
use gpubench_text::{duration, percent};

use super::devices::DeviceSelection;
use super::shapes::{DimensionValues, WrittenShape};
use super::syntax::{value, whole};
use super::threads::{self, CpuThreads};
use super::{devices, names, shapes, sizes};
use crate::backend::TransferMemory;
use crate::case::{Cache, DType};
use crate::write::chart::Theme;

/// Maximum number of samples or warm-up executions; more is a typing error.
const MAX_REPETITIONS: u64 = 1_000_000;

value! {
    /// Names of ops, in the order of the registry.
    Ops(Vec<String>) as List, names::ops;
    /// Sizes N, ascending, each once.
    Sizes(Vec<u64>) as List, sizes::parse;
    /// Shapes, as they are written.
    Shapes(Vec<WrittenShape>) as List, shapes::parse;
    /// Numbers of problems that one execution computes.
    Batches(DimensionValues) as List, shapes::parse_batches;
    /// Layouts of products.
    Layouts(Vec<String>) as List, |text| {
        let layouts = text.split(',').map(|layout| layout.trim().to_lowercase()).filter(|layout| !layout.is_empty());
        let layouts: Vec<String> = layouts.collect();
        ensure!(!layouts.is_empty(), "no layout is given: write nn, nt, tn or tt");
        Ok(layouts)
    };
    /// Element types.
    DTypes(Vec<DType>) as List = vec![DType::F32], names::dtypes;
    /// Names of backends. Resolving the settings checks them.
    Backends(Vec<String>) as List = names::DEFAULT_BACKENDS.split(',').map(str::to_owned).collect(), |text| {
        Ok(text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    };
    /// Patterns of variants' names. The reader of a sweep file sets their origin.
    Variants(Vec<Pattern>) as List, |text| {
        let patterns = pattern::parse_list(text, "--variants");
        ensure!(!patterns.is_empty(), "no variant is named: name one, or '*' for all");
        Ok(patterns)
    };
    /// Share of stored entries, above 0 and at most 1.
    #[derive(Copy)]
    Density(f64) as Number, |text| {
        let share: f64 = text.trim().parse().ok().context("it must be a number above 0 and at most 1")?;
        ensure!(share > 0.0 && share <= 1.0, "density {share} is not above 0 and at most 1");
        Ok(share)
    };
    /// Files with matrices in the Matrix Market format.
    Matrices(Vec<PathBuf>) as List, |text| {
        let files = text.split(',').map(str::trim).filter(|file| !file.is_empty());
        let files: Vec<PathBuf> = files.map(PathBuf::from).collect();
        ensure!(!files.is_empty(), "no file is named: name one in the Matrix Market format, such as bcsstk13.mtx");
        Ok(files)
    };
    /// Seed of the operands.
    #[derive(Copy)]
    Seed(u64) as Whole = 42, |text| whole(text, 0..=u64::MAX);
    /// States of the caches.
    CacheStates(Vec<Cache>) as Word = vec![Cache::Cold], names::caches;
    /// Number of samples per cell.
    #[derive(Copy)]
    Samples(u32) as Whole, |text| Ok(u32::try_from(whole(text, 1..=MAX_REPETITIONS)?)?);
    /// Half the interval of a median, relative to the median.
    #[derive(Copy)]
    Precision(f64) as Figure, percent::parse;
    /// Duration of sampling per cell.
    #[derive(Copy)]
    MaxTime(f64) as Figure, |text| {
        let seconds = duration::parse(text)?;
        ensure!(seconds >= 1e-3, "a cell cannot be sampled in less than 1 ms: use at least 1ms");
        Ok(seconds)
    };
    /// Number of rounds.
    #[derive(Copy)]
    Rounds(u32) as Whole, |text| Ok(u32::try_from(whole(text, 1..=100)?)?);
    /// Host memory of copies.
    #[derive(Copy)]
    Transfer(TransferMemory) as Word = TransferMemory::default(), names::transfer;
    /// Number of warm-up executions.
    #[derive(Copy)]
    Warmup(u32) as Whole, |text| Ok(u32::try_from(whole(text, 0..=MAX_REPETITIONS)?)?);
    /// Numbers of CPU threads.
    ThreadCounts(CpuThreads) as Figure = CpuThreads::default(), threads::parse;
    /// CUDA devices, by ordinal: a list on the command line, one number in a sweep file.
    DeviceChoice(DeviceSelection) as Whole = DeviceSelection::Named(vec![0]), devices::parse;
    /// Time limit per cell in seconds, at least the resolution of waiting for a worker, one millisecond.
    #[derive(Copy)]
    CellTimeout(f64) as Figure = 300.0, |text| {
        let seconds = duration::parse(text)?;
        ensure!(seconds >= 1e-3, "a cell needs at least a millisecond: use at least 1ms");
        Ok(seconds)
    };
    /// The contenders of the answer: `A:B`, or `sides`.
    Contenders(String) as Word, names::contenders;
    /// Theme of charts.
    #[derive(Copy)]
    ThemeName(Theme) as Word = Theme::default(), names::theme;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_refuse_what_measures_nothing() {
        assert!("0".parse::<Samples>().is_err() && "1".parse::<Samples>().is_ok());
        assert!("0".parse::<Warmup>().is_ok() && u64::MAX.to_string().parse::<Warmup>().is_err());
        assert!("0".parse::<Rounds>().is_err() && "101".parse::<Rounds>().is_err());
        assert!("900us".parse::<CellTimeout>().is_err() && "1ms".parse::<CellTimeout>().is_ok());
        for density in ["0", "-0.1", "1.1", "NaN", "inf"] {
            assert!(density.parse::<Density>().is_err(), "{density}");
        }
        assert!("1".parse::<Density>().is_ok());
    }
}
