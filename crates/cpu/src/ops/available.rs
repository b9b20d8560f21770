//! A variant that is available on this machine, with or without a BLAS library.

use std::borrow::Cow;
use std::sync::Arc;

use gpubench_backend::{Accuracy, Prepared, Side, Variant};
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::cpu_variant::{CpuVariant, Prepare};
use super::library_variant::{LibraryPrepare, LibraryVariant, Scope};
use crate::context::Cpu;
use crate::libs::blas::Library;

pub(crate) struct AvailableVariant {
    pub(crate) variant: Variant,
    make: Make,
}

/// Prepares its jobs, without a library or with the one it belongs to.
enum Make {
    Alone(Prepare),
    With(LibraryPrepare, Arc<Library>),
}

impl AvailableVariant {
    /// Makes a variant that needs no library.
    pub(super) fn alone(kernel: &CpuVariant) -> AvailableVariant {
        AvailableVariant { variant: kernel.variant.clone(), make: Make::Alone(kernel.prepare) }
    }

    pub(crate) fn prepare(
        &self,
        cpu: &Cpu,
        case: &Case,
        inputs: &mut [Operand],
    ) -> Result<Box<Prepared>, CellError> {
        match &self.make {
            Make::Alone(prepare) => prepare(cpu, case, inputs),
            Make::With(prepare, library) => prepare(cpu, case, inputs, library),
        }
    }

    /// Returns whether it calls the library of that word.
    pub(crate) fn needs(&self, library: &str) -> bool {
        self.variant.library.as_deref() == Some(library)
    }

    /// Returns `op/variant`.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.variant.op, self.variant.name)
    }
}

impl LibraryVariant {
    /// Makes the variant for `library`.
    pub(super) fn with(&self, library: &Arc<Library>) -> AvailableVariant {
        let runs_by_default = match self.scope {
            Scope::Blas | Scope::Lapack | Scope::OpenBlas => true,
            Scope::Mkl => library.is_preferred(),
            Scope::Comparison | Scope::NdarrayLinalg => false,
        };
        let word = match self.scope {
            // There is one per vendor.
            Scope::NdarrayLinalg => library.vendor().word(),
            _ => library.word(),
        };
        let variant = Variant {
            op: Cow::Borrowed(self.op),
            name: Cow::Owned(format!("{word}{}", self.suffix)),
            summary: Cow::Owned(self.summary.replace("{}", &library.name())),
            side: Side::Cpu,
            accuracy: Accuracy::Ieee,
            origin: None,
            default: runs_by_default,
            dtypes: Cow::Borrowed(DType::ALL),
            library: Some(Cow::Owned(library.word().to_owned())),
        };
        AvailableVariant { variant, make: Make::With(self.prepare, Arc::clone(library)) }
    }
}
