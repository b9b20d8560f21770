//! Reads facts about the machine, and the names of its host and devices, from a report.

mod facts;
mod names;
mod value;

pub use facts::*;
pub use names::{
    cpu_model, device, device_name, device_of_backend, host, machine, machine_of, processor, threads,
    versions, versions_text,
};
pub use value::{Value, plain};
