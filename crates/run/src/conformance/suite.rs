//! The checks that are about no cell, and the order of all.

use std::io;
use std::time::Duration;

use gpubench_backend::Variant;
use gpubench_backend::protocol::{Described, Reply, Request};
use gpubench_ops as op;
use gpubench_report::case::Cache;
use gpubench_report::measure::batch::{Batch, WarmUp};

use super::cells;
use super::conversation::{Conversation, SHORT_LIMIT, few_samples};
use super::{Asked, CheckedStep, Results, Tested};
use crate::worker::describe::{self, checked};

const EXIT_LIMIT: Duration = Duration::from_secs(3);

pub(super) fn run(asked: &Asked, results: &mut Results<'_>) -> io::Result<()> {
    let Some(described) = results.add("describe: variants that a plan can use", description(asked)?) else {
        return Ok(());
    };
    let mut talk = Conversation::start(asked)?;
    before_hello(&mut talk, results);
    if talk.is_over {
        talk = Conversation::start(asked)?;
    }
    match results.add("hello: the backend starts", talk.hello()) {
        Some(None) => {}
        Some(Some(reason)) => {
            results.skip("the cells: the backend is unavailable", reason);
            return Ok(());
        }
        None => return Ok(()),
    }
    results.add("measure, verify: of a job that was not prepared, are failed", unknown_job(&mut talk));
    results.add("release: of a job that was not prepared, is released", talk.release(99));
    let tested = tested(asked, &described.variants);
    let mut session = cells::Session::new(asked, talk);
    for cell in &tested {
        session.check_cell(cell, results)?;
    }
    if let Some(first) = tested.first() {
        session.check_several_jobs(first, results)?;
    }
    results.add("exit: ends the program", session.into_talk().exit(EXIT_LIMIT));
    ends(asked, tested.first(), results)
}

fn description(asked: &Asked) -> io::Result<CheckedStep<Described>> {
    let mut talk = Conversation::start(asked)?;
    let types = "described, before hello";
    Ok(talk.ask_within(describe::LIMIT, &Request::Describe, types).and_then(|reply| {
        let Reply::Described(described) = reply else { return Err(talk.refused(types)) };
        let unknown = described.variants.iter().find(|variant| op::find(&variant.op).is_none());
        let known = match unknown {
            Some(variant) => Err(format!("gpubench has no op named {}", variant.op)),
            None => checked(described),
        };
        let described = known
            .map_err(|problem| talk.unlike("variants with names and texts of this form").because(problem))?;
        match without_variants(asked, &described.variants) {
            Some(problem) => Err(talk.refused("variants of the ops of --ops").because(problem)),
            None => Ok(described),
        }
    }))
}

/// The ops of `--ops` that no variant does: without this, a check of nothing would pass.
fn without_variants(asked: &Asked, variants: &[Variant]) -> Option<String> {
    let mut ops: Vec<String> = variants.iter().map(|variant| variant.op.to_string()).collect();
    ops.dedup();
    let missing: Vec<&str> = asked.ops.iter().filter(|op| !ops.contains(op)).map(String::as_str).collect();
    let (missing, ops) = (missing.join(", "), ops.join(", "));
    (!missing.is_empty()).then(|| format!("no variant of {missing}; the program has variants of {ops}"))
}

/// Checks that messages which are none are refused, before the backend has started.
fn before_hello(talk: &mut Conversation, results: &mut Results<'_>) {
    let lines = [
        ("an unknown type is answered with failed", r#"{"type":"dance","steps":3}"#),
        ("a line that is no JSON is answered with failed", "this is no JSON"),
        ("JSON that is no message is answered with failed", "[1, 2]"),
    ];
    for (name, line) in lines {
        let reply = talk.line(line, SHORT_LIMIT, "failed", "Rules");
        results.add(name, expect_failed(talk, reply));
        if talk.is_over {
            break;
        }
    }
}

fn expect_failed(talk: &Conversation, reply: CheckedStep<Reply>) -> CheckedStep {
    match reply? {
        Reply::Failed { .. } => Ok(()),
        _ => Err(talk.failure("failed", "Rules")),
    }
}

fn unknown_job(talk: &mut Conversation) -> CheckedStep {
    let measured = talk.ask_within(SHORT_LIMIT, &few_samples(99), "failed");
    expect_failed(talk, measured)?;
    let verify = Request::Verify { job: 99, execute: false, alter: None, answer: Some("/dev/null".into()) };
    let verified = talk.ask_within(SHORT_LIMIT, &verify, "failed");
    expect_failed(talk, verified)
}

fn tested(asked: &Asked, variants: &[Variant]) -> Vec<Tested> {
    let mut tested = vec![];
    for variant in variants.iter().filter(|v| asked.ops.is_empty() || asked.ops.contains(&v.op.to_string())) {
        for &dtype in variant.dtypes.iter() {
            for cache in [Cache::Cold, Cache::Hot] {
                tested.extend(asked.sizes.iter().map(|n| Tested::new(variant, dtype, cache, *n)));
            }
        }
    }
    tested
}

/// Checks that the program ends with its standard input, whether it works or waits.
fn ends(asked: &Asked, cell: Option<&Tested>, results: &mut Results<'_>) -> io::Result<()> {
    let idle = Conversation::start(asked)?;
    results.add(
        "end of standard input: ends a program that waits",
        idle.close("the end of standard input", EXIT_LIMIT),
    );
    let Some(cell) = cell else { return Ok(()) };
    let mut session = cells::Session::new(asked, Conversation::start(asked)?);
    if !session.prepares(cell) {
        return Ok(());
    }
    let mut busy = session.into_talk();
    let warm_up = WarmUp { executions: u32::MAX, min_s: 30.0, max_s: 30.0 };
    let batch = Batch { warm_up: Some(warm_up), samples: u32::MAX, max_s: 30.0 };
    busy.client.send(&Request::Measure { job: cells::JOB, batch });
    std::thread::sleep(Duration::from_millis(300));
    let closed = busy.close("the end of standard input, during a measurement of 30 s", EXIT_LIMIT);
    results.add("end of standard input: ends a program that measures", closed);
    Ok(())
}
