//! Whether the calls of a recorded program should move to a GPU: recorded times against measured or predicted ones.

mod model;
mod problem;
mod threshold;

use std::collections::BTreeMap;

use gpubench_ops as op;
use gpubench_report::Work;
use gpubench_report::calls::{Call, Calls};
use gpubench_report::case::Case;
use gpubench_report::data::generator::Stream;
use gpubench_report::measure::stats::median;
use gpubench_report::report::Report;
use serde::Serialize;

use crate::answer::{Comparison, Contender, Estimate, Kind, Versus, exact, sections_of};
use model::{MeasuredTime, TimeModel};
pub use problem::{CallProblem, problem};
pub use threshold::{Threshold, thresholds};

/// What the calls of a program cost on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// One entry per kind of call, in the order of the record.
    pub calls: Vec<CallAdvice>,
    /// The program as a whole.
    pub program: ProgramAdvice,
}

/// The advice about one kind of call. Times are seconds per call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallAdvice {
    /// Position in the record.
    pub call: usize,
    /// Mean of the recorded calls; the interval reaches to their median.
    pub now_s: Estimate,
    /// The best library of the CPU.
    pub cpu: Option<TimeOf>,
    /// A GPU with the data in its memory: launch and wait included.
    pub gpu: Option<TimeOf>,
    /// A GPU with copies of all operands and the answer.
    pub gpu_copies: Option<TimeOf>,
    /// Share of the operands that earlier recorded calls wrote or read, and that had not changed since.
    pub kept: f64,
    /// What to do.
    pub verdict: CallVerdict,
    /// False if the intervals of the times that decide overlap.
    pub is_sure: bool,
    /// True where the GPU computes the call faster than the CPU but launching it takes the gain: several calls as one would win.
    pub batch: bool,
}

impl CallAdvice {
    /// The GPU's time if operands that earlier recorded calls wrote or read stay in its memory, and the others are copied.
    pub fn gpu_stays(&self) -> Option<Estimate> {
        let [gpu, copies] = [self.gpu.as_ref()?.seconds, self.gpu_copies.as_ref()?.seconds];
        let mixed = |gpu: f64, copies: f64| gpu + (copies - gpu).max(0.0) * (1.0 - self.kept);
        Some(Estimate {
            value: mixed(gpu.value, copies.value),
            low: mixed(gpu.low, copies.low),
            high: mixed(gpu.high, copies.high),
        })
    }

    /// The best that the CPU can do: a GPU must beat that, not a slow library or a wrong number of threads.
    pub fn on_cpu(&self) -> Estimate {
        faster(self.now_s, self.cpu.as_ref())
    }
}

fn faster(now: Estimate, cpu: Option<&TimeOf>) -> Estimate {
    cpu.map(|cpu| cpu.seconds).filter(|cpu| cpu.value < now.value).unwrap_or(now)
}

/// A time of one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeOf {
    /// Seconds per call, with the 95 % interval of a measured time or the error of the model.
    pub seconds: Estimate,
    /// Backend and variant that took it; `None` for a predicted time.
    pub variant: Option<String>,
}

/// What to do with a kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallVerdict {
    /// The GPU is faster, copies included.
    Gpu,
    /// The GPU is faster if the data stays in its memory.
    GpuIfDataStays,
    /// The CPU is faster in any case.
    Cpu,
    /// gpubench has no op for the call, or no time of it.
    Unknown,
}

/// The program as a whole. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProgramAdvice {
    /// The recorded run.
    pub elapsed_s: f64,
    /// All recorded calls.
    pub recorded_s: f64,
    /// Recorded calls with a time on the GPU.
    pub covered_s: f64,
    /// Expected time without a GPU if every call had the best CPU library. This and the following times are `None` where calls of several
    /// threads took longer than the program, so that they overlapped.
    pub best_cpu_s: Option<Estimate>,
    /// Expected time if calls move that are faster with all their copies.
    pub with_copies_s: Option<Estimate>,
    /// Expected time if data stays on the GPU where the record shows it unchanged between calls.
    pub data_stays_s: Option<Estimate>,
    /// Expected time if no call copied: a lower bound for a program that keeps all its data on the GPU.
    pub without_copies_s: Option<Estimate>,
}

impl ProgramAdvice {
    /// Returns whether calls took longer than the program, so that those of several threads overlapped and cannot be taken from its time.
    pub fn overlapped(&self) -> bool {
        self.recorded_s > self.elapsed_s
    }
}

/// The relative error of the recorded median, which comes from a histogram.
const MEDIAN_ERROR: f64 = 0.06;

/// Calls of a kind from which putting several into one is worth the advice.
const MANY: u64 = 100;

/// Judges the calls of a program by reports of this machine.
pub fn advise(calls: &Calls, reports: &[Report]) -> Advice {
    let times = KnownTimes::of(reports);
    let advice: Vec<CallAdvice> =
        calls.calls.iter().enumerate().map(|(index, call)| times.advice(index, call)).collect();
    let program = program(calls, &advice);
    Advice { calls: advice, program }
}

/// The times of one problem, in seconds per call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProblemTimes {
    /// The problem, as text.
    pub problem: String,
    /// The best library or plain variant of the CPU.
    pub cpu: Option<TimeOf>,
    /// A GPU with the data in its memory: launch and wait included.
    pub gpu: Option<TimeOf>,
    /// A GPU with copies of all operands and the answer.
    pub gpu_copies: Option<TimeOf>,
}

/// Where the data of many calls is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DataPlace {
    /// In the host's memory: each call copies it.
    Host,
    /// Copied once to the GPU and once back, for all calls.
    Once,
    /// On the GPU.
    Device,
}

impl DataPlace {
    /// The names on the command line.
    pub const NAMES: [&'static str; 3] = ["host", "once", "device"];

    /// The place of one of [`DataPlace::NAMES`].
    pub fn find(name: &str) -> DataPlace {
        match name {
            "once" => DataPlace::Once,
            "device" => DataPlace::Device,
            _ => DataPlace::Host,
        }
    }
}

impl ProblemTimes {
    /// The times of the problems that reports measured, in their order.
    pub fn of(reports: &[Report]) -> Vec<ProblemTimes> {
        let of = |one: CaseTimes| {
            let [cpu, gpu, gpu_copies, _] = one.by_kind;
            ProblemTimes { problem: one.case.to_string(), cpu, gpu, gpu_copies }
        };
        measured_times(reports).into_iter().map(of).collect()
    }

    /// The time of `calls` calls on the CPU.
    pub fn on_cpu(&self, calls: u64) -> Option<Estimate> {
        Some(self.cpu.as_ref()?.seconds.times(calls))
    }

    /// The time of `calls` calls on a GPU.
    pub fn on_gpu(&self, calls: u64, data: DataPlace) -> Option<Estimate> {
        let gpu = self.gpu.as_ref()?.seconds;
        match data {
            DataPlace::Device => Some(gpu.times(calls)),
            DataPlace::Host => Some(self.gpu_copies.as_ref()?.seconds.times(calls)),
            DataPlace::Once => {
                Some(self.gpu_copies.as_ref()?.seconds.plus(gpu.times(calls.saturating_sub(1))))
            }
        }
    }
}

/// How well the model predicts problems that were measured after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// Problems with a predicted and a measured time of both sides, or of the CPU alone.
    pub problems: usize,
    /// Median of the relative errors of the CPU's times.
    pub cpu_error: Option<f64>,
    /// Median of the relative errors of the GPU's times, data in its memory.
    pub gpu_error: Option<f64>,
    /// Share of the measured times that are in the interval of their prediction.
    pub within_interval: Option<f64>,
    /// Problems by the factor that the wrong side costs: less than 1.5, up to 3, and more.
    pub wrong_side: [usize; 3],
}

/// Problems to verify predictions with: at most `count` that `measured` lacks, drawn by a seed.
pub fn to_verify(calls: &Calls, measured: &[CallProblem], count: usize, seed: u64) -> Vec<CallProblem> {
    let mut others = problems(calls);
    others.retain(|other| !measured.iter().any(|known| known.is(&other.case)));
    drawn(&mut others, count, seed)
}

/// Takes at most `count` of `others`, drawn by a seed.
fn drawn<T>(others: &mut Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let random = Stream::new(seed, 0);
    let count = count.min(others.len());
    (0..count as u64)
        .map(|draw| others.swap_remove((random.bits(draw) % others.len() as u64) as usize))
        .collect()
}

/// Compares what `reports` predict for the problems of `later` with the times there.
pub fn verify(reports: &[Report], later: &[Report]) -> Verification {
    verification(&predictions(&KnownTimes::with(measured_times(reports), &SIDES), &measured_times(later)))
}

/// Parts into which problems are divided that are predicted from all the others.
const PARTS: usize = 10;

/// Compares the times of `count` problems of kept reports, drawn by a seed, with what the other problems predict for them: in ten parts, each of
/// which is predicted without it (cross-validation).
pub fn verify_kept(reports: &[Report], count: usize, seed: u64) -> Verification {
    let mut others = measured_times(reports);
    let drawn = drawn(&mut others, count, seed);
    let mut found = vec![];
    for part in drawn.chunks(drawn.len().div_ceil(PARTS).max(1)) {
        let here: Vec<CallProblem> =
            part.iter().map(|one| CallProblem { case: one.case.clone(), share: 1.0 }).collect();
        let is_here = |one: &&CaseTimes| here.iter().any(|problem| problem.is(&one.case));
        let known = others.iter().chain(&drawn).filter(|one| !is_here(one)).cloned().collect();
        found.extend(predictions(&KnownTimes::with(known, &SIDES), part));
    }
    verification(&found)
}

/// The predicted and the measured time of a problem, on the CPU and on the GPU.
type Predictions = [Option<[Estimate; 2]>; 2];

fn predictions(before: &KnownTimes, after: &[CaseTimes]) -> Vec<Predictions> {
    let of = |one: &CaseTimes| {
        let problem = CallProblem { case: one.case.clone(), share: 1.0 };
        SIDES.map(|side| Some([before.time(&problem, side)?.seconds, one.by_kind[side].as_ref()?.seconds]))
    };
    after.iter().map(of).collect()
}

fn verification(found: &[Predictions]) -> Verification {
    let of_side = |side: usize| found.iter().filter_map(move |one| one[side]);
    let error = |side| {
        let errors =
            of_side(side).map(|[predicted, measured]| (predicted.value / measured.value - 1.0).abs());
        median(&errors.collect::<Vec<f64>>())
    };
    let times: Vec<[Estimate; 2]> = SIDES.into_iter().flat_map(of_side).collect();
    let is_inside =
        |[predicted, measured]: &&[Estimate; 2]| (predicted.low..=predicted.high).contains(&measured.value);
    let inside = times.iter().filter(is_inside).count();
    let mut wrong_side = [0; 3];
    for [cpu, gpu] in found.iter().filter_map(|[cpu, gpu]| Some([(*cpu)?, (*gpu)?])) {
        let ratio = cpu[1].value / gpu[1].value;
        let loss = if gpu[0].value < cpu[0].value { 1.0 / ratio } else { ratio };
        if loss > 1.0 {
            wrong_side[if loss < 1.5 { 0 } else { 1 + usize::from(loss > 3.0) }] += 1;
        }
    }
    Verification {
        problems: found.iter().filter(|one| one.iter().any(Option::is_some)).count(),
        cpu_error: error(CPU),
        gpu_error: error(GPU),
        within_interval: (!times.is_empty()).then(|| inside as f64 / times.len() as f64),
        wrong_side,
    }
}

/// The problems of the calls, each once, those of the calls that take most time first.
fn problems(calls: &Calls) -> Vec<CallProblem> {
    let mut distinct: Vec<CallProblem> = vec![];
    // The record has the calls with the largest total first.
    for found in calls.calls.iter().filter_map(problem) {
        if !distinct.iter().any(|known| known.is(&found.case)) {
            distinct.push(found);
        }
    }
    distinct
}

/// The problems to measure, at most `count`: those of the calls that take most time, each once, and as a quarter those whose work is farthest
/// from that of the others, so that predictions are between measured times.
pub fn to_measure(calls: &Calls, count: usize) -> Vec<CallProblem> {
    let mut others = problems(calls);
    let longest = count.saturating_sub(count / 4).min(others.len());
    let mut chosen: Vec<CallProblem> = others.drain(..longest).collect();
    let work = |problem: &CallProblem| {
        op::find(&problem.case.op).map_or(0.0, |op| op.work(&problem.case).flop.max(1.0).ln())
    };
    let is_alike =
        |a: &CallProblem, b: &CallProblem| (&a.case.op, a.case.dtype) == (&b.case.op, b.case.dtype);
    while chosen.len() < count && !others.is_empty() {
        let distance = |one: &CallProblem| {
            let alike = chosen.iter().filter(|known| is_alike(known, one));
            alike.map(|known| (work(known) - work(one)).abs()).fold(f64::INFINITY, f64::min)
        };
        let farthest =
            (0..others.len()).max_by(|a, b| distance(&others[*a]).total_cmp(&distance(&others[*b])));
        chosen.extend(farthest.map(|farthest| others.remove(farthest)));
    }
    chosen
}

/// The times of one problem.
#[derive(Clone)]
struct CaseTimes {
    case: Case,
    work: Work,
    by_kind: [Option<TimeOf>; 4],
}

/// CPU, GPU with the data there, GPU with copies, and the GPU's kernel.
const CPU: usize = 0;
const GPU: usize = 1;
const COPIES: usize = 2;
const KERNEL: usize = 3;

/// The kinds that are compared for the faster side.
const SIDES: [usize; 2] = [CPU, GPU];

/// The best times of CPU and GPU per problem of reports, whichever contenders the reports themselves compare.
fn measured_times(reports: &[Report]) -> Vec<CaseTimes> {
    let of_sides = reports.iter().flat_map(|report| sections_of(report, Versus::SIDES));
    let comparisons = of_sides.flat_map(|section| section.comparisons);
    let of = |comparison: Comparison<'_>| {
        let row = comparison.rows.first()?;
        Some(CaseTimes { case: row.case.clone(), work: row.work, by_kind: times(&comparison) })
    };
    comparisons.filter_map(of).collect()
}

struct KnownTimes {
    measured: Vec<CaseTimes>,
    models: BTreeMap<(String, usize), TimeModel>,
}

impl KnownTimes {
    fn of(reports: &[Report]) -> KnownTimes {
        KnownTimes::with(measured_times(reports), &[CPU, GPU, COPIES, KERNEL])
    }

    /// Fits models of these kinds of times.
    fn with(measured: Vec<CaseTimes>, kinds: &[usize]) -> KnownTimes {
        let mut times: BTreeMap<(String, usize), Vec<MeasuredTime>> = BTreeMap::new();
        for one in &measured {
            for &kind in kinds {
                let Some(time) = &one.by_kind[kind] else { continue };
                let (case, work, seconds) = (one.case.clone(), one.work, time.seconds.value);
                times.entry((case.op.clone(), kind)).or_default().push(MeasuredTime { case, work, seconds });
            }
        }
        let models = times.into_iter().filter_map(|(key, times)| Some((key, TimeModel::fit(&times)?)));
        KnownTimes { models: models.collect(), measured }
    }

    /// The time of a problem by the model of its op.
    fn predicted(&self, case: &Case, kind: usize) -> Option<Estimate> {
        self.models.get(&(case.op.clone(), kind))?.predict(case, op::find(&case.op)?.work(case))
    }

    /// The time of a problem: measured, or predicted by times of the same op and element type.
    fn time(&self, problem: &CallProblem, kind: usize) -> Option<TimeOf> {
        let scaled = |seconds: Estimate| {
            let share = problem.share;
            // A part of the work takes at most the whole time, and at least its share.
            Estimate { value: seconds.value * share.sqrt(), low: seconds.low * share, high: seconds.high }
        };
        let exact = |time: &TimeOf| match problem.share < 1.0 {
            true => TimeOf { seconds: scaled(time.seconds), variant: None },
            false => time.clone(),
        };
        if let Some(found) = self.measured.iter().rev().find(|one| problem.is(&one.case)) {
            return found.by_kind[kind].as_ref().map(exact);
        }
        let seconds = self.predicted(&problem.case, kind)?;
        Some(exact(&TimeOf { seconds, variant: None }))
    }

    fn advice(&self, index: usize, call: &Call) -> CallAdvice {
        let now_s = recorded(call);
        let found = problem(call);
        let of_kind = |kind| found.as_ref().and_then(|found| self.time(found, kind));
        let [cpu, gpu, gpu_copies, kernel] = [CPU, GPU, COPIES, KERNEL].map(of_kind);
        let of_call = |found: &CallProblem| Some(op::find(&found.case.op)?.read_bytes(&found.case));
        let bytes = found.as_ref().and_then(of_call).unwrap_or(0.0) * call.count as f64;
        let unchanged = (call.result_bytes + call.repeated_bytes) as f64;
        let kept = if bytes > 0.0 { (unchanged / bytes).min(1.0) } else { 0.0 };
        let on_cpu = faster(now_s, cpu.as_ref());
        let (verdict, is_sure) = verdict(on_cpu, gpu.as_ref(), gpu_copies.as_ref());
        let is_slower = gpu.as_ref().is_some_and(|gpu| gpu.seconds.low > on_cpu.value);
        let kernel_wins = kernel.is_some_and(|kernel| kernel.seconds.high < on_cpu.low);
        let batch = is_slower && kernel_wins && call.count >= MANY;
        CallAdvice { call: index, now_s, cpu, gpu, gpu_copies, kept, verdict, is_sure, batch }
    }
}

/// The best time per kind of a comparison.
fn times(comparison: &Comparison<'_>) -> [Option<TimeOf>; 4] {
    let best = |contender, kind| {
        let (row, seconds) = comparison.fastest(contender, kind)?;
        Some(TimeOf { seconds, variant: Some(format!("{}/{}", row.backend, row.variant)) })
    };
    [
        (Contender::A, Kind::Resident),
        (Contender::B, Kind::Resident),
        (Contender::B, Kind::EndToEnd),
        (Contender::B, Kind::Kernel),
    ]
    .map(|(contender, kind)| best(contender, kind))
}

/// The mean time of the recorded calls. A first call that takes longer than the others moves the mean away from the median.
fn recorded(call: &Call) -> Estimate {
    let value = call.total_s / call.count as f64;
    let [low, high] = [call.median_s * (1.0 - MEDIAN_ERROR), call.median_s * (1.0 + MEDIAN_ERROR)];
    Estimate { value, low: low.min(value), high: high.max(value) }
}

fn verdict(on_cpu: Estimate, gpu: Option<&TimeOf>, copies: Option<&TimeOf>) -> (CallVerdict, bool) {
    let Some(gpu) = gpu else { return (CallVerdict::Unknown, false) };
    let (gpu, copies) = (gpu.seconds, copies.map(|copies| copies.seconds));
    match copies {
        Some(copies) if copies.value < on_cpu.value => (CallVerdict::Gpu, copies.high < on_cpu.low),
        _ if gpu.value < on_cpu.value => {
            let decided = gpu.high < on_cpu.low && copies.is_none_or(|copies| copies.low > on_cpu.high);
            (CallVerdict::GpuIfDataStays, decided)
        }
        _ => (CallVerdict::Cpu, gpu.low > on_cpu.high),
    }
}

fn program(calls: &Calls, advice: &[CallAdvice]) -> ProgramAdvice {
    let covered = || calls.calls.iter().zip(advice).filter(|(_, advice)| advice.gpu.is_some());
    let has_cpu = advice.iter().any(|advice| advice.cpu.is_some());
    // The program's time, less that of the calls that move, plus theirs on the GPU.
    let expected = |time: &dyn Fn(&CallAdvice) -> Option<Estimate>| {
        let each = calls.calls.iter().zip(advice);
        let times = each.filter_map(|(call, advice)| Some((call, time(advice)?, advice.now_s)));
        let moved = times.filter(|(_, time, now)| time.value < now.value);
        let Estimate { value, low, high } = moved.fold(exact(calls.elapsed_s), |total, (call, time, _)| {
            total.plus(time.times(call.count)).minus(exact(call.total_s))
        });
        Estimate { value: value.max(0.0), low: low.max(0.0), high: high.max(0.0) }
    };
    let seconds = |time: &Option<TimeOf>| time.as_ref().map(|time| time.seconds);
    let has_gpu = covered().next().is_some();
    let (elapsed_s, recorded_s) = (calls.elapsed_s, calls.total_s());
    let follows = recorded_s <= elapsed_s;
    let (has_cpu, has_gpu) = (has_cpu && follows, has_gpu && follows);
    ProgramAdvice {
        elapsed_s,
        recorded_s,
        covered_s: covered().map(|(call, _)| call.total_s).fold(0.0, |sum, seconds| sum + seconds),
        best_cpu_s: has_cpu.then(|| expected(&|advice| seconds(&advice.cpu))),
        with_copies_s: has_gpu.then(|| expected(&|advice| seconds(&advice.gpu_copies))),
        data_stays_s: has_gpu.then(|| expected(&CallAdvice::gpu_stays)),
        without_copies_s: has_gpu.then(|| expected(&|advice| seconds(&advice.gpu))),
    }
}

#[cfg(test)]
mod tests;
