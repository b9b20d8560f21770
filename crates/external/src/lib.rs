//! External backends: the adapters for Python libraries, which this program contains, and programs that the user names. Says
//! how each is started; starts nothing.

#![forbid(unsafe_code)]

mod adapters;
mod command;
mod python;

pub use adapters::{ADAPTERS, Adapter, PACKAGE};
pub use command::NamedCommand;
pub use python::{Python, interpreter};
