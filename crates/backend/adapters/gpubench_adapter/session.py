"""Holds a started backend with its operands and jobs, and answers the requests about them."""

import gc
import os

from . import own_op, sampling
from .backend import timed
from .errors import CellFailed, Unavailable
from .operands import Case, Operands


class Session:
    """A started backend with its jobs. Each job is prepared once, then measured in rounds."""

    def __init__(self, backend):
        self.backend, self.operands, self.jobs = backend, Operands(), {}
        # The user's own operations.
        self.ops = []
        # Files of matrices, by name and fingerprint of the matrix.
        self.matrices = {}

    def ready(self):
        """Returns the reply to `hello`."""
        description = self.backend.describe()
        return {"type": "ready", "description": description, "timer_overhead": self.backend.timer_overhead()}

    def prepare(self, request, notify):
        """Prepares a cell, executes it, writes its answer, and keeps the job."""
        number, cell = request["job"], request["cell"]
        self._free(number)
        own, cache = own_op.find(self.ops, cell["case"]["op"]), cell.get("cache", "hot")
        case = Case(cell["case"], own, self.matrices)
        variant = self._variant(case, cell["variant"])
        self.backend.folder = os.path.dirname(request["answer"])
        phases = {"check_s": 0.0, "threads_s": 0.0}

        notify("inputs")
        operands, phases["inputs_s"] = timed(lambda: self.operands.of(case))
        notify("prepare")
        job, phases["prepare_s"] = timed(lambda: self.backend.prepare(variant, case, operands))
        if job.compile_s is not None:
            phases["compile"] = {"cold_s": job.compile_s}
        # A device holds what the host sent; the CPU's job has a copy of its own.
        on_host = self.backend.adapter.side == "cpu"
        inputs = job.fingerprint() if on_host else self.operands.fingerprint()

        notify("first")
        chosen = request.get("threads")
        if chosen in job.thread_choices:
            job.set_threads(chosen)
        job.settle()
        first = self.backend.time(job, cache)
        phases["first_s"], phases["first_device_s"] = first["host_s"], first.get("device_s")
        job.check_result()
        if job.thread_choices and chosen not in job.thread_choices:
            _, phases["threads_s"] = timed(lambda: self._choose_threads(job, cache, notify))

        notify("check")
        arrays, phases["download_s"] = timed(job.answer)
        described = job.write(request["answer"], arrays)
        del arrays
        phases.update(self._copies(job, operands))
        job.keep_result()
        self.jobs[number] = (job, cache)
        return {
            "type": "answered",
            "inputs": inputs,
            "phases": {name: value for name, value in phases.items() if value is not None},
            "arrays": described,
            "libraries": self.backend.findings(),
            "threads": job.threads if self.backend.adapter.side == "cpu" else None,
            "picked": None,
        }

    def _copies(self, job, operands):
        """Returns the times of copies to a device and back; none where memory is too small for a second copy."""
        try:
            return self.backend.copies(job, operands)
        except Exception as error:
            if not self.backend.is_out_of_memory(error):
                raise
            return {}

    def _choose_threads(self, job, cache, notify):
        """Sets the fastest number of threads, and executes once more with it."""
        if len(job.thread_choices) > 1:
            notify("threads")
        sampling.choose(job, lambda: self.backend.time(job, cache))
        if len(job.thread_choices) > 1:
            self.backend.time(job, cache)

    def measure(self, request, notify):
        """Takes a batch of samples of a job."""
        job, cache = self._job(request)
        notify("samples")
        result = sampling.take(lambda: self.backend.time(job, cache), request["batch"], self.backend.compilations)
        job.keep_result()
        on_device = all("device_s" in sample for sample in result["samples"])
        return {"type": "measured", "clock": "device-events" if on_device else "host", "result": result}

    def verify(self, request, notify):
        """Writes the answer of the last timed execution, or of one more on request."""
        job, _ = self._job(request)
        notify("verify")
        alter = request.get("alter")
        if alter:
            job.altered(alter["operand"], alter["element"], alter["value"])
        elif request.get("execute"):
            job.execute_erased()
        elif job.result is None:
            raise CellFailed("the job has not executed since its answer was erased")
        arrays = job.answer()
        described = job.write(request["answer"], arrays)
        # The answer need not be in memory together with the operands.
        del arrays
        job.keep_result()
        return {"type": "answered", "inputs": job.fingerprint(), "arrays": described}

    def release(self, request, _notify):
        """Frees a job and the memory that the library keeps."""
        self._free(request["job"])
        return {"type": "released"}

    def rest(self, _request, _notify):
        """Frees the operands that are kept for later cells, and memory that the library keeps without need."""
        self.operands.drop()
        self._collect()
        return {"type": "rested"}

    def peaks(self, _request, _notify):
        """Measures nothing: an adapter measures no peaks."""
        return {"type": "peaks"}

    def recover(self):
        """Frees what a failed request left, and raises an exception if the device no longer works."""
        self._collect()
        self.backend.check_device()

    def _free(self, number):
        if self.jobs.pop(number, None) is not None:
            self._collect()

    def _collect(self):
        # The collector runs only here, so never while something is timed.
        gc.collect()
        self.backend.release_memory()

    def _job(self, request):
        number = request["job"]
        if number not in self.jobs:
            raise CellFailed("job %s was not prepared" % number)
        self.jobs[number][0].settle()
        return self.jobs[number]

    def _variant(self, case, name):
        if case.own is not None:
            return next(variant for variant in case.own.variants if (variant.name, variant.backend) == (name, self.backend.name))
        for variant in self.backend.adapter.variants:
            if (variant["op"], variant["name"]) == (case.op, name):
                if case.dtype_name not in variant["dtypes"]:
                    raise Unavailable("%s does not support %s" % (name, case.dtype_name))
                if case.shape is not None and "shapes" not in variant:
                    raise Unavailable("%s computes square operands only" % name)
                return name
        raise CellFailed("%s has no variant %s of %s" % (self.backend.name, name, case.op))
