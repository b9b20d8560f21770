//! Times one execution by two events on the stream and by the host clock beside them.

use std::time::Instant;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use std::sync::Arc;

use super::failure::driver;
use super::ffi::driver::Elapsed;
use crate::backend::{Job, Sample};
use crate::error::CellError;

/// A pair of events, made once.
pub struct Timer {
    start: CudaEvent,
    end: CudaEvent,
    elapsed: Elapsed,
}

impl Timer {
    /// Makes the events, with timing enabled.
    pub fn new(ctx: &Arc<CudaContext>, elapsed: Elapsed) -> Result<Timer, CellError> {
        let event = || ctx.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(driver("cuEventCreate"));
        Ok(Timer { start: event()?, end: event()?, elapsed })
    }

    /// Resets `job`, waits for an idle device, and times one execution.
    pub fn time(&self, stream: &CudaStream, job: &mut dyn Job) -> Result<Sample, CellError> {
        job.reset()?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        let host = Instant::now();
        self.start.record(stream).map_err(driver("cuEventRecord"))?;
        job.execute()?;
        self.end.record(stream).map_err(driver("cuEventRecord"))?;
        self.end.synchronize().map_err(driver("cuEventSynchronize"))?;
        let host_s = host.elapsed().as_secs_f64();
        let milliseconds =
            self.elapsed.milliseconds(&self.start, &self.end).map_err(driver("cuEventElapsedTime"))?;
        Ok(Sample { device_s: Some(f64::from(milliseconds) / 1e3), ..Sample::of_host(host_s) })
    }
}
