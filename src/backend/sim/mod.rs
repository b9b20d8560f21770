//! SEAM ONLY: replaced by the real backend.
use super::Registration;
use crate::error::Unavailable;
/// The registration.
pub const REGISTRATION: Registration = Registration {
    name: "sim",
    summary: "",
    variants: |_| Ok(vec![]),
    start: |_| Err(Unavailable::without_fix("seam")),
    findings: |_| vec![],
};
