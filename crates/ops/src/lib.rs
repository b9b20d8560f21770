//! The ops: the computation, its amount of work, its operands, and the check of an answer.
//!
//! [`OPS`] lists all of them; CONTRIBUTING.md explains how to add one.

#![forbid(unsafe_code)]

use gpubench_report::case::{Case, DType};
use gpubench_report::data::generator::{self, sparse};
use gpubench_report::data::{Element, Operand, Values};
use gpubench_report::error::CellError;
use gpubench_report::shape::Shape;

/// Calls a function generic in the element type with the type that `$dtype` names: any, only a real one, or only `f32` or `f64`. Instead
/// of a type that the function lacks it gets the one that holds its parts, and then does not find elements of that type.
macro_rules! for_dtype {
    (any $dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            gpubench_report::case::DType::C64 => $function::<rustfft::num_complex::Complex<f32>>($($argument),*),
            gpubench_report::case::DType::C128 => $function::<rustfft::num_complex::Complex<f64>>($($argument),*),
            real => for_dtype!(real real, $function($($argument),*)),
        }
    };
    (real $dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            gpubench_report::case::DType::Bf16 => $function::<half::bf16>($($argument),*),
            gpubench_report::case::DType::F16 => $function::<half::f16>($($argument),*),
            other => for_dtype!(other, $function($($argument),*)),
        }
    };
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        match gpubench_report::case::DType::working($dtype) {
            gpubench_report::case::DType::F64 => $function::<f64>($($argument),*),
            _ => $function::<f32>($($argument),*),
        }
    };
}

mod elementwise;
pub mod fft;
pub mod judge;
pub mod matmul;
pub mod matrix;
pub mod own;
pub mod peak_share;
pub mod reduction;
pub mod reference;
mod sines;
mod solve;
mod spgemm;
mod spmv;
mod svd;
#[cfg(test)]
mod tests;
mod transfer;
mod volume;

pub use gpubench_report::{Checked, Rounding, Work};
pub use sines::SINES;

/// The resource that limits an op on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Arithmetic, or memory bandwidth for reading and writing.
    ReadAndWrite,
    /// Arithmetic, or memory bandwidth for reading: the answer is small compared with the operands.
    Read,
    /// The bus between host and device.
    Bus,
    /// Latency, so that no measured peak applies.
    Latency,
}

/// An element of an operand, and a value for it that changes the answer.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Decisive {
    /// The index of the operand.
    pub operand: usize,
    /// The index of the element in the operand; in a sparse operand, among its stored values.
    pub element: usize,
    /// The value.
    pub value: f64,
}

/// The description of an op.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name used everywhere: lower-case ASCII words, joined by hyphens.
    pub name: &'static str,
    /// A one-line summary.
    pub summary: &'static str,
    /// Default sizes of a sweep.
    pub sizes: &'static [u64],
    /// The dimensions of a shape, in the order of `--shape 4096x512x64`; none for an op whose operands are always square.
    pub dimensions: &'static [&'static str],
    /// How many of them a shape needs, from the first on; the others are axes that it may have.
    pub needed: usize,
    /// Names that a shape may have besides: the number of problems, right-hand sides, the layout.
    pub further: &'static [&'static str],
    /// The element types of its problems.
    pub dtypes: &'static [DType],
    /// Default density of stored entries; `None` for ops on dense operands.
    pub density: Option<f64>,
    /// The limiting resource.
    pub limit: Limit,
    /// Whether the op compares CPU and GPU. Otherwise its variants show costs, and tables list all of them.
    pub compares_sides: bool,
}

impl About {
    /// Describes an op on dense operands that is limited by arithmetic or memory and compares CPU and GPU.
    const fn new(name: &'static str, summary: &'static str, sizes: &'static [u64]) -> About {
        let limit = Limit::ReadAndWrite;
        let (dimensions, further): (&[&str], &[&str]) = (&[], &[]);
        About {
            name,
            summary,
            sizes,
            dimensions,
            needed: 0,
            further,
            dtypes: DType::REAL,
            density: None,
            limit,
            compares_sides: true,
        }
    }

    /// Returns every name that a shape may have.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.dimensions.iter().chain(self.further).copied()
    }

    /// Adds the names of a shape.
    const fn shaped(self, dimensions: &'static [&'static str], further: &'static [&'static str]) -> About {
        About { dimensions, needed: dimensions.len(), further, ..self }
    }

    /// Sets the element types.
    const fn of_types(self, dtypes: &'static [DType]) -> About {
        About { dtypes, ..self }
    }

    /// Returns the dimensions that are N if nothing else is said.
    pub fn square(&self) -> &'static [&'static str] {
        &self.dimensions[..self.needed.max(2).min(self.dimensions.len())]
    }
}

/// An answer, with everything needed to judge it.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The case.
    pub case: &'a Case,
    /// Operands of the case.
    pub inputs: &'a [Operand],
    /// The answer.
    pub answer: &'a [Operand],
    /// The rounding of the arithmetic that computed it.
    pub rounding: Rounding,
}

/// One op. All matrices are `n` by `n`, or of the case's shape, row-major, uniform in [0, 1) unless the op says otherwise; those of a
/// batch lie one after another. For an op without operands `n` is a count.
pub trait Op: Sync {
    /// Returns the name, default sizes and limiting resource.
    fn about(&self) -> About;

    /// Returns the name used everywhere: lower-case ASCII words, joined by hyphens.
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// Returns the default density of stored entries; `None` for ops on dense operands.
    fn default_density(&self) -> Option<f64> {
        self.about().density
    }

    /// Returns the work of one execution.
    fn work(&self, case: &Case) -> Work;

    /// Returns why a shape of the op's names is none of its shapes.
    fn refuse_shape(&self, _shape: &Shape) -> Option<String> {
        None
    }

    /// Returns why there is nothing to compute in the case, so that a time would be that of no work; `None` if there is something.
    /// The matrix of a file may also have values that the element type lacks.
    fn nothing_to_compute(&self, case: &Case) -> Option<&'static str> {
        matrix::beyond_type(case)
    }

    /// Returns the bytes of the operands and the answer together, computed without overflow for any `n`.
    fn footprint(&self, case: &Case) -> u128;

    /// Returns the bytes that a host needs besides operands and answer: while the operands are generated, or later for copies that
    /// libraries overwrite and for their workspaces, whichever is more.
    fn scratch(&self, _case: &Case) -> u128 {
        0
    }

    /// Returns the bytes of host memory that a case takes.
    fn host_bytes(&self, case: &Case) -> u128 {
        self.footprint(case).saturating_add(self.scratch(case))
    }

    /// Returns the expected number of stored entries of the largest sparse operand; 0 for ops on dense operands.
    fn expected_entries(&self, _case: &Case) -> f64 {
        0.0
    }

    /// Returns the bytes of the operands, which any implementation must read: by default those of one dense matrix.
    fn read_bytes(&self, case: &Case) -> f64 {
        volume::side(case) * volume::side(case) * volume::element(case.dtype)
    }

    /// Returns a change of one operand element that changes the answer, to detect an implementation that returns
    /// answers of earlier calls. `None` if the answer does not depend on operands.
    ///
    /// By default, the first element of the first operand becomes larger than the sum of all others, which no rounding
    /// hides; that of the matrix of a file, whose values have any size, doubles. A positive definite matrix stays positive definite.
    fn decisive_element(&self, case: &Case, inputs: &[Operand]) -> Option<Decisive> {
        let values = inputs.first()?.values();
        let value = match values {
            // Far below the largest number of the type.
            Values::F16(_) => (values.len() as f64 + 2.0).min(4096.0),
            _ if case.matrix.is_none() => values.len() as f64 + 2.0,
            Values::F32(values) => 2.0 * f64::from(*values.first()?),
            Values::F64(values) => 2.0 * values.first()?,
            _ => return None,
        };
        (!values.is_empty()).then_some(Decisive { operand: 0, element: 0, value })
    }

    /// Generates the operands, by default one dense matrix. They depend only on `case`, and are identical bit for bit
    /// on every machine.
    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0)]
    }

    /// Judges an answer in float64: returns its error, and the bound for arithmetic of the given rounding.
    ///
    /// Takes at most O(n^2) work for ops of O(n^3). An answer of the wrong shape or type is an `Err`.
    fn judge(&self, given: &Given) -> Result<Checked, CellError>;

    /// Judges the answer to a case on its operands, as [`Op::judge`] does, and gives an error that is not finite its reason.
    fn check(
        &self,
        case: &Case,
        inputs: &[Operand],
        answer: &[Operand],
        rounding: Rounding,
    ) -> Result<Checked, CellError> {
        let checked = self.judge(&Given { case, inputs, answer, rounding })?;
        if checked.value < f64::MAX {
            return Ok(checked);
        }
        let is_finite = answer.iter().all(|part| part.values().are_finite());
        let beyond_scale = "has a value other than zero where the right one is zero";
        let fault = if is_finite {
            checked.fault.unwrap_or(beyond_scale)
        } else {
            "contains values that are not finite"
        };
        Ok(Checked::invalid(fault, checked.bound))
    }
}

/// Every op, in the order reports use.
pub static OPS: &[&dyn Op] = &[
    &matmul::Matmul,
    &elementwise::Elementwise,
    &sines::SIN,
    &reduction::Reduction,
    &fft::Fft,
    &solve::Solve,
    &spgemm::Spgemm,
    &spmv::Spmv,
    &svd::Svd,
    &transfer::TransferOp,
    &transfer::Overhead,
    &sines::TRANSFER_LOOP,
    &sines::HOST_LOOP,
];

/// The seven ops of a run without `--ops`; the others run only when named.
pub const MAIN_OPS: [&str; 7] = ["matmul", "elementwise", "reduction", "fft", "solve", "spgemm", "svd"];

/// Returns the op of that name, of gpubench or of the user's own.
pub fn find(name: &str) -> Option<&'static dyn Op> {
    OPS.iter().copied().find(|op| op.name() == name).or_else(|| own::find_op(name))
}

/// Returns whether executions of the named op include the copies between host and device, so that none are added to their time.
pub fn copies_itself(name: &str) -> bool {
    find(name).is_some_and(|op| op.about().limit == Limit::Bus)
}

/// Returns whether the named op compares CPU and GPU; true for an unknown op.
pub fn compares_sides(name: &str) -> bool {
    find(name).is_none_or(|op| op.about().compares_sides)
}

/// Generates operand `operand` of a case: an `n` by `n` matrix of uniform values.
fn uniform_square(case: &Case, operand: u64) -> Operand {
    uniform(case, operand, [case.side(), case.side()])
}

/// Generates operand `operand` of a case: uniform values. The matrices of a batch are stacked.
fn uniform(case: &Case, operand: u64, shape: [usize; 2]) -> Operand {
    fn of<T: Element>(case: &Case, operand: u64, [rows, cols]: [usize; 2]) -> Operand {
        let values = generator::Stream::new(case.seed, operand).uniforms::<T>(rows * cols);
        Operand::dense(rows, cols, values)
    }
    for_dtype!(any case.dtype, of(case, operand, shape))
}

/// Generates operand `operand` of a case: a sparse matrix of the case's density, full if it has none. Of a case on the matrix of
/// a file it is that matrix.
fn sparse_matrix(case: &Case, operand: u64, [rows, cols]: [usize; 2]) -> Operand {
    if let Some(matrix) = matrix::of(case) {
        return Operand::Csr(matrix.rounded(case.dtype));
    }
    let density = volume::density(case);
    Operand::Csr(for_dtype!(case.dtype, sparse(case.seed, operand, rows, cols, density)))
}
