//! Judges answers to operations of the user's own: a process of their files, which times nothing, compares them with the right
//! answer.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gpubench_backend::Program;
use gpubench_backend::protocol::{Reply, Request};
use gpubench_ops::{Checked, Decisive};
use gpubench_report::case::Case;
use gpubench_report::error::CellError;

use super::unreadable;
use crate::worker::client::Client;
use crate::worker::describe;

/// Time in which an answer is judged; the reference may be slow.
const LIMIT: Duration = Duration::from_secs(600);

/// The files of the user's own operations, and the process that judges answers to them, from the first answer on.
#[derive(Default)]
pub(crate) struct OwnJudge {
    program: Option<Program>,
    files: Vec<PathBuf>,
    process: Option<Client>,
}

/// The verdict on an answer.
pub(super) struct AnswerVerdict {
    pub(super) error: Checked,
    /// Reason that the answer is wrong, in one line.
    pub(super) complaint: Option<String>,
    /// Fingerprint of the inputs, hexadecimal.
    pub(super) inputs: String,
    /// Element of an input on which the right answer depends.
    pub(super) decisive: Option<Decisive>,
}

impl OwnJudge {
    pub(super) fn new(program: Option<Program>, files: Vec<PathBuf>) -> OwnJudge {
        OwnJudge { program, files, process: None }
    }

    pub(super) fn judge(&mut self, case: &Case, answer: &Path) -> Result<AnswerVerdict, CellError> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.start().map_err(unreadable)?,
        };
        process.send(&Request::Judge { case: case.clone(), answer: answer.to_owned() });
        // A process that ends or hangs is killed when it is dropped; the next answer gets a new one.
        let reply = process.reply(LIMIT).map_err(unreadable)?;
        self.process = Some(process);
        match reply {
            Reply::Judged { value, bound, fault, inputs, decisive } => {
                let error = Checked::new(value, bound);
                let complaint = match fault {
                    Some(fault) => Some(format!("it {fault}")),
                    None => (!error.is_right()).then(|| error.complaint()),
                };
                Ok(AnswerVerdict { error, complaint, inputs, decisive })
            }
            Reply::Unavailable { reason, .. } | Reply::Skipped { reason, .. } => Err(unreadable(reason)),
            _ => Err(unreadable("an unexpected reply came".into())),
        }
    }

    fn start(&self) -> Result<Client, String> {
        let program = self.program.as_ref().ok_or("there is no Python for it")?;
        describe::described_ops(program, &self.files, &[]).map(|(process, _)| process)
    }
}

/// Returns the fingerprint of a file.
pub(super) fn fingerprint(path: &Path) -> Result<u64, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    Ok(hasher.finish())
}
