//! placeholder until merged
use super::stopping::Reason;
use serde::{Deserialize, Serialize};
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    A,
    B,
    C,
    D,
}
pub struct Facts<'a> {
    pub side_is_gpu: bool,
    pub precision: f64,
    pub samples: &'a [f64],
    pub rounds: &'a [u32],
    pub set_aside: u32,
    pub throttled: u32,
    pub floor_ratio: Option<f64>,
    pub disturbed: u32,
    pub others: &'a [String],
    pub load: Option<f64>,
    pub setup: bool,
    pub steady: bool,
    pub stopped: Reason,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    pub text: String,
    pub next: String,
}
pub struct Assessment {
    pub grade: Grade,
    pub warnings: Vec<Warning>,
}
pub fn assess(_facts: &Facts<'_>) -> Assessment {
    Assessment { grade: Grade::A, warnings: vec![] }
}
