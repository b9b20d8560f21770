"""Times jobs on an accelerator by the host's clock."""

from time import perf_counter

from .backend import Backend
from .copies import Copier

# Bytes of an L2 cache whose size is unknown: more than any chip has so far.
UNKNOWN_L2_BYTES = 128 << 20
# Bytes read per byte of the L2 cache, as in gpubench's own CUDA backend.
CACHES = 2


class Accelerator(Backend):
    """A library that queues work on a device. Subclasses supply `synchronize` and `flush`."""

    # The host has the generated operands, and those that come back from the device to be verified.
    host_copies = 2

    def synchronize(self):
        """Waits until all queued work is done."""
        raise NotImplementedError

    def flush(self):
        """Queues a read of data through the device's caches; see `cold_caches`."""
        raise NotImplementedError

    def l2_bytes(self):
        """Returns the bytes of the last cache of the device, or `None` if they are unknown."""
        return None

    def flush_bytes(self):
        """Returns the bytes that a flush reads."""
        return CACHES * (self.l2_bytes() or UNKNOWN_L2_BYTES)

    def describe(self):
        found = super().describe()
        # The host's threads do none of the work.
        del found["threads"]
        return found

    def cold_caches(self):
        return "reading %d MiB on the device" % (self.flush_bytes() >> 20)

    def check_device(self):
        self.synchronize()

    def bring_caches(self, cache):
        """Brings the caches into that state and waits, so that no earlier work runs into the sample."""
        if cache == "cold":
            self.flush()
        self.synchronize()

    def time(self, job, cache):
        job.reset()
        self.bring_caches(cache)
        return self.time_host(job)

    def time_host(self, job):
        """Returns a sample of one execution by the host's clock. The device must be idle."""
        start = perf_counter()
        job.execute()
        queued = perf_counter()
        self.wait(job.result)
        return {"host_s": perf_counter() - start, "enqueue_s": queued - start}

    def wait(self, _arrays):
        """Waits until arrays of the library are complete."""
        self.synchronize()

    def copies(self, job, operands):
        return Copier(self, job, operands).phases(self.memory)

    def timed_copy(self, copy):
        """Copies, and returns what was copied, the host's seconds, and the device's where they are known."""
        start = perf_counter()
        copied = copy()
        self.wait(copied)
        return copied, perf_counter() - start, None
