//! Operations of the user's own, which a Python file defines: the process of the file makes their inputs and judges answers.

use std::path::PathBuf;
use std::sync::RwLock;

use gpubench_report::Variant;
use gpubench_report::case::{Case, DType};
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;
use serde::{Deserialize, Serialize};

use crate::{About, Checked, Decisive, Given, Limit, OPS, Op, Work};

/// An operation of the user's own, as the process of its file describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnOp {
    /// Name: lower-case ASCII words, joined by hyphens.
    pub name: String,
    /// A one-line summary.
    pub summary: String,
    /// Default sizes of a sweep, ascending.
    pub sizes: Vec<u64>,
    /// Element types that its inputs have or can be made for.
    pub dtypes: Vec<DType>,
    /// The file that defines it.
    pub file: PathBuf,
    /// Sizes, bytes moved and FLOP, ascending; empty where the file says nothing of its work.
    #[serde(default)]
    pub work: Vec<(u64, f64, f64)>,
    /// The variants, of all backends.
    pub variants: Vec<OwnVariant>,
}

/// A variant of an operation of the user's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnVariant {
    /// Name of the adapter that runs it.
    pub backend: String,
    /// The variant.
    #[serde(flatten)]
    pub variant: Variant,
}

/// An [`OwnOp`] as one of the ops.
struct Registered {
    about: About,
    own: &'static OwnOp,
}

static REGISTERED: RwLock<Vec<&'static Registered>> = RwLock::new(Vec::new());

/// Makes [`crate::find`] find these operations too, for the rest of the process.
///
/// # Errors
/// In one line: a name is that of an op of gpubench, or of an operation of another file.
pub fn register(ops: Vec<OwnOp>) -> Result<(), String> {
    let mut known = REGISTERED.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    for op in ops {
        let file = op.file.file_name().unwrap_or_default().to_string_lossy();
        if OPS.iter().any(|built_in| built_in.name() == op.name) {
            return Err(format!("{file}: gpubench has an op named {}: choose another name", op.name));
        }
        if let Some(same) = known.iter().find(|other| other.own.name == op.name) {
            // A run on several devices, and one that is resumed, resolve their settings more than once.
            if same.own.file == op.file {
                continue;
            }
            return Err(format!("{file}: another file defines {} too: choose another name", op.name));
        }
        let own: &'static OwnOp = Box::leak(Box::new(op));
        let mut about = About::new(&own.name, &own.summary, &own.sizes);
        about.dtypes = &own.dtypes;
        if own.work.is_empty() {
            about.limit = Limit::Latency;
        }
        known.push(Box::leak(Box::new(Registered { about, own })));
    }
    Ok(())
}

fn registered() -> Vec<&'static Registered> {
    REGISTERED.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// Returns the operation of the user's own with that name, as one of the ops.
pub(crate) fn find_op(name: &str) -> Option<&'static dyn Op> {
    registered().into_iter().find(|op| op.own.name == name).map(|op| op as &dyn Op)
}

/// Returns the operation of the user's own with that name.
pub fn find(name: &str) -> Option<&'static OwnOp> {
    registered().into_iter().map(|op| op.own).find(|op| op.name == name)
}

/// Returns the variants of all operations of the user's own on a backend.
pub fn variants(backend: &str) -> impl Iterator<Item = &'static Variant> {
    let all = registered().into_iter().flat_map(|op| &op.own.variants);
    all.filter(move |own| own.backend == backend).map(|own| &own.variant)
}

impl Op for Registered {
    fn about(&self) -> About {
        self.about
    }

    /// Between the sizes described, the work is that of a power of N.
    fn work(&self, case: &Case) -> Work {
        let work = &self.own.work;
        let at = work.partition_point(|(n, ..)| *n < case.n);
        let (bytes, flop) = match (at.checked_sub(1).and_then(|at| work.get(at)), work.get(at)) {
            (_, Some(&(n, bytes, flop))) if n == case.n => (bytes, flop),
            (Some(&(n, bytes, flop)), Some(&(other, more_bytes, more_flop))) => {
                let share = (case.n as f64 / n as f64).ln() / (other as f64 / n as f64).ln();
                let between =
                    |low: f64, high: f64| if low > 0.0 { low * (high / low).powf(share) } else { low };
                (between(bytes, more_bytes), between(flop, more_flop))
            }
            _ => (0.0, 0.0),
        };
        Work { flop, bytes }
    }

    /// Unknown, because the inputs are the file's.
    fn footprint(&self, _case: &Case) -> u128 {
        0
    }

    fn read_bytes(&self, case: &Case) -> f64 {
        self.work(case).bytes
    }

    fn decisive_element(&self, _case: &Case, _inputs: &[Operand]) -> Option<Decisive> {
        None
    }

    fn inputs(&self, _case: &Case) -> Vec<Operand> {
        vec![]
    }

    fn judge(&self, _given: &Given) -> Result<Checked, CellError> {
        Err(CellError::Failed(
            "the answer of an operation of the user's own is judged by the process of its file".into(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str, work: &[(u64, f64, f64)]) -> OwnOp {
        let (file, work) = ("mine.py".into(), work.to_vec());
        OwnOp {
            name: name.into(),
            summary: "mine".into(),
            sizes: vec![8],
            dtypes: vec![DType::F32],
            file,
            work,
            variants: vec![],
        }
    }

    #[test]
    fn an_operation_is_found_once_it_is_registered_and_only_under_a_name_of_its_own() {
        assert!(crate::find("own-a").is_none());
        register(vec![op("own-a", &[])]).unwrap();
        let found = crate::find("own-a").unwrap();
        assert_eq!((found.about().sizes, found.about().limit), (&[8][..], Limit::Latency));
        register(vec![op("own-a", &[])]).unwrap();
        for name in ["matmul", "own-a"] {
            let other = OwnOp { file: "other.py".into(), ..op(name, &[]) };
            assert!(register(vec![other]).unwrap_err().contains("choose another name"), "{name}");
        }
        assert!(crate::MAIN_OPS.iter().all(|name| find(name).is_none()) && find("own-a").is_some());
    }

    #[test]
    fn work_between_sizes_is_that_of_a_power() {
        register(vec![op("own-b", &[(10, 100.0, 1000.0), (1000, 1e6, 1e9)])]).unwrap();
        let work = |n| {
            let case = Case::square("own-b", n, DType::F32, 1);
            let Work { flop, bytes } = crate::find("own-b").unwrap().work(&case);
            (bytes.round(), flop.round())
        };
        assert_eq!([10, 100, 1000].map(work), [(100.0, 1000.0), (1e4, 1e6), (1e6, 1e9)]);
        assert_eq!([1, 2000].map(work), [(0.0, 0.0); 2]);
    }
}
