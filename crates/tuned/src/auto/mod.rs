//! The variant `auto` of each op. It runs the first variant that the rules name and that supports the case. Where the rules
//! say so, and on devices where they have not been measured, it runs the one that a trial found fastest.

mod device_traits;
mod rules;
mod trial;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use gpubench_backend::Prepared;
use gpubench_backend::Variant;
use gpubench_cuda::catalogue::{AUTO, Candidates, Choices, Need, Rules};
use gpubench_cuda::kernels::{Capacity, KernelSource, PerSize};
use gpubench_cuda::ops::{Kernel, LIBRARY_TABLES, PLAIN_TABLES, Setup, shaped, variant};
use gpubench_cuda::{CellError, Cuda, Library, Result};
use gpubench_report::case::{Case, DType};

use crate::TABLES;
use device_traits::DeviceTraits;
use rules::{RULES, VariantRule};
use trial::{Trials, of_all_sizes};

/// One entry for every op that has rules, in the order of the ops.
pub(crate) static KERNELS: &[Kernel] = &[
    of(variant("matmul", AUTO, SUMMARY)),
    of(shaped("elementwise", AUTO, SUMMARY)),
    of(shaped("reduction", AUTO, SUMMARY)),
    of(variant("fft", AUTO, SUMMARY)),
    of(variant("solve", AUTO, SUMMARY)),
    of(variant("spgemm", AUTO, SUMMARY)),
    of(variant("spmv", AUTO, SUMMARY)),
    of(variant("svd", AUTO, SUMMARY)),
];

const SUMMARY: &str = "the fastest variant for this size and device (docs/variants.md)";

/// Declares `auto` for an op. It needs only what the chosen variant needs, and `prepare` of that variant asks for it.
const fn of(variant: Variant) -> Kernel {
    Kernel::bare(variant, prepare)
}

/// A rule of `auto`, in words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RuleText {
    /// The op that it applies to.
    pub op: &'static str,
    /// The variant that it chooses.
    pub variant: &'static str,
    /// The cases for which it chooses that variant.
    #[serde(rename = "where")]
    pub place: String,
    /// The reason; empty where no other rule is left.
    pub because: &'static str,
}

/// Returns the rules of `auto` in order of preference.
pub fn rule_texts() -> Vec<RuleText> {
    let text = |rule: &VariantRule| RuleText {
        op: rule.op,
        variant: rule.variant,
        place: rule.place(),
        because: rule.because,
    };
    RULES.iter().map(text).collect()
}

pub(crate) struct AutoRules;

impl Rules for AutoRules {
    fn need(&self, op: &str, library: Library) -> Need {
        let of_op = RULES.iter().filter(|rule| rule.op == op);
        let works_without = |rule: &&VariantRule| {
            kernel(rule.op, rule.variant).is_ok_and(|kernel| !kernel.libraries.contains(&library))
        };
        let rules: Vec<&VariantRule> = of_op.filter(works_without).collect();
        match rules.as_slice() {
            [] => Need::Always,
            some if some.iter().any(|rule| rule.covers_all()) => Need::Never,
            _ => Need::SomeCases,
        }
    }

    fn candidates(&self, op: &str, sizes: &RangeInclusive<u64>, dtype: DType, by_trial: bool) -> Candidates {
        let mut candidates = vec![];
        for rule in RULES.iter().filter(|rule| rule.is_for(op, dtype)) {
            // Borders between sizes differ between devices, so a trial has the variants of all.
            let covered = if by_trial { Some(sizes.clone()) } else { rule.sizes_within(sizes) };
            let Some(covered) = covered else { continue };
            candidates.extend(kernel(op, rule.variant).ok().map(|kernel| (kernel, covered)));
            if !by_trial && rule.covers_sizes(sizes) {
                break;
            }
        }
        candidates
    }

    fn start(&self, cuda: &Cuda) -> Box<dyn Choices> {
        Box::new(Trials::new(cuda))
    }
}

/// Returns the sources made for one size that `auto` uses for the cases of a run. They are compiled when the run starts,
/// those of at most one size per thread of this machine: more would delay the first cell.
fn compiled_for_sizes(
    (device, capacity, by_trial): (&DeviceTraits, Capacity, bool),
    sizes: &BTreeMap<String, Vec<u64>>,
    dtypes: &[DType],
) -> Vec<&'static KernelSource> {
    let case = |op: &String, n, dtype| Case {
        op: op.clone(),
        n,
        dtype,
        density: None,
        shape: None,
        matrix: None,
        seed: 0,
    };
    let cases = sizes.iter().flat_map(|(op, sizes)| sizes.iter().map(move |n| (op, *n)));
    let cases = cases.flat_map(|(op, n)| dtypes.iter().map(move |dtype| case(op, n, *dtype)));
    cases
        .map(|case| sources_of_size(&case, device, capacity, by_trial))
        .filter(|sources| !sources.is_empty())
        .take(rayon::current_num_threads())
        .flatten()
        .collect()
}

/// Returns the sources made for one size that `auto` uses for a case, if it uses such: those of the variant that the rules
/// name, or of all variants in a trial.
fn sources_of_size(
    case: &Case,
    device: &DeviceTraits,
    capacity: Capacity,
    by_trial: bool,
) -> Vec<&'static KernelSource> {
    let per_size = |name| {
        let sources = kernel(&case.op, name).ok()?.sources;
        sources.iter().find_map(|source| source.per_size.as_ref())
    };
    let of = |per_size: &PerSize| (per_size.of)(case.side(), case.dtype, capacity);
    if by_trial {
        of_all_sizes(case, device).into_iter().filter_map(per_size).filter_map(of).flatten().collect()
    } else {
        // A variant with sources of another kind supports the case, or needs none of these.
        by_rules(case, device).map_while(per_size).find_map(of).into_iter().flatten().collect()
    }
}

/// Returns the variants that the rules name for a case without a trial, in order of preference. They can repeat.
fn by_rules(case: &Case, device: &DeviceTraits) -> impl Iterator<Item = &'static str> {
    RULES.iter().filter(|rule| !rule.in_trial && rule.covers(case, device)).map(|rule| rule.variant)
}

/// Prepares the first variant that the rules name and that supports the case.
fn prepare(setup: Setup<'_>) -> Result<Box<Prepared>> {
    prepare_first(setup, None)
}

/// Prepares the variant `chosen` by a trial, or where there is none, the first that the rules name. A variant that is
/// unavailable or does not fit in memory is skipped, and the rules name the next.
fn prepare_first(setup: Setup<'_>, chosen: Option<&'static str>) -> Result<Box<Prepared>> {
    let (device, case) = (DeviceTraits::of(setup.cuda), setup.case);
    let mut refusal = None;
    for name in chosen.into_iter().chain(by_rules(case, &device)) {
        match prepare_variant(setup, name) {
            Err(error @ (CellError::Unavailable(_) | CellError::OutOfMemory { .. })) => refusal = Some(error),
            other => return other,
        }
    }
    Err(refusal.unwrap_or_else(|| CellError::Failed(format!("no rule chooses a variant of {}", case.op))))
}

/// Prepares one of the variants that the rules name.
fn prepare_variant(setup: Setup<'_>, name: &'static str) -> Result<Box<Prepared>> {
    let mut job = (kernel(&setup.case.op, name)?.prepare)(setup)?;
    job.traits.picked = Some(name);
    Ok(job)
}

/// Returns the variants of an op that `auto` can choose.
fn of_op(op: &str) -> impl Iterator<Item = &'static Kernel> {
    let tables = [LIBRARY_TABLES, TABLES, PLAIN_TABLES].into_iter().flatten().copied();
    tables.flatten().filter(move |kernel| kernel.variant.op == op)
}

fn kernel(op: &str, name: &str) -> Result<&'static Kernel> {
    of_op(op)
        .find(|kernel| kernel.variant.name == name)
        .ok_or_else(|| CellError::Failed(format!("a rule names {name}, but {op} has no such variant")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/variants.md"));

    #[test]
    fn the_page_about_variants_lists_every_variant_and_rule() {
        let line = |op: &str, name: &str| {
            let row =
                |line: &&str| line.starts_with(&format!("| {op} |")) && line.contains(&format!("`{name}`"));
            PAGE.lines().any(|line| row(&line))
        };
        for Kernel { variant, .. } in KERNELS.iter().flat_map(|auto| of_op(&auto.variant.op)) {
            assert!(line(&variant.op, &variant.name), "{} {}", variant.op, variant.name);
        }
        let rows = rule_texts().into_iter().map(|RuleText { op, variant, place, because }| {
            let reason = if because.is_empty() { String::new() } else { format!("{because} ") };
            format!("| {op} | `{variant}` | {place} | {reason}|\n")
        });
        let table = rows.collect::<String>();
        assert!(PAGE.contains(&table), "the table of rules in docs/variants.md must be:\n{table}");
    }

    #[test]
    fn the_source_for_a_size_is_that_of_the_rule_that_covers_it() {
        let name = |op: &str, n, dtype| names_of_sources(op, n, dtype, false).first().copied().unwrap_or("");
        assert!(name("fft", 100, DType::F64).starts_with("fft/hermitian_100_f64_"));
        assert!(name("fft", 101, DType::F32).starts_with("fft/bluestein_101_f32_"), "101 is prime");
        assert!(name("fft", 2975, DType::F64).starts_with("fft/hermitian_2975_f64_"), "5, 7 and 17");
        assert_eq!(name("fft", 48 * 83, DType::F64), "", "cuFFT has the factor 83");
        assert!(name("fft", 5000, DType::F32).starts_with("fft/hermitian_5000_f32_"), "2 and 5");
        assert_eq!(name("fft", 8192, DType::F32), "", "cuFFT is faster");
        assert_eq!(name("matmul", 100, DType::F32), "", "the same kernel for every size");
    }

    fn names_of_sources(op: &str, n: u64, dtype: DType, by_trial: bool) -> Vec<&'static str> {
        let case = Case { op: op.into(), n, dtype, density: None, shape: None, matrix: None, seed: 0 };
        let sources = sources_of_size(&case, &DeviceTraits::HOPPER, Capacity::HOPPER, by_trial);
        sources.iter().map(|source| source.name).collect()
    }

    #[test]
    fn a_trial_has_the_sources_of_every_variant_that_supports_the_size() {
        let names = names_of_sources("fft", 100, DType::F64, true);
        assert_eq!(names.len(), 4, "{names:?}");
        let starts = ["fft/bluestein_100_f64_", "fft/hermitian_100_f64_"];
        assert!(starts.iter().all(|start| names.iter().any(|name| name.starts_with(start))), "{names:?}");
        assert!(names_of_sources("fft", 83, DType::F64, true).iter().all(|name| name.contains("bluestein")));
        assert!(names_of_sources("fft", 8193, DType::F64, true).is_empty());
    }

    #[test]
    fn every_op_with_auto_has_a_rule() {
        for auto in KERNELS {
            assert!(RULES.iter().any(|rule| rule.op == auto.variant.op), "{}", auto.variant.op);
        }
    }

    #[test]
    fn every_rule_names_a_variant_in_full_precision() {
        for rule in RULES {
            let kernel = kernel(rule.op, rule.variant).unwrap();
            assert!(kernel.variant.accuracy.is_headline() && rule.variant != AUTO, "{rule:?}");
        }
    }
}
