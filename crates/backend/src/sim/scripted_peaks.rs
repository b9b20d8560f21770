//! Reads the peaks in a script.

use std::collections::BTreeMap;

use crate::BusRates;
use anyhow::{bail, ensure};
use serde::Deserialize;

use super::rule::CellFault;

/// Precisions of a matrix product.
const PRECISIONS: [&str; 5] = ["f32", "f64", "tf32", "f16", "bf16"];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScriptedPeaks {
    pub read: Option<f64>,
    pub copy: Option<f64>,
    pub triad: Option<f64>,
    pub matmul: BTreeMap<String, f64>,
    pub upload: Option<Rates>,
    pub download: Option<Rates>,
    pub outcome: Option<CellFault>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rates {
    pageable: f64,
    pinned: f64,
}

impl From<Rates> for BusRates {
    fn from(Rates { pageable, pinned }: Rates) -> Self {
        BusRates { pageable, pinned }
    }
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
