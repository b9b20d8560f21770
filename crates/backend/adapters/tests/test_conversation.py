import json
import subprocess
import shlex
import sys
import time
import unittest

import numpy as np

from conversation import Conversation, DTYPES, PACKAGE
from gpubench_adapter.operands import OPERANDS
from gpubench_adapter.registry import ADAPTERS
from plain import SHAPES


class Describing(unittest.TestCase):
    def test_every_adapter_describes_itself_without_a_library(self):
        # Without site-packages there is no library to import.
        for name in ADAPTERS:
            with Conversation(name, (sys.executable, "-I", "-S")) as adapter:
                described = adapter.ask("describe")
                self.assertEqual(described["type"], "described")
                names = [(variant["op"], variant["name"]) for variant in described["variants"]]
                self.assertEqual(len(names), len(set(names)))
                for variant in described["variants"]:
                    self.assertIn(variant["op"], OPERANDS)
                    self.assertRegex(variant["name"], "^[a-z][a-z0-9-]*$")
                    self.assertIn(variant["accuracy"], ("ieee", "tf32"))
                    self.assertEqual(variant["side"], "cpu" if name in ("numpy", "torch-cpu", "jax-cpu") else "gpu")
                    self.assertTrue(variant["summary"] and "\n" not in variant["summary"])
                    self.assertTrue(set(variant["dtypes"]) <= set(DTYPES) and variant["dtypes"])
                    self.assertFalse(variant["accuracy"] != "ieee" and variant["default"])

    def test_without_numpy_the_reply_names_the_line_that_installs_it(self):
        for name, adapter in ADAPTERS.items():
            with Conversation(name, (sys.executable, "-I", "-S")) as conversation:
                reply = conversation.hello()
                install = f"{shlex.quote(sys.executable)} -m {adapter.install}"
                self.assertEqual((reply["type"], reply["fix"]), ("unavailable", install))
                self.assertIn("Python has no package", reply["reason"])
                findings = conversation.ask("doctor", options={})["findings"]
                self.assertEqual([finding["fix"] for finding in findings], [install])


class Rules(unittest.TestCase):
    def test_lines_that_are_no_requests_fail_and_the_next_one_is_answered(self):
        with Conversation("numpy") as adapter:
            for line in ("nonsense", "[1]", '{"type":3}', '{"type":"dance"}', "", "\udcff".encode("utf-8", "replace").decode()):
                adapter.send_line(line)
                self.assertEqual(adapter.reply()["type"], "failed")
            self.assertIn("send hello first", adapter.ask("measure", job=0, batch={})["reason"])
            self.assertEqual(adapter.ask("hello", protocol=99, options={})["type"], "unavailable")
            self.assertEqual(adapter.hello()["type"], "ready")
            self.assertEqual(adapter.measure(job=5)["type"], "failed")
            self.assertEqual(adapter.ask("peaks"), {"type": "peaks"})
            self.assertEqual(adapter.ask("rest"), {"type": "rested"})
            self.assertEqual(adapter.ask("release", job=5), {"type": "released"})

    def test_unknown_cells_fail_and_too_large_ones_are_crowded(self):
        with Conversation("numpy") as adapter:
            adapter.hello()
            self.assertEqual(adapter.prepare("matmul", "dance", 8)["type"], "failed")
            self.assertEqual(adapter.prepare("dance", "matmul", 8)["type"], "failed")
            crowded = adapter.prepare("matmul", "matmul", 10_000_000)
            self.assertEqual((crowded["type"], crowded["crowded"]), ("skipped", True))
            self.assertIn("GiB", crowded["reason"])
            stored = adapter.prepare("spmv", "scipy-csr", 1_000_000, density=0.5)
            self.assertEqual((stored["type"], stored["crowded"]), ("skipped", False))
            self.assertEqual(adapter.prepare("matmul", "matmul", 8)["type"], "answered")

    def test_shapes_that_a_variant_lacks_are_skipped_with_the_reason(self):
        with Conversation("numpy") as adapter:
            described = adapter.ask("describe")["variants"]
            shaped = {variant["op"] for variant in described if variant.get("shapes") == "any"}
            self.assertEqual(shaped, set(SHAPES))
            adapter.hello()
            for op, variant, shape, reason in (
                ("sin", "out", {"rows": 3, "cols": 4}, "square"),
                ("solve", "posv", {"n": 4, "batch": 2}, "no batch"),
            ):
                skipped = adapter.prepare(op, variant, 8, shape=shape)
                self.assertEqual((skipped["type"], skipped["crowded"]), ("skipped", False))
                self.assertIn(reason, skipped["reason"])
            self.assertEqual(adapter.prepare("solve", "posv", 8, shape={"n": 4, "rhs": 2})["type"], "answered")

    def test_several_jobs_are_held_and_a_second_of_a_number_replaces_the_first(self):
        with Conversation("numpy") as adapter:
            adapter.hello()
            first = adapter.answer(adapter.prepare("sin", "out", 16, job=0))[0]
            second = adapter.answer(adapter.prepare("sin", "out", 16, job=1, seed=7))[0]
            self.assertFalse(np.array_equal(first, second))
            for job, expected in ((0, first), (1, second), (0, first)):
                adapter.measure(job=job)
                np.testing.assert_array_equal(adapter.answer(adapter.verify(job=job))[0], expected)
            third = adapter.answer(adapter.prepare("sin", "out", 16, job=1, seed=8))[0]
            np.testing.assert_array_equal(adapter.answer(adapter.verify(job=1))[0], third)

    def test_the_process_ends_with_its_input_even_during_a_computation(self):
        adapter = Conversation("numpy")
        adapter.hello()
        adapter.prepare("svd", "gesvd", 600)
        adapter.send_line(json.dumps({"type": "measure", "job": 0, "batch": {"samples": 10**6, "max_s": 600.0}}))
        time.sleep(0.3)
        start = time.monotonic()
        self.assertEqual(adapter.close(), 0)
        self.assertLess(time.monotonic() - start, 10)

    def test_exit_ends_the_process(self):
        adapter = Conversation("numpy")
        adapter.send_line('{"type":"exit"}')
        self.assertEqual(adapter.process.wait(20), 0)
        adapter.close()

    def test_what_a_library_prints_stays_out_of_the_replies(self):
        program = "import os; from gpubench_adapter import worker; replies = worker.Replies(); print('printed'); "
        program += "os.system('echo hello'); os.write(1, b'raw'); replies.phase('inputs')"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=PACKAGE.parent, check=True)
        self.assertEqual(done.stdout, b'{"type":"phase","phase":"inputs"}\n')
        self.assertIn(b"raw", done.stderr)

    def test_a_traceback_quotes_the_source(self):
        with Conversation("numpy", errors=subprocess.PIPE) as adapter:
            adapter.ask("hello", protocol=5, options=[1])
            adapter.process.stdin.close()
            self.assertIn(b"return getattr(self, kind)(request)", adapter.process.stderr.read())


if __name__ == "__main__":
    unittest.main()
