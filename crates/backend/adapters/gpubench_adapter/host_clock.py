"""Takes samples by the host's clock, the same way as gpubench's own CPU backend (crates/cpu/src/timing)."""

import statistics
from time import perf_counter_ns
from types import SimpleNamespace

try:
    import resource
except ImportError:  # Windows
    resource = None

# With hot caches, executions shorter than this are timed in batches.
SHORT_S = 20e-6
# Approximate seconds per batch, and the limits of the number of executions in it.
BATCH_S = 100e-6
BATCH = (2, 64)
READINGS = 1001


def timed(job, count):
    """Executes `job` between two readings of the clock and returns the sample. The caller has reset the job."""
    execute = job.execute
    before = _usage()
    start = perf_counter_ns()
    if count == 1:
        execute()
    else:
        for _ in range(count):
            execute()
    end = perf_counter_ns()
    after = _usage()
    sample = {"host_s": max(end - start, 1) / 1e9 / count}
    if before is not None:
        switches, minor, major = (late - early for late, early in zip(after, before))
        sample["context_switches"] = switches
        sample["page_faults"] = {"minor": minor / count, "major": major / count}
    return sample


def back_to_back(job):
    """Resets the job and executes it with hot caches. A short execution is timed as the mean of a batch."""
    job.reset()
    sample = timed(job, 1)
    if sample["host_s"] >= SHORT_S or job.restores:
        return sample
    job.reset()
    return timed(job, batch_size(sample["host_s"]))


def batch_size(execution_s):
    """Returns how many executions of `execution_s` seconds make up a batch of about BATCH_S."""
    return int(min(max(-(-BATCH_S // execution_s), BATCH[0]), BATCH[1]))


def _usage():
    """Returns involuntary context switches, minor and major page faults of this process so far."""
    if resource is None:
        return None
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_nivcsw, usage.ru_minflt, usage.ru_majflt


def clock_s():
    """Returns the median seconds between two readings of the clock with nothing between them."""
    readings = [(perf_counter_ns(), perf_counter_ns()) for _ in range(READINGS)]
    return statistics.median(second - first for first, second in readings) / 1e9


def call_s():
    """Returns the median seconds of a sample around an empty job: the most that the adapter adds to a time."""
    nothing = SimpleNamespace(execute=lambda: None)
    return statistics.median(timed(nothing, 1)["host_s"] for _ in range(READINGS))
