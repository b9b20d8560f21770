//! Defines the data of runs and reports: cases, operands, variants, samples, statistics, rows, and the output formats.
//! Reads and writes the files of reports.

#![deny(unsafe_code)]

pub mod case;
mod conditions;
pub mod data;
pub mod error;
mod finding;
pub mod format;
mod judgement;
pub mod measure;
pub mod pattern;
mod peaks;
mod phases;
pub mod report;
mod sample;
mod variant;

pub use conditions::{ClockCheck, Conditions, ThreadSpeeds, TimerOverhead};
pub use finding::Finding;
pub use judgement::{Checked, Rounding, Work};
pub use peaks::{BusRates, Peaks};
pub use phases::{Compile, DevicePhases, HostMemory, PinnedCopies, Transfer, TransferMemory};
pub use sample::{PageFaults, Sample, SetupCounts};
pub use variant::{Accuracy, Origin, Side, Variant, earlier_name, fewer_threads, on_threads, vendor_of};
