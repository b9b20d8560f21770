//! The variant `auto` of each op. It runs the first variant that the rules name and that supports the case. Where the rules
//! say so, and on devices where they have not been measured, it runs the one that a trial found fastest.

mod device_traits;
mod rules;
mod trial;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use gpubench_backend::Prepared;
use gpubench_report::case::{Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::ops::TABLES;
use super::ops::{Kernel, variant};
use crate::context::Cuda;
use crate::kernels::{Capacity, KernelSource, PerSize};
use crate::library::Library;
use device_traits::DeviceTraits;
use rules::{RULES, VariantRule};
pub(crate) use trial::Trials;
use trial::of_all_sizes;

/// The name of the variant.
pub(crate) const AUTO: &str = "auto";

/// One entry for every op that has rules, in the order of the ops.
pub(crate) static KERNELS: &[Kernel] = &[
    of("matmul"),
    of("elementwise"),
    of("reduction"),
    of("fft"),
    of("solve"),
    of("spgemm"),
    of("spmv"),
    of("svd"),
];

const fn of(op: &'static str) -> Kernel {
    let variant = variant(op, AUTO, "the fastest variant for this size and device (docs/variants.md)");
    // `auto` needs only what the chosen variant needs, and `prepare` of that variant asks for it.
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

/// The cases in which something needs a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Never,
    SomeCases,
    Always,
}

/// Returns the cases of an op in which `auto` needs a library. Where it is missing, `auto` goes on to the next rule.
pub(crate) fn need(op: &str, library: Library) -> Need {
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

/// Returns the kernels that `auto` chooses for those sizes in that element type on devices with fast float64, where they
/// support the case, each with the sizes for which `auto` chooses it. A kernel can be listed more than once.
pub(crate) fn preferred(
    op: &str,
    sizes: &RangeInclusive<u64>,
    dtype: DType,
) -> Vec<(&'static Kernel, RangeInclusive<u64>)> {
    let mut preferred = vec![];
    for rule in RULES.iter().filter(|rule| rule.is_for(op, dtype)) {
        let Some(covered) = rule.sizes_within(sizes) else { continue };
        preferred.extend(kernel(op, rule.variant).ok().map(|kernel| (kernel, covered)));
        if rule.covers_sizes(sizes) {
            break;
        }
    }
    preferred
}

/// Returns the kernels that a rule names for that element type: those that trials time on other devices, at any size. A
/// kernel can be listed more than once.
pub(crate) fn in_any_rule(op: &str, dtype: DType) -> impl Iterator<Item = &'static Kernel> {
    RULES
        .iter()
        .filter(move |rule| rule.is_for(op, dtype))
        .filter_map(move |rule| kernel(op, rule.variant).ok())
}

/// Returns the sources made for one size that `auto` uses for the cases of a run. They are compiled when the run starts,
/// those of at most one size per thread of this machine: more would delay the first cell.
pub(crate) fn compiled_for_sizes(
    cuda: &Cuda,
    trials: &Trials,
    sizes: &BTreeMap<String, Vec<u64>>,
    dtypes: &[DType],
) -> Vec<&'static KernelSource> {
    let (device, capacity, by_trial) = (DeviceTraits::of(cuda), cuda.capacity(), trials.of_all_cases());
    let case = |op: &String, n, dtype| Case { op: op.clone(), n, dtype, density: None, seed: 0 };
    let cases = sizes.iter().flat_map(|(op, sizes)| sizes.iter().map(move |n| (op, *n)));
    let cases = cases.flat_map(|(op, n)| dtypes.iter().map(move |dtype| case(op, n, *dtype)));
    cases
        .map(|case| sources_of_size(&case, &device, capacity, by_trial))
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
fn prepare(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    prepare_first(cuda, case, inputs, None)
}

/// Prepares the variant `chosen` by a trial, or where there is none, the first that the rules name. A variant that is
/// unavailable or does not fit in memory is skipped, and the rules name the next.
pub(crate) fn prepare_first(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    chosen: Option<&'static str>,
) -> Result<Box<Prepared>, CellError> {
    let device = DeviceTraits::of(cuda);
    let mut refusal = None;
    for name in chosen.into_iter().chain(by_rules(case, &device)) {
        match prepare_variant(cuda, case, inputs, name) {
            Err(error @ (CellError::Unavailable(_) | CellError::OutOfMemory { .. })) => refusal = Some(error),
            other => return other,
        }
    }
    Err(refusal.unwrap_or_else(|| CellError::Failed(format!("no rule chooses a variant of {}", case.op))))
}

/// Prepares one of the variants that the rules name.
fn prepare_variant(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    name: &'static str,
) -> Result<Box<Prepared>, CellError> {
    let mut job = (kernel(&case.op, name)?.prepare)(cuda, case, inputs)?;
    job.traits.picked = Some(name);
    Ok(job)
}

/// Returns the variants of an op that `auto` can choose.
fn of_op(op: &str) -> impl Iterator<Item = &'static Kernel> {
    TABLES.iter().copied().flatten().filter(move |kernel| kernel.variant.op == op)
}

fn kernel(op: &str, name: &str) -> Result<&'static Kernel, CellError> {
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
        let case = Case { op: op.into(), n, dtype, density: None, seed: 0 };
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
