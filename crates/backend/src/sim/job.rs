//! Runs a simulated job: times come from the script, answers from the reference, and both have the script's faults.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use crate::contents::{Contents, Memory, host};
use crate::{Job, Sample, SetupCounts};
use gpubench_ops::reference;
use gpubench_report::case::{Cache, Case};
use gpubench_report::data::generator::Stream;
use gpubench_report::data::{Csr, Operand, Values};
use gpubench_report::error::CellError;

use super::answer::AnswerMemory;
use super::bus::Bus;
use super::rule::{AnswerFault, Behaviour};

/// State of the device: its clock, its load, the time of the last execution, and the setup counts.
#[derive(Default)]
pub(super) struct Meters {
    /// Simulated seconds since the start.
    pub(super) now_s: Cell<f64>,
    /// Simulated seconds of work since the last pause.
    pub(super) busy_s: Cell<f64>,
    pub(super) cache: Cell<Cache>,
    pub(super) last: Cell<Sample>,
    pub(super) counts: Cell<SetupCounts>,
}

/// Factor on the time while the clock is throttled, and the clocks throttled and otherwise, in MHz.
const THROTTLED: f64 = 1.4;
const SM_MHZ: [f64; 2] = [1400.0, 1980.0];

/// Times of an execution whose rates and variances are finite numbers.
const TIMES_S: RangeInclusive<f64> = 1e-15..=1e15;

pub(super) struct SimJob {
    pub(super) case: Case,
    pub(super) inputs: Vec<Operand>,
    pub(super) answer: AnswerMemory,
    /// Cold and hot.
    pub(super) behaviour: [Behaviour; 2],
    pub(super) on_gpu: bool,
    /// Bus to and from the device, for variants on the GPU's side.
    pub(super) bus: Option<Rc<Bus>>,
    /// Factor on every time on this device.
    pub(super) factor: f64,
    pub(super) event_constant_s: Option<f64>,
    pub(super) stream: Stream,
    pub(super) executions: u64,
    pub(super) meters: Rc<Meters>,
}

impl SimJob {
    fn behaviour(&self) -> Behaviour {
        self.behaviour[usize::from(self.meters.cache.get() == Cache::Hot)]
    }

    /// Returns the time of the next execution, in seconds.
    fn elapsed_s(&self, behaviour: &Behaviour, throttled: bool) -> Result<f64, CellError> {
        let ramp = behaviour.ramp * (-self.meters.busy_s.get() / behaviour.ramp_s).exp();
        let slowdown = if throttled { THROTTLED } else { 1.0 };
        let scatter = behaviour.scatter.factor(self.stream, self.executions);
        let elapsed_s = behaviour.time_s * self.factor * scatter * (1.0 + ramp) * slowdown;
        if TIMES_S.contains(&elapsed_s) {
            return Ok(elapsed_s);
        }
        let (case, k) = (&self.case, self.executions);
        let what = format!("the script gives execution {k} of {case} a time of {elapsed_s:e} s");
        Err(CellError::Failed(format!("{what}: change its time, noise or drift")))
    }

    /// Returns the fault of the next execution's answer.
    fn fault(&self) -> AnswerFault {
        let behaviour = self.behaviour();
        if self.executions >= behaviour.after { behaviour.answer } else { AnswerFault::Right }
    }

    /// Returns whether random number `which` of this execution is below `share`.
    fn happens(&self, which: u64, share: f64) -> bool {
        // Streams of scatter count up from 0; these count down from the top.
        self.stream.uniform::<f64>(u64::MAX - 1 - 3 * self.executions - which) < share
    }
}

impl Job for SimJob {
    fn reset(&mut self) -> Result<(), CellError> {
        Ok(())
    }

    fn contents(&mut self) -> Contents<'_> {
        let mut contents = Contents { answer: vec![self.answer.memory()], ..Contents::default() };
        for (number, operand) in self.inputs.iter_mut().enumerate() {
            let values = match operand {
                Operand::Dense(dense) => &mut dense.values,
                Operand::Csr(csr) => {
                    contents.fixed.extend([host(&mut csr.indptr), host(&mut csr.indices)]);
                    &mut csr.values
                }
            };
            contents.operands.push((number, Memory::Host(values.bytes_mut())));
        }
        contents
    }

    fn execute(&mut self) -> Result<(), CellError> {
        let behaviour = self.behaviour();
        if self.executions >= behaviour.after {
            behaviour.fault.suffer("the sim script says so")?;
        }
        if behaviour.allocates {
            self.meters.counts.update(|counts| SetupCounts { allocations: counts.allocations + 1, ..counts });
        }
        let throttled = self.on_gpu && self.happens(0, behaviour.throttled);
        let elapsed_s = self.elapsed_s(&behaviour, throttled)?;
        self.meters.last.set(Sample {
            host_s: elapsed_s,
            device_s: self.on_gpu.then_some(elapsed_s),
            events_s: self.event_constant_s.filter(|_| self.on_gpu).map(|constant| elapsed_s + constant),
            enqueue_s: None,
            blocked: self.on_gpu.then_some(true),
            ended_by_word: None,
            sm_mhz: self.on_gpu.then_some(SM_MHZ[usize::from(!throttled)]),
            context_switches: (!self.on_gpu).then(|| u64::from(self.happens(1, behaviour.switched))),
            page_faults: None,
            throttled,
        });
        self.meters.now_s.update(|now_s| now_s + elapsed_s);
        self.meters.busy_s.update(|busy_s| busy_s + elapsed_s);
        self.answer.execute(self.fault(), &mut self.inputs);
        self.executions += 1;
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let mut answer = reference::answer(&self.case, &self.inputs)?;
        if !self.answer.is_right(&self.inputs)
            && let Some(part) = answer.first_mut()
        {
            spoil(part, self.answer.is_nan(), self.stream.bits(u64::MAX));
        }
        if let Some(bus) = &self.bus {
            bus.download(&answer)?;
        }
        Ok(answer)
    }
}

/// Changes one entry, to NaN where `nan`, or adds one to a matrix that stores none.
fn spoil(part: &mut Operand, nan: bool, chance: u64) {
    let (factor, term) = if nan { (f64::NAN, f64::NAN) } else { (1.5, 1.0) };
    if let Operand::Csr(csr) = part
        && csr.nnz() == 0
    {
        add_entry(csr);
        return;
    }
    let values = part.values_mut();
    let index = usize::try_from(chance % values.len().max(1) as u64).unwrap_or(0);
    // An answer without elements stays as it is.
    values.change_real_part(index, |x| x * factor + term);
}

fn add_entry(csr: &mut Csr) {
    csr.indices.push(0);
    csr.indptr.iter_mut().skip(1).for_each(|offset| *offset = 1);
    csr.values = Values::single(csr.values.dtype(), 1.0);
}
