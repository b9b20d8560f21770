//! Asks external programs about themselves, outside a run: which backend they are, and what they find on the machine.

use std::path::PathBuf;
use std::time::Duration;

use gpubench_backend::protocol::{Described, Reply, Request};
use gpubench_backend::{Options, Program, WorkerId};
use gpubench_ops::own::OwnOp;

use super::client::Client;

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
    let mut client = Client::start(&WorkerId::of_backend(name), program)
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
    let Reply::Described(described) = client.reply(LIMIT)? else { return Err(UNEXPECTED.into()) };
    client.finish();
    checked(described)
}

const UNEXPECTED: &str = "it sent a reply that does not match the request";

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
    match client.reply(LIMIT_OF_OPS)? {
        Reply::DescribedOps { ops } => Ok((client, ops)),
        Reply::Unavailable { reason, fix } => {
            Err(fix.map_or_else(|| reason.clone(), |fix| format!("{reason}: {fix}")))
        }
        _ => Err(UNEXPECTED.into()),
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
