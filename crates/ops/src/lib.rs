//! The ops: what is computed, how much work it is, on which operands, and how an answer is judged.
//!
//! An op knows no backend. [`OPS`] is the list of all of them; CONTRIBUTING.md has the recipe of a new one.

#![forbid(unsafe_code)]

use gpubench_model::case::{Case, DType};
use gpubench_model::data::{Operand, Real, generator};
use gpubench_model::error::CellError;

/// Calls a function generic in the element type with the type that `$dtype` names.
macro_rules! for_dtype {
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            gpubench_model::case::DType::F32 => $function::<f32>($($argument),*),
            gpubench_model::case::DType::F64 => $function::<f64>($($argument),*),
        }
    };
}

mod elementwise;
mod fft;
mod host_loop;
pub mod judge;
mod matmul;
mod overhead;
mod reduction;
mod sin;
mod solve;
mod spgemm;
mod spmv;
mod svd;
#[cfg(test)]
mod tests;
mod transfer;
mod transfer_loop;
mod volume;

pub use gpubench_model::{Checked, Rounding, Work};
pub use transfer_loop::SINES;

/// What limits an op on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Arithmetic, or memory that is read and written.
    ReadAndWrite,
    /// Arithmetic, or memory that is read: the answer is small against the operands.
    Read,
    /// The way between host and device.
    Bus,
    /// Nothing that is measured: what it costs is latency.
    Latency,
}

/// An element of an operand, and a value for it that gives another answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decisive {
    /// The operand's number.
    pub operand: usize,
    /// The element's place among the operand's elements, of a sparse operand among its stored values.
    pub element: usize,
    /// The value.
    pub value: f64,
}

/// What an op is, apart from what it computes.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The word used everywhere: plain lower-case ASCII, with hyphens where it is made of several.
    pub name: &'static str,
    /// What it computes, in one line.
    pub summary: &'static str,
    /// Sizes a sweep uses when none are named.
    pub sizes: &'static [u64],
    /// Share of stored entries when none is named; `None` for ops on dense operands.
    pub density: Option<f64>,
    /// What limits it.
    pub limit: Limit,
    /// Whether executions copy between host and device themselves, so that no copy is to be added to their time.
    pub copies_itself: bool,
    /// Whether the question is which *side* is faster. If not, its variants show what something costs, and tables
    /// list them all.
    pub compares_sides: bool,
}

impl About {
    /// An op on dense operands that is limited by arithmetic or by memory and asks which side is faster.
    const fn new(name: &'static str, summary: &'static str, sizes: &'static [u64]) -> About {
        let limit = Limit::ReadAndWrite;
        About { name, summary, sizes, density: None, limit, copies_itself: false, compares_sides: true }
    }
}

/// An answer with what it is to be judged by.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its operands.
    pub inputs: &'a [Operand],
    /// The answer.
    pub answer: &'a [Operand],
    /// The rounding of the arithmetic that made it.
    pub rounding: Rounding,
}

/// One op. All matrices are square, `n` by `n`, row-major, uniform in [0, 1) unless the op says otherwise; for an op
/// without operands `n` is a count.
pub trait Op: Sync {
    /// What it is called, on which sizes and what limits it.
    fn about(&self) -> About;

    /// The word used everywhere: plain lower-case ASCII, with hyphens where it is made of several.
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// Share of stored entries when none is named; `None` for ops on dense operands.
    fn default_density(&self) -> Option<f64> {
        self.about().density
    }

    /// Work of one execution.
    fn work(&self, case: &Case) -> Work;

    /// Bytes of the operands and the answer together, computed without overflow for any `n`.
    fn footprint(&self, case: &Case) -> u128;

    /// Bytes that making the operands takes beside them.
    fn scratch(&self, _case: &Case) -> u128 {
        0
    }

    /// Expected number of stored entries of the largest sparse operand; 0 for ops on dense operands.
    fn expected_entries(&self, case: &Case) -> f64 {
        self.default_density().map_or(0.0, |_| volume::stored(case))
    }

    /// Bytes of the operands, which any implementation must read: those of one dense matrix unless the op says
    /// otherwise.
    fn read_bytes(&self, case: &Case) -> f64 {
        volume::side(case) * volume::side(case) * volume::element(case.dtype)
    }

    /// A change of one element of an operand that changes the answer: an implementation that keeps answers of earlier
    /// calls is found out by it. `None` where the answer does not depend on operands.
    ///
    /// Unless the op says otherwise, the first element of the first operand becomes larger than the sum of all others,
    /// which no rounding hides; a positive definite matrix stays one.
    fn decisive_element(&self, case: &Case, inputs: &[Operand]) -> Option<Decisive> {
        let value = volume::side(case) * volume::side(case) + 2.0;
        (!inputs.first()?.values().is_empty()).then_some(Decisive { operand: 0, element: 0, value })
    }

    /// The operands, one dense matrix unless the op says otherwise. Deterministic in `case.seed`, equal bit for bit on
    /// every machine.
    fn inputs(&self, case: &Case) -> Vec<Operand> {
        vec![uniform_square(case, 0)]
    }

    /// Judges an answer in float64: the error found and its bound for arithmetic of the given rounding.
    ///
    /// At most O(n^2) work for ops of O(n^3). An answer of the wrong shape or type is an `Err`.
    fn judge(&self, given: &Given) -> Result<Checked, CellError>;

    /// Judges the answer to a case on its operands, as [`Op::judge`] does.
    fn check(
        &self,
        case: &Case,
        inputs: &[Operand],
        answer: &[Operand],
        rounding: Rounding,
    ) -> Result<Checked, CellError> {
        self.judge(&Given { case, inputs, answer, rounding })
    }
}

/// Every op, in the order reports use.
pub static OPS: &[&dyn Op] = &[
    &matmul::Matmul,
    &elementwise::Elementwise,
    &sin::Sin,
    &reduction::Reduction,
    &fft::Fft,
    &solve::Solve,
    &spgemm::Spgemm,
    &spmv::Spmv,
    &svd::Svd,
    &transfer::Transfer,
    &overhead::Overhead,
    &transfer_loop::TransferLoop,
    &host_loop::HostLoop,
];

/// The seven ops of a plain run; the others are asked for by name.
pub const MAIN_OPS: [&str; 7] = ["matmul", "elementwise", "reduction", "fft", "solve", "spgemm", "svd"];

/// The op of that name.
pub fn find(name: &str) -> Option<&'static dyn Op> {
    OPS.iter().copied().find(|op| op.name() == name)
}

/// Whether executions of the op of that name have the copies in them.
pub fn copies_itself(name: &str) -> bool {
    find(name).is_some_and(|op| op.about().copies_itself)
}

/// Whether the op of that name asks which side is faster, as one unknown here does.
pub fn compares_sides(name: &str) -> bool {
    find(name).is_none_or(|op| op.about().compares_sides)
}

/// Operand `operand` of a case: an `n` by `n` matrix of uniform values.
fn uniform_square(case: &Case, operand: u64) -> Operand {
    uniform(case, operand, case.side())
}

/// Operand `operand` of a case: a vector of `n` uniform values.
fn uniform_column(case: &Case, operand: u64) -> Operand {
    uniform(case, operand, 1)
}

fn uniform(case: &Case, operand: u64, cols: usize) -> Operand {
    fn of<T: Real>(case: &Case, operand: u64, cols: usize) -> Operand {
        let rows = case.side();
        let values = generator::Stream::new(case.seed, operand).uniforms::<T>(rows * cols);
        Operand::dense(rows, cols, values)
    }
    for_dtype!(case.dtype, of(case, operand, cols))
}

/// Operand `operand` of a case: an `n` by `n` sparse matrix of the case's density, full when it names none.
fn sparse_square(case: &Case, operand: u64) -> Operand {
    let (n, density) = (case.side(), volume::density(case));
    Operand::Csr(match case.dtype {
        DType::F32 => generator::sparse::<f32>(case.seed, operand, n, n, density),
        DType::F64 => generator::sparse::<f64>(case.seed, operand, n, n, density),
    })
}
