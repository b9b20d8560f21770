//! Parses lists of thread counts: `8`, `all`, `1,all`.

use anyhow::{Result, bail, ensure};
use gpubench_text::count::counted;

use super::names::unknown_word;

/// Maximum number of threads; more is a typing error.
const MAX_THREADS: usize = 4096;

/// The thread counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuThreads {
    /// The largest count, which represents the CPU in comparisons; `None` means all that the process may use.
    pub largest: Option<usize>,
    /// The smaller counts, ascending; each adds rows of its own.
    pub fewer: Vec<usize>,
}

impl CpuThreads {
    /// Checks that the process may use enough CPUs for the largest count: more threads would take turns.
    pub fn check_available(&self) -> Result<()> {
        self.check_at_most(available())
    }

    fn check_at_most(&self, all: usize) -> Result<()> {
        let largest = self.largest.unwrap_or(all);
        ensure!(
            largest <= all,
            "--threads {largest} is more than the {} that gpubench may use here: use at most {all}, or all",
            counted(all, "CPU")
        );
        Ok(())
    }
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Parses a list of counts and the word `all`, the number of threads that the process may use, which no count may exceed then.
pub fn parse(text: &str) -> Result<CpuThreads> {
    parse_with(text, available())
}

fn parse_with(text: &str, all: usize) -> Result<CpuThreads> {
    let (mut counts, mut has_all) = (vec![], false);
    for word in text.split(',').map(str::trim) {
        match (word, word.parse()) {
            ("all", _) => has_all = true,
            (_, Ok(count)) if (1..=MAX_THREADS).contains(&count) => counts.push(count),
            _ if word.starts_with(char::is_alphabetic) => {
                bail!("{}", unknown_word("number of threads", word, &["a number", "all"]))
            }
            _ => bail!("it must be a whole number from 1 to {MAX_THREADS}, or all"),
        }
    }
    counts.sort_unstable();
    counts.dedup();
    if has_all {
        counts.retain(|count| *count != all);
        let above = counts.iter().find(|count| **count > all);
        ensure!(above.is_none(), "all means {all} threads here: remove the larger numbers, or remove all");
        return Ok(CpuThreads { largest: None, fewer: counts });
    }
    Ok(CpuThreads { largest: counts.pop(), fewer: counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_count_leads_and_the_others_follow_ascending() {
        let threads = |largest, fewer: &[usize]| CpuThreads { largest, fewer: fewer.to_vec() };
        for (text, expected) in [
            ("8", threads(Some(8), &[])),
            ("all", threads(None, &[])),
            ("1,all", threads(None, &[1])),
            ("all, 4 ,1,4,16", threads(None, &[1, 4])),
            ("4,1,2", threads(Some(4), &[1, 2])),
        ] {
            assert_eq!(parse_with(text, 16).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn more_threads_than_cpus_are_refused() {
        let check = |text| parse_with(text, 16).unwrap().check_at_most(16).map_err(|e| e.to_string());
        assert_eq!((check("16"), check("1,all")), (Ok(()), Ok(())));
        assert!(check("1,17").is_err_and(|message| message.contains("use at most 16, or all")));
    }

    #[test]
    fn what_is_no_count_is_refused() {
        for text in ["", "0", "1,", "-1", "one", "all,17", "4097"] {
            assert!(parse_with(text, 16).is_err(), "{text}");
        }
    }
}
