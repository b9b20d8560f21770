//! The variants of the backend, which a program joins from the tables of its crates, with `auto`, which picks one of them for a case.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use gpubench_backend::{Options, Prepared, Variant};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::Operand;

#[cfg(feature = "testing")]
use super::faults;
use super::kernels::{ANY_SIZE, KernelSource, common};
use super::ops::{Kernel, Setup};
use super::timing::{self, Timer};
use super::{peaks, verify};
use crate::{Cuda, Library, Result};

/// The name of the variant that picks another.
pub const AUTO: &str = "auto";

/// Tables of variants.
pub type Tables = &'static [&'static [Kernel]];

/// The variants of a program's CUDA backend.
pub struct Catalogue {
    /// Groups of tables in the order of listings, those of [`AUTO`] first.
    pub groups: &'static [Tables],
    /// The rules by which [`AUTO`] picks.
    pub auto: &'static dyn Rules,
}

/// The cases in which something needs a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// No case.
    Never,
    /// Some cases.
    SomeCases,
    /// Every case.
    Always,
}

/// Variants, each with sizes for which it is chosen.
pub type Candidates = Vec<(&'static Kernel, RangeInclusive<u64>)>;

/// The rules of [`AUTO`].
pub trait Rules: Sync {
    /// Returns the cases of an op in which `auto` needs a library. Where it is missing, `auto` goes on to the next rule.
    fn need(&self, op: &str, library: Library) -> Need;

    /// Returns the variants that `auto` can choose for those sizes in that element type on devices with fast float64: those that the rules
    /// name, or with `by_trial` those that a trial times. A variant can be listed more than once.
    fn candidates(&self, op: &str, sizes: &RangeInclusive<u64>, dtype: DType, by_trial: bool) -> Candidates;

    /// Starts to choose on a device.
    fn start(&self, cuda: &Cuda) -> Box<dyn Choices>;
}

/// The choices of [`AUTO`] on a device.
pub trait Choices {
    /// Returns whether trials choose in all cases, and not only where a rule says so.
    fn by_trial(&self) -> bool;

    /// Returns the sources made for one size that `auto` uses for the cases of a run, to be compiled when the run starts.
    fn sources_of_sizes(
        &self,
        cuda: &Cuda,
        sizes: &BTreeMap<String, Vec<u64>>,
        dtypes: &[DType],
    ) -> Vec<&'static KernelSource>;

    /// Returns the variant that a trial chooses for a case, or `None` if there is only one to choose. A later call for the
    /// same case returns the same variant. Fails if no variant can do the case, or the device is lost.
    fn choose(
        &mut self,
        cuda: &Cuda,
        timer: &mut Timer,
        case: &Case,
        inputs: &[Operand],
    ) -> Result<Option<&'static str>>;

    /// Prepares the variant `chosen` by a trial, or where there is none, the first that the rules name. A variant that is
    /// unavailable or does not fit in memory is skipped, and the rules name the next. Fails as `choose` does.
    fn prepare(&self, setup: Setup<'_>, chosen: Option<&'static str>) -> Result<Box<Prepared>>;
}

impl Catalogue {
    /// Returns every variant of every op. The default variant of an op comes first.
    pub fn kernels(&self) -> impl Iterator<Item = &'static Kernel> {
        self.groups.iter().copied().flatten().copied().flatten()
    }

    /// Returns the descriptions of every variant, with those that have faults in builds for tests.
    pub fn variants(&self) -> Vec<Variant> {
        self.runnable().map(|kernel| kernel.variant.clone()).collect()
    }

    /// Returns every variant, with those that have faults in builds for tests.
    pub(crate) fn runnable(&self) -> impl Iterator<Item = &'static Kernel> {
        let kernels = self.kernels();
        #[cfg(feature = "testing")]
        let kernels = kernels.chain(faults::kernels());
        kernels
    }

    /// Returns every source file that a variant compiles, once.
    fn sources_of_variants(&self) -> Vec<&'static KernelSource> {
        distinct(self.kernels().flat_map(|kernel| kernel.sources).copied())
    }

    /// Returns every source file of the backend once.
    pub fn sources(&self) -> Vec<&'static KernelSource> {
        let mut sources = self.sources_of_variants();
        sources.extend([&timing::SOURCE, &peaks::SOURCE, &verify::SOURCE]);
        #[cfg(feature = "testing")]
        sources.push(&faults::SOURCE);
        sources.sort_by_key(|source| source.name);
        sources
    }

    /// Returns examples of the sources that are generated for one size and element type.
    pub fn generated_sources(&self) -> Vec<&'static KernelSource> {
        let per_size = self.sources_of_variants().into_iter().filter_map(|source| source.per_size.as_ref());
        per_size.flat_map(|per_size| (per_size.examples)()).collect()
    }

    /// Returns the sources that a run without `--variants` uses on chips with fast float64, except those for one size. They are
    /// compiled when the run starts; others with the first cell that needs them. A run can add sizes between those of its
    /// options. With `by_trial` trials choose in all cases.
    pub fn compiled_ahead(&self, options: &Options, by_trial: bool) -> Vec<&'static KernelSource> {
        let runs = |op: &str| options.ops.iter().any(|of_run| of_run == op);
        let default = self.kernels().filter(|kernel| kernel.variant.default && runs(&kernel.variant.op));
        let cases = default.flat_map(|kernel| options.dtypes.iter().map(move |dtype| (kernel, *dtype)));
        let likely = cases.flat_map(|(kernel, dtype)| {
            let op = kernel.variant.op.as_ref();
            let sizes = range(options.sizes.get(op));
            let candidates = match kernel.variant.name.as_ref() {
                AUTO => self.auto.candidates(op, &sizes, dtype, by_trial),
                _ => vec![(kernel, sizes)],
            };
            candidates.into_iter().map(move |(kernel, sizes)| (kernel, sizes, dtype))
        });
        let sources = likely.flat_map(|(kernel, sizes, dtype)| {
            let is_needed = move |source: &&KernelSource| {
                source.per_size.is_none()
                    && source.dtype.is_none_or(|only| only == dtype)
                    && common(&source.sizes, &sizes).is_some()
            };
            kernel.sources.iter().copied().filter(is_needed)
        });
        distinct(sources)
    }

    /// Returns the variants that need `library`, or all variants for `None`, as `op/variant`; `auto` as `op/auto (some cases)`
    /// where it needs the library only for cases that no other variant can do.
    pub fn serves(&self, library: Option<Library>) -> Vec<String> {
        let serves = |kernel: &Kernel| {
            let note = match library.map_or(Need::Always, |library| self.need_of(kernel, library)) {
                Need::Never => return None,
                Need::SomeCases => " (some cases)",
                Need::Always => "",
            };
            Some(format!("{}/{}{note}", kernel.variant.op, kernel.variant.name))
        };
        self.kernels().filter_map(serves).collect()
    }

    fn need_of(&self, kernel: &Kernel, library: Library) -> Need {
        match kernel.variant.name.as_ref() {
            // Every timed variant needs kernels that NVRTC compiles.
            _ if library == Library::Nvrtc => Need::Always,
            AUTO => self.auto.need(&kernel.variant.op, library),
            _ if kernel.libraries.contains(&library) => Need::Always,
            _ => Need::Never,
        }
    }
}

/// Returns the range of the sizes of an op; all sizes, if they are unknown.
fn range(sizes: Option<&Vec<u64>>) -> RangeInclusive<u64> {
    let ends = sizes.and_then(|sizes| Some(*sizes.iter().min()?..=*sizes.iter().max()?));
    ends.unwrap_or(ANY_SIZE)
}

/// Removes duplicates, comparing sources by file name.
fn distinct(sources: impl Iterator<Item = &'static KernelSource>) -> Vec<&'static KernelSource> {
    let mut sources: Vec<_> = sources.collect();
    sources.sort_by_key(|source| source.name);
    sources.dedup_by_key(|source| source.name);
    sources
}
