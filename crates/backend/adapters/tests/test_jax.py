import importlib.util
import unittest
from unittest import mock

from cells import try_every_variant
from conversation import Conversation
from gpubench_adapter.errors import Unavailable
from gpubench_adapter.registry import ADAPTERS


@unittest.skipUnless(importlib.util.find_spec("jax"), "JAX is not installed")
class Jax(unittest.TestCase):
    def test_every_variant_is_right_and_writes_its_answer(self):
        algorithms = [("svd", "qr")]
        try_every_variant(self, "jax-cpu", may_skip=algorithms, threads=2)

    def test_an_array_has_the_same_fingerprint_on_a_device_as_on_the_host(self):
        import jax

        from gpubench_adapter.generator import DTYPES, Stream, weigh
        from gpubench_adapter.jax_backend import JaxStorage, weighed

        jax.config.update("jax_enable_x64", True)
        storage = JaxStorage(jax.devices("cpu")[0])
        for name, dtype in DTYPES.items():
            for shape in ((1, 1), (37, 37), (2000, 900)):
                array = Stream(3, 0).uniforms(shape, dtype)
                self.assertEqual(int(weighed(storage.send(array))), weigh(array), name)

    def test_without_an_accelerator_the_reply_says_so(self):
        import jax

        from gpubench_adapter import jax_backend

        if jax.devices()[0].platform != "cpu":
            self.skipTest("JAX has an accelerator here")
        fix = "install the driver of the GPU" if jax_backend.has_plugin() else ADAPTERS["jax"].install
        with Conversation("jax") as adapter:
            reply = adapter.hello()
            self.assertEqual((reply["type"], reply["fix"]), ("unavailable", Unavailable("", fix).fix))
        for has_plugin, problem in ((False, "this JAX has no plugin for CUDA"), (True, "finds no accelerator")):
            with mock.patch.object(jax_backend, "has_plugin", lambda: has_plugin):
                self.assertIn(problem, jax_backend.findings(ADAPTERS["jax"])[0]["problem"])


if __name__ == "__main__":
    unittest.main()
