import importlib.util
import unittest
from pathlib import Path

from cells import try_every_variant
from conversation import Conversation
from gpubench_adapter.registry import ADAPTERS


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class PyTorch(unittest.TestCase):
    def test_every_variant_is_right_and_writes_its_answer(self):
        try_every_variant(self, "torch-cpu", threads=2)

    def test_every_variant_has_code(self):
        from gpubench_adapter.torch_jobs import JOBS

        names = [name for name in ADAPTERS if name.startswith("torch")]
        variants = {(variant["op"], variant["name"]) for name in names for variant in ADAPTERS[name].variants}
        self.assertEqual(variants, set(JOBS))

    def test_compiling_is_timed_and_happens_for_every_shape(self):
        with Conversation("torch-cpu") as adapter:
            adapter.hello(threads=1)
            # More shapes than PyTorch compiles for one function by default, in both types.
            for dtype in ("f32", "f64"):
                for n in range(2, 14):
                    reply = adapter.prepare("elementwise", "compile", n, dtype)
                    self.assertEqual(reply["type"], "answered", reply)
                    self.assertGreater(reply["phases"]["compile"]["cold_s"], reply["phases"]["first_s"])
            compiled = Path(adapter.folder.name) / "torchinductor"
            self.assertTrue(any(compiled.iterdir()), "compiled code is kept outside the folder of the run")

    def test_a_function_that_is_not_compiled_fails(self):
        with Conversation("torch-cpu", TORCHDYNAMO_DISABLE="1") as adapter:
            adapter.hello()
            reply = adapter.prepare("reduction", "compile", 16)
            self.assertEqual(reply["type"], "failed")
            self.assertIn("without compiling", reply["reason"])

    def test_without_a_compiler_for_cpp_the_cell_is_skipped(self):
        with Conversation("torch-cpu", CXX="/no/such/compiler") as adapter:
            adapter.hello()
            reply = adapter.prepare("elementwise", "compile", 16)
            self.assertEqual((reply["type"], reply["fix"]), ("skipped", "install g++"), reply)

    def test_without_a_device_the_reply_says_so(self):
        import torch

        for name in ("torch", "torch-mps", "torch-xpu"):
            if name == "torch" and torch.cuda.is_available():
                continue
            with Conversation(name) as adapter:
                reply = adapter.hello()
                self.assertEqual(reply["type"], "unavailable", reply)
                self.assertTrue(reply["fix"])


if __name__ == "__main__":
    unittest.main()
