//! Defines one check per fact, with its warning text. `docs/measurement.md` has a table of the limits.

use gpubench_text::count::counted;
use gpubench_text::percent;

use crate::report::QuotaPauses;

use super::super::stats::{Summary, has_interval, relative_half_width};
use super::super::stopping::Reason;
use super::{Grade, SamplingFacts, Warning, WarningKind};

/// Probability below which a difference between rounds counts as drift.
const DRIFT_P: f64 = 0.01;

/// Minimum cost of a page fault on current CPUs, in seconds: the trap, and clearing 4 KiB.
const FAULT_S: f64 = 0.5e-6;

/// Every check, the most serious first; warnings of equal cost keep this order.
pub(super) const ALL: &[fn(&SamplingFacts) -> Option<Warning>] = &[
    setup,
    ended_early,
    few_samples,
    spread,
    drifting,
    throttled,
    discarded,
    driver_throttled,
    other_process,
    bimodal,
    launch_bound,
    disturbed,
    page_faults,
    busy_machine,
    cpu_quota,
    not_warm,
];

/// Returns the best grade left for a figure that costs one grade beyond each limit.
fn beyond(figure: f64, limits: [f64; 3]) -> Option<Grade> {
    let [b, c, d] = limits;
    match figure {
        _ if figure > d => Some(Grade::D),
        _ if figure > c => Some(Grade::C),
        _ if figure > b => Some(Grade::B),
        _ => None,
    }
}

fn warning(kind: WarningKind, at_best: Grade, text: String, next: &str) -> Option<Warning> {
    Some(Warning { kind, at_best, text, next: next.to_owned() })
}

fn setup(facts: &SamplingFacts) -> Option<Warning> {
    let text =
        facts.setup.then_some("memory was allocated, or plans or kernels were created, during sampling")?;
    let next = "choose another variant with --variants, or report this one: its times include set-up";
    warning(WarningKind::Setup, Grade::D, text.to_owned(), next)
}

/// Advice for a clock that is low.
const COOL: &str = "let the device cool or raise its power limit, then run again";

/// Advice for a cell that lost its worker.
const SAMPLE_ALL: &str = "name the variant, or use --all-variants, to sample it to precision";
const RUN_AGAIN: &str = "run the cell again; `gpubench doctor` lists what is missing now";

fn ended_early(facts: &SamplingFacts) -> Option<Warning> {
    let text = format!("ended early, before its last round: {}", facts.lost_because?);
    warning(WarningKind::EndedEarly, Grade::C, text, RUN_AGAIN)
}

fn few_samples(facts: &SamplingFacts) -> Option<Warning> {
    let n = facts.samples.len();
    let at_best = match n {
        0..3 => Grade::D,
        3..6 => Grade::C,
        6..10 => Grade::B,
        _ => return None,
    };
    let text = format!("only {} kept; grade A needs 10", counted(n, "sample"));
    let next = match facts.stopped {
        Reason::CutShort => "let the run finish",
        Reason::EndedEarly => RUN_AGAIN,
        Reason::Fixed => "raise --samples to 10 or more, or omit it",
        Reason::Screened => SAMPLE_ALL,
        _ if facts.discarded as usize > n => "let the device cool, then run again",
        _ => "raise --max-time, or choose a smaller size",
    };
    warning(WarningKind::FewSamples, at_best, text, next)
}

fn spread(facts: &SamplingFacts) -> Option<Warning> {
    let n = facts.samples.len();
    let half_width = relative_half_width(facts.samples);
    let some = (2.0 * facts.precision).max(0.02);
    let much = if facts.side_is_gpu { 0.05 } else { 0.1 };
    let at_best = beyond(half_width, [facts.precision, some, some.max(much)])?;
    let what = match has_interval(n) {
        true => "half the 95 % interval".to_owned(),
        false => format!("half the range of {n} samples"),
    };
    let (width, asked) = (percent::fine(half_width), percent::fine(facts.precision));
    let text = format!("{what} is {width} of the median; {asked} was requested");
    let next = match facts.stopped {
        Reason::CutShort => "let the run finish",
        Reason::EndedEarly => RUN_AGAIN,
        Reason::Plateau => {
            close_others(facts, "close other programs: more samples no longer narrow the interval")
        }
        Reason::Drift => close_others(facts, "check clocks, temperature and other programs; raise --rounds"),
        Reason::Fixed => "raise --samples, or omit it so that --precision decides",
        Reason::Screened => SAMPLE_ALL,
        Reason::MostSamples => close_others(facts, "close other programs, or relax --precision"),
        Reason::OutOfTime | Reason::Precise => {
            close_others(facts, "close other programs, or raise --max-time")
        }
    };
    warning(WarningKind::Spread, at_best, text, next)
}

fn drifting(facts: &SamplingFacts) -> Option<Warning> {
    let found = facts.drift.filter(|drift| drift.p < DRIFT_P)?;
    let some = 2.0 * facts.precision;
    let at_best = beyond(found.relative, [some, some.max(0.05), some.max(0.15)])?;
    let text = format!("the medians of the rounds differ by {}", percent::fine(found.relative));
    let next = close_others(
        facts,
        "check clocks, temperature and other programs; raise --rounds to average over the drift",
    );
    warning(WarningKind::Drift, at_best, text, next)
}

fn throttled(facts: &SamplingFacts) -> Option<Warning> {
    let n = facts.samples.len();
    let at_best = beyond(f64::from(facts.throttled) / n.max(1) as f64, [0.01, 0.1, 0.5])?;
    let text = format!("the clock was low during {} of {}", facts.throttled, counted(n, "sample"));
    warning(WarningKind::Throttled, at_best, text, COOL)
}

fn discarded(facts: &SamplingFacts) -> Option<Warning> {
    let all = facts.samples.len() + facts.discarded as usize;
    let at_best = beyond(f64::from(facts.discarded) / all.max(1) as f64, [0.1, 0.5, f64::INFINITY])?;
    let text = format!("{} of {all} samples were discarded because the clock was low", facts.discarded);
    warning(WarningKind::Throttled, at_best, text, COOL)
}

fn driver_throttled(facts: &SamplingFacts) -> Option<Warning> {
    if !facts.side_is_gpu || facts.throttle_reasons.is_empty() {
        return None;
    }
    let text = format!("the driver throttled the clocks: {}", facts.throttle_reasons.join(", "));
    let next = "check sm_mhz in the report; cool the device or raise its power limit";
    warning(WarningKind::Throttled, Grade::B, text, next)
}

fn other_process(facts: &SamplingFacts) -> Option<Warning> {
    if !facts.side_is_gpu || facts.others.is_empty() {
        return None;
    }
    let text = format!("other processes were using the GPU: {}", facts.others.join(", "));
    let next = "end the other process or choose an idle GPU, then run again";
    warning(WarningKind::OtherProcess, Grade::C, text, next)
}

fn bimodal(facts: &SamplingFacts) -> Option<Warning> {
    let found = facts.modes?;
    let apart = (found.high - found.low) / found.low;
    let at_best = if apart > 0.1 { Grade::C } else { Grade::B };
    let (share, apart) = (percent::fine(found.share_high), percent::fine(apart));
    let text = format!("{share} of the samples are {apart} slower than the rest: two groups of times");
    let next = close_others(
        facts,
        "look at the samples in the report; check clocks, and on a CPU set --threads to the physical cores",
    );
    warning(WarningKind::Bimodal, at_best, text, next)
}

fn launch_bound(facts: &SamplingFacts) -> Option<Warning> {
    let ratio = facts.overhead_ratio?;
    let at_best = match ratio {
        _ if ratio < 1.2 => Grade::C,
        _ if ratio < 3.0 => Grade::B,
        _ => return None,
    };
    let text = format!("the time is {ratio:.1} times the timer overhead");
    let next = "choose a larger size, or --cache hot, which times batches";
    warning(WarningKind::LaunchBound, at_best, text, next)
}

fn disturbed(facts: &SamplingFacts) -> Option<Warning> {
    let n = facts.samples.len();
    let share = f64::from(facts.disturbed) / n.max(1) as f64;
    let at_best = beyond(share, [0.1, 0.5, f64::INFINITY]).filter(|_| !facts.side_is_gpu)?;
    let text =
        format!("the system interrupted the thread during {} of {}", facts.disturbed, counted(n, "sample"));
    let next = close_others(facts, "close other programs, or set --threads below the number of cores");
    warning(WarningKind::Disturbed, at_best, text, next)
}

fn page_faults(facts: &SamplingFacts) -> Option<Warning> {
    let faults = facts.page_faults.filter(|_| !facts.side_is_gpu)?;
    let time_s = Summary::of(facts.samples).map(|summary| summary.median).filter(|median| *median > 0.0)?;
    let share = faults.minor * FAULT_S / time_s;
    if faults.major >= 1.0 {
        let text = format!("each execution waits {:.0} times for memory to be read from disk", faults.major);
        let next = "choose a smaller size, or free memory, then run again";
        return warning(WarningKind::PageFaults, Grade::C, text, next);
    }
    let at_best = beyond(share, [0.01, 0.1, f64::INFINITY])?;
    let of_time = percent::fine(share.min(1.0));
    let text = format!("each execution causes {:.0} page faults, about {of_time} of its time", faults.minor);
    let next = "choose a variant that does not allocate, or keep freed memory: set MIMALLOC_PURGE_DELAY=-1, for programs that use \
                glibc's malloc MALLOC_TRIM_THRESHOLD_=-1 and MALLOC_MMAP_MAX_=0";
    warning(WarningKind::PageFaults, at_best, text, next)
}

fn busy_machine(facts: &SamplingFacts) -> Option<Warning> {
    let share = facts.other_programs.filter(|_| !facts.side_is_gpu)?;
    let at_best = beyond(share, [0.1, 0.3, f64::INFINITY])?;
    let text =
        format!("other programs used {} of the CPUs' time when the run started", percent::in_words(share));
    warning(WarningKind::BusyMachine, at_best, text, "close other programs, then run again")
}

/// Advice for a run whose control group has a quota.
pub const WHOLE_CPUS: &str =
    "give the group whole CPUs in place of a quota (docker: --cpuset-cpus, not --cpus), then run again";

/// Share of the quota's periods above which its pauses explain times that vary.
const PAUSED: f64 = 0.01;

/// Returns the quota and its pauses where they disturb times of the CPU.
fn pauses(facts: &SamplingFacts) -> Option<(f64, QuotaPauses)> {
    facts.quota.filter(|(_, pauses)| !facts.side_is_gpu && pauses.share() > PAUSED)
}

/// Returns advice to close other programs, or to lift the quota where that pauses the threads.
fn close_others(facts: &SamplingFacts, next: &'static str) -> &'static str {
    if pauses(facts).is_some() { WHOLE_CPUS } else { next }
}

fn cpu_quota(facts: &SamplingFacts) -> Option<Warning> {
    let (cpus, pauses) = pauses(facts)?;
    let at_best = beyond(pauses.share(), [PAUSED, 0.1, f64::INFINITY])?;
    warning(WarningKind::CpuQuota, at_best, quota_text(cpus, pauses), WHOLE_CPUS)
}

/// Returns the pauses by a quota of `cpus` CPUs in words.
pub fn quota_text(cpus: f64, pauses: QuotaPauses) -> String {
    format!(
        "paused by the control group's quota of {cpus} CPUs in {} of {}",
        pauses.paused,
        counted(usize::try_from(pauses.periods).unwrap_or(usize::MAX), "period")
    )
}

fn not_warm(facts: &SamplingFacts) -> Option<Warning> {
    if facts.steady {
        return None;
    }
    let text = "warm-up ended before the times settled".to_owned();
    warning(WarningKind::NotWarm, Grade::B, text, "raise --max-time, and check clocks and temperature")
}
