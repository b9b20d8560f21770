"""Takes samples by both clocks of a GPU, the same way as gpubench's own CUDA backend (crates/cuda/src/timing).

A `rig` gives access to the library's current stream: `synchronize()`, `event()` with `record()`, `is_done(event)`,
`elapsed_s(start, end)`, and `spin(cycles)`, which queues a kernel that spins for that many cycles of the device.
"""

import math
import statistics
from time import perf_counter

# Seconds from which one execution serves both clocks: a launch gap of some microseconds is below 0.3 %.
LONG_S = 2e-3
# Seconds that loading code at a first launch cannot explain.
VERY_LONG_S = 10 * LONG_S
# Consecutive long executions before a job counts as long.
LONG_EXECUTIONS = 3
# Hot executions shorter than this are repeated within one pair of events, for about BATCH_S.
MAX_BATCHED_S, BATCH_S, BATCH = 20e-6, 200e-6, (2, 32)
# Executions that estimate the size of a batch.
ESTIMATES = 5
# Executions with hot caches of which the host's clock reads the last: after the wait for a blocked batch the first call can
# take ten times as long, and the second a third longer, than the calls of a loop.
HOST_EXECUTIONS = 4
# Limits of the time that the stream is blocked, its length per second of queueing, and the tries per sample.
MIN_BLOCK_S, MAX_BLOCK_S, BLOCK_PER_QUEUEING, TRIES = 50e-6, 50e-3, 1.5, 3
# Consecutive samples whose blocks all ended early, before a job that was blocked before counts as one that cannot be.
FAILED_SAMPLES = 3
# A corrected reading keeps at least this share of the raw one.
MIN_SHARE = 0.1
# Spins that bring an idle device to its working clock, and cycles of the two that measure the clock.
WARM_UP, WARM_UP_CYCLES, RATE_CYCLES = 10, 20_000_000, (1_000_000, 20_000_000)
# Spins that measure what events add, with readings per spin; and the batch that measures the gap between executions.
EVENT_PAIR_S, EVENT_PAIR_READINGS, READINGS = (3e-6, 10e-6, 30e-6), 40, 20
GAP_S, GAP_SPINS = 5e-6, 16
# Standard deviation of what events add between processes on one GPU, as in crates/cuda/src/timing/timer_overhead.rs.
BETWEEN_PROCESSES_S = 0.07e-6
# Seconds of the spins that check the clock, with the number of samples.
CHECKS = ((5e-6, 20), (20e-6, 20), (100e-6, 20), (1e-3, 5))


class History:
    """What the samples of a job have shown: `new`, `slow`, `blocked` or `both` clocks from one execution."""

    def __init__(self):
        self.mode, self.slow, self.repeats, self.block_s = "new", 0, None, MIN_BLOCK_S
        self.was_blocked, self.failures = False, 0

    def blocking_ended(self, has_worked):
        """Notes whether a sample could be blocked. A job that waits for the device fails in the first one; later ones may
        fail because the host was busy."""
        self.failures = 0 if has_worked else self.failures + 1
        self.was_blocked |= has_worked
        if self.failures >= (FAILED_SAMPLES if self.was_blocked else 1):
            self.mode = "both"

    def advance(self, events_s):
        """Chooses the mode after an execution by both clocks."""
        if events_s < LONG_S:
            self.mode = "blocked"
        elif self.slow > 0 and (events_s >= VERY_LONG_S or self.slow + 1 >= LONG_EXECUTIONS):
            self.mode = "both"
        else:
            self.mode, self.slow = "slow", self.slow + 1


def batch_size(estimate_s):
    """Returns the number of executions in a hot sample of a job that takes `estimate_s`."""
    if estimate_s >= MAX_BATCHED_S:
        return 1
    wanted = -(-BATCH_S // estimate_s) if estimate_s > 0 else BATCH[1]
    return int(min(max(wanted, BATCH[0]), BATCH[1]))


class Timer:
    """Samples jobs by events on the library's stream. `bring_caches` and `time_host` are those of the backend."""

    def __init__(self, rig, bring_caches, time_host):
        self.rig, self.bring_caches, self.time_host = rig, bring_caches, time_host
        self.gate, self.start, self.end = rig.event(), rig.event(), rig.event()
        self.pair_s, self.gap_s, self.uncertainty_s = 0.0, 0.0, 0.0
        for _ in range(WARM_UP):
            rig.spin(WARM_UP_CYCLES)
        rig.synchronize()
        self.cycles_per_s = self._rate()
        self.pair_s, self.uncertainty_s = self._event_pair_s()
        self.gap_s = self._gap_s()

    def time(self, job, cache):
        """Takes one sample. The first sample of a job is one execution by both clocks."""
        job.history = history = job.history or History()
        while history.mode in ("new", "slow"):
            is_new = history.mode == "new"
            sample = self.both(job, cache)
            history.advance(sample["events_s"])
            if is_new or history.mode == "both":
                return sample
        while history.mode == "blocked":
            sample = self._separately(job, cache, history)
            history.blocking_ended(sample is not None)
            if sample is not None:
                return sample
        return self.both(job, cache)

    def both(self, job, cache):
        """Takes a sample of one execution by both clocks, without blocking the stream."""
        job.reset()
        self.bring_caches(cache)
        self.start.record()
        begun = perf_counter()
        job.execute()
        queued = perf_counter()
        self.end.record()
        self.rig.synchronize()
        sample = {"host_s": perf_counter() - begun, "enqueue_s": queued - begun, "blocked": False}
        return self._with_device(sample, self.rig.elapsed_s(self.start, self.end), 1)

    def _separately(self, job, cache, history):
        """Takes the host's time of one execution, then the device's of a blocked batch; `None` if blocking fails."""
        follows = cache == "hot" and not job.restores
        job.reset()
        self.bring_caches(cache)
        readings = [self.time_host(job) for _ in range(HOST_EXECUTIONS if follows else 1)]
        sample = dict(readings[-1], blocked=True)
        if history.repeats is None:
            history.repeats = self._batch_size(job, sample, history) if follows else 1
            if history.repeats is None:
                return None
        events_s = self._blocked(job, cache, history, int(follows), history.repeats, sample["enqueue_s"])
        return None if events_s is None else self._with_device(sample, events_s, history.repeats)

    def _batch_size(self, job, sample, history):
        estimates = []
        for _ in range(ESTIMATES):
            events_s = self._blocked(job, "hot", history, 1, 1, sample["enqueue_s"])
            if events_s is None:
                return None
            estimates.append(self._corrected(events_s, 1))
        return batch_size(statistics.median(estimates))

    def _blocked(self, job, cache, history, lead_in, repeats, enqueue_s):
        """Returns the events' seconds around blocked executions; `None` if the block always ended before all was queued."""
        block_s = max(history.block_s, BLOCK_PER_QUEUEING * (lead_in + repeats) * enqueue_s)
        for _ in range(TRIES):
            block_s = min(block_s, MAX_BLOCK_S)
            job.reset()
            self.bring_caches(cache)
            events_s, was_blocked = self._read(job.execute, lead_in, repeats, block_s)
            if was_blocked:
                return events_s
            block_s *= 2
            history.block_s = min(block_s, MAX_BLOCK_S)
        return None

    def _read(self, work, lead_in, repeats, block_s):
        """Blocks the idle stream, queues work between the events, and returns their seconds and whether it was blocked."""
        self.rig.spin(int(block_s * self.cycles_per_s))
        self.gate.record()
        for _ in range(lead_in):
            work()
        self.start.record()
        for _ in range(repeats):
            work()
        self.end.record()
        was_blocked = not self.rig.is_done(self.gate)
        self.rig.synchronize()
        return self.rig.elapsed_s(self.start, self.end), was_blocked

    def _corrected(self, events_s, repeats):
        corrected = (events_s - self.pair_s - (repeats - 1) * self.gap_s) / repeats
        return max(corrected, MIN_SHARE * events_s / repeats)

    def _with_device(self, sample, events_s, repeats):
        sample["events_s"] = events_s / repeats
        sample["device_s"] = self._corrected(events_s, repeats)
        return sample

    def _spin(self, seconds):
        cycles = int(seconds * self.cycles_per_s)
        return lambda: self.rig.spin(cycles)

    def _median(self, work, lead_in, repeats, cache="hot", readings=READINGS):
        """Returns the median seconds of the events around blocked work that is no job."""
        found, block_s = [], 2 * MIN_BLOCK_S
        while len(found) < readings:
            self.bring_caches(cache)
            events_s, was_blocked = self._read(work, lead_in, repeats, block_s)
            if was_blocked or block_s >= MAX_BLOCK_S:
                found.append(events_s)
            else:
                # The reading has gaps between launches in it.
                block_s = min(2 * block_s, MAX_BLOCK_S)
        return statistics.median(found)

    def _rate(self):
        """Returns the cycles that the device counts per second: two spins, so that what events add cancels out."""
        self.cycles_per_s = 1.0
        seconds = []
        for cycles in RATE_CYCLES:
            readings = [self._read(lambda: self.rig.spin(cycles), 0, 1, 0.0)[0] for _ in range(5)]
            seconds.append(statistics.median(readings))
        return (RATE_CYCLES[1] - RATE_CYCLES[0]) / (seconds[1] - seconds[0])

    def _event_pair_s(self):
        """Returns the seconds that two events read beyond the duration of the spin between them, and their uncertainty."""
        excess = []
        for cache in ("cold", "hot"):
            for seconds in EVENT_PAIR_S:
                read = self._median(self._spin(seconds), int(cache == "hot"), 1, cache, EVENT_PAIR_READINGS)
                excess.append(read - seconds)
        spread_s = (max(excess) - min(excess)) / 2
        return max(0.0, statistics.median(excess)), math.hypot(spread_s, BETWEEN_PROCESSES_S)

    def _gap_s(self):
        """Returns the seconds from the end of one kernel to the start of the next when both are queued."""
        read = self._median(self._spin(GAP_S), 1, GAP_SPINS)
        return max(0.0, (read - self.pair_s - GAP_SPINS * GAP_S) / (GAP_SPINS - 1))

    def overhead(self):
        """Returns the overhead of the clocks, for the report."""
        launches = []
        for _ in range(READINGS):
            self.rig.synchronize()
            begun = perf_counter()
            self.rig.spin(0)
            self.rig.synchronize()
            launches.append(perf_counter() - begun)
        return {
            "clock_s": self._median(lambda: None, 0, 0),
            "empty_kernel_s": self._median(lambda: self.rig.spin(0), 1, 1),
            "launch_sync_s": statistics.median(launches),
            "event_constant_s": self.pair_s,
            "event_uncertainty_s": self.uncertainty_s,
            "checks": [self._check(*check) for check in CHECKS],
        }

    def _check(self, seconds, readings):
        """Returns a check of the clock: a spin of known cycles, read as a cold sample is."""
        events_s = self._median(self._spin(seconds), 0, 1, "cold", readings)
        return {"spun_s": seconds, "events_s": events_s, "device_s": self._corrected(events_s, 1)}
