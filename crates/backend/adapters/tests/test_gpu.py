"""Tries the adapters of GPUs. Each test skips where the library or its device is missing."""

import unittest

from cells import try_every_variant
from conversation import FOLDER, Conversation


def is_ready(name):
    """Returns whether an adapter starts on this machine."""
    with Conversation(name) as adapter:
        return adapter.hello()["type"] == "ready"


class Gpus(unittest.TestCase):
    def adapter(self, name):
        if not is_ready(name):
            self.skipTest("the adapter %s does not start here" % name)

    def test_every_variant_of_cupy(self):
        self.adapter("cupy")
        try_every_variant(self, "cupy")

    def test_every_variant_of_pytorch(self):
        self.adapter("torch")
        compiled = [(op, name) for op in ("elementwise", "reduction") for name in ("compile", "compile-reduce-overhead")]
        # torch.compile needs a C compiler.
        try_every_variant(self, "torch", may_skip=compiled)

    def test_every_variant_of_jax(self):
        self.adapter("jax")
        try_every_variant(self, "jax", may_skip=[("svd", "qr"), ("svd", "jacobi"), ("svd", "polar")])

    def test_operations_of_the_users_own_run_on_every_library(self):
        file = str(FOLDER / "builtin_ops.py")
        for name in ("cupy", "torch"):
            with self.subTest(name=name):
                self.adapter(name)
                with Conversation("ops") as judge, Conversation(name) as adapter:
                    described = judge.ask("describe-ops", files=[file], sizes=[64])
                    self.assertEqual(adapter.hello(files=[file])["type"], "ready")
                    for op in described["ops"]:
                        for variant in [one for one in op["variants"] if one["backend"] == name]:
                            prepared = adapter.prepare(op["name"], variant["name"], 64, "f64")
                            self.assertEqual(prepared["type"], "answered", prepared)
                            self.assertGreater(prepared["phases"]["pinned"]["upload"]["bytes"], 0)

    def test_a_gpu_sample_has_both_clocks_and_a_cell_its_copies(self):
        for name in ("cupy", "torch"):
            with self.subTest(name=name):
                self.adapter(name)
                with Conversation(name) as adapter:
                    ready = adapter.hello()
                    self.assertTrue(ready["description"]["name"] and ready["description"]["driver_version"])
                    for check in ready["timer_overhead"]["checks"]:
                        self.assertAlmostEqual(check["device_s"], check["spun_s"], delta=0.5e-6 + 0.03 * check["spun_s"])
                    prepared = adapter.prepare("sin", "out", 2048, "f32", "cold")
                    for phases in (prepared["phases"], prepared["phases"]["pinned"]):
                        for copies in (phases["upload"], phases["download"]):
                            self.assertEqual(copies["bytes"], 4 * 2048**2)
                            self.assertGreaterEqual(len(copies["host_s"]), 3)
                            self.assertEqual(len(copies["device_s"]), len(copies["host_s"]))
                            for host_s, device_s in zip(copies["host_s"], copies["device_s"]):
                                self.assertTrue(0 < device_s < host_s)
                    measured = adapter.measure(samples=10, warm_up={"executions": 2, "min_s": 0.05, "max_s": 0.5})
                    self.assertEqual(measured["clock"], "device-events")
                    for sample in measured["result"]["samples"]:
                        self.assertTrue(sample["blocked"])
                        self.assertTrue(0 < sample["device_s"] < sample["host_s"])


if __name__ == "__main__":
    unittest.main()
