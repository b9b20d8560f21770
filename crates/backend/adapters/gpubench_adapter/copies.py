"""Times copies of operands to a device and of the answer back, with pageable and with pinned host memory."""

from . import host

# Copies up to this many bytes are timed MANY times, larger ones FEW times. The first one does not count.
SMALL = 256 << 20
MANY, FEW = 5, 3
# Where page-locked memory is optional, it takes at most this part of the free host memory.
LOCKED_PART = 4


class Copier:
    """Copies of a job's arrays. `timed(copy)` of the backend does one copy and returns its result, host and device seconds."""

    def __init__(self, backend, job, operands):
        self.backend, self.storage = backend, job.storage
        self.sent = [part for operand in operands for part in self.storage.host_parts(operand)]
        self.received = job.parts(job.result)

    def phases(self, memory):
        """Returns the phases for that kind of host memory: `pageable`, `pinned` or `both`."""
        if memory == "pinned":
            return self._pinned() if self.storage.has_pinned else {}
        found = self._pageable()
        if memory == "both" and self.storage.has_pinned and self._fits():
            found["pinned"] = self._pinned()
        return found

    def _sizes(self):
        return sum(part.nbytes for part in self.sent), sum(self.storage.nbytes(part) for part in self.received)

    def _fits(self):
        """Returns whether the copies leave enough memory that is not locked."""
        free = host.free_memory()
        return free is not None and max(self._sizes()) <= free / LOCKED_PART

    def _pageable(self):
        storage, (up, down) = self.storage, self._sizes()

        def fresh():
            return [storage.for_download(part) for part in self.received]

        upload = self._repeat("pageable", up, list, lambda _: [storage.send(part) for part in self.sent])
        download = self._repeat("pageable", down, fresh, lambda arrays: [storage.host(array) for array in arrays])
        return {"upload": upload, "download": download}

    def _pinned(self):
        storage, (up, down) = self.storage, self._sizes()
        blocks = [storage.pinned(part) for part in self.sent]
        upload = self._repeat("pinned", up, list, lambda _: [storage.send_pinned(block) for block in blocks])
        blocks = [storage.pinned_like(part) for part in self.received]

        def receive(_):
            for part, block in zip(self.received, blocks):
                storage.receive_pinned(part, block)

        return {"upload": upload, "download": self._repeat("pinned", down, list, receive)}

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
