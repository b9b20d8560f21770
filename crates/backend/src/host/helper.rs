//! Runs short helper programs, such as `git`, with limits on their time and on what they print.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::host::{process, threads};

/// Most bytes that a program may print.
const LONGEST: u64 = 64 << 10;

/// The end of a program that kept to its limits.
#[derive(Debug)]
pub struct Ended {
    /// Exit status of the program.
    pub status: ExitStatus,
    /// Output of the program, with replacements for what is not UTF-8.
    pub printed: String,
}

/// Runs a program without input and waits for its end. `with_errors` includes its standard error in the output.
///
/// # Errors
/// It cannot be started, runs for longer than `limit`, or prints more than 64 KiB. Then it was killed together with the
/// programs in its process group.
pub fn run(mut command: Command, limit: Duration, with_errors: bool) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stderr(if with_errors { writer.try_clone()?.into() } else { Stdio::null() });
    command.stdin(Stdio::null()).stdout(writer).process_group(0);
    let mut child = command.spawn().map_err(|error| threads::explained("process", &error))?;
    // It holds the end of the pipe that the program writes to.
    drop(command);
    let deadline = Instant::now() + limit;
    let (sender, output) = channel();
    let reading = threads::spawn("helper", move || {
        let mut bytes = vec![];
        // Output that ends early is still output.
        let _ = reader.take(LONGEST + 1).read_to_end(&mut bytes);
        // Nobody receives it after the time limit.
        let _ = sender.send(bytes);
    });
    let late = || io::Error::other(format!("it did not end within {} s", limit.as_secs_f64()));
    let received = reading.and_then(|_| output.recv_timeout(limit).map_err(|_| late()));
    let received = received.and_then(|bytes| {
        if bytes.len() as u64 > LONGEST {
            return Err(io::Error::other(format!("it printed more than {} KiB", LONGEST >> 10)));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if process::ends_within(child.id(), left) { Ok(bytes) } else { Err(late()) }
    });
    // With the programs that it has started.
    process::kill_group(child.id());
    let status = child.wait()?;
    received.map(|bytes| Ended { status, printed: String::from_utf8_lossy(&bytes).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> io::Result<Ended> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limit, true)
    }

    #[test]
    fn the_output_and_the_end_of_a_short_program_are_returned() {
        let ended = shell("echo out; echo err >&2; exit 3", Duration::from_secs(60)).unwrap();
        assert_eq!((ended.status.code(), &*ended.printed), (Some(3), "out\nerr\n"));
        let missing = run(Command::new("/no/such/program"), Duration::from_secs(60), false).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_program_without_end_is_killed_whatever_it_leaves_open() {
        let limit = Duration::from_millis(100);
        for script in ["sleep 1000", "exec >&- 2>&-; sleep 1000", "sleep 1000 &", "setsid sleep 20 & exit 0"]
        {
            let start = Instant::now();
            let error = shell(script, limit).unwrap_err().to_string();
            assert!(error.contains("did not end within 0.1 s"), "{script}: {error}");
            assert!(start.elapsed() < Duration::from_secs(15), "{script}: it waited for the program");
        }
    }

    #[test]
    fn a_program_that_prints_without_end_is_killed() {
        for script in ["yes", "yes >&2", "head -c 100000 /dev/zero"] {
            let error = shell(script, Duration::from_secs(60)).unwrap_err().to_string();
            assert!(error.contains("more than 64 KiB"), "{script}: {error}");
        }
    }
}
