"""Times jobs on an accelerator by the host's clock, and copies to it and back."""

from time import perf_counter

from .backend import Backend

# Copies up to this many bytes are timed MANY times, larger ones FEW times. The first one does not count.
SMALL = 256 << 20
MANY, FEW = 5, 3
# Bytes of an L2 cache whose size is unknown: more than any chip has so far.
UNKNOWN_L2_BYTES = 128 << 20
# Bytes read per byte of the L2 cache, as in gpubench's own CUDA backend.
CACHES = 2


class Accelerator(Backend):
    """A library that queues work on a device. Subclasses supply `synchronize` and `flush`."""

    # The device holds the operands; the host has one copy of them.
    host_copies = 1

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
        if self.memory == "pinned":
            return {}
        storage = job.storage
        sent = [part for operand in operands for part in storage.host_parts(operand)]
        parts = job.parts(job.result)
        upload = self._repeat(sum(part.nbytes for part in sent), list, lambda _: [storage.send(part) for part in sent])
        received = sum(storage.host(part).nbytes for part in parts)

        def fresh():
            return [storage.for_download(part) for part in parts]

        download = self._repeat(received, fresh, lambda arrays: [storage.host(array) for array in arrays])
        return {"upload": upload, "download": download}

    def _repeat(self, size, before, copy):
        """Returns the host seconds of repeated copies; `before` runs outside the clock and gives their source."""
        host_s = []
        for _ in range(1 + (MANY if size <= SMALL else FEW)):
            source = before()
            self.wait(source)
            start = perf_counter()
            copied = copy(source)
            self.wait(copied)
            host_s.append(perf_counter() - start)
            del copied, source
        return {"bytes": size, "memory": "pageable", "host_s": host_s[1:], "device_s": []}
