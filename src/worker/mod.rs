//! Worker processes: one a backend, speaking JSON lines (`docs/worker-protocol.md`).

pub mod protocol;
