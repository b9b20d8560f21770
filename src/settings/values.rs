//! The types of option values, each with its syntax, default and check.

use anyhow::{Result, ensure};
use gpubench_model::pattern::Pattern;
use gpubench_text::percent;

use super::backends::BackendList;
use super::devices::Devices;
use super::threads::{self, Threads};
use super::value::{Count, Figure, Fraction, Seconds, Word, Words, value};
use super::{sizes, words};
use crate::backend::TransferMemory;
use crate::case::{Cache, DType};
use crate::chart::Theme;

/// Maximum number of samples or warm-up executions; more is a typing error.
const MAX_REPETITIONS: u64 = 1_000_000;

value! {
    /// Names of ops, in the order of the registry.
    Ops(Vec<String>) as Words, |text: String| words::ops(&text);
    /// Sizes N, ascending, each once.
    Sizes(Vec<u64>) as Words, |text: String| sizes::parse(&text);
    /// Element types.
    DTypes(Vec<DType>) as Words = vec![DType::F32], |text: String| words::dtypes(&text);
    /// Names of backends. Resolving the settings checks them.
    Backends(BackendList) as Words = BackendList::unchecked(words::DEFAULT_BACKENDS),
        |text: String| Ok(BackendList::unchecked(&text));
    /// Patterns of variants' names.
    Variants(Vec<Pattern>) as words::Patterns, Ok;
    /// Share of stored entries, above 0 and at most 1.
    #[derive(Copy)]
    Density(f64) as Fraction, |share| {
        ensure!(share > 0.0 && share <= 1.0, "density {share} is not above 0 and at most 1");
        Ok(share)
    };
    /// Seed of the operands.
    #[derive(Copy)]
    Seed(u64) as Count<0, { u64::MAX }> = 42, Ok;
    /// States of the caches.
    CacheStates(Vec<Cache>) as Word = vec![Cache::Cold], |text: String| words::caches(&text);
    /// Number of samples per cell.
    #[derive(Copy)]
    Samples(u32) as Count<1, MAX_REPETITIONS>, |count| {
        ensure!(count >= 1, "0 samples measure nothing: use at least 1");
        repetitions("samples", count)
    };
    /// Half the interval of a median, relative to the median.
    #[derive(Copy)]
    Precision(f64) as Figure, |text: String| percent::parse(&text);
    /// Seconds of sampling per cell.
    #[derive(Copy)]
    MaxTime(f64) as Seconds, |seconds| {
        ensure!(seconds >= 1e-3, "a cell cannot be sampled in less than 1 ms: use at least 1ms");
        Ok(seconds)
    };
    /// Seconds for the whole run.
    #[derive(Copy)]
    Budget(f64) as Seconds, |seconds| {
        ensure!(seconds >= 1.0, "a run needs at least a second: use at least 1s");
        Ok(seconds)
    };
    /// Number of rounds.
    #[derive(Copy)]
    Rounds(u32) as Count<1, 100>, |count| {
        ensure!((1..=100).contains(&count), "{count} rounds are not possible: use 1 to 100");
        Ok(u32::try_from(count)?)
    };
    /// Host memory of copies.
    #[derive(Copy)]
    Transfer(TransferMemory) as Word = TransferMemory::default(), |text: String| words::transfer(&text);
    /// Number of warm-up executions.
    #[derive(Copy)]
    Warmup(u32) as Count<0, MAX_REPETITIONS>, |count| repetitions("warm-up executions", count);
    /// Numbers of CPU threads.
    ThreadCounts(Threads) as Figure = Threads::default(), |text: String| threads::parse(&text);
    /// CUDA devices, by ordinal.
    DeviceChoice(Devices) as Devices = Devices::Named(vec![0]), Ok;
    /// Time limit per cell in seconds, at least the resolution of waiting for a worker, one millisecond.
    #[derive(Copy)]
    CellTimeout(f64) as Seconds = 300.0, |seconds| {
        ensure!(seconds >= 1e-3, "a cell needs at least a millisecond: use at least 1ms");
        Ok(seconds)
    };
    /// The contenders of the answer: `A:B`, or `sides`.
    Contenders(String) as Word, |text: String| words::contenders(&text);
    /// Theme of charts.
    #[derive(Copy)]
    ThemeName(Theme) as Word = Theme::default(), |text: String| words::theme(&text);
}

fn repetitions(what: &str, count: u64) -> Result<u32> {
    ensure!(count <= MAX_REPETITIONS, "{count} {what} are too many: use at most {MAX_REPETITIONS}");
    Ok(u32::try_from(count)?)
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
