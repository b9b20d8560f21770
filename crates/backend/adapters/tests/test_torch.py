import gc
import importlib.util
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from cells import try_every_variant
from conversation import Conversation
from gpubench_adapter.registry import ADAPTERS


def torch_config():
    import torch._inductor.config

    return torch._inductor.config


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class PyTorch(unittest.TestCase):
    def test_every_variant_is_right_and_writes_its_answer(self):
        try_every_variant(self, "torch-cpu", threads=2)

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

    def test_without_a_cuda_graph_the_variant_for_it_fails_with_the_reason(self):
        from gpubench_adapter import torch_jobs
        from gpubench_adapter.errors import CellFailed

        # The CPU has no CUDA graphs. In versions without the option only the counter says so.
        for requires in (torch_jobs._require_graphs, lambda: None):
            with tempfile.TemporaryDirectory() as folder, mock.patch.object(torch_jobs, "_require_graphs", requires):
                backend = self.backend(folder)
                torch_config().triton.cudagraph_or_error = False
                with self.assertRaisesRegex(CellFailed, "no CUDA graph"):
                    self.prepare(backend, "elementwise", "compile-reduce-overhead")

    def test_compiled_code_is_freed_with_its_last_job(self):
        import torch._dynamo

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(torch._dynamo, "reset") as reset:
            backend = self.backend(folder)
            jobs = [self.prepare(backend, op, "compile") for op in ("elementwise", "reduction")]
            for resets in (0, 0, 1):
                gc.collect()
                backend.release_memory()
                self.assertEqual(reset.call_count, resets)
                del jobs[:1]

    def test_products_are_exact_except_in_the_tf32_variant(self):
        import torch

        with tempfile.TemporaryDirectory() as folder:
            backend, matmul = self.backend(folder), torch.backends.cuda.matmul
            jobs = {name: self.prepare(backend, "matmul", name) for name in ("matmul", "tf32")}
            sin = self.prepare(backend, "sin", "eager")
            for job, is_tf32 in ((jobs["tf32"], True), (sin, False), (jobs["tf32"], True), (jobs["matmul"], False)):
                job.settle()
                self.assertEqual(matmul.allow_tf32, is_tf32)

    def test_operands_are_weighed_on_the_device_as_on_the_host(self):
        import numpy as np
        import torch
        from gpubench_adapter import generator
        from gpubench_adapter.torch_backend import from_numpy, weigh_on_device

        numbers = np.random.default_rng(7).standard_normal(generator.ON_DEVICE + 4)
        single, half = numbers.astype(np.float32), numbers.astype(np.float16)
        for array in (
            numbers, single, -numbers[:1], numbers[:0], half, half.view(generator.BF16),
            single.view(np.complex64), numbers.view(np.complex128),
        ):
            self.assertEqual(weigh_on_device(from_numpy(array)), generator.weigh(array), array.dtype)

    def test_bfloat16_of_a_function_of_the_users_own_is_judged_as_float32(self):
        import torch
        from gpubench_adapter.own_job import OwnJob
        from gpubench_adapter.torch_backend import TorchStorage

        job = mock.Mock(storage=TorchStorage("cpu"))
        found = OwnJob._host(job, torch.tensor([1.0, -2.5], dtype=torch.bfloat16))
        self.assertEqual((found.dtype.name, found.tolist()), ("float32", [1.0, -2.5]))

    def backend(self, folder):
        from gpubench_adapter.torch_backend import TorchCpu

        backend = TorchCpu("torch-cpu", {"threads": 1})
        backend.folder = folder
        return backend

    def prepare(self, backend, op, variant):
        from gpubench_adapter.operands import OPERANDS, Case

        case = Case({"op": op, "n": 16, "dtype": "f32", "seed": 1})
        return backend.prepare(variant, case, [make(case) for make in OPERANDS[op]])

    def test_without_a_compiler_for_cpp_the_cell_is_skipped(self):
        with Conversation("torch-cpu", CXX="/no/such/compiler") as adapter:
            adapter.hello()
            reply = adapter.prepare("elementwise", "compile", 16)
            self.assertEqual((reply["type"], reply["fix"]), ("skipped", "install g++"), reply)

    def test_a_build_without_cuda_is_called_so_with_the_line_that_installs_another(self):
        import torch
        from gpubench_adapter import torch_backend

        with mock.patch.object(torch.version, "cuda", None):
            finding = torch_backend.findings(ADAPTERS["torch"])[0]
        self.assertIn("(CPU only)", finding["version"])
        self.assertIn("this build of PyTorch has no CUDA", finding["problem"])
        self.assertRegex(finding["fix"], " -m pip install torch --force-reinstall --index-url .*/cu[0-9]+$")

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
