//! Asks external programs about themselves, outside a run: which backend they are, and what they find on the machine.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gpubench_backend::protocol::{Described, Reply, Request};
use gpubench_backend::{Options, Program, WorkerId};
use gpubench_ops::own::OwnOp;

use super::client::{Client, WaitError, WorkerPlace};

pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// A program that was started and asked about itself, or why it could not be started.
pub type Search = Result<Client, String>;

/// Starts `program` as backend `name` and asks it for everything that it could use.
pub fn search(name: &str, program: &Program, options: &Options) -> Search {
    started(name, program, &Request::Doctor { options: options.clone() })
}

/// Starts `program` as backend `name` and asks it to describe itself.
pub fn ask(name: &str, program: &Program) -> Search {
    started(name, program, &Request::Describe)
}

fn started(name: &str, program: &Program, request: &Request) -> Search {
    let mut client = Client::start(&WorkerId::of_backend(name), WorkerPlace::Process(program))
        .map_err(|error| format!("{} cannot be started: {error}", program.path.display()))?;
    client.send(request);
    Ok(client)
}

/// Waits for the description that [`ask`] has asked for.
///
/// # Errors
/// In one line: the program cannot be started, ends, is silent, or sends something else.
pub fn described(asked: Search) -> Result<Described, String> {
    let mut client = asked?;
    let described = match client.wait(Instant::now() + LIMIT, &|| false, &mut |_| {}) {
        Ok(Reply::Described(described)) => described,
        Ok(Reply::Failed { reason, .. }) | Err(WaitError::Gone(reason)) => return Err(reason),
        Ok(_) => return Err("it sent an unexpected reply to describe".into()),
        Err(WaitError::TimedOut | WaitError::Interrupted) => {
            return Err(format!("it did not describe itself within {} s", LIMIT.as_secs()));
        }
    };
    client.finish();
    checked(described)
}

/// Time in which the process of operations of the user's own describes them: their files may import large packages.
const LIMIT_OF_OPS: Duration = Duration::from_secs(120);

/// Starts `program`, which serves operations of the user's own, and returns its process with their description at `sizes`.
///
/// # Errors
/// In one line: the program cannot be started, ends, is silent, or cannot use a file.
pub fn described_ops(
    program: &Program,
    files: &[PathBuf],
    sizes: &[u64],
) -> Result<(Client, Vec<OwnOp>), String> {
    let mut client =
        started("ops", program, &Request::DescribeOps { files: files.to_vec(), sizes: sizes.to_vec() })?;
    match client.wait(Instant::now() + LIMIT_OF_OPS, &|| false, &mut |_| {}) {
        Ok(Reply::DescribedOps { ops }) => Ok((client, ops)),
        Ok(Reply::Unavailable { reason, fix }) => {
            Err(fix.map_or_else(|| reason.clone(), |fix| format!("{reason}: {fix}")))
        }
        Ok(Reply::Failed { reason, .. }) | Err(WaitError::Gone(reason)) => Err(reason),
        Ok(_) => Err("their process sent an unexpected reply".into()),
        Err(WaitError::TimedOut | WaitError::Interrupted) => {
            Err(format!("they were not loaded within {} s", LIMIT_OF_OPS.as_secs()))
        }
    }
}

/// Returns the description, or the reason that no plan can use it.
pub(crate) fn checked(described: Described) -> Result<Described, String> {
    let is_word = |text: &str| {
        let letters = text.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
        letters && !text.is_empty() && text.len() <= LONGEST_NAME
    };
    let is_line = |text: &str| text.len() <= LONGEST_LINE && !text.chars().any(char::is_control);
    let texts = [&described.name, &described.summary].into_iter().map(String::as_str);
    if !texts.chain(described.variants.iter().map(|variant| &*variant.summary)).all(is_line) {
        return Err(format!("its texts must be lines of at most {LONGEST_LINE} bytes"));
    }
    if described.variants.is_empty() {
        return Err("it describes no variant".into());
    }
    for (at, variant) in described.variants.iter().enumerate() {
        let name = format!("{}/{}", variant.op, variant.name);
        if !is_word(&variant.name) || !is_word(&variant.op) {
            return Err(format!(
                "'{}' is no name of a variant: use a-z, 0-9, '.', '_' and '-'",
                name.escape_debug()
            ));
        }
        if described.variants[..at].iter().any(|known| known.op == variant.op && known.name == variant.name) {
            return Err(format!("it describes {name} twice"));
        }
    }
    Ok(described)
}

const LONGEST_NAME: usize = 60;
const LONGEST_LINE: usize = 400;
