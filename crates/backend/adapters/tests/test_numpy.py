import shlex
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from cells import try_every_variant
from conversation import Conversation
from gpubench_adapter import numpy_backend
from gpubench_adapter.errors import Unavailable
from gpubench_adapter.operands import Case


class NumPy(unittest.TestCase):
    def test_every_variant_is_right_and_writes_its_answer(self):
        try_every_variant(self, "numpy", threads=2)

    def test_the_number_of_threads_is_chosen_given_or_one(self):
        with Conversation("numpy") as adapter:
            self.assertEqual(adapter.hello(threads=2)["description"]["threads"], 2)
            self.assertIn(adapter.prepare("matmul", "matmul", 64)["threads"], (1, 2))
            for threads in (1, 2):
                given = adapter.prepare("matmul", "out", 64, threads=threads)
                self.assertEqual(given["threads"], threads)
                self.assertEqual(given["phases"]["threads_s"], 0.0)
            self.assertEqual(adapter.prepare("sin", "out", 64)["threads"], 1)

    def test_complex64_is_refused_where_numpy_transforms_it_in_complex128(self):
        case = Case({"op": "fft", "n": 4, "dtype": "c64", "seed": 1})
        with mock.patch.object(np.fft, "fft", lambda a: a.astype(np.complex128)):
            with self.assertRaisesRegex(Unavailable, "computes in complex128"):
                numpy_backend._numpy_fft(None, case, [])

    def test_without_scipy_its_cells_are_skipped_with_the_line_that_installs_it(self):
        with tempfile.TemporaryDirectory() as folder:
            hidden = Path(folder) / "scipy"
            hidden.mkdir()
            (hidden / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'scipy'\", name='scipy')")
            with Conversation("numpy", PYTHONPATH=folder) as adapter:
                problems = [finding["problem"] for finding in adapter.ask("doctor", options={})["findings"]]
                self.assertEqual(problems, [None, "Python has no package scipy"])
                self.assertNotIn("scipy", adapter.hello()["description"]["versions"])
                for op, variant in (("fft", "scipy-fft2"), ("solve", "posv"), ("spgemm", "scipy-csr"), ("svd", "gesvd")):
                    skipped = adapter.prepare(op, variant, 8, density=0.5)
                    self.assertEqual((skipped["type"], skipped["crowded"]), ("skipped", False))
                    self.assertEqual(skipped["fix"], shlex.quote(sys.executable) + " -m pip install numpy scipy")
                self.assertEqual(adapter.prepare("fft", "numpy-fft2", 8)["type"], "answered")


if __name__ == "__main__":
    unittest.main()
