import mmap
import time
import unittest

import numpy as np

from conversation import FOLDER  # noqa: F401, puts the package on the path
from gpubench_adapter import caches, host, host_clock, sampling
from gpubench_adapter.sampling import is_steady, take


class Sleeper:
    """A job that sleeps and counts its executions."""

    def __init__(self, nap_s, restores=False):
        self.nap_s, self.restores, self.executions, self.resets = nap_s, restores, 0, 0

    def reset(self):
        self.resets += 1

    def execute(self):
        self.executions += 1
        if self.nap_s:
            time.sleep(self.nap_s)


class HostClock(unittest.TestCase):
    def test_short_executions_are_batched_and_long_or_restored_ones_are_not(self):
        short = [Sleeper(0) for _ in range(20)]
        for job in short:
            self.assertGreater(host_clock.back_to_back(job)["host_s"], 0)
        # A busy machine may make one of them long.
        self.assertTrue(any(job.resets == 2 and job.executions > host_clock.BATCH[0] for job in short))
        for nap_s, restores in ((0, True), (1e-3, False)):
            job = Sleeper(nap_s, restores)
            sample = host_clock.back_to_back(job)
            self.assertGreater(sample["host_s"], nap_s)
            self.assertEqual((job.executions, job.resets), (1, 1))

    def test_memory_that_is_touched_for_the_first_time_is_counted(self):
        pages = 64

        class Toucher(Sleeper):
            def execute(self):
                with mmap.mmap(-1, pages << 12) as memory:
                    for page in range(pages):
                        memory[page << 12] = 1

        sample = host_clock.timed(Toucher(0), 4)
        self.assertGreaterEqual(sample["page_faults"]["minor"], pages)
        self.assertGreaterEqual(sample["context_switches"], 0)

    def test_the_adapter_adds_less_than_a_microsecond(self):
        self.assertLess(host_clock.call_s(), 5e-6)
        self.assertLess(host_clock.clock_s(), 1e-6)


class Take(unittest.TestCase):
    def test_falling_times_are_not_steady_and_scattered_or_rising_ones_are(self):
        self.assertFalse(is_steady([2.0 - 0.05 * k for k in range(20)]))
        self.assertTrue(is_steady([1.0 if k % 2 else 1.5 for k in range(20)]))
        self.assertTrue(is_steady([1.0 + 0.05 * k for k in range(20)]))
        self.assertTrue(is_steady([]) and is_steady([3.0, 2.0, 1.0]))

    def test_a_warm_up_lasts_until_count_time_and_steadiness_are_reached(self):
        def batch(executions, min_s, max_s):
            warm_up = {"executions": executions, "min_s": min_s, "max_s": max_s}
            return {"warm_up": warm_up, "samples": 3, "max_s": 10.0}

        def run(batch, times):
            left = iter(times)

            def once():
                time.sleep(1e-4)
                return {"host_s": next(left)}

            return take(once, batch)

        steady = run(batch(4, 0.0, 1.0), [1.0] * 100)
        self.assertEqual((steady["warmups"], len(steady["samples"]), steady["steady"]), (4, 3, True))
        falling = run(batch(10, 0.0, 0.02), [0.97**k for k in range(500)])
        self.assertFalse(falling["steady"])
        self.assertGreaterEqual(falling["warmup_s"], 0.02)
        timed = run(batch(1, 0.02, 1.0), [1.0] * 1000)
        self.assertGreaterEqual(timed["warmup_s"], 0.02)

    def test_no_sample_begins_after_the_time_and_the_first_always_does(self):
        result = take(lambda: time.sleep(0.01) or {"host_s": 0.01}, {"samples": 1000, "max_s": 0.05})
        self.assertTrue(2 <= len(result["samples"]) <= 6)
        self.assertGreaterEqual(result["spent_s"], 0.05)
        self.assertEqual(len(take(lambda: {"host_s": 1.0}, {"samples": 5, "max_s": 0.0})["samples"]), 1)

    def test_compilations_while_sampling_are_counted(self):
        count = iter([3, 5])
        result = take(lambda: {"host_s": 1.0}, {"samples": 1, "max_s": 1.0}, lambda: next(count))
        self.assertEqual(result["setup_while_sampling"]["compilations"], 2)


class Scripted:
    """A job whose time depends on its number of threads, with a clock that its executions advance."""

    def __init__(self, seconds, unusual=(0, 0, 1.0)):
        self.seconds, self.unusual = seconds, unusual
        self.thread_choices, self.threads = sorted(seconds), None
        self.now, self.executions = 0.0, {}

    def set_threads(self, threads):
        self.threads = threads

    def time(self):
        done = self.executions[self.threads] = self.executions.get(self.threads, 0) + 1
        count, until, factor = self.unusual
        factor = factor if self.threads == count and done <= until else 1.0
        self.now += self.seconds[self.threads] * factor
        return {"host_s": self.seconds[self.threads] * factor}

    def chosen(self):
        chosen = sampling.choose(self, self.time, lambda: self.now)
        assert chosen == self.threads
        return chosen, sorted(self.executions)


class Threads(unittest.TestCase):
    def test_choices_double_and_end_with_all(self):
        found = [sampling.up_to(count) for count in (0, 1, 2, 6, 16)]
        self.assertEqual(found, [[1], [1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8, 16]])

    def test_fewer_threads_are_taken_for_a_clear_win_alone(self):
        self.assertEqual(sampling.fastest({1: 0.96, 16: 1.0}), 16)
        self.assertEqual(sampling.fastest({1: 0.95, 16: 1.0}), 1)
        self.assertEqual(sampling.fastest({1: 0.9, 4: 0.5, 8: 0.8, 16: 1.0}), 4)
        self.assertEqual(sampling.fastest({1: float("inf"), 16: 1.0}), 16)

    def test_the_fastest_count_is_in_use_after_the_choice(self):
        self.assertEqual(Scripted({1: 1e-5, 2: 2e-5, 4: 3e-5}).chosen(), (1, [1, 2, 4]))
        self.assertEqual(Scripted({1: 3e-5, 2: 2e-5, 4: 2.05e-5}).chosen(), (4, [1, 2, 4]))

    def test_counts_below_a_hopeless_one_are_not_tried(self):
        self.assertEqual(Scripted({1: 4.0, 2: 2.0, 4: 1.0}).chosen(), (4, [2, 4]))
        self.assertEqual(Scripted({1: 4.0, 2: 2.0, 4: 1.2, 8: 1.0}).chosen(), (8, [4, 8]))
        self.assertEqual(Scripted({4: 1.0}).chosen(), (4, []))

    def test_one_slow_pass_or_lucky_execution_decides_nothing(self):
        slowed = Scripted({2: 2e-3, 4: 1e-3}, (4, 1 + sampling.MIN_EXECUTIONS, 10.0))
        self.assertEqual(slowed.chosen()[0], 4)
        lucky = Scripted({1: 1.2e-3, 4: 1e-3}, (1, 2, 0.1))
        self.assertEqual(lucky.chosen()[0], 4)


class Caches(unittest.TestCase):
    def test_flushed_data_reads_slower_than_hot_data_and_is_unchanged(self):
        # Two megabytes: more than fits in a first-level cache, less than any last level.
        data = np.arange(1 << 18, dtype=np.uint64)
        expected = int(data.sum())

        def least(before):
            times = []
            for _ in range(15):
                before()
                start = time.perf_counter()
                self.assertEqual(int(data.sum()), expected)
                times.append(time.perf_counter() - start)
            return min(times)

        hot = least(lambda: data.sum())
        for flusher in (caches.flusher(), caches.FlushByReading()):
            for count in (1, 2):
                host.use_threads(count)
                cold = least(lambda: flusher.flush([data[1:], data[:3]]))
                self.assertGreater(cold, 1.2 * hot, flusher.method)
            host.use_threads(1)


if __name__ == "__main__":
    unittest.main()
