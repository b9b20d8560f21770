//! Computes the simulated device's peaks: those in the script, and otherwise the rates of its laws at large sizes.

use std::collections::BTreeMap;

use crate::{Accuracy, BusRates, Peaks, Variant};
use anyhow::{bail, ensure};
use gpubench_ops as op;
use gpubench_report::case::{Case, DType};
use serde::Deserialize;

use super::rule::CellFault;
/// Side at which a law counts as having reached its rate.
const LARGE: u64 = 16_384;
/// Bytes per second of copies between host and device, if the script has none.
const BUS: BusRates = BusRates { pageable: 10e9, pinned: 50e9 };

/// Precisions of a matrix product, each with the cases and variants that have it.
const PRECISIONS: [(&str, DType, Accuracy); 5] = [
    ("f32", DType::F32, Accuracy::Ieee),
    ("f64", DType::F64, Accuracy::Ieee),
    ("tf32", DType::F32, Accuracy::Tf32),
    ("f16", DType::F32, Accuracy::F16),
    ("bf16", DType::F32, Accuracy::Bf16),
];

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
        match self.matmul.keys().find(|key| PRECISIONS.iter().all(|(known, ..)| known != key)) {
            Some(other) => {
                let known = PRECISIONS.map(|(known, ..)| known).join(", ");
                bail!("unknown matmul precision {other}: choose from {known}")
            }
            None => Ok(()),
        }
    }

    /// Adds the rates that `variants` reach on large cases, by the seconds that each takes for a case.
    pub(crate) fn completed(
        mut self,
        variants: &[Variant],
        time_s: impl Fn(&Variant, &Case) -> f64,
    ) -> Peaks {
        let best = |op: &str, dtype: DType, accuracy: Accuracy, part: fn(op::Work) -> f64| {
            let case = Case::square(op, LARGE, dtype, 0);
            let work = part(op::find(op)?.work(&case));
            let does = |v: &&Variant| v.op == op && v.accuracy == accuracy && v.dtypes.contains(&dtype);
            let rates = variants.iter().filter(does).map(|variant| work / time_s(variant, &case));
            rates.filter(|rate| rate.is_finite() && *rate > 0.0).max_by(f64::total_cmp)
        };
        let of_memory = |op: &str| best(op, DType::F32, Accuracy::Ieee, |work| work.bytes);
        for (precision, dtype, accuracy) in PRECISIONS {
            if let Some(rate) = best("matmul", dtype, accuracy, |work| work.flop) {
                self.matmul.entry(precision.into()).or_insert(rate);
            }
        }
        Peaks {
            read: self.read.or_else(|| of_memory("reduction")),
            copy: self.copy.or_else(|| of_memory("sin")),
            triad: self.triad.or_else(|| of_memory("elementwise")),
            matmul: self.matmul,
            upload: Some(self.upload.unwrap_or(BUS)),
            download: Some(self.download.unwrap_or(BUS)),
            ..Peaks::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::Script;
    use super::*;

    #[test]
    fn peaks_come_from_the_script_and_otherwise_from_its_laws() {
        let named =
            "[peaks]\nread = 4e12\nmatmul = { f16 = 8e14 }\nupload = { pageable = 1e10, pinned = 2e10 }\n";
        let law = "[[rule]]\nop = 'matmul'\ntime = { per_element = '0.0002ns', exponent = 3 }";
        let script = format!("{named}{law}\n[[variant]]\nname = 'a'\n");
        let found = Script::parse(&script).unwrap().peaks();
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
