import statistics
import unittest
import unittest.mock

from conversation import FOLDER  # noqa: F401, puts the package on the path
from gpubench_adapter import device_clock
from gpubench_adapter.device_clock import History, Timer, batch_size

CYCLES_PER_S = 1.5e9
# What two events read beyond the kernel between them, and the gap between queued kernels.
EVENTS_S, GAP_S = 3e-6, 1e-6


class SimulatedTime:
    """The host's time: it passes by waiting and by reading it, so that a busy machine changes nothing."""

    def __init__(self):
        self.now = 0.0

    def read(self):
        self.now += 1e-7
        return self.now

    def wait_until(self, end):
        self.now = max(self.now, end)


host = SimulatedTime()


def setUpModule():
    patch = unittest.mock.patch.object(device_clock, "perf_counter", host.read)
    patch.start()
    unittest.addModuleCleanup(patch.stop)


class Event:
    def __init__(self, stream):
        self.stream, self.at = stream, 0.0

    def record(self):
        self.at = max(self.stream.free_at, host.read())
        self.stream.kernels_since_event = 0


class Stream:
    """A simulated stream: work takes its place on the timeline of the host."""

    def __init__(self):
        self.free_at, self.kernels_since_event, self.longest_block_s = 0.0, 0, 0.0
        # The number of blocks that are still to end early.
        self.failing = 0

    def queue(self, seconds):
        """Queues a kernel. The first one after an event starts late, as on a GPU."""
        late = GAP_S if self.kernels_since_event else EVENTS_S
        self.kernels_since_event += 1
        self.free_at = max(self.free_at, host.read()) + late + seconds

    def spin(self, cycles):
        self.longest_block_s = max(self.longest_block_s, cycles / CYCLES_PER_S)
        self.queue(cycles / CYCLES_PER_S)

    def synchronize(self):
        host.wait_until(self.free_at)

    def event(self):
        return Event(self)

    def is_done(self, event):
        if self.failing > 0:
            self.failing -= 1
            return True
        return host.read() >= event.at

    def elapsed_s(self, start, end):
        return end.at - start.at


class Kernels:
    """A job that queues kernels of known duration, each by a call that takes some time."""

    restores = False

    def __init__(self, stream, seconds, count=1, call_s=0.0, waits=False):
        self.stream, self.seconds, self.count = stream, seconds, count
        self.call_s, self.waits, self.history, self.executions = call_s, waits, None, 0

    def reset(self):
        pass

    def execute(self):
        self.executions += 1
        for _ in range(self.count):
            host.wait_until(host.read() + self.call_s)
            self.stream.queue(self.seconds)
        if self.waits:
            self.stream.synchronize()


class ColdAfterWaiting(Kernels):
    """A job whose call is slow after its caller waited, as code is that has left the processor's caches."""

    last_call = 0.0

    def execute(self):
        is_cold = host.read() - self.last_call > 500e-6
        host.wait_until(host.read() + (400e-6 if is_cold else 40e-6))
        super().execute()
        self.last_call = host.read()


class Clock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stream = Stream()

        def time_host(job):
            start = host.read()
            job.execute()
            queued = host.read()
            cls.stream.synchronize()
            return {"host_s": host.read() - start, "enqueue_s": queued - start}

        cls.timer = Timer(cls.stream, lambda _cache: cls.stream.synchronize(), time_host)

    def median(self, job, cache, samples=21):
        self.timer.time(job, cache)
        taken = [self.timer.time(job, cache) for _ in range(samples)]
        self.assertTrue(all(sample["device_s"] <= sample["events_s"] for sample in taken))
        return statistics.median(sample["device_s"] for sample in taken), taken

    def test_the_overhead_of_the_events_is_found(self):
        self.assertAlmostEqual(self.timer.cycles_per_s / CYCLES_PER_S, 1.0, delta=0.01)
        self.assertAlmostEqual(self.timer.pair_s, EVENTS_S, delta=0.3e-6)
        self.assertTrue(0.0 < self.timer.uncertainty_s < 0.5e-6)
        self.assertAlmostEqual(self.timer.gap_s, GAP_S, delta=0.3e-6)
        for check in self.timer.overhead()["checks"]:
            self.assertAlmostEqual(check["device_s"], check["spun_s"], delta=0.3e-6 + 0.02 * check["spun_s"])

    def test_short_work_is_blocked_and_its_time_has_no_gap_between_launches(self):
        for cache in ("cold", "hot"):
            for seconds, count in ((100e-6, 1), (30e-6, 4)):
                # A call slower than its kernel: without a block the device would wait for it.
                job = Kernels(self.stream, seconds, count, call_s=60e-6)
                found, taken = self.median(job, cache)
                self.assertAlmostEqual(found, count * seconds + (count - 1) * GAP_S, delta=0.6e-6)
                self.assertTrue(all(sample["blocked"] for sample in taken))
                host_s = statistics.median(sample["host_s"] for sample in taken)
                self.assertGreater(host_s, count * 60e-6)

    def test_very_short_work_is_batched_with_hot_caches_alone(self):
        job = Kernels(self.stream, 5e-6)
        found, _ = self.median(job, "hot")
        self.assertAlmostEqual(found, 5e-6, delta=0.3e-6)
        self.assertGreater(job.history.repeats, 20)
        found, _ = self.median(Kernels(self.stream, 5e-6), "cold")
        self.assertAlmostEqual(found, 5e-6, delta=0.6e-6)

    def test_the_host_s_time_with_hot_caches_is_that_of_a_call_in_a_loop(self):
        # The blocks last a multiple of the call's time, so that the wait for a batch makes the next call a slow one.
        job = ColdAfterWaiting(self.stream, 5e-6)
        _, taken = self.median(job, "hot")
        self.assertTrue(all(sample["blocked"] for sample in taken))
        self.assertLess(statistics.median(sample["host_s"] for sample in taken), 100e-6)
        # With cold caches the call is one that follows other work.
        _, taken = self.median(ColdAfterWaiting(self.stream, 600e-6), "cold")
        self.assertGreater(statistics.median(sample["host_s"] for sample in taken), 400e-6)

    def test_work_that_waits_for_the_device_is_found_and_not_blocked(self):
        job = Kernels(self.stream, 300e-6, waits=True)
        found, taken = self.median(job, "hot", 5)
        self.assertEqual(job.history.mode, "both")
        self.assertFalse(any(sample["blocked"] for sample in taken))
        self.assertAlmostEqual(found, 300e-6, delta=10e-6)
        for sample in taken:
            self.assertGreaterEqual(sample["host_s"], sample["device_s"])

    def test_one_unlucky_sample_is_taken_again_and_several_end_the_blocking(self):
        job = Kernels(self.stream, 100e-6)
        self.median(job, "cold", 3)
        self.stream.failing = device_clock.TRIES * (device_clock.FAILED_SAMPLES - 1)
        for _ in range(2):
            sample = self.timer.time(job, "cold")
            self.assertEqual((sample["blocked"], job.history.mode, self.stream.failing), (True, "blocked", 0))
        self.stream.failing = device_clock.TRIES * device_clock.FAILED_SAMPLES
        self.assertFalse(self.timer.time(job, "cold")["blocked"])
        self.assertEqual((job.history.mode, self.stream.failing), ("both", 0))

    def test_a_reading_of_the_overhead_whose_block_ended_early_is_repeated_with_a_longer_one(self):
        self.stream.failing, self.stream.longest_block_s = 3, 0.0
        executions = []

        def work():
            executions.append(0)
            self.stream.queue(10e-6)

        found = self.timer._median(work, 0, 1, "cold", 5)
        self.assertEqual((len(executions), self.stream.failing), (8, 0))
        self.assertAlmostEqual(found, 10e-6 + EVENTS_S, delta=1e-6)
        self.assertAlmostEqual(self.stream.longest_block_s, 16 * device_clock.MIN_BLOCK_S, delta=1e-5)
        # A device that is never blocked ends the search.
        self.stream.failing = 1000
        self.timer._median(work, 0, 1, "cold", 5)
        self.stream.failing = 0

    def test_long_work_is_not_blocked_and_one_execution_serves_both_clocks(self):
        job = Kernels(self.stream, 5e-3)
        for _ in range(4):
            sample = self.timer.time(job, "cold")
        self.assertEqual((job.history.mode, sample["blocked"]), ("both", False))
        before = job.executions
        self.timer.time(job, "cold")
        self.assertEqual(job.executions, before + 1)

    def test_a_block_never_exceeds_its_limit(self):
        self.stream.longest_block_s = 0.0
        job = Kernels(self.stream, 1e-6, count=20, call_s=2e-3, waits=True)
        for _ in range(5):
            self.timer.time(job, "cold")
        self.assertLessEqual(self.stream.longest_block_s, device_clock.MAX_BLOCK_S * 1.01)

    def test_a_slow_first_execution_does_not_settle_the_mode(self):
        history = History()
        history.advance(5.0)
        self.assertEqual(history.mode, "slow")
        history.advance(1e-4)
        self.assertEqual(history.mode, "blocked")
        history = History()
        for _ in range(device_clock.LONG_EXECUTIONS):
            self.assertNotEqual(history.mode, "both")
            history.advance(3e-3)
        self.assertEqual(history.mode, "both")

    def test_batches_last_a_fifth_of_a_millisecond_within_bounds(self):
        self.assertEqual([batch_size(s) for s in (25e-6, 19e-6, 10e-6, 2e-6, 0.0)], [1, 11, 20, 32, 32])


if __name__ == "__main__":
    unittest.main()
