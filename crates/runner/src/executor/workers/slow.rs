//! Keeps track of the workers that take long to start, while the cells of the others are measured.

use gpubench_backend::WorkerId;

use super::slot::{Slot, State};
use super::{WorkerUnavailable, Workers};
use crate::observe::Observer;

impl Workers {
    /// Sees which slow workers have become ready or failed. With `wait_for_all`, waits for each until its limit; from then on
    /// the run waits for every start.
    pub(crate) fn settle_slow(
        &mut self,
        wait_for_all: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), WorkerUnavailable> {
        self.is_patient |= wait_for_all;
        for slot in self.slots.iter_mut().filter(|slot| matches!(slot.state, State::Slow(_))) {
            slot.settle(self.start_limit, self.is_patient, self.stop, &mut self.time_spent, observer)?;
        }
        Ok(())
    }

    /// Returns whether the worker is slow to start.
    pub(crate) fn is_slow(&self, id: &WorkerId) -> bool {
        self.find(id).is_some_and(|slot| matches!(slot.state, State::Slow(_)))
    }

    /// Returns whether any worker is slow to start, which may disturb what is measured now.
    pub(crate) fn has_slow(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.state, State::Slow(_)))
    }

    /// Notes that a cell is measured, whose times the start of a slow worker may disturb.
    pub(crate) fn note_overlap(&mut self) {
        for slot in &mut self.slots {
            slot.overlapped |= matches!(slot.state, State::Slow(_));
        }
    }

    /// Returns the workers that were slow to start while cells of others were measured.
    pub(crate) fn overlapped(&self) -> Vec<WorkerId> {
        self.slots.iter().filter(|slot| slot.overlapped).map(|slot| slot.id.clone()).collect()
    }

    /// Notes that the peaks of a slow worker are to be measured once it has started.
    pub(crate) fn await_peaks(&mut self, id: &WorkerId) {
        let at = self.slot(id);
        self.slots[at].awaits_peaks = true;
    }

    /// Returns the workers whose peaks can be measured now, after a slow start.
    pub(crate) fn take_awaited_peaks(&mut self) -> Vec<WorkerId> {
        let started = self.slots.iter_mut().filter(|slot| !matches!(slot.state, State::Slow(_)));
        let awaited = |slot: &mut Slot| std::mem::take(&mut slot.awaits_peaks).then(|| slot.id.clone());
        started.filter_map(awaited).collect()
    }
}
