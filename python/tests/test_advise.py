import json
import os
import tempfile
import unittest

import checkout  # noqa: F401  finds the package

import gpubench

CALLS = {
    "calls_version": 1, "gpubench_version": "0", "program": ["p"], "started": "", "elapsed_s": 0.1, "ended": "exit code 0",
    "cpu": "another", "logical_cpus": 1, "processes": 1, "threads": 1, "overhead_s": 0.0,
    "calls": [
        {"routine": "gemm", "dtype": "f32", "m": 300, "n": 300, "k": 300, "flags": "NN", "row_major": True, "count": 10,
         "total_s": 0.06, "least_s": 0.006, "median_s": 0.006, "longest_s": 0.006},
        {"routine": "gesv", "dtype": "f64", "n": 100, "rhs": 1, "count": 1, "total_s": 0.005, "least_s": 0.005, "median_s": 0.005,
         "longest_s": 0.005},
    ],
}  # fmt: skip
SCRIPT = "seed = 1\nvariant = [{ name = 'host', side = 'cpu' }, { name = 'accelerator', side = 'gpu' }]\n"
OPTIONS = ["--backends", "sim", "--sim", "script.toml", "--variants", "*", "--samples", "3", "--rounds", "2", "--no-peaks"]


class Advising(unittest.TestCase):
    def test_advice_has_a_row_per_kind_of_call_and_the_program_s_times(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            self.addCleanup(os.chdir, before)
            with open("calls.json", "w") as file:
                json.dump(CALLS, file)
            with open("script.toml", "w") as file:
                file.write(SCRIPT)
            advice = gpubench.advise("calls.json", "--", *OPTIONS, quiet=True)
            product, system = advice.rows
            self.assertEqual((product["routine"], product["m"], product["count"]), ("gemm", 300, 10))
            self.assertAlmostEqual(product["now_s"], 0.006)
            self.assertLess(product["gpu_s"], product["gpu_copies_s"])
            self.assertEqual((system["verdict"], system["gpu_s"]), ("unknown", None))
            self.assertLessEqual(advice.totals["without_copies_s"]["value"], advice.totals["with_copies_s"]["value"])
            self.assertIn("sgemm NN", repr(advice))
            with self.assertRaisesRegex(gpubench.RunError, "there is no absent.json"):
                gpubench.advise("absent.json")
            os.chdir(before)


if __name__ == "__main__":
    unittest.main()
