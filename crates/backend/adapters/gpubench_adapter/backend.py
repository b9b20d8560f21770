"""Defines what every library's backend does, and times jobs by the host's clock."""

import importlib
import platform
import time

from . import caches, host, host_clock, registry
from .errors import Unavailable
from .own_job import OwnJob
from .sampling import up_to

# Largest matrix for which fewer threads than all may be faster.
MAX_CHOICE_SIDE = 2048


def load(package, install):
    """Imports a package.

    Raises `Unavailable` with the line that installs it if it is missing or does not load.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.split(".")[0]
        if isinstance(error, ModuleNotFoundError) and error.name == top:
            raise Unavailable("Python has no package %s" % top, install) from None
        raise Unavailable("the package %s does not load: %s" % (top, " ".join(str(error).split())), install) from None


def finding(name, module=None, version=None, problem=None, fix=None, serves=()):
    """Returns a finding of `doctor`."""
    path = getattr(module, "__file__", None)
    version = version or getattr(module, "__version__", None)
    return {"name": name, "path": path, "version": version, "serves": list(serves), "problem": problem, "fix": fix}


class Backend:
    """A started library. Its jobs are timed by the host's clock, unless a subclass has another one."""

    def __init__(self, name, options):
        self.name, self.adapter = name, registry.ADAPTERS[name]
        self.threads = options.get("threads") or len(host.cpus())
        self.device = options.get("device") or 0
        self.memory = options.get("transfer") or "both"
        self.flusher = None
        # A folder of the run, which the parent removes at its end.
        self.folder = None

    def describe(self):
        """Returns the description of the backend for the report."""
        found = {"name": host.cpu_name(), "threads": self.threads, "versions": self.versions()}
        found["versions"]["python"] = platform.python_version()
        found["call_overhead_s"] = host_clock.call_s()
        found["cold_caches"] = self.cold_caches()
        return found

    def cold_caches(self):
        """Returns the way in which caches are flushed."""
        self.flusher = self.flusher or caches.flusher()
        return self.flusher.method

    def versions(self):
        """Returns the versions of the libraries by name."""
        raise NotImplementedError

    def timer_overhead(self):
        """Returns the overhead of the clock."""
        return {"clock_s": host_clock.clock_s()}

    def findings(self):
        """Returns the libraries in use."""
        raise NotImplementedError

    def prepare(self, variant, case, operands):
        """Returns a job of a variant."""
        # What is compiled now depends on these modes.
        self.set_defaults()
        if case.own is not None:
            job = self.own_job(variant, case, operands)
        else:
            job = self.built_in_job(variant, case, operands)
        job.set_defaults = self.set_defaults
        return job

    def built_in_job(self, variant, case, operands):
        """Returns a job of a built-in op."""
        return self.JOBS[case.op, variant](self, case, operands)

    def own_job(self, variant, case, inputs):
        """Returns a job of a function of the user's own."""
        return OwnJob(self.storage, case.own, variant, inputs)

    def set_defaults(self):
        """Sets the modes that a library keeps for the whole process to what jobs without `activate` need."""

    def time(self, job, cache):
        """Takes one sample."""
        if cache != "cold":
            return host_clock.back_to_back(job)
        self.flusher = self.flusher or caches.flusher()
        job.reset()
        self.flusher.flush(job.memory())
        if job.wake is not None and job.threads != 1:
            # Waking CPUs that slept during the flush can take longer than a small operation.
            job.wake()
        return host_clock.timed(job, 1)

    def give_choice(self, job, set_threads, wake, side=0):
        """Lets a job of a library with threads choose their number, all of them for matrices above a limit."""
        job.thread_choices = up_to(self.threads) if side <= MAX_CHOICE_SIDE else [self.threads]
        job.use_threads, job.wake = set_threads, wake
        job.set_threads(self.threads)
        return job

    def copies(self, job, operands):
        """Returns the phases `upload` and `download`; none on the CPU."""
        return {}

    def compilations(self):
        """Returns the number of compilations so far, where the library counts them."""
        return 0

    def is_out_of_memory(self, error):
        """Returns whether an exception says that memory is short."""
        return isinstance(error, MemoryError)

    def check_device(self):
        """Raises an exception if the device no longer works."""

    def release_memory(self):
        """Gives cached memory of the library back."""


def serial(job):
    """Marks a job that runs on one thread."""
    job.threads = 1
    return job


def timed(function):
    """Returns the result of a function and the seconds that it took."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start
