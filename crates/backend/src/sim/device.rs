//! Runs the simulated device: its times come from the script, its faults are real.

use std::rc::Rc;
use std::time::Duration;

use crate::{
    Backend, Conditions, DevicePhases, Finding, Options, Peaks, Prepared, Sample, SetupCounts, Side,
    TimerOverhead, Variant,
};
use gpubench_report::case::{Cache, Case};
use gpubench_report::data::Operand;
use gpubench_report::data::generator::Stream;
use gpubench_report::data::hash::fnv1a;
use gpubench_report::error::{CellError, Unavailable};

use super::answer::AnswerMemory;
use super::bus::Bus;
use super::job::{Meters, SimJob};
use super::law::Seconds;
use super::script::{SIMULATED, Script, Scripted};

pub(crate) struct SimDevice {
    script: Script,
    ordinal: u32,
    scripted: Scripted,
    variants: Vec<Variant>,
    /// The library whose variants it runs, as the CPU's worker does.
    library: Option<String>,
    meters: Rc<Meters>,
    bus: Rc<Bus>,
}

impl SimDevice {
    /// Starts the device that `options` name as the script says: late, or not at all.
    pub(crate) fn start(script: Script, options: &Options) -> Result<SimDevice, Unavailable> {
        let (ordinal, memory) = (options.device, options.transfer);
        let start = &script.start;
        if let Some(Seconds(delay)) = start.delay {
            std::thread::sleep(Duration::from_secs_f64(delay));
        }
        if let Some(fault) = start.outcome {
            let reason = start.reason.clone().unwrap_or_else(|| "the sim script says so".into());
            fault.suffer(&reason).map_err(|error| {
                let reason = if let CellError::Unavailable(_) = error { reason } else { error.to_string() };
                Unavailable { reason, fix: start.fix.clone() }
            })?;
        }
        let scripted = script.device(ordinal).ok_or_else(|| {
            let count = script.device_count();
            let reason =
                format!("there is no simulated device {ordinal}: the script has {count} (numbered from 0)");
            Unavailable::new(reason, "choose one of them with --device, or add a [[device]] to the script")
        })?;
        let variants = script.variants();
        let Peaks { upload, download, .. } = script.peaks();
        let (upload, download) = (upload.unwrap_or_default(), download.unwrap_or_default());
        let bus = Rc::new(Bus::new(memory, upload, download, scripted.lockable_bytes));
        let library = options.library.clone();
        Ok(SimDevice { script, ordinal, scripted, variants, library, meters: Rc::default(), bus })
    }
}

impl Backend for SimDevice {
    fn describe(&self) -> serde_json::Value {
        let name = &self.scripted.name;
        let mut description = serde_json::json!({
            "device": self.ordinal,
            "device_count": self.script.device_count(),
            "name": if name == SIMULATED { name.clone() } else { format!("{name} ({SIMULATED})") },
            "script": self.script.hash,
            "seed": self.script.seed,
        });
        if let Some(watts) = self.scripted.power_limit_w {
            description["power_limit_w"] = watts.into();
        }
        description
    }

    fn peaks_depend_on(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.script.peaks()).ok()
    }

    fn peaks(&mut self) -> Result<Option<Peaks>, CellError> {
        self.script.peaks_outcome().suffer("the sim script says so")?;
        Ok(Some(self.script.peaks()))
    }

    fn libraries(&self) -> Vec<Finding> {
        let loaded = |name: &String| Finding {
            name: name.clone(),
            path: Some(format!("/simulated/{name}")),
            ..Finding::default()
        };
        self.library.iter().map(loaded).collect()
    }

    fn prepare(
        &mut self,
        variant: &str,
        case: &Case,
        inputs: &mut [Operand],
    ) -> Result<Box<Prepared>, CellError> {
        let found = self.variants.iter().find(|v| v.op == case.op && v.name == variant);
        let found = found.ok_or_else(|| {
            CellError::Failed(format!("the script has no variant {variant} of {}", case.op))
        })?;
        if found.library.as_deref() != self.library.as_deref() {
            return Err(CellError::Failed(format!("{variant} was sent to the worker of another library")));
        }
        let side = found.side;
        let made = SetupCounts { allocations: inputs.len() as u64 + 1, plans: 1, compilations: 0 };
        self.meters.counts.update(|counts| counts.plus(made));
        let on_gpu = side == Side::Gpu;
        if on_gpu {
            self.bus.upload(inputs)?;
        }
        let behaviour = Cache::ALL.map(|cache| self.script.behaviour(variant, case, cache));
        // Each device of a script has its own random scatter.
        let seed = self.script.seed.wrapping_add(case.seed).wrapping_add(u64::from(self.ordinal) << 32);
        Ok(Prepared::new(SimJob {
            case: case.clone(),
            answer: AnswerMemory::new(case, inputs),
            inputs: inputs.to_vec(),
            behaviour,
            bus: on_gpu.then(|| Rc::clone(&self.bus)),
            on_gpu,
            factor: if on_gpu { self.scripted.factor } else { 1.0 },
            event_constant_s: self.script.timer_overhead.map(|overhead| overhead.event_constant.0),
            stream: Stream::new(seed, fnv1a(0, format!("{case} {variant}").as_bytes())),
            executions: 0,
            meters: Rc::clone(&self.meters),
        }))
    }

    fn timer_overhead(&self) -> Option<TimerOverhead> {
        let timer_overhead = self.script.timer_overhead?;
        Some(TimerOverhead {
            clock_s: timer_overhead.clock.0,
            empty_kernel_s: Some(timer_overhead.empty_kernel.0),
            event_constant_s: Some(timer_overhead.event_constant.0),
            ..TimerOverhead::default()
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
        self.meters.now_s.update(|now_s| now_s + seconds);
    }

    fn conditions(&mut self) -> Conditions {
        Conditions {
            others: self.script.others.clone(),
            throttle: self.script.throttled.clone(),
            ..Conditions::default()
        }
    }

    fn time(&mut self, job: &mut Prepared, cache: Cache) -> Result<Sample, CellError> {
        self.meters.cache.set(cache);
        job.reset()?;
        job.execute()?;
        Ok(self.meters.last.get())
    }

    fn setup_counts(&self) -> SetupCounts {
        self.meters.counts.get()
    }
}
