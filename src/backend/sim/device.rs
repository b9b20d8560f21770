//! The simulated device at work: its clock shows what the script says, its faults are real.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use super::bus::Bus;
use super::law::Seconds;
use super::reference;
use super::rule::{Answer, Behaviour, Fault};
use super::script::{Script, Scripted};
use crate::backend::{
    Backend, Ceilings, Conditions, DevicePhases, Finding, Floors, Job, Options, Sample, SetupCounts, Side,
    Variant,
};
use crate::case::{Cache, Case};
use crate::data::generator::Stream;
use crate::data::hash::fnv1a;
use crate::data::{Csr, Operand, Values};
use crate::error::{CellError, Unavailable};

/// The device's clock, the state it is in, what the last execution took, and what all have set up so far.
#[derive(Default)]
struct Meters {
    /// Simulated seconds since the start.
    now_s: Cell<f64>,
    /// Simulated seconds of work since the last pause.
    busy_s: Cell<f64>,
    cache: Cell<Cache>,
    last: Cell<Sample>,
    counts: Cell<SetupCounts>,
}

/// How much longer an execution takes while the clock is held down, and the clocks then and else, in MHz.
const THROTTLED: f64 = 1.4;
const SM_MHZ: [f64; 2] = [1400.0, 1980.0];

/// Times of an execution whose rates and variances are finite numbers.
const TIMES_S: RangeInclusive<f64> = 1e-15..=1e15;

/// The started device.
pub struct Device {
    script: Script,
    ordinal: u32,
    scripted: Scripted,
    variants: Vec<Variant>,
    /// The library whose variants it runs, as the CPU's worker does.
    library: Option<String>,
    meters: Rc<Meters>,
    bus: Rc<Bus>,
}

impl Device {
    /// Starts the device that `options` name as the script says: late, or not at all.
    pub fn start(script: Script, options: &Options) -> Result<Device, Unavailable> {
        let (ordinal, memory) = (options.device, options.transfer);
        let start = &script.start;
        if let Some(Seconds(delay)) = start.delay {
            std::thread::sleep(Duration::from_secs_f64(delay));
        }
        if let Some(fault) = start.outcome {
            let reason = start.reason.clone().unwrap_or_else(|| "the script says so".into());
            match suffer(fault, &reason) {
                Ok(()) => {}
                Err(CellError::Unavailable(_)) => return Err(Unavailable { reason, fix: start.fix.clone() }),
                Err(other) => return Err(Unavailable { reason: other.to_string(), fix: start.fix.clone() }),
            }
        }
        let scripted = script.device(ordinal).ok_or_else(|| {
            let count = script.device_count();
            let reason =
                format!("there is no simulated device {ordinal}: the script has {count}, numbered from 0");
            Unavailable::new(reason, "choose one of them with --device, or add a [[device]] to the script")
        })?;
        let variants = script.variants();
        let Ceilings { upload, download, .. } = script.ceilings();
        let bus = Rc::new(Bus::new(memory, upload.unwrap_or_default(), download.unwrap_or_default()));
        let library = options.library.clone();
        Ok(Device { script, ordinal, scripted, variants, library, meters: Rc::default(), bus })
    }

    fn count(&self, change: impl FnOnce(&mut SetupCounts)) {
        count(&self.meters, change);
    }
}

fn count(meters: &Meters, change: impl FnOnce(&mut SetupCounts)) {
    let mut counts = meters.counts.get();
    change(&mut counts);
    meters.counts.set(counts);
}

impl Backend for Device {
    fn describe(&self) -> serde_json::Value {
        let mut description = serde_json::json!({
            "device": self.ordinal,
            "device_count": self.script.device_count(),
            "name": self.scripted.name,
            "seed": self.script.seed,
        });
        if let Some(watts) = self.scripted.power_limit_w {
            description["power_limit_w"] = watts.into();
        }
        description
    }

    fn ceilings_depend_on(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.script.ceilings()).ok()
    }

    fn ceilings(&mut self) -> Result<Option<Ceilings>, CellError> {
        suffer(self.script.ceilings_outcome(), "the script says so")?;
        Ok(Some(self.script.ceilings()))
    }

    fn libraries(&self) -> Vec<Finding> {
        let loaded = |name: &String| Finding {
            name: name.clone(),
            path: Some(format!("/simulated/{name}")),
            version: None,
            serves: vec![],
            problem: None,
            fix: None,
        };
        self.library.iter().map(loaded).collect()
    }

    fn prepare(&mut self, variant: &str, case: &Case, inputs: &[Operand]) -> Result<Box<dyn Job>, CellError> {
        let found = self.variants.iter().find(|v| v.op == case.op && v.name == variant);
        let found = found.ok_or_else(|| {
            CellError::Failed(format!("the script names no variant {variant} of {}", case.op))
        })?;
        if found.library.as_deref() != self.library.as_deref() {
            return Err(CellError::Failed(format!("{variant} was sent to the worker of another library")));
        }
        let side = found.side;
        self.count(|counts| {
            counts.allocations += inputs.len() as u64 + 1;
            counts.plans += 1;
        });
        let on_gpu = side == Side::Gpu;
        if on_gpu {
            self.bus.upload(inputs);
        }
        let behaviour = Cache::ALL.map(|cache| self.script.behaviour(variant, case, cache));
        // Devices of one script scatter each by its own chances.
        let seed = self.script.seed.wrapping_add(case.seed).wrapping_add(u64::from(self.ordinal) << 32);
        Ok(Box::new(SimJob {
            case: case.clone(),
            inputs: inputs.to_vec(),
            behaviour,
            bus: on_gpu.then(|| Rc::clone(&self.bus)),
            on_gpu,
            factor: if on_gpu { self.scripted.factor } else { 1.0 },
            event_constant_s: self.script.floors.map(|floors| floors.event_constant.0),
            stream: Stream::new(seed, fnv1a(0, format!("{case} {variant}").as_bytes())),
            executions: 0,
            meters: Rc::clone(&self.meters),
        }))
    }

    fn floors(&self) -> Option<Floors> {
        let floors = self.script.floors?;
        Some(Floors {
            clock_s: floors.clock.0,
            empty_kernel_s: Some(floors.empty_kernel.0),
            event_constant_s: Some(floors.event_constant.0),
            ..Floors::default()
        })
    }

    fn phases(&mut self) -> DevicePhases {
        self.bus.take()
    }

    fn settle(&mut self) {
        self.meters.busy_s.set(0.0);
    }

    fn now_s(&self) -> f64 {
        self.meters.now_s.get()
    }

    fn pause(&mut self, seconds: f64) {
        self.meters.now_s.set(self.meters.now_s.get() + seconds);
    }

    fn conditions(&mut self) -> Conditions {
        Conditions {
            others: self.script.others.clone(),
            throttle: self.script.held_down.clone(),
            ..Conditions::default()
        }
    }

    fn time(&mut self, job: &mut dyn Job, cache: Cache) -> Result<Sample, CellError> {
        self.meters.cache.set(cache);
        job.reset()?;
        job.execute()?;
        Ok(self.meters.last.get())
    }

    fn setup_counts(&self) -> SetupCounts {
        self.meters.counts.get()
    }
}

struct SimJob {
    case: Case,
    inputs: Vec<Operand>,
    /// Cold and hot.
    behaviour: [Behaviour; 2],
    on_gpu: bool,
    /// The way to and from the device, for variants that run on one.
    bus: Option<Rc<Bus>>,
    /// How many times longer everything takes on this device.
    factor: f64,
    event_constant_s: Option<f64>,
    stream: Stream,
    executions: u64,
    meters: Rc<Meters>,
}

impl SimJob {
    fn behaviour(&self) -> Behaviour {
        self.behaviour[usize::from(self.meters.cache.get() == Cache::Hot)]
    }

    /// What the next execution takes, in seconds.
    fn elapsed_s(&self, behaviour: &Behaviour, throttled: bool) -> Result<f64, CellError> {
        let ramp = behaviour.ramp * (-self.meters.busy_s.get() / behaviour.ramp_s).exp();
        let held_down = if throttled { THROTTLED } else { 1.0 };
        let scatter = behaviour.scatter.factor(self.stream, self.executions);
        let elapsed_s = behaviour.time_s * self.factor * scatter * (1.0 + ramp) * held_down;
        if TIMES_S.contains(&elapsed_s) {
            return Ok(elapsed_s);
        }
        let (case, k) = (&self.case, self.executions);
        let what = format!("the script gives execution {k} of {case} a time of {elapsed_s:e} s");
        Err(CellError::Failed(format!("{what}: change its time, noise or drift")))
    }

    /// Whether chance number `which` of this execution falls into `share`.
    fn happens(&self, which: u64, share: f64) -> bool {
        // Streams of scatter count up from 0; these count down from the top.
        self.stream.uniform::<f64>(u64::MAX - 1 - 2 * self.executions - which) < share
    }
}

impl Job for SimJob {
    fn execute(&mut self) -> Result<(), CellError> {
        let behaviour = self.behaviour();
        if self.executions >= behaviour.after {
            suffer(behaviour.fault, "the script says so")?;
        }
        if behaviour.allocates {
            count(&self.meters, |counts| counts.allocations += 1);
        }
        let throttled = self.on_gpu && self.happens(0, behaviour.throttled);
        let elapsed_s = self.elapsed_s(&behaviour, throttled)?;
        self.meters.last.set(Sample {
            host_s: elapsed_s,
            device_s: self.on_gpu.then_some(elapsed_s),
            events_s: self.event_constant_s.filter(|_| self.on_gpu).map(|constant| elapsed_s + constant),
            enqueue_s: None,
            held: self.on_gpu.then_some(true),
            sm_mhz: self.on_gpu.then_some(SM_MHZ[usize::from(!throttled)]),
            switches: (!self.on_gpu).then(|| u64::from(self.happens(1, behaviour.switched))),
            page_faults: None,
            throttled,
        });
        self.meters.now_s.set(self.meters.now_s.get() + elapsed_s);
        self.meters.busy_s.set(self.meters.busy_s.get() + elapsed_s);
        self.executions += 1;
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let mut answer = reference::answer(&self.case, &self.inputs)?;
        if self.behaviour().answer == Answer::Wrong
            && let Some(part) = answer.first_mut()
        {
            spoil(part, self.stream.bits(u64::MAX));
        }
        if let Some(bus) = &self.bus {
            bus.download(&answer);
        }
        Ok(answer)
    }
}

/// Does what a fault does to a process; returns normally only for [`Fault::None`].
fn suffer(fault: Fault, reason: &str) -> Result<(), CellError> {
    match fault {
        Fault::None => Ok(()),
        Fault::Crash => std::process::abort(),
        Fault::Hang => loop {
            std::thread::sleep(Duration::from_secs(3600));
        },
        Fault::Fail => Err(CellError::Failed(format!("a simulated call failed: {reason}"))),
        Fault::Unavailable => {
            Err(Unavailable::new(format!("unavailable: {reason}"), "change the script").into())
        }
        Fault::Panic => panic!("a simulated panic: {reason}"),
        Fault::DeviceLost => Err(CellError::DeviceLost(format!("the simulated device is lost: {reason}"))),
        Fault::OutOfMemory => Err(CellError::OutOfMemory { place: "device", needed: 2 << 30, free: 1 << 30 }),
    }
}

/// Changes one entry, or adds one to a matrix that stores none.
fn spoil(part: &mut Operand, chance: u64) {
    if let Operand::Csr(csr) = part
        && csr.nnz() == 0
    {
        add_entry(csr);
        return;
    }
    let values = match part {
        Operand::Dense(dense) => &mut dense.values,
        Operand::Csr(csr) => &mut csr.values,
    };
    let index = usize::try_from(chance % values.len().max(1) as u64).unwrap_or(0);
    match values {
        Values::F32(v) => v.iter_mut().skip(index).take(1).for_each(|x| *x = *x * 1.5 + 1.0),
        Values::F64(v) => v.iter_mut().skip(index).take(1).for_each(|x| *x = *x * 1.5 + 1.0),
        Values::C32(v) => v.iter_mut().skip(index).take(1).for_each(|z| z.re = z.re * 1.5 + 1.0),
        Values::C64(v) => v.iter_mut().skip(index).take(1).for_each(|z| z.re = z.re * 1.5 + 1.0),
    }
}

fn add_entry(csr: &mut Csr) {
    csr.indices.push(0);
    csr.indptr.iter_mut().skip(1).for_each(|offset| *offset = 1);
    match &mut csr.values {
        Values::F32(v) => v.push(1.0),
        Values::F64(v) => v.push(1.0),
        Values::C32(_) | Values::C64(_) => {}
    }
}
