//! The types of option values, each with its syntax, default and check.

use anyhow::{Result, ensure};
use gpubench_report::pattern::Pattern;
use gpubench_text::percent;

use super::devices::DeviceSelection;
use super::syntax::{CommaList, DurationSyntax, Fraction, NumberWithUnit, WholeNumber, Word, value};
use super::threads::{self, CpuThreads};
use super::{names, sizes};
use crate::backend::TransferMemory;
use crate::case::{Cache, DType};
use crate::write::chart::Theme;

/// Maximum number of samples or warm-up executions; more is a typing error.
const MAX_REPETITIONS: u64 = 1_000_000;

value! {
    /// Names of ops, in the order of the registry.
    Ops(Vec<String>) as CommaList, |text: String| names::ops(&text);
    /// Sizes N, ascending, each once.
    Sizes(Vec<u64>) as CommaList, |text: String| sizes::parse(&text);
    /// Element types.
    DTypes(Vec<DType>) as CommaList = vec![DType::F32], |text: String| names::dtypes(&text);
    /// Names of backends. Resolving the settings checks them.
    Backends(BackendList) as CommaList = BackendList::unchecked(names::DEFAULT_BACKENDS),
        |text: String| Ok(BackendList::unchecked(&text));
    /// Patterns of variants' names.
    Variants(Vec<Pattern>) as names::Patterns, Ok;
    /// Share of stored entries, above 0 and at most 1.
    #[derive(Copy)]
    Density(f64) as Fraction, |share| {
        ensure!(share > 0.0 && share <= 1.0, "density {share} is not above 0 and at most 1");
        Ok(share)
    };
    /// Seed of the operands.
    #[derive(Copy)]
    Seed(u64) as WholeNumber<0, { u64::MAX }> = 42, Ok;
    /// States of the caches.
    CacheStates(Vec<Cache>) as Word = vec![Cache::Cold], |text: String| names::caches(&text);
    /// Number of samples per cell.
    #[derive(Copy)]
    Samples(u32) as WholeNumber<1, MAX_REPETITIONS>, |count| {
        ensure!(count >= 1, "0 samples measure nothing: use at least 1");
        repetitions("samples", count)
    };
    /// Half the interval of a median, relative to the median.
    #[derive(Copy)]
    Precision(f64) as NumberWithUnit, |text: String| percent::parse(&text);
    /// DurationSyntax of sampling per cell.
    #[derive(Copy)]
    MaxTime(f64) as DurationSyntax, |seconds| {
        ensure!(seconds >= 1e-3, "a cell cannot be sampled in less than 1 ms: use at least 1ms");
        Ok(seconds)
    };
    /// DurationSyntax for the whole run.
    #[derive(Copy)]
    Budget(f64) as DurationSyntax, |seconds| {
        ensure!(seconds >= 1.0, "a run needs at least a second: use at least 1s");
        Ok(seconds)
    };
    /// Number of rounds.
    #[derive(Copy)]
    Rounds(u32) as WholeNumber<1, 100>, |count| {
        ensure!((1..=100).contains(&count), "{count} rounds are not possible: use 1 to 100");
        Ok(u32::try_from(count)?)
    };
    /// Host memory of copies.
    #[derive(Copy)]
    Transfer(TransferMemory) as Word = TransferMemory::default(), |text: String| names::transfer(&text);
    /// Number of warm-up executions.
    #[derive(Copy)]
    Warmup(u32) as WholeNumber<0, MAX_REPETITIONS>, |count| repetitions("warm-up executions", count);
    /// Numbers of CPU threads.
    ThreadCounts(CpuThreads) as NumberWithUnit = CpuThreads::default(), |text: String| threads::parse(&text);
    /// CUDA devices, by ordinal.
    DeviceChoice(DeviceSelection) as DeviceSelection = DeviceSelection::Named(vec![0]), Ok;
    /// Time limit per cell in seconds, at least the resolution of waiting for a worker, one millisecond.
    #[derive(Copy)]
    CellTimeout(f64) as DurationSyntax = 300.0, |seconds| {
        ensure!(seconds >= 1e-3, "a cell needs at least a millisecond: use at least 1ms");
        Ok(seconds)
    };
    /// The contenders of the answer: `A:B`, or `sides`.
    Contenders(String) as Word, |text: String| names::contenders(&text);
    /// Theme of charts.
    #[derive(Copy)]
    ThemeName(Theme) as Word = Theme::default(), |text: String| names::theme(&text);
}

/// The backends that one source names.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendList {
    /// The names. `BackendNames::check` refuses unknown ones.
    pub names: Vec<String>,
    /// Sweep file and line; `None` if the names come from an option.
    pub origin: Option<String>,
}

impl BackendList {
    /// Splits a list at its commas; checks no name.
    pub fn unchecked(text: &str) -> BackendList {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        BackendList { names: items.map(str::to_owned).collect(), origin: None }
    }
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
