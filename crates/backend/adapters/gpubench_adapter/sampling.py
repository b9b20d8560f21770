"""Warms a job up, takes a batch of samples, and chooses the fastest number of threads: the rules of
crates/backend/src/take.rs and crates/run/src/worker/threads.rs.
"""

import math
import statistics
from time import perf_counter

# Maximum number of warm-up times that are compared, and the gain of their later half up to which they are steady.
WINDOW = 256
STEADY_TOLERANCE = 0.02
# Minimum gain of fewer threads over all of them; less may be chance.
CLEAR_WIN = 0.05
# Multiple of a pass's best time above which the pass tries no smaller counts.
HOPELESS = 1.5
# Minimum passes before fewer threads than all are chosen, and maximum passes while no count leads by CLEAR_LEAD.
MIN_PASSES, MAX_PASSES = 2, 6
CLEAR_LEAD = 0.2
# Executions of a count in a pass: the minimum, and the maximum while they take less than PASS_S in total.
MIN_EXECUTIONS, MAX_EXECUTIONS = 3, 15
PASS_S = 2e-3
# Seconds from which the first execution with a count is its time in the pass.
LONG_S = 0.01
# Seconds of trials after which a pass is the last.
MAX_TRIALS_S = 0.1


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


def up_to(threads):
    """Returns 1, 2, 4, ..., and `threads` last."""
    doubling = []
    while (1 << len(doubling)) < threads:
        doubling.append(1 << len(doubling))
    return doubling + [max(threads, 1)]


def fastest(trials):
    """Returns the best count of a dictionary from counts to seconds: the largest, unless another one clearly wins."""
    largest = max(trials)
    limit = (1.0 - CLEAR_WIN) * trials[largest]
    fewer = [count for count in trials if count < largest and trials[count] <= limit]
    return min(fewer, key=trials.get) if fewer else largest


def is_decided(trials, passes):
    """Returns whether one count is so far ahead that more passes would not change the choice."""
    chosen = fastest(trials)
    others = [count for count in trials if count != chosen]
    has_lead = all(trials[count] >= (1.0 + CLEAR_LEAD) * trials[chosen] for count in others)
    return (chosen == max(trials) or passes >= MIN_PASSES) and has_lead


def choose(job, time_once, clock=perf_counter):
    """Times the job's numbers of threads, sets the fastest, and returns it."""
    trials = {count: math.inf for count in reversed(job.thread_choices)}
    if len(trials) > 1:
        start = clock()
        for passes in range(1, MAX_PASSES + 1):
            _pass(job, time_once, clock, trials)
            if is_decided(trials, passes) or clock() - start > MAX_TRIALS_S:
                break
    chosen = fastest(trials)
    job.set_threads(chosen)
    return chosen


def _pass(job, time_once, clock, trials):
    """Times each count, in descending order, and skips the counts below a hopeless one."""
    best, start = math.inf, clock()
    for count in trials:
        job.set_threads(count)
        # The first execution may start threads.
        first = seconds(time_once())
        time = first if first > LONG_S else _median_of_some(time_once)
        trials[count] = min(trials[count], time)
        limit = 1.0 if clock() - start > MAX_TRIALS_S else HOPELESS
        if time > limit * best:
            break
        best = min(best, time)


def _median_of_some(time_once):
    times = []
    while len(times) < MIN_EXECUTIONS or (len(times) < MAX_EXECUTIONS and sum(times) <= PASS_S):
        times.append(seconds(time_once()))
    return statistics.median(times)
