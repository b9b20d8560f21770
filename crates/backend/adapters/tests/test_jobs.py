"""Tries what a job and a session do around the timed call, with NumPy and with stand-ins for a library."""

import os
import tempfile
import unittest

import numpy as np

from conversation import FOLDER  # noqa: F401, puts the package on the path
from gpubench_adapter import own_op
from gpubench_adapter.accelerator import Accelerator
from gpubench_adapter.backend import Backend
from gpubench_adapter.errors import OutOfMemory
from gpubench_adapter.job import Job
from gpubench_adapter.own_job import Inputs, OwnJob
from gpubench_adapter.session import Session
from gpubench_adapter.storage import Storage
from gpubench_adapter.worker import Worker

ONES = np.ones((2, 2))


class Library(Backend):
    """A library whose mode is kept for the whole process, and whose results are all in one block of memory."""

    def __init__(self):
        super().__init__("numpy", {"threads": 1})
        self.storage, self.mode, self.pool, self.is_full = Storage(), "default", np.zeros((2, 2)), False

    def findings(self):
        return []

    def versions(self):
        return {}

    def set_defaults(self):
        self.mode = "default"

    def product(self, a, b):
        if self.is_full:
            raise OutOfMemory("memory is short")
        self.pool[:] = a @ b + (1.0 if self.mode == "fast" else 0.0)
        return self.pool

    def job(self, operands):
        job = Job(self.storage, operands, self.product)
        job.copy_result = np.copy
        return job


def _fast(backend, case, operands):
    job = backend.job(operands)

    def activate():
        backend.mode = "fast"

    job.activate = activate
    return job


Library.JOBS = {
    ("matmul", "matmul"): lambda backend, case, operands: backend.job(operands),
    ("matmul", "out"): _fast,
}


class Jobs(unittest.TestCase):
    def test_a_call_that_writes_nothing_cannot_pass_with_the_old_values(self):
        kept = ONES.copy()
        job = Job(Storage(), [ONES], lambda a: kept)
        job.execute()
        job.execute_erased()
        self.assertTrue(np.isnan(job.answer()[0]).all())

    def test_results_without_a_nan_are_not_erased(self):
        storage, whole, fixed = Storage(), np.arange(3), ONES.copy()
        fixed.flags.writeable = False
        for part in (whole, fixed, np.float64(2.0), 3.0):
            storage.erase_result(part)
        self.assertEqual((whole.tolist(), fixed.tolist()), ([0, 1, 2], [[1.0, 1.0], [1.0, 1.0]]))
        mixed = np.ones(2, np.complex64)
        storage.erase_result(mixed)
        self.assertTrue(np.isnan(mixed).all())

    def test_a_result_in_shared_memory_is_erased_there(self):
        pool, is_broken = ONES.copy(), []

        def call(a):
            if not is_broken:
                pool[:] = a
            return pool

        job = Job(Storage(), [ONES], call)
        job.copy_result = np.copy
        job.execute()
        job.keep_result()
        self.assertIsNot(job.result, pool)
        job.execute_erased()
        np.testing.assert_array_equal(job.answer()[0], ONES)
        is_broken.append(True)
        job.execute_erased()
        self.assertTrue(np.isnan(job.answer()[0]).all())


class Sessions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "answer")
        self.library = Library()
        self.session = Session(self.library)

    def prepare(self, job, variant, seed):
        case = {"op": "matmul", "n": 2, "dtype": "f64", "seed": seed}
        cell = {"case": case, "variant": variant, "cache": "hot"}
        self.session.prepare({"job": job, "cell": cell, "answer": self.path}, lambda phase: None)
        return self.answer()

    def answer(self):
        return np.fromfile(self.path).reshape(2, 2)

    def measure(self, job):
        return self.session.measure({"job": job, "batch": {"samples": 2, "max_s": 1.0}}, lambda phase: None)

    def verify(self, job, **more):
        self.session.verify(dict(more, job=job, answer=self.path), lambda phase: None)
        return self.answer()

    def test_the_timed_answer_is_intact_after_another_job_has_used_its_memory(self):
        first, second = self.prepare(0, "matmul", 1), self.prepare(1, "matmul", 2)
        self.assertFalse(np.array_equal(first, second))
        np.testing.assert_array_equal(self.verify(0), first)
        for job in (0, 1):
            self.measure(job)
        for job, expected in ((0, first), (1, second), (0, first)):
            np.testing.assert_array_equal(self.verify(job), expected)

    def test_a_mode_ends_with_the_requests_about_its_job(self):
        plain = self.prepare(0, "matmul", 1)
        fast = self.prepare(1, "out", 1)
        np.testing.assert_allclose(fast, plain + 1.0)
        np.testing.assert_array_equal(self.prepare(2, "matmul", 1), plain)
        for job, expected in ((1, fast), (0, plain), (1, fast), (2, plain)):
            self.measure(job)
            np.testing.assert_array_equal(self.verify(job), expected)
            np.testing.assert_array_equal(self.verify(job, execute=True), expected)

    def test_short_memory_skips_the_cell_and_only_a_preparation_is_crowded(self):
        worker = Worker("numpy", None)
        worker.session = self.session
        self.prepare(0, "matmul", 1)
        self.library.is_full = True
        for kind, is_crowded in (("prepare", True), ("measure", False), ("verify", False)):
            reply = worker.failure(kind, OutOfMemory("memory is short"))
            self.assertEqual((reply["type"], reply["crowded"]), ("skipped", is_crowded), kind)
        with self.assertRaises(OutOfMemory):
            self.measure(0)


class Copied(Library):
    """A library whose memory is another one, of which only the CPU is there."""

    memory, timed_copy, copies = "pageable", Accelerator.timed_copy, Accelerator.copies

    def wait(self, _arrays):
        pass


class Copies(unittest.TestCase):
    def test_inputs_of_the_users_own_are_copied_like_those_of_a_built_in_op(self):
        op = own_op.Op("scaled", [4])
        op.inputs(lambda n, rng: (rng.random((n, n)), 2.0, np.arange(n)))
        op.variant("numpy")(lambda a, factor, shift: a * factor + shift)
        backend, inputs = Copied(), Inputs(op, 4, 42, None)
        job = OwnJob(backend.storage, op, op.variants[0], inputs)
        job.execute()
        phases = backend.copies(job, inputs)
        self.assertEqual((phases["upload"]["bytes"], phases["download"]["bytes"]), (8 * 16 + 8 * 4, 8 * 16))


if __name__ == "__main__":
    unittest.main()
