//! How far a measurement can be trusted: a grade from A to D with its reasons, from facts; knows no report.
//!
//! The grade is the worst that any fact allows; each fact that costs a grade is a [`Warning`] with the next step.
//! `t` is the target precision; limits are exceeded, not reached, to cost a grade.
//!
//! | fact | at best B | at best C | D |
//! |---|---|---|---|
//! | half the 95 % interval over the median | `t` | 2 `t`, at least 2 % | 5 % on a GPU, 10 % on a CPU, at least C's |
//! | samples | under 10 | under 6 (no interval of 95 % exists) | under 3 |
//! | rounds differ (p < 0.01), by so much | 2 `t` | 5 %, at least B's | 15 %, at least C's |
//! | samples counted at a low clock | 1 % | 10 % | 50 % |
//! | samples set aside for a low clock | 10 % | 50 % | |
//! | time over the device's own floor | under 3 | under 1.2 | |
//! | samples in two clumps | | yes | |
//! | samples with involuntary context switches, CPU | 10 % | 50 % | |
//! | other processes on the GPU | | any | |
//! | other runnable processes per processor, CPU | 0.1 | 0.5 | |
//! | warm-up without a steady state | yes | | |
//! | allocations, plans or compilations while sampling | | | any |

use std::fmt;

use serde::{Deserialize, Serialize};

use super::drift::drift;
use super::modality::modes;
use super::stats::{has_interval, relative_half_width};
use super::stopping::Reason;

/// Chance below which a difference between rounds is taken for drift.
const DRIFT_P: f64 = 0.01;

/// How far a measurement can be trusted; A is best and smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    /// Precise, and nothing was wrong.
    A,
    /// Good enough to compare, with a reservation.
    B,
    /// An estimate.
    C,
    /// Not to be relied on.
    D,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
            Grade::D => "D",
        })
    }
}

/// What is known of one cell's sampling.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The cell ran on the GPU.
    pub side_is_gpu: bool,
    /// Relative half width of the interval that was asked for.
    pub precision: f64,
    /// The samples that count, in the order they were taken.
    pub samples: &'a [f64],
    /// The round of each.
    pub rounds: &'a [u32],
    /// Samples not counted because the clock was low.
    pub set_aside: u32,
    /// Samples counted although the clock was low.
    pub throttled: u32,
    /// Raw time over the device's own floor, where the floor is known.
    pub floor_ratio: Option<f64>,
    /// Samples during which the thread was switched out against its will; CPU only.
    pub disturbed: u32,
    /// Other processes seen on the GPU.
    pub others: &'a [String],
    /// Runnable processes beyond our own, per processor, before the cell; CPU only.
    pub load: Option<f64>,
    /// Something was allocated, planned or compiled while sampling.
    pub setup: bool,
    /// Warm-up reached a steady state.
    pub steady: bool,
    /// Why sampling ended.
    pub stopped: Reason,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// The interval is wider than asked for.
    Spread,
    /// The rounds differ.
    Drift,
    /// The clock was low.
    Throttled,
    /// Too few samples.
    FewSamples,
    /// The time is close to the device's own floor.
    LaunchBound,
    /// The samples come in two clumps.
    Bimodal,
    /// The thread was switched out against its will.
    Disturbed,
    /// Another process was on the GPU.
    OtherProcess,
    /// Other processes were runnable.
    BusyMachine,
    /// Something was set up while sampling.
    Setup,
    /// Warm-up ended before the times were steady.
    NotWarm,
}

/// One reason for a grade below A.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The best grade it leaves.
    pub at_best: Grade,
    /// What was found, with the figure.
    pub text: String,
    /// What to do about it.
    pub next: String,
}

/// A grade and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// The worst grade that any warning leaves; A without warnings.
    pub grade: Grade,
    /// The reasons, gravest first.
    pub warnings: Vec<Warning>,
}

/// Grades a cell.
pub fn assess(facts: &Facts) -> Assessment {
    let checks = [
        setup,
        few_samples,
        spread,
        drifting,
        throttled,
        set_aside,
        other_process,
        bimodal,
        launch_bound,
        disturbed,
        busy_machine,
        not_warm,
    ];
    let mut warnings: Vec<Warning> = checks.iter().filter_map(|check| check(facts)).collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.at_best));
    Assessment { grade: warnings.first().map_or(Grade::A, |warning| warning.at_best), warnings }
}

/// The grade left by a figure that costs one grade beyond each limit.
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

/// A share in per cent, to two digits below ten.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if !percent.is_finite() => "over 1000 %".to_owned(),
        _ if percent >= 9.95 => format!("{percent:.0} %"),
        _ if percent >= 0.995 => format!("{percent:.1} %"),
        _ => format!("{percent:.2} %"),
    }
}

fn setup(facts: &Facts) -> Option<Warning> {
    let text = "something was allocated, planned or compiled while samples were taken";
    let next = "compare with a run of --cache hot, and report the variant: its times hold its set-up";
    if facts.setup { warning(WarningKind::Setup, Grade::D, text.to_owned(), next) } else { None }
}

fn few_samples(facts: &Facts) -> Option<Warning> {
    let n = facts.samples.len();
    let at_best = match n {
        0..3 => Grade::D,
        3..6 => Grade::C,
        6..10 => Grade::B,
        _ => return None,
    };
    let text = match n {
        0 => "no sample counts".to_owned(),
        1 => "one sample counts; an interval of 95 % needs 6".to_owned(),
        2..6 => format!("{n} samples count; an interval of 95 % needs 6"),
        _ => format!("{n} samples count; an A needs 10"),
    };
    let next = match facts.stopped {
        Reason::Fixed => "raise --samples to 10 or more, or leave it out",
        _ if facts.set_aside as usize > n => "let the device cool, then run again",
        _ => "raise --max-time or --budget, or choose a smaller size",
    };
    warning(WarningKind::FewSamples, at_best, text, next)
}

fn spread(facts: &Facts) -> Option<Warning> {
    let n = facts.samples.len();
    let half_width = relative_half_width(facts.samples);
    let some = (2.0 * facts.precision).max(0.02);
    let much = if facts.side_is_gpu { 0.05 } else { 0.1 };
    let at_best = beyond(half_width, [facts.precision, some, some.max(much)])?;
    let what = if has_interval(n) {
        "half the 95 % interval".to_owned()
    } else {
        format!("half the range of {n} samples")
    };
    let text = format!(
        "{what} is {} of the median, {} was asked for",
        percent(half_width),
        percent(facts.precision)
    );
    let next = match facts.stopped {
        Reason::Plateau => "close other programs: more samples no longer narrow it",
        Reason::Fixed => "raise --samples, or leave it out and let --precision decide",
        Reason::MostSamples => "close other programs, or accept a wider --precision",
        Reason::OutOfTime | Reason::Precise => "close other programs, or raise --max-time or --budget",
    };
    warning(WarningKind::Spread, at_best, text, next)
}

fn drifting(facts: &Facts) -> Option<Warning> {
    let found = drift(facts.samples, facts.rounds).filter(|drift| drift.p < DRIFT_P)?;
    let some = 2.0 * facts.precision;
    let at_best = beyond(found.relative, [some, some.max(0.05), some.max(0.15)])?;
    let text = format!("the medians of the rounds lie {} apart", percent(found.relative));
    let next = "check clocks, temperature and other programs; raise --rounds to average over the drift";
    warning(WarningKind::Drift, at_best, text, next)
}

fn throttled(facts: &Facts) -> Option<Warning> {
    let n = facts.samples.len();
    let at_best = beyond(f64::from(facts.throttled) / n.max(1) as f64, [0.01, 0.1, 0.5])?;
    let text = format!("the clock was low during {} of {n} samples", facts.throttled);
    warning(
        WarningKind::Throttled,
        at_best,
        text,
        "let the device cool or raise its power limit, then run again",
    )
}

fn set_aside(facts: &Facts) -> Option<Warning> {
    let all = facts.samples.len() + facts.set_aside as usize;
    let at_best = beyond(f64::from(facts.set_aside) / all.max(1) as f64, [0.1, 0.5, f64::INFINITY])?;
    let text = format!("{} of {all} samples were set aside because the clock was low", facts.set_aside);
    warning(
        WarningKind::Throttled,
        at_best,
        text,
        "let the device cool or raise its power limit, then run again",
    )
}

fn other_process(facts: &Facts) -> Option<Warning> {
    if !facts.side_is_gpu || facts.others.is_empty() {
        return None;
    }
    let text = format!("also on the GPU: {}", facts.others.join(", "));
    warning(
        WarningKind::OtherProcess,
        Grade::C,
        text,
        "end the other process or choose an idle GPU, then run again",
    )
}

fn bimodal(facts: &Facts) -> Option<Warning> {
    let found = modes(facts.samples)?;
    let apart = percent((found.high - found.low) / found.low);
    let text =
        format!("{} of the samples are {apart} slower than the rest: two clumps", percent(found.share_high));
    let next =
        "look at the samples in the report; check clocks, and on a CPU set --threads to the physical cores";
    warning(WarningKind::Bimodal, Grade::C, text, next)
}

fn launch_bound(facts: &Facts) -> Option<Warning> {
    let ratio = facts.floor_ratio?;
    let at_best = match ratio {
        _ if ratio < 1.2 => Grade::C,
        _ if ratio < 3.0 => Grade::B,
        _ => return None,
    };
    let text = format!("the time is {ratio:.1} times what the device takes to do nothing");
    warning(
        WarningKind::LaunchBound,
        at_best,
        text,
        "choose a larger size, or --cache hot, which times batches",
    )
}

fn disturbed(facts: &Facts) -> Option<Warning> {
    let n = facts.samples.len();
    let share = f64::from(facts.disturbed) / n.max(1) as f64;
    let at_best = beyond(share, [0.1, 0.5, f64::INFINITY]).filter(|_| !facts.side_is_gpu)?;
    let text = format!("the system took the processor away during {} of {n} samples", facts.disturbed);
    warning(
        WarningKind::Disturbed,
        at_best,
        text,
        "close other programs, or lower --threads below the processors",
    )
}

fn busy_machine(facts: &Facts) -> Option<Warning> {
    let load = facts.load.filter(|_| !facts.side_is_gpu)?;
    let at_best = beyond(load, [0.1, 0.5, f64::INFINITY])?;
    let text = format!("{load:.2} other processes a processor wanted to run before the cell");
    warning(WarningKind::BusyMachine, at_best, text, "close other programs, then run again")
}

fn not_warm(facts: &Facts) -> Option<Warning> {
    if facts.steady {
        return None;
    }
    let text = "warm-up ended before the times were steady".to_owned();
    warning(WarningKind::NotWarm, Grade::B, text, "raise --max-time, and check clocks and temperature")
}

#[cfg(test)]
mod tests;
