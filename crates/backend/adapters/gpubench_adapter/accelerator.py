"""Times jobs on an accelerator, by the host's clock or by events on its stream, and copies to it and back."""

from time import perf_counter

from . import host
from .backend import Backend
from .device_clock import Timer

# Bytes of an L2 cache whose size is unknown: more than any chip has so far.
UNKNOWN_L2_BYTES = 128 << 20
# Bytes read per byte of the L2 cache, as in gpubench's own CUDA backend.
CACHES = 2
# Copies up to this many bytes are timed MANY times, larger ones FEW times. The first one does not count.
SMALL = 256 << 20
MANY, FEW = 5, 3
# Where page-locked memory is optional, it takes at most this part of the free host memory.
LOCKED_PART = 4
# Parts of the messages by which CUDA and its libraries say that memory is short.
SHORT_OF_MEMORY = ("out of memory", "cudaErrorMemoryAllocation", "ALLOC_FAILED")


class Accelerator(Backend):
    """A library that queues work on a device. Subclasses supply `synchronize` and `flush`."""

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


class EventBackend(Accelerator):
    """A library on a CUDA device. Subclasses supply the rig of `device_clock` and call `start_clock`."""

    def start_clock(self, rig, name, cuda_version):
        """Measures the overhead of the events on the GPU of that name."""
        self.rig, self.device_name, self.cuda_version = rig, name, cuda_version
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
        found.update(name=self.device_name, device=self.device, driver_version=host.nvidia_driver())
        found["cuda_version"] = self.cuda_version
        return found

    def is_out_of_memory(self, error):
        return isinstance(error, MemoryError) or any(text in str(error) for text in SHORT_OF_MEMORY)


class Copier:
    """Copies of a job's arrays. `timed_copy` of the backend does one copy and returns its result, host and device seconds."""

    def __init__(self, backend, job, operands):
        self.backend, self.storage = backend, job.storage
        self.sent = [part for operand in operands for part in self.storage.host_parts(operand)]
        self.received = job.parts(job.result)
        self.up, self.down = sum(part.nbytes for part in self.sent), sum(self.storage.nbytes(part) for part in self.received)

    def phases(self, memory):
        """Returns the phases for that kind of host memory: `pageable`, `pinned` or `both`."""
        if memory == "pinned":
            return self._pinned() if self.storage.has_pinned else {}
        found = self._pageable()
        # The copies must leave enough memory that is not locked.
        free = host.free_memory() if memory == "both" and self.storage.has_pinned else None
        if free is not None and max(self.up, self.down) <= free / LOCKED_PART:
            found["pinned"] = self._pinned()
        return found

    def _pageable(self):
        storage = self.storage

        def fresh():
            return [storage.for_download(part) for part in self.received]

        upload = self._repeat("pageable", self.up, list, lambda _: [storage.send(part) for part in self.sent])
        download = self._repeat("pageable", self.down, fresh, lambda arrays: [storage.host(array) for array in arrays])
        return {"upload": upload, "download": download}

    def _pinned(self):
        storage = self.storage
        blocks = [storage.pinned(part) for part in self.sent]
        upload = self._repeat("pinned", self.up, list, lambda _: [storage.send_pinned(block) for block in blocks])
        blocks = [storage.pinned_like(part) for part in self.received]

        def receive(_):
            for part, block in zip(self.received, blocks):
                storage.receive_pinned(part, block)

        return {"upload": upload, "download": self._repeat("pinned", self.down, list, receive)}

    def _repeat(self, memory, size, before, copy):
        """Returns the times of repeated copies; `before` runs outside the clock and gives their source."""
        host_s, device_s = [], []
        for _ in range(1 + (MANY if size <= SMALL else FEW)):
            source = before()
            self.backend.wait(source)
            copied, by_host, by_device = self.backend.timed_copy(lambda: copy(source))
            host_s.append(by_host)
            device_s += [by_device] if by_device is not None else []
            del copied, source
        return {"bytes": size, "memory": memory, "host_s": host_s[1:], "device_s": device_s[1:]}
