//! Computes the simulated device's peaks: those in the script, and otherwise the rates of its laws at large sizes.

use std::collections::BTreeMap;

use crate::{Accuracy, BusRates, Peaks};
use anyhow::{bail, ensure};
use gpubench_ops as op;
use gpubench_report::case::{Cache, Case, DType};
use serde::Deserialize;

use super::rule::CellFault;
use super::script::Script;

/// Side at which a law counts as having reached its rate.
const LARGE: u64 = 16_384;
/// Bytes per second of copies between host and device, if the script has none.
const BUS: BusRates = BusRates { pageable: 10e9, pinned: 50e9 };

/// Precisions of a matrix product.
const PRECISIONS: [&str; 5] = ["f32", "f64", "tf32", "f16", "bf16"];

/// The peaks in a script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScriptedPeaks {
    pub read: Option<f64>,
    pub copy: Option<f64>,
    pub triad: Option<f64>,
    pub matmul: BTreeMap<String, f64>,
    pub upload: Option<BusRates>,
    pub download: Option<BusRates>,
    pub outcome: Option<CellFault>,
}

impl ScriptedPeaks {
    /// Checks that every figure is a rate; an error names the key.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let memory = [("read", self.read), ("copy", self.copy), ("triad", self.triad)];
        let memory = memory.iter().filter_map(|(key, rate)| Some((*key, (*rate)?)));
        let bus = [("upload", self.upload), ("download", self.download)].into_iter();
        let bus = bus.filter_map(|(key, rates)| Some((key, rates?)));
        let bus = bus.flat_map(|(key, rates)| [(key, rates.pageable), (key, rates.pinned)]);
        let matmul = self.matmul.iter().map(|(key, rate)| (key.as_str(), *rate));
        for (key, rate) in memory.chain(bus).chain(matmul) {
            ensure!(
                rate.is_finite() && rate > 0.0,
                "{key} must be a rate above 0, in bytes or FLOP per second"
            );
        }
        match self.matmul.keys().find(|key| !PRECISIONS.contains(&key.as_str())) {
            Some(other) => bail!("unknown matmul precision {other}: choose from {}", PRECISIONS.join(", ")),
            None => Ok(()),
        }
    }
}

pub(crate) fn peaks(script: &Script) -> Peaks {
    let named = script.peaks();
    let of_memory = |op: &str| best(script, op, DType::F32, Accuracy::Ieee, |work| work.bytes);
    let mut matmul = named.matmul;
    for (precision, dtype, accuracy) in [
        ("f32", DType::F32, Accuracy::Ieee),
        ("f64", DType::F64, Accuracy::Ieee),
        ("tf32", DType::F32, Accuracy::Tf32),
        ("f16", DType::F32, Accuracy::F16),
        ("bf16", DType::F32, Accuracy::Bf16),
    ] {
        if let Some(rate) = best(script, "matmul", dtype, accuracy, |work| work.flop) {
            matmul.entry(precision.into()).or_insert(rate);
        }
    }
    Peaks {
        read: named.read.or_else(|| of_memory("reduction")),
        copy: named.copy.or_else(|| of_memory("sin")),
        triad: named.triad.or_else(|| of_memory("elementwise")),
        matmul,
        upload: Some(named.upload.unwrap_or(BUS)),
        download: Some(named.download.unwrap_or(BUS)),
        ..Peaks::default()
    }
}

/// Returns the highest rate of `part` of an op's work that a variant of that accuracy reaches on a large case.
fn best(
    script: &Script,
    op: &str,
    dtype: DType,
    accuracy: Accuracy,
    part: impl Fn(op::Work) -> f64,
) -> Option<f64> {
    let case = Case::square(op, LARGE, dtype, 0);
    let work = part(op::find(op)?.work(&case));
    let variants = script.variants().into_iter();
    let variants = variants.filter(|v| v.op == op && v.accuracy == accuracy && v.dtypes.contains(&dtype));
    let rates = variants.map(|v| work / script.behaviour(&v.name, &case, Cache::Cold).time_s);
    rates.filter(|rate| rate.is_finite() && *rate > 0.0).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_come_from_the_script_and_otherwise_from_its_laws() {
        let named =
            "[peaks]\nread = 4e12\nmatmul = { f16 = 8e14 }\nupload = { pageable = 1e10, pinned = 2e10 }\n";
        let law = "[[rule]]\nop = 'matmul'\ntime = { per_element = '0.0002ns', exponent = 3 }";
        let script = format!("{named}{law}\n[[variant]]\nname = 'a'\n");
        let found = peaks(&Script::parse(&script).unwrap());
        assert_eq!((found.read, found.matmul["f16"]), (Some(4e12), 8e14));
        assert_eq!(found.upload, Some(BusRates { pageable: 1e10, pinned: 2e10 }));
        assert_eq!(found.download, Some(BUS));
        assert!((found.matmul["f32"] / 1e13 - 1.0).abs() < 1e-3, "{found:?}");
        // Two operands and an answer of 2^30 bytes each in 100 us.
        assert!((found.triad.unwrap() / (3.0 * (1u64 << 30) as f64 / 100e-6) - 1.0).abs() < 1e-9);
        assert!(!found.matmul.contains_key("tf32"), "no variant of that accuracy");
        assert_eq!(found.clone().plausible(), Some(found));
    }
}
