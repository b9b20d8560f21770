//! Turns settings into a plan: the cells of a run, in the order of the report. Uses no device.

pub mod refinement;
mod workers;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};
use gpubench_report::pattern::Pattern;
use gpubench_text::grouped::distinct;
use gpubench_text::words;

use crate::backend::{BACKENDS, CUDA, External, Side, Variant, fewer_threads, on_threads};
use crate::case::Cell;
use crate::executor::PlannedCell;
use crate::op::OPS;
use crate::report::BackendState;
use crate::settings::{OpSweep, Settings};

use workers::absent_gpu;
pub use workers::describe;

/// More cells than a run of several weeks could measure.
const MAX_CELLS: u128 = 1_000_000;

/// The cells of a run, sorted by op, element type, size and family, then by backend and variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cells; at least one.
    pub cells: Vec<PlannedCell>,
    /// The backends that are left out because this machine lacks them and nobody asked for them.
    pub absent: Vec<BackendState>,
}

/// A backend and all its variants.
pub struct BackendVariants {
    /// Name of the backend.
    pub backend: String,
    /// The variants it offers.
    pub variants: Vec<Variant>,
}

impl Plan {
    /// Plans the cells of `settings`, some of them on `externals`. If there are none, the error says what to change.
    pub fn of(settings: &Settings, externals: &[External]) -> Result<Plan> {
        Plan::from_tables(settings, &tables(settings, externals)?)
    }

    /// Plans as [`Plan::of`] does, without CUDA where this machine has no GPU and the user has not asked for one; then `settings` lose
    /// that backend too. A plan that would be empty without it stays, so that the run says why nothing was measured.
    pub fn for_this_machine(settings: &mut Settings, externals: &[External]) -> Result<Plan> {
        let whole = Plan::of(settings, externals)?;
        let is_planned = whole.cells.iter().any(|planned| planned.cell.backend == CUDA.name);
        if settings.asks_for_gpu || !is_planned {
            return Ok(whole);
        }
        let without = settings.without_backend(CUDA.name);
        // A pattern of variants may match those of CUDA alone.
        let Ok(plan) = Plan::of(&without, externals) else { return Ok(whole) };
        let Some(absent) = absent_gpu(settings, externals)? else { return Ok(whole) };
        *settings = without;
        Ok(Plan { absent: vec![absent], ..plan })
    }

    /// Plans the cells of `settings` from the variants in `tables`. A cell in several sweeps is planned once, with the
    /// sampling of the first sweep.
    pub fn from_tables(settings: &Settings, tables: &[BackendVariants]) -> Result<Plan> {
        check_patterns(&settings.sweeps, tables)?;
        let chosen: Vec<Vec<Choice>> = settings.sweeps.iter().map(|sweep| choose(sweep, tables)).collect();
        check_count(&settings.sweeps, &chosen, settings.fewer_threads.len())?;
        let mut ranked = Vec::new();
        for (sweep, choices) in settings.sweeps.iter().zip(&chosen) {
            for choice in choices {
                extend(&mut ranked, settings, sweep, choice);
            }
        }
        ranked.sort_by(order);
        ranked.dedup_by(|later, first| later.1.cell == first.1.cell);
        if ranked.is_empty() {
            bail!("{}", nothing_to_run(&settings.sweeps));
        }
        Ok(Plan { cells: ranked.into_iter().map(|(_, cell)| cell).collect(), absent: vec![] })
    }
}

/// Returns the variants of every backend of the program, and of `externals`.
fn tables(settings: &Settings, externals: &[External]) -> Result<Vec<BackendVariants>> {
    let mut tables = Vec::with_capacity(BACKENDS.iter().len() + externals.len());
    for registered in BACKENDS.iter() {
        match (registered.variants)(&settings.options) {
            Ok(variants) => tables.push(BackendVariants { backend: registered.name.to_owned(), variants }),
            Err(error) if settings.backends.iter().any(|name| name == registered.name) => {
                return Err(error);
            }
            Err(_) => {} // Not in this run, and here only to explain a pattern that matches nothing.
        }
    }
    let table = |external: &External| BackendVariants {
        backend: external.name.clone(),
        variants: external.described.variants.clone(),
    };
    tables.extend(externals.iter().map(table));
    Ok(tables)
}

/// The position of a backend's table and that of a variant in it, by which cells are sorted.
type Rank = (usize, usize);

/// A cell, and the rank of its variant.
type Ranked = (Rank, PlannedCell);

/// A variant of a backend, and its rank.
#[derive(Clone, Copy)]
struct Choice<'a> {
    rank: Rank,
    backend: &'a str,
    variant: &'a Variant,
}

/// Returns the variants of the sweep's op on its backends.
fn offered<'a>(sweep: &OpSweep, tables: &'a [BackendVariants]) -> impl Iterator<Item = Choice<'a>> {
    let tables = tables.iter().enumerate().filter(|(_, table)| sweep.backends.contains(&table.backend));
    tables
        .flat_map(|(at, table)| {
            let ranked = table.variants.iter().enumerate();
            ranked.map(move |(rank, variant)| Choice { rank: (at, rank), backend: &table.backend, variant })
        })
        .filter(|choice| choice.variant.op == sweep.op)
}

/// Returns the variants that a sweep measures.
fn choose<'a>(sweep: &OpSweep, tables: &'a [BackendVariants]) -> Vec<Choice<'a>> {
    offered(sweep, tables)
        .filter(|choice| match &sweep.variants {
            Some(patterns) => patterns.iter().any(|p| p.matches(choice.backend, &choice.variant.name)),
            None => choice.variant.default,
        })
        .collect()
}

fn extend(ranked: &mut Vec<Ranked>, settings: &Settings, sweep: &OpSweep, choice: &Choice) {
    let Choice { rank, backend, variant } = *choice;
    let seed = settings.asked.seed.unwrap_or_default().0;
    let fewer = settings.fewer_threads.iter().filter(|_| variant.side == Side::Cpu);
    let fewer = fewer.map(|threads| on_threads(&variant.name, *threads));
    let names: Vec<String> = std::iter::once(variant.name.to_string()).chain(fewer).collect();
    for &dtype in sweep.dtypes.iter().filter(|dtype| variant.dtypes.contains(dtype)) {
        for case in sweep.cases(dtype, seed).into_iter().filter(|case| variant.shapes.have(case)) {
            for &cache in &sweep.caches {
                for name in &names {
                    let (case, backend) = (case.clone(), backend.to_owned());
                    let cell = Cell { case, backend, variant: name.clone(), cache };
                    let planned = PlannedCell {
                        cell,
                        variant: variant.clone(),
                        sampling: sweep.sampling,
                        may_be_screened: settings.screens(sweep) && fewer_threads(name).is_none(),
                    };
                    ranked.push((rank, planned));
                }
            }
        }
    }
}

/// Compares two cells by the order of the report.
fn order(a: &Ranked, b: &Ranked) -> Ordering {
    let problem = |cell: &Cell| {
        let op = OPS.iter().position(|op| op.name() == cell.case.op);
        (op, cell.case.dtype, cell.case.n)
    };
    let ((rank_a, a), (rank_b, b)) = ((a.0, &a.1.cell), (b.0, &b.1.cell));
    problem(a)
        .cmp(&problem(b))
        .then_with(|| a.case.family().partial_cmp(&b.case.family()).unwrap_or(Ordering::Equal))
        .then_with(|| (a.cache, rank_a).cmp(&(b.cache, rank_b)))
        .then_with(|| fewer_threads(&a.variant).cmp(&fewer_threads(&b.variant)))
}

/// Refuses a plan too large to finish or to fit in memory, before making it.
fn check_count(sweeps: &[OpSweep], chosen: &[Vec<Choice>], fewer: usize) -> Result<()> {
    let count: u128 = sweeps
        .iter()
        .zip(chosen)
        .map(|(sweep, choices)| {
            let of_shapes: usize = sweep.shapes.iter().map(|one| one.sizes.len()).sum();
            let problems = sweep.sizes.len().max(sweep.matrices.len()).max(of_shapes);
            let cases = problems as u128 * sweep.dtypes.len() as u128;
            let of_cpu = choices.iter().filter(|choice| choice.variant.side == Side::Cpu).count();
            cases * sweep.caches.len() as u128 * (choices.len() + fewer * of_cpu) as u128
        })
        .sum();
    if count > MAX_CELLS {
        bail!("the plan has {count} cells, more than {MAX_CELLS}: name fewer sizes, ops or variants");
    }
    Ok(())
}

/// Checks that every pattern matches a variant in one of its sweeps.
fn check_patterns(sweeps: &[OpSweep], tables: &[BackendVariants]) -> Result<()> {
    let patterns = sweeps.iter().filter_map(|sweep| sweep.variants.as_ref()).flatten();
    for pattern in distinct(patterns) {
        let has_it = |sweep: &&OpSweep| sweep.variants.as_ref().is_some_and(|held| held.contains(pattern));
        let offered = || sweeps.iter().filter(has_it).flat_map(|sweep| offered(sweep, tables));
        let matched = offered().any(|choice| pattern.matches(choice.backend, &choice.variant.name));
        ensure!(matched, "{}: {}", pattern.origin, unmatched(pattern, offered()));
    }
    Ok(())
}

/// Explains why a pattern matches none of the variants that the run has, and suggests one.
fn unmatched<'a>(pattern: &Pattern, offered: impl Iterator<Item = Choice<'a>>) -> String {
    let names = distinct(offered.map(|choice| choice.variant.name.to_string()));
    let text = pattern.text.rsplit('/').next().unwrap_or_default();
    let hint = words::suggestion(text, names.iter().map(String::as_str));
    format!(
        "no chosen backend has a variant '{}' of a chosen op{hint}; 'gpubench list' lists all variants",
        pattern.text
    )
}

/// Explains why the plan is empty, and what to change.
fn nothing_to_run(sweeps: &[OpSweep]) -> String {
    let names = |pick: fn(&OpSweep) -> Vec<String>| {
        let names: BTreeSet<String> = sweeps.iter().flat_map(pick).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let ops = names(|sweep| vec![sweep.op.clone()]);
    let backends = names(|sweep| sweep.backends.clone());
    let dtypes = names(|sweep| sweep.dtypes.iter().map(ToString::to_string).collect());
    format!(
        "nothing to run: no chosen variant of {ops} on {backends} computes {dtypes} in these shapes; 'gpubench list' lists \
         the variants, and --variants '*' adds those that do not run by default"
    )
}

#[cfg(test)]
mod tests;
