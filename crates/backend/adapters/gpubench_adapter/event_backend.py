"""Defines what the backends share whose library gives access to its stream: samples by events, behind a blocking kernel."""

from time import perf_counter

from . import host
from .accelerator import Accelerator
from .device_clock import Timer

# Parts of the messages by which CUDA and its libraries say that memory is short.
SHORT_OF_MEMORY = ("out of memory", "cudaErrorMemoryAllocation", "ALLOC_FAILED")


class EventBackend(Accelerator):
    """A library on a CUDA device. Subclasses supply the rig of `device_clock` and call `start_clock`."""

    clock = "device-events"
    timer = None

    def start_clock(self, rig):
        """Measures the overhead of the events."""
        self.rig = rig
        self.timer = Timer(rig, self.bring_caches, self.time_host)

    def synchronize(self):
        self.rig.synchronize()

    def time(self, job, cache):
        return self.timer.time(job, cache)

    def timed_copy(self, copy):
        start, end = self.rig.event(), self.rig.event()
        begun = perf_counter()
        start.record()
        copied = copy()
        end.record()
        self.synchronize()
        return copied, perf_counter() - begun, self.rig.elapsed_s(start, end)

    def timer_overhead(self):
        return self.timer.overhead()

    def describe(self):
        found = super().describe()
        found.update(name=self.device_name(), device=self.device, driver_version=host.nvidia_driver())
        found["cuda_version"] = self.cuda_version()
        return found

    def is_out_of_memory(self, error):
        return isinstance(error, MemoryError) or any(text in str(error) for text in SHORT_OF_MEMORY)

    def device_name(self):
        """Returns the model of the GPU."""
        raise NotImplementedError

    def cuda_version(self):
        """Returns the version of the CUDA libraries in use."""
        raise NotImplementedError
