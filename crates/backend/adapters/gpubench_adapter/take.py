"""Warms a job up and takes a batch of samples: the rules of crates/backend/src/take.rs."""

import statistics
from time import perf_counter

# Maximum number of warm-up times that are compared, and the gain of their later half up to which they are steady.
WINDOW = 256
STEADY_TOLERANCE = 0.02


def seconds(sample):
    """Returns the headline time of a sample: the device's, if there is one."""
    return sample.get("device_s", sample["host_s"])


def is_steady(times):
    """Returns whether the later half of the last times is as slow as the earlier half, within tolerance or scatter."""
    recent = times[-WINDOW:]
    if len(recent) < 6:
        return True
    half = len(recent) // 2
    earlier, later = statistics.median(recent[:half]), statistics.median(recent[half:])
    deviation = statistics.median(abs(time - later) for time in recent[half:])
    fall = earlier - later
    return fall <= STEADY_TOLERANCE * later or fall <= 2.0 * deviation


def take(time_once, batch, compilations=lambda: 0):
    """Returns the result of a batch; `time_once` takes one sample."""
    result = {"warmups": 0, "warmup_s": 0.0, "steady": True, "discarded": 0}
    if batch.get("warm_up"):
        _warm(time_once, batch["warm_up"], result)
    samples, compiled, start = [], compilations(), perf_counter()
    while len(samples) < batch["samples"] and (not samples or perf_counter() - start < batch["max_s"]):
        samples.append(time_once())
    result["spent_s"] = perf_counter() - start
    result["samples"] = samples
    result["setup_while_sampling"] = {"allocations": 0, "plans": 0, "compilations": compilations() - compiled}
    return result


def _warm(time_once, how, result):
    """Executes until the minimum count and time are reached and times no longer fall, or until the time runs out."""
    start, times = perf_counter(), []
    while True:
        spent = perf_counter() - start
        result["steady"] = is_steady(times)
        is_enough = len(times) >= how["executions"] and spent >= how["min_s"] and result["steady"]
        if is_enough or (spent >= how["max_s"] and len(times) >= min(how["executions"], 1)):
            result["warmups"], result["warmup_s"] = len(times), spent
            return
        times.append(seconds(time_once()))
