//! The entries of the variant tables, and the variants that they make on one machine.

use std::sync::Arc;

use gpubench_backend::{Accuracy, Prepared, Shapes, Side, Variant};
use gpubench_report::case::{Case, DType};
use gpubench_report::data::{Element, Operand};

use crate::libs::blas::{BlasLibrary, Vendor};
use crate::libs::fftw;
use crate::operands::HostMatrix;
use crate::{CellError, CellResult};

pub(crate) struct JobRequest<'a> {
    /// Number of threads that the job may use.
    pub(crate) threads: usize,
    pub(crate) case: &'a Case,
    /// The operands, which the job may take.
    pub(crate) inputs: &'a mut [Operand],
    /// The BLAS library of the variant.
    blas: Option<&'a BlasLibrary>,
}

/// A prepared job, or the reason that there is none.
pub(crate) type PreparedJob = CellResult<Box<Prepared>>;

impl<'a> JobRequest<'a> {
    pub(super) fn side(&self) -> usize {
        self.case.side()
    }

    pub(super) fn blas(&self) -> CellResult<&'a BlasLibrary> {
        self.blas.ok_or_else(|| CellError::Failed("the variant has no BLAS library".into()))
    }

    /// Takes the operands. Fails unless there are `N`, all dense and with elements of this type.
    pub(super) fn operands<T: Element, const N: usize>(&mut self) -> CellResult<[HostMatrix<T>; N]> {
        let taken = self.inputs.iter_mut().map(HostMatrix::of).collect::<Result<Vec<_>, _>>()?;
        taken.try_into().map_err(|_| self.wrong_operands(N))
    }

    /// The error for another number of operands than `N`.
    pub(super) fn wrong_operands(&self, needed: usize) -> CellError {
        CellError::Failed(format!("{} got {} operands, not {needed}", self.case.op, self.inputs.len()))
    }
}

/// The library that a variant needs, and whether the variant runs by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// None that is searched at run time; runs by default.
    Default,
    /// None that is searched at run time; only for comparison.
    Further,
    /// FFTW; runs by default.
    Fftw,
    /// Every library that has BLAS; the preferred one of each vendor runs by default.
    Blas,
    /// Every library that has LAPACK; the preferred one of each vendor runs by default.
    Lapack,
    /// The preferred libraries that have LAPACK, only for comparison.
    FurtherLapack,
    /// The best LAPACK with 32-bit integers per vendor, named as the vendor, only for comparison.
    NdarrayLinalg,
    /// Every MKL, for its FFTs and vector functions; the preferred one runs by default.
    Mkl,
}

pub(super) struct CpuVariant {
    /// The name; for a BLAS library, the suffix after its word.
    name: &'static str,
    scope: Scope,
    /// The summary, with `{}` in place of the BLAS library's name.
    summary: &'static str,
    shapes: Shapes,
    dtypes: &'static [DType],
    prepare: fn(JobRequest<'_>) -> PreparedJob,
}

impl CpuVariant {
    /// Sets the element types that it computes, in place of float32 and float64.
    pub(super) const fn of_types(self, dtypes: &'static [DType]) -> CpuVariant {
        CpuVariant { dtypes, ..self }
    }

    /// Makes it compute every shape, in complex types too.
    pub(super) const fn general(self) -> CpuVariant {
        self.of_shapes(Shapes::Any).of_types(DType::REAL_AND_COMPLEX)
    }

    /// Makes it compute batches alone, in complex types too.
    pub(super) const fn of_batches(self) -> CpuVariant {
        self.of_shapes(Shapes::Batches).of_types(DType::REAL_AND_COMPLEX)
    }

    /// Sets the shapes that it computes, in place of square ones.
    pub(super) const fn of_shapes(self, shapes: Shapes) -> CpuVariant {
        CpuVariant { shapes, ..self }
    }
}

/// Makes an entry of the table of an op.
pub(super) const fn variant(
    name: &'static str,
    scope: Scope,
    summary: &'static str,
    prepare: fn(JobRequest<'_>) -> PreparedJob,
) -> CpuVariant {
    CpuVariant { name, scope, summary, shapes: Shapes::Square, dtypes: DType::REAL, prepare }
}

/// Makes the function of a variant of float32 and float64: it calls a generic function with the element type of the case, and passes on
/// further arguments.
macro_rules! by_dtype {
    ($prepare:ident $(, $argument:expr)*) => {
        |request| match request.case.dtype.working() {
            gpubench_report::case::DType::F64 => $prepare::<f64>(request $(, $argument)*),
            _ => $prepare::<f32>(request $(, $argument)*),
        }
    };
}
pub(super) use by_dtype;

/// Makes the function of a variant that computes complex types too, see [`by_dtype`].
macro_rules! by_type {
    ($prepare:ident) => {
        |request| match request.case.dtype {
            gpubench_report::case::DType::C64 => $prepare::<Complex<f32>>(request),
            gpubench_report::case::DType::C128 => $prepare::<Complex<f64>>(request),
            gpubench_report::case::DType::F64 => $prepare::<f64>(request),
            _ => $prepare::<f32>(request),
        }
    };
}
pub(super) use by_type;

/// Makes the function of a variant of 16-bit types alone, see [`by_dtype`].
macro_rules! by_half {
    ($prepare:ident) => {
        |request| match request.case.dtype {
            gpubench_report::case::DType::F16 => $prepare::<half::f16>(request),
            _ => $prepare::<half::bf16>(request),
        }
    };
}
pub(super) use by_half;

/// Makes the function of a variant that has another one for 16-bit types, see [`by_dtype`].
macro_rules! by_real_type {
    ($prepare:ident, $prepare_half:ident) => {
        |request| match request.case.dtype {
            gpubench_report::case::DType::Bf16 => $prepare_half::<half::bf16>(request),
            gpubench_report::case::DType::F16 => $prepare_half::<half::f16>(request),
            gpubench_report::case::DType::F64 => $prepare::<f64>(request),
            _ => $prepare::<f32>(request),
        }
    };
}
pub(super) use by_real_type;

/// A variant that is available on this machine.
pub(crate) struct AvailableVariant {
    pub(crate) variant: Variant,
    blas: Option<Arc<BlasLibrary>>,
    prepare: fn(JobRequest<'_>) -> PreparedJob,
}

impl AvailableVariant {
    /// Makes the variants of an entry of the table of `op` on a machine with these BLAS libraries.
    pub(super) fn of(
        op: &'static str,
        entry: &CpuVariant,
        blas: &[Arc<BlasLibrary>],
    ) -> Vec<AvailableVariant> {
        let is_for = |library: &&Arc<BlasLibrary>| match entry.scope {
            Scope::Default | Scope::Further | Scope::Fftw => false,
            Scope::Blas => true,
            Scope::Lapack => library.vendor().has_lapack(),
            Scope::FurtherLapack => library.vendor().has_lapack() && library.is_preferred(),
            Scope::NdarrayLinalg => {
                let mut same = blas.iter().filter(|other| other.vendor() == library.vendor());
                let fit = same.clone().find(|other| !other.has_long_integers()).or(same.next());
                library.vendor().has_lapack() && fit.is_some_and(|chosen| Arc::ptr_eq(chosen, library))
            }
            Scope::Mkl => library.vendor() == Vendor::Mkl,
        };
        match entry.scope {
            Scope::Default | Scope::Further => vec![Self::new(op, entry, None, None)],
            Scope::Fftw => vec![Self::new(op, entry, Some(fftw::WORD), None)],
            _ => {
                let libraries = blas.iter().filter(is_for);
                libraries.map(|it| Self::new(op, entry, Some(it.word()), Some(Arc::clone(it)))).collect()
            }
        }
    }

    fn new(op: &'static str, entry: &CpuVariant, word: Option<&str>, blas: Option<Arc<BlasLibrary>>) -> Self {
        let of_blas = |library: &Arc<BlasLibrary>| {
            let is_one_per_vendor = entry.scope == Scope::NdarrayLinalg;
            let word = if is_one_per_vendor { library.vendor().word() } else { library.word() };
            (format!("{word}{}", entry.name), entry.summary.replace("{}", &library.name()))
        };
        let (name, summary) =
            blas.as_ref().map_or_else(|| (entry.name.to_owned(), entry.summary.to_owned()), of_blas);
        let variant = Variant {
            op: op.into(),
            name: name.into(),
            summary: summary.into(),
            side: Side::Cpu,
            accuracy: Accuracy::Ieee,
            origin: None,
            default: match entry.scope {
                Scope::Default | Scope::Fftw => true,
                Scope::Blas | Scope::Lapack | Scope::Mkl => {
                    blas.as_ref().is_some_and(|library| library.is_preferred())
                }
                Scope::Further | Scope::FurtherLapack | Scope::NdarrayLinalg => false,
            },
            dtypes: entry.dtypes.into(),
            shapes: entry.shapes,
            library: word.map(|word| word.to_owned().into()),
        };
        AvailableVariant { variant, blas, prepare: entry.prepare }
    }

    /// Prepares a job. Fails for an element type that the variant does not compute: another would be computed in its place.
    pub(crate) fn prepare(&self, threads: usize, case: &Case, inputs: &mut [Operand]) -> PreparedJob {
        if !self.variant.dtypes.contains(&case.dtype) {
            return Err(CellError::Failed(format!("{} does not compute {}", self.title(), case.dtype)));
        }
        (self.prepare)(JobRequest { threads, case, inputs, blas: self.blas.as_deref() })
    }

    /// Returns whether it calls the library of that word.
    pub(crate) fn needs(&self, library: &str) -> bool {
        self.variant.library.as_deref() == Some(library)
    }

    /// Returns its rank in the list of its op.
    pub(super) fn rank(&self) -> u8 {
        match (&self.blas, self.variant.default) {
            (Some(_), true) => 0,
            (None, _) => 1,
            (Some(_), false) => 2,
        }
    }

    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.variant.op, self.variant.name)
    }
}
