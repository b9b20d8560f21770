//! A worker process that speaks the protocol, and its threads in `/proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::cpu::with_prefixes;

/// A worker for the CPU, killed when dropped.
pub(crate) struct Worker {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a worker with that number of threads and no library.
    pub(crate) fn start(threads: usize, pin: bool) -> Self {
        Worker::start_for(None, threads, pin)
    }

    /// Starts a worker for the variants of a library.
    pub(crate) fn start_for(library: Option<&str>, threads: usize, pin: bool) -> Self {
        let mut command = Command::new(crate::cli::GPUBENCH);
        command.args(["worker", "cpu"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if library.is_some() {
            with_prefixes(&mut command);
        }
        let mut child = command.spawn().unwrap();
        let (requests, replies) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut worker = Worker { child, requests, replies: BufReader::new(replies) };
        let mut options = json!({ "threads": threads, "pin": pin, "device": 0, "ops": [], "dtypes": [] });
        if let Some(library) = library {
            options["library"] = library.into();
        }
        worker.send(&json!({ "type": "hello", "protocol": 5, "options": options }));
        assert_eq!(worker.reply()["type"], "ready");
        worker
    }

    /// Prepares a cell as job 0 and returns the reply: `prepared`, or `skipped` if a library is missing.
    pub(crate) fn prepare(&mut self, op: &str, variant: &str, n: u64, cache: &str) -> Value {
        let mut case = json!({ "op": op, "n": n, "dtype": "f32", "seed": 42 });
        if op.starts_with("sp") {
            case["density"] = json!(0.01);
        }
        let cell = json!({ "case": case, "backend": "cpu", "variant": variant, "cache": cache });
        self.send(&json!({ "type": "prepare", "job": 0, "cell": cell }));
        self.reply()
    }

    /// Requests samples of job 0, after warm-up, for at most the given seconds.
    pub(crate) fn measure(&mut self, samples: u32, max_s: f64) {
        let warm_up = json!({ "executions": 3, "min_s": 0.05, "max_s": 0.2 });
        let batch = json!({ "warm_up": warm_up, "samples": samples, "max_s": max_s });
        self.send(&json!({ "type": "measure", "job": 0, "batch": batch }));
    }

    /// Returns the variants that it has.
    pub(crate) fn variants(&mut self) -> Vec<Value> {
        self.send(&json!({ "type": "describe" }));
        self.reply()["variants"].as_array().unwrap().clone()
    }

    /// Returns the files in its memory.
    pub(crate) fn mapped_files(&self) -> BTreeSet<PathBuf> {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.child.id())).unwrap();
        let paths = maps.lines().filter_map(|line| line.split_once('/').map(|(_, path)| path));
        paths.map(|path| Path::new("/").join(path)).collect()
    }

    /// Sends the request to go idle.
    pub(crate) fn rest(&mut self) {
        self.send(&json!({ "type": "rest" }));
        assert_eq!(self.reply()["type"], "rested");
    }

    /// Returns the resident memory of the worker in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }

    fn send(&mut self, request: &Value) {
        writeln!(self.requests, "{request}").unwrap();
    }

    /// Returns the final reply to the last request.
    pub(crate) fn reply(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.replies.read_line(&mut line).unwrap() > 0, "the worker has ended");
            let reply: Value = serde_json::from_str(&line).unwrap();
            if reply["type"] != "phase" {
                return reply;
            }
        }
    }

    /// Returns the CPU time of each of its threads so far, in ticks.
    pub(crate) fn ticks(&self) -> BTreeMap<i32, u64> {
        let ticks = |task: i32| {
            let stat = std::fs::read_to_string(self.place(task, "stat")).ok()?;
            // Fields are counted from after the name, which may contain spaces.
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            Some((task, fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?))
        };
        self.tasks().into_iter().filter_map(ticks).collect()
    }

    /// Returns the CPUs that each of its threads may run on, the timing thread first.
    pub(crate) fn affinities(&self) -> Vec<String> {
        let list = |task: i32| {
            let status = std::fs::read_to_string(self.place(task, "status")).ok()?;
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            list.map(|list| list.trim().to_owned())
        };
        self.tasks().into_iter().filter_map(list).collect()
    }

    fn place(&self, task: i32, file: &str) -> String {
        format!("/proc/{}/task/{task}/{file}", self.child.id())
    }

    fn tasks(&self) -> Vec<i32> {
        let entries = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let mut tasks: Vec<i32> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        tasks.sort_unstable();
        tasks
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker that has already ended needs no signal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
