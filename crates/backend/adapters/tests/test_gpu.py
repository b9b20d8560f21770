"""Tries the adapters of GPUs. Each test skips where the library or its device is missing."""

import contextlib
import importlib.util
import subprocess
import sys
import unittest

from cells import try_every_variant
from conversation import Conversation
from gpubench_adapter.registry import ADAPTERS


# Operands and product in float64 take 1.5 GB, more than the memory that HOLD_MEMORY leaves.
N_ABOVE_FREE = 8000
# Takes all but 1 GiB of the first GPU's memory, in blocks, until standard input ends.
HOLD_MEMORY = """
import ctypes, sys

cuda = ctypes.CDLL("libcuda.so.1")

def check(code):
    if code:
        sys.exit("CUDA error %d" % code)

context, free, total, block = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
size = 4 << 30
while size >= 64 << 20:
    check(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
    if free.value < (1 << 30) + size or cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(size)):
        size //= 2
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def memory_held():
    """Has another process hold all but about 1 GiB of the first GPU's memory."""
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", HOLD_MEMORY], **pipes) as process:
        try:
            assert process.stdout.readline() == b"held\n", "the memory cannot be held"
            yield
        finally:
            process.stdin.close()
            process.wait(60)


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

    def test_jax_has_the_hosts_clock_alone(self):
        self.adapter("jax")
        with Conversation("jax") as adapter:
            adapter.hello()
            adapter.prepare("matmul", "jit", 512, "f32")
            measured = adapter.measure()
            self.assertEqual(measured["clock"], "host")
            self.assertTrue(all("device_s" not in sample for sample in measured["result"]["samples"]))

    def test_a_cell_is_crowded_while_another_process_holds_the_memory_and_runs_afterwards(self):
        for name in ("cupy", "torch", "jax"):
            with self.subTest(name=name):
                self.adapter(name)
                variant = next(v["name"] for v in ADAPTERS[name].variants if v["op"] == "matmul")
                with Conversation(name) as adapter:
                    adapter.hello()
                    with memory_held():
                        reply = adapter.prepare("matmul", variant, N_ABOVE_FREE, "f64")
                        self.assertEqual((reply["type"], reply.get("crowded")), ("skipped", True), reply)
                        self.assertEqual(adapter.prepare("matmul", variant, 256, "f64")["type"], "answered")
                    reply = adapter.prepare("matmul", variant, N_ABOVE_FREE, "f64")
                    self.assertEqual(reply["type"], "answered", reply)
                    self.assertEqual(adapter.measure(samples=1)["type"], "measured")


@unittest.skipUnless(importlib.util.find_spec("cupy"), "CuPy is not installed")
class CuPy(unittest.TestCase):
    def test_every_variant_has_code(self):
        from gpubench_adapter.cupy_backend import CupyBackend

        variants = {(variant["op"], variant["name"]) for variant in ADAPTERS["cupy"].variants}
        self.assertEqual(variants, set(CupyBackend.JOBS))


if __name__ == "__main__":
    unittest.main()
