//! The process of a worker, which leads a process group of its own.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use gpubench_backend::Program;
use gpubench_backend::host::{environment, process, search_path, threads};
use gpubench_report::report::variables;

/// Time limit for a process to end after it was killed. One that waits for a device or a disk ends only when that responds.
const KILL_LIMIT: Duration = Duration::from_secs(5);

pub(super) struct Leader {
    /// `None` once its status was collected, after which the system may give its number to another process.
    child: Option<Child>,
    id: u32,
    is_stopped: bool,
}

pub(super) type Streams = (ChildStdin, ChildStdout, ChildStderr);

impl Leader {
    /// Starts the program. The calling thread must live as long: with it the program ends.
    pub(super) fn start(program: &Program) -> io::Result<(Leader, Streams)> {
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).process_group(0);
        if let Some(called) = &program.called {
            command.arg0(called);
        }
        let variables = environment::set_variables().map(|(name, _)| name);
        for name in variables.filter(|name| variables::changes_arithmetic(name)) {
            command.env_remove(name);
        }
        // The loader of the new process would take libraries from the current folder, and the interpreter of an adapter modules.
        let is_adapter = program.preface.is_some();
        for name in
            [Some(search_path::LOADER), is_adapter.then_some(search_path::PYTHON)].into_iter().flatten()
        {
            let list = std::env::var_os(name);
            if let Some(folders) = list.and_then(|list| search_path::without_current_folder(&list)) {
                command.env(name, folders);
            }
        }
        process::end_with_thread(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| threads::explained("process", &error))?;
        let streams = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let id = child.id();
        let leader = Leader { child: Some(child), id, is_stopped: false };
        let ((stdin, stdout), stderr) =
            streams.ok_or_else(|| io::Error::other("it has no standard streams"))?;
        Ok((leader, (stdin, stdout, stderr)))
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Stops its group until [`Leader::go_on`].
    pub(super) fn stop(&mut self) {
        if self.child.is_some() {
            process::stop_group(self.id);
            self.is_stopped = true;
        }
    }

    pub(super) fn go_on(&mut self) {
        if std::mem::take(&mut self.is_stopped) && self.child.is_some() {
            process::continue_group(self.id);
        }
    }

    /// Returns whether it has ended, while its children may still run.
    pub(super) fn has_ended(&self) -> bool {
        self.child.is_none() || process::has_ended(self.id)
    }

    /// Waits up to `patience` for its end, then kills what is left of its group, and removes what it has left in shared memory. Returns its status if it ended by itself.
    pub(super) fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        let by_itself = process::ends_within(self.id, patience);
        process::kill_group(self.id);
        if !process::ends_within(self.id, KILL_LIMIT) {
            // The run goes on without it, and a thread collects its status whenever it ends. Without a thread, its status is
            // collected at the end of this process.
            let _ = threads::spawn("reaper", move || child.wait());
            return None;
        }
        let status = child.wait().ok();
        process::remove_leftovers(self.id);
        status.filter(|_| by_itself)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

/// Describes the end of a process, as the predicate of a sentence.
pub(super) fn end_of(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(process::SIGKILL), _) => {
            "was killed by SIGKILL (possibly by the system, for lack of memory)".into()
        }
        (Some(signal), _) => format!("was killed by {}", process::signal_name(signal)),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".into(),
    }
}
